package ptxsim

import (
	"fmt"
	"path"
	"strconv"
	"strings"
)

// typeBits are the types of PTX that are known here.
var typeBits = map[string]int{
	"b8": 8, "u8": 8, "s8": 8, "b16": 16, "u16": 16, "s16": 16, "b32": 32, "u32": 32, "s32": 32,
	"b64": 64, "u64": 64, "s64": 64, "f32": 32, "f64": 64, "pred": 1,
}

type parser struct {
	m      *Module
	k      *kernel
	regs   map[string]int32
	preds  map[string]int32
	shared map[string]int
	local  map[string]int
	module map[string]bool
	labels map[string]int
	tables map[string][]string
	fixes  []fix
	consts map[string]int32
	line   int
	source string // of the instruction, as .loc says
	outer  string // the last line of the file in which the kernel begins
	home   string // that file's number

	decoders map[string]func(*decoding)
}

// fix is a jump whose target is known at the end of the kernel.
type fix struct {
	instr  int
	label  string
	table  string
	source int
}

// parseError ends a parse by a panic that Parse catches.
type parseError string

// Parse reads a PTX text. Its error names the line.
func Parse(src string) (m *Module, err error) {
	p := &parser{m: &Module{kernels: map[string]*kernel{}, files: map[string]string{}}, module: map[string]bool{}, decoders: newDecoders()}
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(parseError)
			if !ok {
				panic(r) // not ours
			}
			m, err = nil, fmt.Errorf("ptx line %d: %s", p.line, string(e))
		}
	}()
	st := split(src)
	for _, s := range st {
		p.fileName(s.text)
	}
	for i := 0; i < len(st); i++ {
		p.line = st[i].line
		i = p.top(st, i)
	}
	return p.m, nil
}

func (p *parser) fail(format string, a ...any) {
	panic(parseError(fmt.Sprintf(format, a...))) // Parse makes it an error
}

// fileName keeps what `.file 1 "a.cu"` says.
func (p *parser) fileName(s string) {
	if f := strings.Fields(s); len(f) >= 3 && f[0] == ".file" {
		p.m.files[f[1]] = path.Base(strings.Trim(f[2], `"`))
	}
}

// top reads a statement outside of kernels and gives the last one that belongs to it.
func (p *parser) top(st []statement, i int) int {
	s := st[i]
	f := strings.Fields(s.text)
	switch {
	case len(f) == 0:
	case f[0] == ".version" && len(f) > 1:
		p.m.Version = f[1]
	case f[0] == ".target" && len(f) > 1:
		p.m.Target = f[1]
	case f[0] == ".address_size":
		if len(f) != 2 || f[1] != "64" {
			p.fail("only 64-bit addresses")
		}
	case strings.Contains(s.text, ".entry"):
		if s.end == '{' { // else a declaration
			return p.entry(st, i)
		}
	case strings.Contains(s.text, ".func"):
		p.fail("device functions are not supported: inline them")
	case f[0] == ".file":
	case f[0] == ".section":
		for s.end == '{' && i+1 < len(st) && st[i].end != '}' {
			i++
		}
	default:
		p.variable(s.text, true)
	}
	return i
}

// entry reads a kernel.
func (p *parser) entry(st []statement, i int) int {
	p.k = &kernel{}
	p.regs, p.preds, p.consts = map[string]int32{}, map[string]int32{}, map[string]int32{}
	p.shared, p.local = map[string]int{}, map[string]int{}
	p.labels, p.tables, p.fixes = map[string]int{}, map[string][]string{}, nil
	p.source, p.outer, p.home = "", "", ""
	p.head(st[i].text)
	for depth := 1; depth > 0; {
		if i++; i >= len(st) {
			p.fail("a kernel without an end")
		}
		s := st[i]
		p.line = s.line
		switch {
		case s.end == '{' && s.text == "":
			depth++
		case s.end == '}' && s.text == "":
			depth--
		case s.end == ':':
			p.labels[s.text] = len(p.k.code)
			if i+1 < len(st) && p.branchTable(s.text, st[i+1].text) {
				i++
			}
		default:
			p.body(s.text)
		}
	}
	p.link()
	p.m.kernels[p.k.name] = p.k
	return i
}

