package ptxsim

func decodeLoad(d *decoding) {
	in := &d.in
	d.need(2)
	d.only("param", "global", "shared", "local", "const", "volatile", "relaxed", "acquire", "weak", "nc", "ca", "cg", "cs", "lu", "cv",
		"cta", "gpu", "sys", "v2", "v4", "L1::no_allocate", "L1::evict_last", "L2::128B", "L2::256B")
	in.op, in.sp = opLd, space(d.mod)
	in.strong = d.has("volatile") || d.has("relaxed") || d.has("acquire")
	in.vec = d.dsts(d.ops[0])
	d.lanes()
	d.address(d.ops[1])
}

func decodeStore(d *decoding) {
	in := &d.in
	d.need(2)
	d.only("global", "shared", "local", "volatile", "relaxed", "release", "weak", "wb", "cg", "cs", "wt", "cta", "gpu", "sys", "v2", "v4")
	in.op, in.sp = opSt, space(d.mod)
	in.strong = d.has("volatile") || d.has("relaxed") || d.has("release")
	in.vec = d.srcList(d.ops[1], int(in.bits))
	d.lanes()
	d.address(d.ops[0])
}

// lanes wants as many registers as the vector modifier says.
func (d *decoding) lanes() {
	want := 1
	if d.has("v2") {
		want = 2
	}
	if d.has("v4") {
		want = 4
	}
	if len(d.in.vec) != want || d.in.bits < 8 {
		d.refuse()
	}
}

var atomics = []string{"add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec"}

func decodeAtomic(d *decoding) {
	in := &d.in
	d.only(append([]string{"global", "shared", "relaxed", "acquire", "release", "acq_rel", "cta", "gpu", "sys"}, atomics...)...)
	in.op, in.sp, in.strong, in.sub = opAtom, space(d.mod), true, d.first(atomics...)
	if in.kind == kF || in.bits < 32 {
		d.refuse()
	}
	bits := int(in.bits)
	if len(d.ops) > 0 && d.ops[0][0] != '[' { // red has no result
		in.d = d.dst(d.ops[0])
		d.ops = d.ops[1:]
	}
	if in.sub == "cas" {
		d.need(3)
		in.c = d.src(d.ops[2], bits)
	} else {
		d.need(2)
	}
	in.b = d.src(d.ops[1], bits)
	d.address(d.ops[0])
}
