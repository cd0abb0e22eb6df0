package ptxsim

import (
	"slices"
	"strings"
	"testing"
)

// wrap makes a kernel k(u64 p) from a body; %tid.x is in %r0, p in %rd0.
func wrap(body string) string {
	return `.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 k_param_0)
{
	.reg .pred %p<10>;
	.reg .b16 %rs<10>;
	.reg .b32 %r<30>;
	.reg .b64 %rd<30>;
	.reg .f64 %fd<10>;
	.shared .align 8 .b8 a[256];
	.shared .align 8 .b8 b[256];
	.local .align 4 .b8 l[16];
	mov.u32 %r0, %tid.x;
	ld.param.u64 %rd0, [k_param_0];
	mul.wide.u32 %rd1, %r0, 4;
	add.s64 %rd2, %rd0, %rd1;
	mov.u64 %rd3, a;
	add.s64 %rd4, %rd3, %rd1;
` + body + `
	ret;
}
`
}

// Each row plants one fault; fine is the same program without it.
var planted = []struct {
	name, kind  string
	block       int
	fault, fine string
}{
	{"global past the end", OutOfBounds, 65, "st.global.u32 [%rd2], %r0;", "@%p0 st.global.u32 [%rd2], %r0;"},
	{"global before the start", OutOfBounds, 32, "ld.global.u32 %r1, [%rd2+-4];", "ld.global.u32 %r1, [%rd2+4];"},
	{"generic null", OutOfBounds, 32, "mov.u64 %rd5, 0; ld.u32 %r1, [%rd5];", "ld.u32 %r1, [%rd2];"},
	{"shared variable overrun", OutOfBounds, 32, "st.shared.u32 [%rd4+132], %r0;", "st.shared.u32 [%rd4+128], %r0;"},
	{"local overrun", OutOfBounds, 32, "st.local.u32 [l+16], %r0;", "st.local.u32 [l+12], %r0;"},
	{"misaligned", Misaligned, 32, "ld.global.u16 %rs1, [%rd2+1];", "ld.global.u16 %rs1, [%rd2+2];"},
	{"misaligned vector", Misaligned, 1, "ld.global.v2.u32 {%r1, %r2}, [%rd2+4];", "ld.global.v2.u32 {%r1, %r2}, [%rd2+8];"},
	{"shared write, other warp reads", Race, 64,
		"st.shared.u32 [%rd4], %r0; xor.b32 %r1, %r0, 32; mul.wide.u32 %rd5, %r1, 4; add.s64 %rd6, %rd3, %rd5; ld.shared.u32 %r2, [%rd6];",
		"st.shared.u32 [%rd4], %r0; bar.sync 0; xor.b32 %r1, %r0, 32; mul.wide.u32 %rd5, %r1, 4; add.s64 %rd6, %rd3, %rd5; ld.shared.u32 %r2, [%rd6];"},
	{"shared write, other lane reads", Race, 32,
		"st.shared.u32 [%rd4], %r0; xor.b32 %r1, %r0, 1; mul.wide.u32 %rd5, %r1, 4; add.s64 %rd6, %rd3, %rd5; ld.shared.u32 %r2, [%rd6];",
		"st.shared.u32 [%rd4], %r0; bar.warp.sync -1; xor.b32 %r1, %r0, 1; mul.wide.u32 %rd5, %r1, 4; add.s64 %rd6, %rd3, %rd5; ld.shared.u32 %r2, [%rd6];"},
	{"warp barrier does not order warps", Race, 64,
		"st.shared.u32 [a], %r0; bar.warp.sync -1; ld.shared.u32 %r2, [a];",
		"@%p1 st.shared.u32 [a], %r0; bar.sync 0; ld.shared.u32 %r2, [a];"},
	{"read, then another warp writes", Race, 64,
		"st.shared.u32 [%rd4], %r0; bar.sync 0; ld.shared.u32 %r2, [a]; @%p1 st.shared.u32 [a], %r0;",
		"st.shared.u32 [%rd4], %r0; bar.sync 0; ld.shared.u32 %r2, [a]; bar.sync 0; @%p1 st.shared.u32 [a], %r0;"},
	{"global write by all", Race, 64, "st.global.u32 [%rd0], %r0;", "red.global.add.u32 [%rd0], %r0;"},
	{"plain and atomic", Race, 64, "red.global.add.u32 [%rd0], 1; ld.global.u32 %r1, [%rd0];", "red.global.add.u32 [%rd0], 1; bar.sync 0; ld.global.u32 %r1, [%rd0];"},
	{"unwritten shared", Unwritten, 32, "ld.shared.u32 %r1, [%rd4];", "st.shared.u32 [%rd4], %r0; ld.shared.u32 %r1, [%rd4];"},
	{"unwritten global", Unwritten, 32, "ld.global.u32 %r1, [%rd2+128];", "st.global.u32 [%rd2+128], %r0; ld.global.u32 %r1, [%rd2+128];"},
	{"unwritten register", Unwritten, 32, "add.s32 %r1, %r2, 1;", "mov.u32 %r2, 1; add.s32 %r1, %r2, 1;"},
	{"register unwritten in some lanes", Unwritten, 32, "@%p1 mov.u32 %r2, 1; add.s32 %r1, %r2, 1;", "mov.u32 %r2, 1; add.s32 %r1, %r2, 1;"},
	{"barrier in a branch", Divergence, 32, "@%p1 bra $L1; bar.sync 0; $L1: ret;", "@%p1 bra $L1; $L1: bar.sync 0;"},
	{"barriers of two branches", Divergence, 32, "@%p1 bra $L1; bar.sync 0; bra $L2; $L1: bar.sync 0; $L2: ret;", "@%p1 bra $L1; $L1: bar.sync 0; $L2: ret;"},
	{"guarded barrier", Divergence, 64, "@%p1 bar.sync 0; mov.u32 %r1, 0; bar.sync 1;", "bar.sync 0; mov.u32 %r1, 0; bar.sync 1;"},
	{"barrier after some ended", Divergence, 64, "@!%p2 ret; bar.sync 0;", "bar.sync 0; @!%p2 ret;"},
	{"warps at different barriers", Divergence, 64, "setp.lt.u32 %p3, %r0, 32; @%p3 bra $L1; bar.sync 0; bra $L2; $L1: bar.sync 1; $L2: ret;", "setp.lt.u32 %p3, %r0, 32; @%p3 bra $L1; bar.sync 1; bra $L2; $L1: bar.sync 1; $L2: ret;"},
	{"ballot without some lanes", Divergence, 32, "@%p1 bra $L1; vote.sync.ballot.b32 %r1, %p1, -1; bra $L2; $L1: bar.sync 0; $L2: ret;", "@%p1 bra $L1; vote.sync.ballot.b32 %r1, %p1, 0xfffffffe; $L1: ret;"},
	{"shuffle from a lane outside", Divergence, 32, "@%p1 bra $L1; shfl.sync.idx.b32 %r1, %r0, 0, 31, 0xfffffffe; $L1: ret;", "@%p1 bra $L1; shfl.sync.idx.b32 %r1, %r0, 1, 31, 0xfffffffe; $L1: ret;"},
	{"endless loop", Hang, 32, "$L1: bra.uni $L1;", "mov.u32 %r1, 5; $L1: add.s32 %r1, %r1, -1; setp.ne.s32 %p3, %r1, 0; @%p3 bra $L1;"},
	{"trap", Trap, 32, "trap;", "@%p4 trap;"},
	{"division by zero", Trap, 32, "div.u32 %r1, %r0, 0;", "div.u32 %r1, %r0, 1;"},
}

