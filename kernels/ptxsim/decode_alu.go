package ptxsim

// simpleOp is an instruction of the form op.type d, a, b, c.
type simpleOp struct {
	op     opcode
	arity  int
	b, c   int // bits of the second and third source; 0: those of the type
	float  bool
	floats []uint8 // widths for which floats are known; nil: both
}

var simpleOps = map[string]simpleOp{
	"add": {op: opAdd, arity: 2, float: true}, "sub": {op: opSub, arity: 2, float: true}, "div": {op: opDiv, arity: 2, float: true},
	"rem": {op: opRem, arity: 2}, "min": {op: opMin, arity: 2, float: true}, "max": {op: opMax, arity: 2, float: true},
	"abs": {op: opAbs, arity: 1, float: true}, "neg": {op: opNeg, arity: 1, float: true},
	"and": {op: opAnd, arity: 2}, "or": {op: opOr, arity: 2}, "xor": {op: opXor, arity: 2}, "not": {op: opNot, arity: 1},
	"shl": {op: opShl, arity: 2, b: 32}, "shr": {op: opShr, arity: 2, b: 32},
	"popc": {op: opPopc, arity: 1}, "clz": {op: opClz, arity: 1}, "brev": {op: opBrev, arity: 1}, "bfind": {op: opBfind, arity: 1},
	"bfe": {op: opBfe, arity: 3, b: 32, c: 32}, "bfi": {op: opBfi, arity: 4, c: 32}, "prmt": {op: opPrmt, arity: 3, c: 32},
	"fma": {op: opFma, arity: 3, float: true, floats: []uint8{64}}, // in float32 it would be rounded twice
}

func decodeSimple(s simpleOp) func(*decoding) {
	return func(d *decoding) {
		in := &d.in
		in.op = s.op
		switch {
		case in.kind == kF && (!s.float || s.floats != nil && in.bits != s.floats[0]):
			d.refuse()
		case in.kind == kF:
			d.only("rn")
		case s.op == opBfind:
			d.only("shiftamt")
		default:
			d.only()
		}
		if len(d.ops) != s.arity+1 || in.bits < 8 || s.op == opFma && in.kind != kF {
			d.refuse()
		}
		or := func(bits int) int {
			if bits == 0 {
				return int(in.bits)
			}
			return bits
		}
		in.d, in.a = d.dst(d.ops[0]), d.src(d.ops[1], int(in.bits))
		if s.arity >= 2 {
			in.b = d.src(d.ops[2], or(s.b))
		}
		if s.arity >= 3 {
			in.c = d.src(d.ops[3], or(s.c))
		}
		if s.arity == 4 {
			in.vec = []int32{d.src(d.ops[4], 32)}
		}
		if d.has("shiftamt") {
			in.sub = "shiftamt"
		}
	}
}

// decodeLogic is and, or, xor and not, of registers or of predicates.
func decodeLogic(plain simpleOp, pred opcode) func(*decoding) {
	simple := decodeSimple(plain)
	return func(d *decoding) {
		if d.in.bits != 1 {
			simple(d)
			return
		}
		d.only()
		d.need(plain.arity + 1)
		d.in.op, d.in.pd = pred, d.p.pred(d.ops[0])
		d.in.a = d.plainPred(d.ops[1])
		if plain.arity == 2 {
			d.in.b = d.plainPred(d.ops[2])
		}
	}
}

func decodeMul(d *decoding) {
	in := &d.in
	mad := d.name == "mad"
	in.op = opMulLo
	switch {
	case in.kind == kF && mad:
		d.refuse()
	case in.kind == kF:
		d.only("rn")
	default:
		d.only("lo", "hi", "wide")
		switch d.first("lo", "hi", "wide") {
		case "hi":
			in.op = opMulHi
		case "wide":
			in.op = opMulWide
		}
	}
	if !mad {
		d.need(3)
	} else {
		d.need(4)
		in.op += opMadLo - opMulLo
	}
	bits := int(in.bits)
	in.d, in.a, in.b = d.dst(d.ops[0]), d.src(d.ops[1], bits), d.src(d.ops[2], bits)
	if mad && d.has("wide") {
		bits *= 2
	}
	if mad {
		in.c = d.src(d.ops[3], bits)
	}
}

