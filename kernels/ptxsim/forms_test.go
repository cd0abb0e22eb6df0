package ptxsim

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// form is an instruction with what the manual says it gives. In its text %a %b %c are random 32-bit operands, %A %B %C 64-bit ones; the
// result is %r9 or %rd9. The function has the operands as numbers.
type form struct {
	text string
	want func(a, b, c uint32, A, B, C uint64) uint64
}

func s32(v uint32) int64 { return int64(int32(v)) }

func b2u(b bool) uint64 { return pick(b, 1, 0) }

var forms = []form{
	{"add.s32 %r9, %a, %b;", func(a, b, _ uint32, _, _, _ uint64) uint64 { return uint64(a + b) }},
	{"sub.s64 %rd9, %A, %B;", func(_, _, _ uint32, A, B, _ uint64) uint64 { return A - B }},
	{"mul.lo.s32 %r9, %a, %b;", func(a, b, _ uint32, _, _, _ uint64) uint64 { return uint64(a * b) }},
	{"mul.hi.s32 %r9, %a, %b;", func(a, b, _ uint32, _, _, _ uint64) uint64 { return uint64(uint32(s32(a) * s32(b) >> 32)) }},
	{"mul.hi.u32 %r9, %a, %b;", func(a, b, _ uint32, _, _, _ uint64) uint64 { return uint64(a) * uint64(b) >> 32 }},
	{"mul.wide.s32 %rd9, %a, %b;", func(a, b, _ uint32, _, _, _ uint64) uint64 { return uint64(s32(a) * s32(b)) }},
	{"mul.wide.u32 %rd9, %a, %b;", func(a, b, _ uint32, _, _, _ uint64) uint64 { return uint64(a) * uint64(b) }},
	{"mul.lo.s64 %rd9, %A, %B;", func(_, _, _ uint32, A, B, _ uint64) uint64 { return A * B }},
	{"mad.lo.s32 %r9, %a, %b, %c;", func(a, b, c uint32, _, _, _ uint64) uint64 { return uint64(a*b + c) }},
	{"mad.lo.s64 %rd9, %A, %B, %C;", func(_, _, _ uint32, A, B, C uint64) uint64 { return A*B + C }},
	{"mad.wide.u32 %rd9, %a, %b, %C;", func(a, b, _ uint32, _, _, C uint64) uint64 { return uint64(a)*uint64(b) + C }},
	{"mad.wide.s32 %rd9, %a, %b, %C;", func(a, b, _ uint32, _, _, C uint64) uint64 { return uint64(s32(a)*s32(b)) + C }},
	{"min.s32 %r9, %a, %b;", func(a, b, _ uint32, _, _, _ uint64) uint64 { return uint64(uint32(min(s32(a), s32(b)))) }},
	{"max.s32 %r9, %a, %b;", func(a, b, _ uint32, _, _, _ uint64) uint64 { return uint64(uint32(max(s32(a), s32(b)))) }},
	{"min.u64 %rd9, %A, %B;", func(_, _, _ uint32, A, B, _ uint64) uint64 { return min(A, B) }},
	{"abs.s32 %r9, %a;", func(a, _, _ uint32, _, _, _ uint64) uint64 { return uint64(uint32(max(s32(a), -s32(a)))) }},
	{"neg.s64 %rd9, %A;", func(_, _, _ uint32, A, _, _ uint64) uint64 { return -A }},
	{"and.b32 %r9, %a, %b;", func(a, b, _ uint32, _, _, _ uint64) uint64 { return uint64(a & b) }},
	{"or.b64 %rd9, %A, %B;", func(_, _, _ uint32, A, B, _ uint64) uint64 { return A | B }},
	{"xor.b32 %r9, %a, %b;", func(a, b, _ uint32, _, _, _ uint64) uint64 { return uint64(a ^ b) }},
	{"not.b32 %r9, %a;", func(a, _, _ uint32, _, _, _ uint64) uint64 { return uint64(^a) }},
	{"and.b32 %r8, %c, 63; shl.b32 %r9, %a, %r8;", func(a, _, c uint32, _, _, _ uint64) uint64 { return uint64(a << (c & 63)) }},
	{"and.b32 %r8, %c, 127; shl.b64 %rd9, %A, %r8;", func(_, _, c uint32, A, _, _ uint64) uint64 { return A << (c & 127) }},
	{"and.b32 %r8, %c, 63; shr.s32 %r9, %a, %r8;", func(a, _, c uint32, _, _, _ uint64) uint64 { return uint64(uint32(s32(a) >> (c & 63))) }},
	{"and.b32 %r8, %c, 127; shr.u64 %rd9, %A, %r8;", func(_, _, c uint32, A, _, _ uint64) uint64 { return A >> (c & 127) }},
	{"and.b32 %r8, %c, 127; shr.s64 %rd9, %A, %r8;", func(_, _, c uint32, A, _, _ uint64) uint64 { return uint64(int64(A) >> (c & 127)) }},
	{"shf.l.wrap.b32 %r9, %a, %b, %c;", func(a, b, c uint32, _, _, _ uint64) uint64 {
		return (uint64(b)<<32 | uint64(a)) << (c & 31) >> 32
	}},
	{"shf.r.clamp.b32 %r9, %a, %b, %c;", func(a, b, c uint32, _, _, _ uint64) uint64 {
		return uint64(uint32((uint64(b)<<32 | uint64(a)) >> min(c, 32)))
	}},
	{"popc.b64 %r9, %A;", func(_, _, _ uint32, A, _, _ uint64) uint64 { return uint64(bits.OnesCount64(A)) }},
	{"clz.b32 %r9, %a;", func(a, _, _ uint32, _, _, _ uint64) uint64 { return uint64(bits.LeadingZeros32(a)) }},
	{"brev.b32 %r9, %a;", func(a, _, _ uint32, _, _, _ uint64) uint64 { return uint64(bits.Reverse32(a)) }},
	{"bfind.u32 %r9, %a;", func(a, _, _ uint32, _, _, _ uint64) uint64 { return uint64(uint32(bits.Len32(a) - 1)) }},
	{"bfe.u32 %r9, %a, 5, 9;", func(a, _, _ uint32, _, _, _ uint64) uint64 { return uint64(a >> 5 & 511) }},
	{"bfe.s32 %r9, %a, 5, 9;", func(a, _, _ uint32, _, _, _ uint64) uint64 { return uint64(uint32(int32(a<<18) >> 23)) }},
	{"bfi.b32 %r9, %a, %b, 7, 6;", func(a, b, _ uint32, _, _, _ uint64) uint64 { return uint64(b&^(63<<7) | a&63<<7) }},
	{"prmt.b32 %r9, %a, %b, 0x7531;", func(a, b, _ uint32, _, _, _ uint64) uint64 {
		return uint64(a>>8&255 | a>>24<<8 | b>>8&255<<16 | b>>24<<24)
	}},
	{"setp.lt.s32 %p1, %a, %b; selp.b32 %r9, 1, 0, %p1;", func(a, b, _ uint32, _, _, _ uint64) uint64 { return b2u(int32(a) < int32(b)) }},
	{"setp.hs.u64 %p1, %A, %B; selp.b32 %r9, 1, 0, %p1;", func(_, _, _ uint32, A, B, _ uint64) uint64 { return b2u(A >= B) }},
	{"setp.eq.b32 %p1, %a, %a; setp.lt.and.s64 %p2|%p3, %A, %B, !%p1; selp.b32 %r8, 2, 0, %p2; selp.b32 %r7, 1, 0, %p3; add.s32 %r9, %r8, %r7;",
		func(_, _, _ uint32, _, _, _ uint64) uint64 { return 0 }},
	{"setp.lt.u32 %p1, %a, %b; setp.lt.u32 %p2, %b, %c; xor.pred %p3, %p1, %p2; not.pred %p3, %p3; selp.b32 %r9, 7, 8, %p3;",
		func(a, b, c uint32, _, _, _ uint64) uint64 { return 8 - b2u((a < b) == (b < c)) }},
	{"setp.lt.u32 %p1, %a, %b; mov.pred %p2, %p1; mov.pred %p3, 1; and.pred %p4, %p2, %p3; or.pred %p4, %p4, %p1; selp.b32 %r9, 1, 0, %p4;",
		func(a, b, _ uint32, _, _, _ uint64) uint64 { return b2u(a < b) }},
	{"cvt.s64.s32 %rd9, %a;", func(a, _, _ uint32, _, _, _ uint64) uint64 { return uint64(s32(a)) }},
	{"cvt.u64.u32 %rd9, %a;", func(a, _, _ uint32, _, _, _ uint64) uint64 { return uint64(a) }},
	{"cvt.s32.s8 %r9, %a;", func(a, _, _ uint32, _, _, _ uint64) uint64 { return uint64(uint32(int8(a))) }},
	{"cvt.u32.u16 %r9, %a;", func(a, _, _ uint32, _, _, _ uint64) uint64 { return uint64(uint16(a)) }},
	{"mov.b64 {%r8, %r9}, %A;", func(_, _, _ uint32, A, _, _ uint64) uint64 { return A >> 32 }},
	{"mov.b64 %rd9, {%b, %a};", func(a, b, _ uint32, _, _, _ uint64) uint64 { return uint64(a)<<32 | uint64(b) }},
	{"cvt.rn.f64.s64 %fd1, %A; add.f64 %fd2, %fd1, 0d3FF0000000000000; mul.f64 %fd2, %fd2, 0d4000000000000000; mov.b64 %rd9, %fd2;",
		func(_, _, _ uint32, A, _, _ uint64) uint64 { return math.Float64bits((float64(int64(A)) + 1) * 2) }},
	{"cvt.rn.f64.s32 %fd1, %a; cvt.rn.f64.s32 %fd2, %b; fma.rn.f64 %fd3, %fd1, %fd2, %fd1; mov.b64 %rd9, %fd3;",
		func(a, b, _ uint32, _, _, _ uint64) uint64 {
			return math.Float64bits(math.FMA(float64(int32(a)), float64(int32(b)), float64(int32(a))))
		}},
	{"mov.b64 %fd1, %A; mov.b64 %fd2, %B; setp.leu.f64 %p1, %fd1, %fd2; selp.b32 %r9, 1, 0, %p1;",
		func(_, _, _ uint32, A, B, _ uint64) uint64 {
			return b2u(!(math.Float64frombits(A) > math.Float64frombits(B)))
		}},
	{"cvt.rn.f64.u32 %fd1, %a; cvt.rzi.s64.f64 %rd9, %fd1;", func(a, _, _ uint32, _, _, _ uint64) uint64 { return uint64(a) }},
	{"setp.ne.s32 %p1, %a, %b; @%p1 bra $X; mov.u32 %r9, 1; bra.uni $Y; $X: mov.u32 %r9, 2; $Y: add.s32 %r9, %r9, 0;",
		func(a, b, _ uint32, _, _, _ uint64) uint64 { return 1 + b2u(a != b) }},
	{"lop3.b32 %r9, %a, %b, %c, 0x96;", func(a, b, c uint32, _, _, _ uint64) uint64 { return uint64(a ^ b ^ c) }},
	{"activemask.b32 %r9;", func(_, _, _ uint32, _, _, _ uint64) uint64 { return math.MaxUint32 }},
	{"vote.sync.any.pred %p1, %p9, -1; selp.b32 %r9, 1, 0, %p1;", func(_, _, _ uint32, _, _, _ uint64) uint64 { return 1 }},
	{"membar.gl; fence.acq_rel.gpu; mov.u32 %r9, %a;", func(a, _, _ uint32, _, _, _ uint64) uint64 { return uint64(a) }},
	{"st.shared.v2.u32 [%rd30], {%a, %b}; ld.shared.u64 %rd9, [%rd30];", func(a, b, _ uint32, _, _, _ uint64) uint64 { return uint64(b)<<32 | uint64(a) }},
	{"st.shared.u32 [%rd30], %a; ld.shared.s8 %r9, [%rd30+3];", func(a, _, _ uint32, _, _, _ uint64) uint64 { return uint64(uint32(int8(a >> 24))) }},
	{"st.shared.u32 [%rd30], %a; atom.shared.max.s32 %r8, [%rd30], %b; ld.shared.u32 %r9, [%rd30];",
		func(a, b, _ uint32, _, _, _ uint64) uint64 { return uint64(uint32(max(s32(a), s32(b)))) }},
	{"st.shared.u32 [%rd30], %a; atom.shared.cas.b32 %r8, [%rd30], %a, %c; red.shared.xor.b32 [%rd30], %b; ld.shared.u32 %r9, [%rd30];",
		func(_, b, c uint32, _, _, _ uint64) uint64 { return uint64(c ^ b) }},
	{"st.shared.u64 [%rd30], %A; atom.shared.exch.b64 %rd9, [%rd30], %B;", func(_, _, _ uint32, A, _, _ uint64) uint64 { return A }},
	{"st.shared.u32 [%rd30], %a; atom.shared.inc.u32 %r8, [%rd30], %b; ld.shared.u32 %r9, [%rd30];",
		func(a, b, _ uint32, _, _, _ uint64) uint64 { return pick(a >= b, 0, uint64(a+1)) }},
	{"cvta.shared.u64 %rd31, %rd30; cvta.to.shared.u64 %rd32, %rd31; sub.s64 %rd9, %rd32, %rd30;", func(_, _, _ uint32, _, _, _ uint64) uint64 { return 0 }},
}

