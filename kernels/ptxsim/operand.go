package ptxsim

import (
	"fmt"
	"strings"
)

// specials are the special registers that kernels may read.
var specials = map[string]bool{
	"%tid.x": true, "%tid.y": true, "%tid.z": true, "%ntid.x": true, "%ntid.y": true, "%ntid.z": true,
	"%ctaid.x": true, "%ctaid.y": true, "%ctaid.z": true, "%nctaid.x": true, "%nctaid.y": true, "%nctaid.z": true,
	"%laneid": true, "%warpid": true, "%lanemask_lt": true, "%lanemask_le": true, "%lanemask_eq": true,
	"%lanemask_gt": true, "%lanemask_ge": true, "WARP_SZ": true,
}

// value gives the register that holds an operand: a register, a number, a special register or the address of a variable.
func (p *parser) value(s string, bits int) int32 {
	if r, ok := p.regs[s]; ok {
		return r
	}
	if specials[s] {
		return p.special(s)
	}
	if v, ok := number(s); ok {
		if bits > 0 && bits < 64 {
			v &= 1<<bits - 1
		}
		return p.constant(fmt.Sprintf("%d/%d", bits, v), v, "")
	}
	if o, ok := p.sharedVar(s); ok {
		if o < 0 {
			return p.constant("dynamic", 0, dynamicShared)
		}
		return p.constant("shared "+s, uint64(o), "")
	}
	if o, ok := p.local[s]; ok {
		return p.constant("local "+s, uint64(o), "")
	}
	if p.module[s] {
		return p.constant("module "+s, 0, s)
	}
	p.fail("operand %q", s)
	return 0
}

// dynamicShared is the reference of a constant that is where dynamic shared memory begins.
const dynamicShared = "dynamic shared"

func (p *parser) special(s string) int32 {
	key := "special " + s
	if r, ok := p.consts[key]; ok {
		return r
	}
	r := p.newReg(s, 32)
	p.consts[key] = r
	p.k.specials = append(p.k.specials, specialReg{r, s})
	return r
}

func (p *parser) constant(key string, v uint64, ref string) int32 {
	if r, ok := p.consts[key]; ok {
		return r
	}
	r := p.newReg("constant", 64)
	p.consts[key] = r
	p.k.consts = append(p.k.consts, constReg{r, v, ref})
	return r
}

func (p *parser) pred(s string) int32 {
	r, ok := p.preds[s]
	if !ok {
		p.fail("predicate %q", s)
	}
	return r
}

func (p *parser) isPred(s string) bool { _, ok := p.preds[s]; return ok }

// address decodes "[reg+off]" or "[name+off]": the base goes to in.a (left at -1 for a parameter), the offset to in.off.
func (d *decoding) address(s string) {
	in := &d.in
	s = strings.TrimSpace(strings.Trim(s, "[]"))
	base := s
	if i := strings.IndexByte(s, '+'); i > 0 {
		base = strings.TrimSpace(s[:i])
		v, ok := number(strings.TrimSpace(s[i+1:]))
		if !ok {
			d.p.fail("address %q", s)
		}
		in.off = int64(v)
	}
	if in.sp != spParam {
		in.a = d.src(base, 64)
		return
	}
	for _, q := range d.p.k.params {
		if q.name != base {
			continue
		}
		in.off += int64(q.offset)
		if in.off < int64(q.offset) || in.off+int64(in.bits/8)*int64(len(in.vec)) > int64(q.offset+q.size) {
			d.p.fail("%q reads past its parameter", in.text)
		}
		return
	}
	d.p.fail("no parameter %q", base)
}

// space gives the state space that modifiers name.
func space(mod []string) spaceKind {
	for _, m := range mod {
		switch m {
		case "global":
			return spGlobal
		case "shared":
			return spShared
		case "local":
			return spLocal
		case "param":
			return spParam
		case "const":
			return spConst
		}
	}
	return spGeneric
}
