package ptxsim

import (
	"strconv"
	"strings"
)

// redzone is the gap between shared variables.
const redzone = 64

// declaration is what a parameter or a variable says of itself.
type declaration struct {
	space       string
	name        string
	bits, align int
	count       int  // elements
	dynamic     bool // an array without a length
}

// declaration reads ".shared .align 4 .b8 name[12]".
func (p *parser) declaration(s string) declaration {
	d := declaration{count: 1}
	f := strings.Fields(s)
	for n := 0; n < len(f); n++ {
		w := strings.TrimPrefix(f[n], ".")
		switch {
		case w == "shared" || w == "local" || w == "global" || w == "const":
			d.space = w
		case f[n] == ".align" && n+1 < len(f):
			d.align = p.count(f[n+1])
			n++
		case strings.HasPrefix(f[n], ".") && typeBits[w] > 0:
			d.bits = typeBits[w]
		}
	}
	if len(f) > 0 {
		d.name = f[len(f)-1]
	}
	if name, length, array := strings.Cut(d.name, "["); array {
		d.name, d.count = name, 0
		if length = strings.TrimSuffix(length, "]"); length != "" {
			d.count = p.count(length)
		} else {
			d.dynamic = true
		}
	}
	d.align = max(d.align, d.bits/8)
	return d
}

func (p *parser) count(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > 1<<24 {
		p.fail("number %q", s)
	}
	return n
}

// reg reads ".reg .b32 %r<12>" or ".reg .b64 %SP, %SPL".
func (p *parser) reg(s string) {
	f := strings.Fields(s)
	if len(f) < 3 {
		p.fail("%q", s)
	}
	bits := typeBits[strings.TrimPrefix(f[1], ".")]
	if bits == 0 {
		p.fail("register type %q", f[1])
	}
	for _, n := range strings.Split(strings.Join(f[2:], ""), ",") {
		stem, count, several := strings.Cut(n, "<")
		if !several {
			p.addReg(n, bits)
			continue
		}
		for j := range p.count(strings.TrimSuffix(count, ">")) {
			p.addReg(stem+strconv.Itoa(j), bits)
		}
	}
}

func (p *parser) addReg(name string, bits int) {
	if bits == 1 {
		p.preds[name] = int32(p.k.npreds)
		p.k.npreds++
		return
	}
	p.regs[name] = p.newReg(name, bits)
}

func (p *parser) newReg(name string, bits int) int32 {
	p.k.width = append(p.k.width, uint8(bits))
	p.k.regName = append(p.k.regName, name)
	return int32(len(p.k.width) - 1)
}

// variable reads a variable of the shared, local, global or constant space.
func (p *parser) variable(s string, outer bool) {
	text, init, hasInit := strings.Cut(s, "=")
	d := p.declaration(text)
	if d.space == "" || d.bits == 0 {
		p.fail("statement %q", s)
	}
	size := d.count * d.bits / 8
	switch {
	case d.space == "shared" && outer:
		p.m.sharedVars = append(p.m.sharedVars, s) // every kernel that uses it has its own
	case d.space == "shared":
		p.addShared(d, size)
	case d.space == "local":
		off := roundUp(p.k.localSize, d.align)
		p.local[d.name] = off
		p.k.localSize = off + size
	default:
		v := moduleVar{name: d.name, data: make([]byte, size), readOnly: d.space == "const"}
		if hasInit {
			p.initialise(v.data, init, d.bits/8)
		}
		p.m.vars = append(p.m.vars, v)
		p.module[d.name] = true
	}
}

func (p *parser) initialise(data []byte, init string, size int) {
	for n, v := range strings.Split(strings.Trim(strings.TrimSpace(init), "{}"), ",") {
		x, ok := number(strings.TrimSpace(v))
		if !ok || (n+1)*size > len(data) {
			p.fail("initialiser %q", v)
		}
		put(data[n*size:], size, x)
	}
}

func (p *parser) addShared(d declaration, size int) {
	off := roundUp(p.k.sharedSize, d.align)
	p.shared[d.name] = off
	if d.dynamic {
		p.k.dynShared = true
		p.k.shared = append(p.k.shared, variable{d.name, -1, 0})
		p.shared[d.name] = -1
		return
	}
	p.k.shared = append(p.k.shared, variable{d.name, off, size})
	p.k.sharedSize = off + size + redzone
}

// sharedVar finds a shared variable; one of the module gets a place in the kernel at its first use.
func (p *parser) sharedVar(name string) (int, bool) {
	if o, ok := p.shared[name]; ok {
		return o, true
	}
	for _, s := range p.m.sharedVars {
		if p.declaration(s).name == name {
			p.variable(s, false)
			return p.shared[name], true
		}
	}
	return 0, false
}