// TestFormsAgainstTheManual runs every form with many operands in all lanes at once.
func TestFormsAgainstTheManual(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for _, f := range forms {
		m, err := Parse(formKernel(f.text))
		if err != nil {
			t.Fatal(f.text, err)
		}
		for range 8 {
			in := make([]byte, 32*40)
			for i := range 32 {
				for j := range 5 {
					put(in[40*i+8*j:], 8, edge(rnd, []int{32, 32, 64, 64, 64}[j]))
				}
			}
			d := NewDevice()
			out := d.Alloc("out", 256)
			res, err := m.Run(d, "k", Launch{Grid: 1, Block: 32, Args: []uint64{d.UploadReadOnly("in", in).Addr(), out.Addr()}})
			if err == nil {
				err = res.Err()
			}
			if err != nil {
				t.Fatal(f.text, err)
			}
			for i := range 32 {
				v := func(j int) uint64 { return get(in[40*i+8*j:], 8) }
				c := uint32(v(2))
				if got, want := get(out.Bytes()[8*i:], 8), f.want(uint32(v(0)), uint32(v(1)), c, v(2), v(3), v(4)); got != want {
					t.Fatalf("%s of %#x %#x %#x | %#x %#x %#x: %#x, want %#x", f.text, v(0), v(1), c, v(2), v(3), v(4), got, want)
				}
			}
		}
	}
}