// head reads a kernel's name and parameters.
func (p *parser) head(s string) {
	_, s, _ = strings.Cut(s, ".entry")
	name, params, _ := strings.Cut(s, "(")
	p.k.name = strings.TrimSpace(name)
	if end := strings.LastIndex(params, ")"); end >= 0 {
		params = params[:end]
	}
	for _, t := range operands(params) {
		p.param(t)
	}
}

func (p *parser) param(s string) {
	d := p.declaration(s)
	if d.bits == 0 {
		p.fail("parameter %q", s)
	}
	size := d.bits / 8 * d.count
	off := roundUp(p.k.paramBytes, d.align)
	p.k.params = append(p.k.params, param{d.name, off, size})
	p.k.paramBytes = off + size
}

func (p *parser) branchTable(label, next string) bool {
	list, ok := strings.CutPrefix(next, ".branchtargets")
	if !ok {
		return false
	}
	for _, l := range strings.Split(list, ",") {
		p.tables[label] = append(p.tables[label], strings.TrimSpace(l))
	}
	return true
}

// body reads a statement inside a kernel.
func (p *parser) body(s string) {
	word, rest, _ := strings.Cut(s, " ")
	if t, r, ok := strings.Cut(s, "\t"); ok && len(t) < len(word) {
		word, rest = t, r
	}
	switch {
	case word == ".reg":
		p.reg(s)
	case word == ".shared" || word == ".local" || word == ".const":
		p.variable(s, false)
	case word == ".loc":
		p.loc(rest)
	case word == ".pragma" || word == ".file":
	case strings.HasPrefix(word, ".max") || strings.HasPrefix(word, ".req") || strings.HasPrefix(word, ".min"):
	case strings.HasPrefix(s, "."):
		p.fail("directive %q", s)
	default:
		p.instruction(s)
	}
}

// loc keeps the source line of the instructions that follow. Inside an inlined function it also keeps where the kernel's file was left.
func (p *parser) loc(s string) {
	f := strings.Fields(s)
	if len(f) < 2 {
		p.fail(".loc %q", s)
	}
	if p.home == "" {
		p.home = f[0]
	}
	p.source = p.m.files[f[0]] + ":" + f[1]
	if f[0] == p.home {
		p.outer = p.source
	} else if p.outer != "" {
		p.source += " from " + p.outer
	}
}

// link gives jumps their targets.
func (p *parser) link() {
	for _, f := range p.fixes {
		p.line = f.source
		if f.table == "" {
			p.k.code[f.instr].target = p.target(f.label)
			continue
		}
		t, ok := p.tables[f.table]
		if !ok {
			p.fail("no branch table %q", f.table)
		}
		for _, l := range t {
			p.k.code[f.instr].vec = append(p.k.code[f.instr].vec, p.target(l))
		}
	}
}

func (p *parser) target(label string) int32 {
	at, ok := p.labels[label]
	if !ok {
		p.fail("no label %q", label)
	}
	return int32(at)
}

func roundUp(n, to int) int { return (n + to - 1) / to * to }

// number reads an integer or a floating point literal as bits.
func number(s string) (uint64, bool) {
	if len(s) > 2 && s[0] == '0' && (s[1] == 'f' || s[1] == 'F' || s[1] == 'd' || s[1] == 'D') {
		v, err := strconv.ParseUint(s[2:], 16, 64)
		return v, err == nil
	}
	s = strings.TrimSuffix(s, "U")
	if v, err := strconv.ParseInt(s, 0, 64); err == nil {
		return uint64(v), true
	}
	v, err := strconv.ParseUint(s, 0, 64)
	return v, err == nil
}
