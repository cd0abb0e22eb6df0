package ptxsim

// newDecoders gives what decodes an instruction, by its name up to the first dot.
func newDecoders() map[string]func(*decoding) {
	out := map[string]func(*decoding){
		"ret": decodeEnd(opRet), "exit": decodeEnd(opRet), "trap": decodeEnd(opTrap), "brkpt": decodeEnd(opTrap),
		"bra": decodeBranch, "brx": decodeBranchTable, "bar": decodeBarrier, "barrier": decodeBarrier,
		"membar": decodeFence, "fence": decodeFence, "activemask": decodeActive, "shfl": decodeShuffle, "vote": decodeVote,
		"mov": decodeMov, "selp": decodeSelp, "setp": decodeSetp, "mul": decodeMul, "mad": decodeMul, "shf": decodeShf, "lop3": decodeLop3,
		"cvt": decodeCvt, "cvta": decodeCvta, "ld": decodeLoad, "ldu": decodeLoad, "st": decodeStore, "atom": decodeAtomic, "red": decodeAtomic,
	}
	for name, s := range simpleOps {
		out[name] = decodeSimple(s)
	}
	for name, pred := range map[string]opcode{"and": opPredAnd, "or": opPredOr, "xor": opPredXor, "not": opPredNot} {
		out[name] = decodeLogic(simpleOps[name], pred)
	}
	return out
}

func decodeEnd(op opcode) func(*decoding) {
	return func(d *decoding) {
		d.need(0)
		d.in.op = op
	}
}

func decodeBranch(d *decoding) {
	d.need(1)
	d.only("uni")
	d.in.op = opBra
	d.p.fixes = append(d.p.fixes, fix{instr: len(d.p.k.code), label: d.ops[0], source: d.p.line})
}

func decodeBranchTable(d *decoding) {
	d.need(2)
	d.only("idx", "uni")
	d.in.op, d.in.a = opBrx, d.src(d.ops[0], 32)
	d.p.fixes = append(d.p.fixes, fix{instr: len(d.p.k.code), table: d.ops[1], source: d.p.line})
}

func decodeBarrier(d *decoding) {
	d.need(1)
	if d.has("warp") {
		d.only("warp", "sync")
		d.in.op, d.in.a = opBarWarp, d.src(d.ops[0], 32)
		return
	}
	d.only("sync", "cta", "aligned")
	v, ok := number(d.ops[0])
	if !ok || !d.has("sync") {
		d.refuse()
	}
	d.in.op, d.in.imm = opBar, uint32(v)
}

func decodeFence(d *decoding) { d.in.op = opFence }

func decodeActive(d *decoding) {
	d.need(1)
	d.in.op, d.in.d = opActive, d.dst(d.ops[0])
}

func decodeShuffle(d *decoding) {
	if !d.has("sync") {
		d.p.fail("%q: only shfl.sync", d.in.text)
	}
	d.need(5)
	modes := []string{"up", "down", "bfly", "idx"}
	d.only(append(modes, "sync")...)
	to, second := d.pair(d.ops[0])
	in := &d.in
	in.op, in.sub, in.d, in.pd = opShfl, d.first(modes...), d.dst(to), second
	in.vec = []int32{d.src(d.ops[1], 32), d.src(d.ops[2], 32), d.src(d.ops[3], 32)} // value, lane or distance, clamp
	in.a = d.src(d.ops[4], 32)                                                      // the mask
}

func decodeVote(d *decoding) {
	if !d.has("sync") {
		d.p.fail("%q: only vote.sync", d.in.text)
	}
	d.need(3)
	modes := []string{"ballot", "any", "all", "uni"}
	d.only(append(modes, "sync")...)
	in := &d.in
	in.op, in.sub = opVote, d.first(modes...)
	if in.sub == "ballot" {
		in.d = d.dst(d.ops[0])
	} else {
		in.pd = d.p.pred(d.ops[0])
	}
	in.pc = d.psrc(d.ops[1])
	in.a = d.src(d.ops[2], 32)
}