func formKernel(text string) string {
	text = strings.NewReplacer("%a", "%r1", "%b", "%r2", "%c", "%r3", "%A", "%rd11", "%B", "%rd12", "%C", "%rd13").Replace(text)
	if !regexp.MustCompile(`%rd9\b`).MatchString(text) {
		text += " cvt.u64.u32 %rd9, %r9;"
	}
	return fmt.Sprintf(`.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 k_param_0, .param .u64 k_param_1)
{
	.reg .pred %%p<10>;
	.reg .b32 %%r<12>;
	.reg .b64 %%rd<40>;
	.reg .f64 %%fd<4>;
	.shared .align 8 .b8 room[256];
	ld.param.u64 %%rd1, [k_param_0];
	ld.param.u64 %%rd2, [k_param_1];
	mov.u32 %%r10, %%tid.x;
	setp.eq.s32 %%p9, %%r10, 3;
	mad.wide.u32 %%rd3, %%r10, 40, %%rd1;
	mad.wide.u32 %%rd4, %%r10, 8, %%rd2;
	mov.u64 %%rd29, room;
	mad.wide.u32 %%rd30, %%r10, 8, %%rd29;
	ld.global.u32 %%r1, [%%rd3];
	ld.global.u32 %%r2, [%%rd3+8];
	ld.global.u32 %%r3, [%%rd3+16];
	ld.global.u64 %%rd11, [%%rd3+16];
	ld.global.u64 %%rd12, [%%rd3+24];
	ld.global.u64 %%rd13, [%%rd3+32];
	%s
	st.global.u64 [%%rd4], %%rd9;
	ret;
}
`, strings.ReplaceAll(text, "; ", ";\n"))
}

