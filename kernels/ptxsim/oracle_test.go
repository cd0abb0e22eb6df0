package ptxsim

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestInstructionsAgainstTheAssembler asks NVIDIA's assembler, which folds instructions whose operands are constants, what they compute:
// assemble random constants, disassemble, read the stored results, compare. What it does not fold is counted and left out. It needs a
// folder with ptxas and nvdisasm in SKUA_NVIDIA_BIN.
func TestInstructionsAgainstTheAssembler(t *testing.T) {
	dir := os.Getenv("SKUA_NVIDIA_BIN")
	if dir == "" {
		t.Skip("SKUA_NVIDIA_BIN is not set")
	}
	rnd := rand.New(rand.NewPCG(21, 22))
	n32 := func() string { return fmt.Sprintf("0x%x", edge(rnd, 32)) }
	n64 := func() string { return fmt.Sprintf("0x%x", edge(rnd, 64)) }
	small := func(n int) string { return strconv.Itoa(rnd.IntN(n)) }
	// templates: result register %r9 or %rd9; %a %b %c are 32-bit, %A %B %C 64-bit
	// random values in registers, #n a random number below n
	templates := []string{
		"add.s32 %r9, %a, %b;", "sub.s32 %r9, %a, %b;", "mul.lo.s32 %r9, %a, %b;", "mul.hi.s32 %r9, %a, %b;", "mul.hi.u32 %r9, %a, %b;",
		"mad.lo.s32 %r9, %a, %b, %c;", "mad.hi.u32 %r9, %a, %b, %c;", "mul.wide.s32 %rd9, %a, %b;", "mul.wide.u32 %rd9, %a, %b;", "mad.wide.s32 %rd9, %a, %b, %C;", "mad.wide.u32 %rd9, %a, %b, %C;",
		"add.s64 %rd9, %A, %B;", "sub.s64 %rd9, %A, %B;", "mul.lo.s64 %rd9, %A, %B;", "mul.hi.s64 %rd9, %A, %B;", "mul.hi.u64 %rd9, %A, %B;",
		"div.s32 %r9, %a, %b;", "div.u32 %r9, %a, %b;", "rem.s32 %r9, %a, %b;", "rem.u32 %r9, %a, %b;", "div.u64 %rd9, %A, %B;", "rem.s64 %rd9, %A, %B;",
		"min.s32 %r9, %a, %b;", "min.u32 %r9, %a, %b;", "max.s32 %r9, %a, %b;", "max.u32 %r9, %a, %b;", "min.s64 %rd9, %A, %B;", "max.u64 %rd9, %A, %B;",
		"abs.s32 %r9, %a;", "neg.s32 %r9, %a;", "abs.s64 %rd9, %A;", "neg.s64 %rd9, %A;",
		"and.b32 %r9, %a, %b;", "or.b32 %r9, %a, %b;", "xor.b32 %r9, %a, %b;", "not.b32 %r9, %a;", "and.b64 %rd9, %A, %B;", "or.b64 %rd9, %A, %B;", "xor.b64 %rd9, %A, %B;", "not.b64 %rd9, %A;",
		"shl.b32 %r9, %a, #40;", "shr.u32 %r9, %a, #40;", "shr.s32 %r9, %a, #40;", "shl.b64 %rd9, %A, #70;", "shr.u64 %rd9, %A, #70;", "shr.s64 %rd9, %A, #70;",
		"shf.l.wrap.b32 %r9, %a, %b, #70;", "shf.r.wrap.b32 %r9, %a, %b, #70;", "shf.l.clamp.b32 %r9, %a, %b, #70;", "shf.r.clamp.b32 %r9, %a, %b, #70;",
		"prmt.b32 %r9, %a, %b, #65536;", "lop3.b32 %r9, %a, %b, %c, #256;",
		"bfe.u32 %r9, %a, #36, #36;", "bfe.s32 %r9, %a, #36, #36;", "bfe.u64 %rd9, %A, #70, #70;", "bfe.s64 %rd9, %A, #70, #70;", "bfi.b32 %r9, %a, %b, #36, #36;", "bfi.b64 %rd9, %A, %B, #70, #70;",
		"popc.b32 %r9, %a;", "popc.b64 %r9, %A;", "clz.b32 %r9, %a;", "clz.b64 %r9, %A;", "brev.b32 %r9, %a;", "brev.b64 %rd9, %A;", "bfind.u32 %r9, %a;", "bfind.s32 %r9, %a;", "bfind.u64 %r9, %A;", "bfind.shiftamt.u32 %r9, %a;",
		"cvt.u64.u32 %rd9, %a;", "cvt.s64.s32 %rd9, %a;", "cvt.u32.u64 %r9, %A;", "cvt.s32.s8 %r9, %a;", "cvt.u32.u8 %r9, %a;", "cvt.s64.s16 %rd9, %A;", "cvt.u32.u16 %r9, %a;", "cvt.s32.s16 %r9, %a;", "cvt.u64.u8 %rd9, %A;", "cvt.s16.s8 %rs1, %rs2; cvt.s32.s16 %r9, %rs1;",
		"cvt.rn.f64.s32 %fd1, %a; mov.b64 %rd9, %fd1;", "cvt.rn.f64.u64 %fd1, %A; mov.b64 %rd9, %fd1;", "cvt.rn.f32.s32 %f1, %a; mov.b32 %r9, %f1;",
		"mov.b64 %rd9, {%a, %b};", "mov.b64 {%r9, %r8}, %A;", "mov.b64 {%r8, %r9}, %A;",
		"selp.b32 %r9, %a, %b, %p1;",
	}
	for _, c := range []string{"eq", "ne", "lt", "le", "gt", "ge"} {
		for _, ty := range []string{"s32 %p2, %a, %b", "u32 %p2, %a, %b", "s64 %p2, %A, %B", "u64 %p2, %A, %B"} {
			templates = append(templates, "setp."+c+"."+ty+"; selp.u32 %r9, 1, 0, %p2;")
		}
	}
	hash := regexp.MustCompile(`#(\d+)`)
	var body strings.Builder
	var cases []string
	const each = 12
	for _, tp := range templates {
		for range each {
			s := hash.ReplaceAllStringFunc(tp, func(h string) string { n, _ := strconv.Atoi(h[1:]); return small(n) })
			pre := fmt.Sprintf("mov.u32 %%r1, %s;\nmov.u32 %%r2, %s;\nmov.u32 %%r3, %s;\nmov.u64 %%rd11, %s;\nmov.u64 %%rd12, %s;\nmov.u64 %%rd13, %s;\nsetp.lt.u32 %%p1, %%r1, %%r2;\ncvt.u16.u32 %%rs2, %%r1;\n", n32(), n32(), n32(), n64(), n64(), n64())
			s = strings.NewReplacer("%a", "%r1", "%b", "%r2", "%c", "%r3", "%A", "%rd11", "%B", "%rd12", "%C", "%rd13").Replace(s)
			if strings.HasPrefix(s, "div") || strings.HasPrefix(s, "rem") {
				pre += "or.b32 %r2, %r2, 1;\nor.b64 %rd12, %rd12, 1;\n"
			}
			st := fmt.Sprintf("st.global.u32 [%%rd0+%d], %%r9;\n", 8*len(cases))
			if strings.Contains(s, "%rd9") {
				st = fmt.Sprintf("st.global.u64 [%%rd0+%d], %%rd9;\n", 8*len(cases))
			}
			body.WriteString(pre + strings.ReplaceAll(s, "; ", ";\n") + "\n" + st)
			cases = append(cases, s)
		}
	}
	src := ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 k_param_0)\n{\n.reg .pred %p<4>;\n.reg .b16 %rs<4>;\n.reg .b32 %r<20>;\n.reg .b64 %rd<20>;\n.reg .f32 %f<4>;\n.reg .f64 %fd<4>;\nld.param.u64 %rd0, [k_param_0];\n" + body.String() + "ret;\n}\n"
	tmp := t.TempDir()
	ptx, cubin := filepath.Join(tmp, "k.ptx"), filepath.Join(tmp, "k.cubin")
	if err := os.WriteFile(ptx, []byte(src), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(filepath.Join(dir, "ptxas"), "-arch=sm_80", ptx, "-o", cubin).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	sass, err := exec.Command(filepath.Join(dir, "nvdisasm"), "-c", cubin).Output()
	if err != nil {
		t.Fatal(err)
	}
	stored, width := folded(string(sass))
	m, err := Parse(src)
	if err != nil {
		t.Fatal(err)
	}
	d := NewDevice()
	p := d.Upload("p", make([]byte, 8*len(cases)))
	res, err := m.Run(d, "k", Launch{Grid: 1, Block: 1, Args: []uint64{p.Addr()}})
	if err != nil {
		t.Fatal(err)
	}
	if err := res.Err(); err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	compared, wrong := 0, 0
	for i, c := range cases {
		op := templates[i/each]
		v, ok := stored[8*i]
		if width[8*i] == 8 && ok {
			h, ok2 := stored[8*i+4]
			v, ok = v|h<<32, ok2
		}
		if !ok {
			seen[op] += 0
			continue
		}
		got := binary.LittleEndian.Uint64(p.Bytes()[8*i:])
		if width[8*i] == 4 {
			got &= math.MaxUint32
		}
		compared++
		seen[op]++
		if got != v {
			wrong++
			t.Errorf("%s: %#x here, %#x by the assembler", c, got, v)
		}
	}
	var not []string
	for op, n := range seen {
		if n == 0 {
			not = append(not, op)
		}
	}
	t.Logf("%d cases of %d forms: %d compared, %d wrong; forms never folded: %d: %s", len(cases), len(templates), compared, wrong, len(not), strings.Join(not, " "))
	if compared < len(cases)/2 {
		t.Errorf("only %d of %d cases compared", compared, len(cases))
	}
}