func decodeMov(d *decoding) {
	in := &d.in
	d.need(2)
	d.only()
	to, from, bits := d.ops[0], d.ops[1], int(in.bits)
	switch {
	case d.p.isPred(to):
		in.pd = d.p.pred(to)
		if d.p.isPred(from) {
			in.op, in.pc = opPredMov, d.plainPred(from)
			return
		}
		v, ok := number(from)
		if !ok {
			d.refuse()
		}
		in.op, in.imm = opPredConst, uint32(v&1)
	case from[0] == '{':
		in.op, in.d, in.vec = opPack, d.dst(to), d.srcList(from, 0)
	case to[0] == '{':
		in.op, in.vec, in.a = opUnpack, d.dsts(to), d.src(from, bits)
	default:
		in.op, in.d, in.a = opMov, d.dst(to), d.src(from, bits)
	}
}

func decodeSelp(d *decoding) {
	d.need(4)
	d.only()
	bits := int(d.in.bits)
	d.in.op, d.in.d, d.in.a, d.in.b = opSelp, d.dst(d.ops[0]), d.src(d.ops[1], bits), d.src(d.ops[2], bits)
	d.in.pc = d.plainPred(d.ops[3])
}

func decodeSetp(d *decoding) {
	in := &d.in
	bits := int(in.bits)
	d.only(append([]string{"and", "or", "xor"}, comparisons...)...)
	in.sub = d.first(comparisons...)
	to, second := d.pair(d.ops[0])
	in.op, in.pd, in.pd2 = opSetp, d.p.pred(to), second
	if d.has("and") || d.has("or") || d.has("xor") {
		in.comb = d.first("and", "or", "xor")
		d.need(4)
		in.pc = d.psrc(d.ops[3])
	} else {
		d.need(3)
	}
	in.a, in.b = d.src(d.ops[1], bits), d.src(d.ops[2], bits)
}

func decodeShf(d *decoding) {
	d.need(4)
	d.only("l", "r", "wrap", "clamp")
	in := &d.in
	in.op = opShfL
	if d.first("l", "r") == "r" {
		in.op = opShfR
	}
	in.sub = d.first("wrap", "clamp")
	in.d, in.a, in.b, in.c = d.dst(d.ops[0]), d.src(d.ops[1], 32), d.src(d.ops[2], 32), d.src(d.ops[3], 32)
}

func decodeLop3(d *decoding) {
	d.need(5)
	d.only()
	in := &d.in
	v, ok := number(d.ops[4])
	if !ok {
		d.refuse()
	}
	in.op, in.imm = opLop3, uint32(v)
	in.d, in.a, in.b, in.c = d.dst(d.ops[0]), d.src(d.ops[1], 32), d.src(d.ops[2], 32), d.src(d.ops[3], 32)
}

func decodeCvt(d *decoding) {
	d.need(2)
	d.only("rn", "rz", "rzi", "rni", "rmi", "rpi")
	var types []string
	for _, m := range d.mod {
		if typeBits[m] > 0 {
			types = append(types, m)
		} else {
			d.in.sub = m
		}
	}
	if len(types) != 2 || d.in.sub == "rz" {
		d.refuse()
	}
	in := &d.in
	b, k, _ := typeOf(types[0])
	in.bits, in.kind = uint8(b), k
	b, k, _ = typeOf(types[1])
	in.sbits, in.skind = uint8(b), k
	in.op, in.d, in.a = opCvt, d.dst(d.ops[0]), d.src(d.ops[1], b)
}

func decodeCvta(d *decoding) {
	d.need(2)
	d.only("to", "global", "shared", "local", "const")
	d.in.op = opCvta
	if d.has("to") {
		d.in.op = opCvtaTo
	}
	d.in.sp = space(d.mod)
	d.in.d, d.in.a = d.dst(d.ops[0]), d.src(d.ops[1], 64)
}