func TestPlantedFaultsAreSeenAndNoOthers(t *testing.T) {
	// %p0: tid < 32; %p1: tid == 0; %p2: tid < 40; %p4: never
	pre := "setp.lt.u32 %p0, %r0, 32; setp.eq.s32 %p1, %r0, 0; setp.lt.u32 %p2, %r0, 40; setp.lt.u32 %p4, %r0, 0;\n"
	for _, c := range planted {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			for _, v := range []string{"fault", "fine"} {
				body := c.fault
				if v == "fine" {
					body = c.fine
				}
				m, err := Parse(wrap(pre + strings.ReplaceAll(body, "; ", ";\n")))
				if err != nil {
					t.Fatal(v, err)
				}
				for seed := range uint64(5) {
					d := NewDevice()
					p := d.Alloc("p", 256)
					for i := range 128 {
						p.data[i] = 0
					}
					for i := range 256 {
						p.written[i] = i < 192 && !strings.HasPrefix(c.name, "unwritten")
					}
					if strings.HasPrefix(c.name, "misaligned") || c.kind == OutOfBounds {
						for i := range p.written {
							p.written[i] = true
						}
					}
					res, err := m.Run(d, "k", Launch{Grid: 1, Block: c.block, Args: []uint64{p.Addr()}, Options: Options{Seed: seed, MaxSteps: 100000}})
					if err != nil {
						t.Fatal(err)
					}
					if v == "fine" {
						if err := res.Err(); err != nil {
							t.Fatal("without the fault:", err)
						}
						continue
					}
					if len(res.Faults) == 0 {
						t.Fatal("not seen")
					}
					if !slices.ContainsFunc(res.Faults, func(f Fault) bool { return f.Kind == c.kind }) {
						t.Fatal("wrong kind:", res.Err())
					}
				}
			}
		})
	}
}

