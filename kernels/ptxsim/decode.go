package ptxsim

import (
	"slices"
	"strings"
)

// decoding is an instruction being decoded: op.mod.mod a, b, c.
type decoding struct {
	p    *parser
	in   instr
	name string   // up to the first dot
	mod  []string // the parts behind it
	ops  []string
}

// instruction decodes a statement and appends it to the kernel.
func (p *parser) instruction(s string) {
	d := &decoding{p: p}
	d.in = instr{guard: -1, pd: -1, pd2: -1, pc: -1, d: -1, a: -1, b: -1, c: -1, line: p.line, text: strings.Join(strings.Fields(s), " "), source: p.source}
	s = d.in.text
	if s[0] == '@' {
		s = d.guarded(s[1:])
	}
	name, args, _ := strings.Cut(s, " ")
	parts := strings.Split(name, ".")
	d.name, d.mod, d.ops = parts[0], parts[1:], operands(args)
	if b, k, ok := typeOf(parts[len(parts)-1]); ok {
		d.in.bits, d.in.kind = uint8(b), k
	}
	decode := p.decoders[parts[0]]
	if decode == nil {
		p.fail("instruction %q", d.in.text)
	}
	decode(d)
	p.k.code = append(p.k.code, d.in)
}

// guarded reads "%p1 rest" or "!%p1 rest".
func (d *decoding) guarded(s string) string {
	g, rest, _ := strings.Cut(s, " ")
	g, d.in.guardNot = strings.CutPrefix(g, "!")
	d.in.guard = d.p.pred(g)
	d.in.psrc = append(d.in.psrc, d.in.guard)
	if rest == "" {
		d.refuse()
	}
	return rest
}

func (d *decoding) refuse() { d.p.fail("instruction %q", d.in.text) }

func (d *decoding) has(m string) bool { return slices.Contains(d.mod, m) }

// need wants n operands.
func (d *decoding) need(n int) {
	if len(d.ops) != n {
		d.p.fail("%q: %d operands, want %d", d.in.text, len(d.ops), n)
	}
}

// only wants no modifiers but types and those allowed.
func (d *decoding) only(allowed ...string) {
	for _, m := range d.mod {
		if typeBits[m] == 0 && !slices.Contains(allowed, m) {
			d.p.fail("%q: modifier .%s", d.in.text, m)
		}
	}
}

// first gives the first of the modifiers that the instruction has.
func (d *decoding) first(of ...string) string {
	for _, m := range d.mod {
		if slices.Contains(of, m) {
			return m
		}
	}
	d.refuse()
	return ""
}

func (d *decoding) src(s string, bits int) int32 {
	r := d.p.value(s, bits)
	if _, isReg := d.p.regs[s]; isReg {
		d.in.srcs = append(d.in.srcs, r)
	}
	return r
}

func (d *decoding) dst(s string) int32 {
	if s == "_" {
		return d.p.newReg("_", 64)
	}
	r, ok := d.p.regs[s]
	if !ok {
		d.p.fail("result %q", s)
	}
	d.in.dbits = d.p.k.width[r]
	return r
}

// psrc reads a predicate operand, perhaps negated.
func (d *decoding) psrc(s string) int32 {
	s, d.in.pcNot = strings.CutPrefix(s, "!")
	r := d.p.pred(s)
	d.in.psrc = append(d.in.psrc, r)
	return r
}

// plainPred reads a predicate operand that cannot be negated.
func (d *decoding) plainPred(s string) int32 {
	r := d.p.pred(s)
	d.in.psrc = append(d.in.psrc, r)
	return r
}

// pair reads "result|predicate", the second of which may be missing.
func (d *decoding) pair(s string) (first string, second int32) {
	first, other, two := strings.Cut(s, "|")
	if two {
		return strings.TrimSpace(first), d.p.pred(strings.TrimSpace(other))
	}
	return strings.TrimSpace(first), -1
}

// vector gives the names inside braces, or the one that stands without.
func vector(s string) []string {
	if strings.HasPrefix(s, "{") {
		return operands(strings.Trim(s, "{} "))
	}
	return []string{s}
}

func (d *decoding) dsts(s string) (out []int32) {
	for _, o := range vector(s) {
		out = append(out, d.dst(o))
	}
	return out
}

func (d *decoding) srcList(s string, bits int) (out []int32) {
	for _, o := range vector(s) {
		out = append(out, d.src(o, bits))
	}
	return out
}