// TestEveryInstructionHasAForm keeps the tests complete: an instruction that Parse knows is in a form above or in a test of its own.
func TestEveryInstructionHasAForm(t *testing.T) {
	elsewhere := "ret exit trap brkpt bra brx bar barrier shfl ldu div rem " // planted faults, shuffles, control flow, vectors
	var text strings.Builder
	for _, f := range forms {
		text.WriteString(" " + f.text)
	}
	for name := range newDecoders() {
		if !strings.Contains(elsewhere, name+" ") && !regexp.MustCompile(`[ ;]`+name+`\.`).MatchString(text.String()) {
			t.Errorf("no form of %s", name)
		}
	}
}

func TestFaultsNameTheSourceLine(t *testing.T) {
	src := strings.Replace(wrap(".loc 1 12 3\nmov.u32 %r1, 1;\n.loc 2 40 1\nld.global.u32 %r1, [%rd2+-4];"), ".visible", ".file 1 \"x/levels.cu\"\n.file 2 \"gpu.cuh\"\n.visible", 1)
	m, err := Parse(src)
	if err != nil {
		t.Fatal(err)
	}
	d := NewDevice()
	res, err := m.Run(d, "k", Launch{Grid: 1, Block: 32, Args: []uint64{d.Upload("p", make([]byte, 256)).Addr()}})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Faults) != 1 || res.Faults[0].Source != "gpu.cuh:40 from levels.cu:12" || !strings.Contains(res.Err().Error(), "out of bounds at gpu.cuh:40 from levels.cu:12 (ld.global.u32") {
		t.Fatal(res.Err())
	}
}

// TestRunsRepeat runs warps of several blocks in other orders: what they count is the same, and a seed gives the same faults.
func TestRunsRepeat(t *testing.T) {
	m, err := Parse(wrap("red.global.add.u32 [%rd0], %r0; bar.sync 0; st.shared.u32 [a], %r0; ld.global.u32 %r1, [%rd0];"))
	if err != nil {
		t.Fatal(err)
	}
	var first *Result
	for _, seed := range []uint64{1, 1, 2, 3} {
		d := NewDevice()
		res, err := m.Run(d, "k", Launch{Grid: 3, Block: 128, Args: []uint64{d.Upload("p", make([]byte, 64)).Addr()}, Options: Options{Seed: seed}})
		if err != nil {
			t.Fatal(err)
		}
		if len(res.Faults) == 0 {
			t.Fatal("the race was not seen")
		}
		if first == nil {
			first = res
		}
		if seed == 1 && res.Err().Error() != first.Err().Error() || res.LaneInstructions != first.LaneInstructions || res.GlobalSectors != first.GlobalSectors {
			t.Errorf("seed %d: %+v, then %+v", seed, first, res)
		}
	}
}