func TestRacesBetweenBlocks(t *testing.T) {
	for body, want := range map[string]string{
		"mov.u32 %r1, %ctaid.x; st.global.u32 [%rd0], %r1;":                                                      Race,
		"mov.u32 %r1, %ctaid.x; red.global.add.u32 [%rd0], %r1;":                                                 "",
		"mov.u32 %r1, %ctaid.x; mul.wide.u32 %rd5, %r1, 4; add.s64 %rd6, %rd0, %rd5; st.global.u32 [%rd6], %r1;": "",
	} {
		m, err := Parse(wrap(body))
		if err != nil {
			t.Fatal(err)
		}
		d := NewDevice()
		res, err := m.Run(d, "k", Launch{Grid: 8, Block: 1, Args: []uint64{d.Upload("p", make([]byte, 64)).Addr()}})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if len(res.Faults) > 0 {
			got = res.Faults[0].Kind
		}
		if got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}

func TestWhatIsNotKnownIsRefused(t *testing.T) {
	for _, s := range []string{
		"wmma.load.a.sync %r1, %r2;", "add.cc.u32 %r1, %r1, %r2;", "add.sat.s32 %r1, %r1, %r2;", "bar.sync 0, 64;", "shfl.up.b32 %r1, %r1, 1, 0;",
		"fma.rn.f32 %r1, %r1, %r1, %r1;", "mul.s32 %r1, %r1, %r2;", "and.pred %p1, !%p2, %p3;", "call f;", "bar.arrive 0;", "atom.global.add.f32 %r1, [%rd0], %r2;", "ld.global.v2.u32 %r1, [%rd0];", "cvt.sat.u8.s32 %rs1, %r1;", "shf.l.b32 %r1, %r1, %r2, %r3;", "ret 1;", "add.s32 %r1, %r2;", "bra $L9;", "mov.u32 %r1, %clock;", "ld.param.u64 %rd9, [k_param_1];", "cp.async.ca.shared.global [a], [%rd0], 4;", "add.s32 %r1, %r99, 1;",
	} {
		if _, err := Parse(wrap(s)); err == nil {
			t.Errorf("%q parsed", s)
		}
	}
}