func edge(rnd *rand.Rand, bits int) uint64 {
	v := rnd.Uint64()
	switch rnd.IntN(6) {
	case 0:
		v = []uint64{0, 1, math.MaxUint64, 1 << (bits - 1), 1<<(bits-1) - 1, 255, 0x80, 0x8000}[rnd.IntN(8)]
	case 1:
		v >>= rnd.IntN(64)
	}
	return v & (math.MaxUint64 >> (64 - bits))
}

var (
	sassLine  = regexp.MustCompile(`^\s+/\*[0-9a-f]+\*/\s+(@!?U?P\w+\s+)?([A-Z0-9_.]+)\s*(.*?)\s*;`)
	sassStore = regexp.MustCompile(`\[[^\]]*?(?:\+(-?0x[0-9a-f]+))?\],\s*(R\w+)`)
)

// folded follows constants through straight-line machine code to the stores: the
// known 32-bit words by offset, and the width of each store.
func folded(sass string) (map[int]uint64, map[int]int) {
	words, width := map[int]uint64{}, map[int]int{}
	regs := map[string]uint64{"RZ": 0, "URZ": 0, "SRZ": 0}
	next := func(r string) string {
		if r == "RZ" {
			return r
		}
		n, _ := strconv.Atoi(r[1:])
		return "R" + strconv.Itoa(n+1)
	}
	word := func(s string) (uint64, bool) {
		s = strings.TrimSuffix(strings.TrimSpace(s), ".reuse")
		if v, ok := regs[s]; ok {
			return v, true
		}
		if v, err := strconv.ParseInt(s, 0, 64); err == nil {
			return uint64(uint32(v)), true
		}
		return 0, false
	}
	for _, l := range strings.Split(sass, "\n") {
		m := sassLine.FindStringSubmatch(l)
		if m == nil {
			continue
		}
		op := m[2]
		if strings.HasPrefix(op, "STG") {
			s := sassStore.FindStringSubmatch(m[3])
			if s == nil || m[1] != "" {
				continue
			}
			off := int64(0)
			if s[1] != "" {
				off, _ = strconv.ParseInt(s[1], 0, 64)
			}
			n := 1
			if strings.Contains(op, ".64") {
				n = 2
			}
			if strings.Contains(op, ".128") {
				n = 4
			}
			r := s[2]
			for k := range n {
				if v, ok := regs[r]; ok {
					words[int(off)+4*k] = v
				}
				r = next(r)
			}
			// neighbouring 64-bit results may be stored as one
			if n == 4 {
				width[int(off)], width[int(off)+8] = 8, 8
			} else {
				width[int(off)] = 4 * n
			}
			continue
		}
		a := strings.Split(m[3], ",")
		d := strings.TrimSpace(a[0])
		if !regexp.MustCompile(`^U?R\d+$`).MatchString(d) {
			continue
		}
		var v uint64
		ok := false
		switch {
		case op == "MOV" || op == "UMOV" || op == "MOV32I":
			v, ok = word(a[1])
		case op == "IMAD.MOV.U32" || op == "IMAD.U32":
			if strings.TrimSpace(a[1]) == "RZ" && strings.TrimSpace(a[2]) == "RZ" || op == "IMAD.MOV.U32" {
				v, ok = word(a[3])
			}
		case strings.HasPrefix(op, "HFMA2"):
			if len(a) == 5 && strings.TrimSpace(a[1]) == "-RZ" && strings.TrimSpace(a[2]) == "RZ" {
				h, ok1 := half(a[3])
				l, ok2 := half(a[4])
				v, ok = h<<16|l, ok1 && ok2
			}
		case strings.HasPrefix(op, "CS2R"):
			v, ok = 0, strings.TrimSpace(a[1]) == "SRZ"
			if ok && op == "CS2R" {
				regs[next(d)] = 0
			}
		}
		wide := strings.Contains(op, ".WIDE") || strings.Contains(op, ".64") || strings.HasPrefix(op, "LDC") || op == "CS2R"
		if ok && m[1] == "" {
			regs[d] = v
		} else {
			delete(regs, d)
			if wide && d[0] == 'R' {
				delete(regs, next(d))
			}
		}
	}
	return words, width
}

// half gives the bits of a half-precision number as the disassembler prints it.
func half(s string) (uint64, bool) {
	s = strings.TrimSpace(s)
	if strings.Contains(s, "INF") || strings.Contains(s, "NAN") {
		return 0, false
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0, false
	}
	var sign uint64
	if math.Signbit(f) {
		sign, f = 0x8000, -f
	}
	if f == 0 {
		return sign, true
	}
	fr, e := math.Frexp(f) // f = fr * 2^e, fr in [0.5, 1)
	if e-1 < -14 {
		return sign | uint64(math.Round(math.Ldexp(f, 24))), true
	}
	return sign | uint64(e-1+15)<<10 | uint64(math.Round(math.Ldexp(fr, 11)))&0x3ff, true
}
