package ptxsim

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"
)

// runLanes runs a body on one warp; each lane leaves 64 bits in %rd9.
func runLanes(t *testing.T, body string) [32]uint64 {
	t.Helper()
	m, err := Parse(wrap(strings.ReplaceAll(body, "; ", ";\n") + "\nmul.wide.u32 %rd20, %r0, 8;\nadd.s64 %rd21, %rd0, %rd20;\nst.global.u64 [%rd21], %rd9;"))
	if err != nil {
		t.Fatal(err)
	}
	d := NewDevice()
	p := d.Alloc("p", 256)
	res, err := m.Run(d, "k", Launch{Grid: 1, Block: 32, Args: []uint64{p.Addr()}})
	if err != nil {
		t.Fatal(err)
	}
	if err := res.Err(); err != nil {
		t.Fatal(body, err)
	}
	var out [32]uint64
	for i := range out {
		out[i] = binary.LittleEndian.Uint64(p.Bytes()[8*i:])
	}
	return out
}

func TestInstructionsAgainstTheirDefinitions(t *testing.T) {
	rnd := rand.New(rand.NewPCG(31, 32))
	for range 200 {
		a, b, c := edge(rnd, 32), edge(rnd, 32), edge(rnd, 32)
		x, y := edge(rnd, 64), edge(rnd, 64)|1
		sel, lut := rnd.Uint32N(65536), rnd.Uint32N(256)
		prmt := uint64(0)
		for i := range 4 {
			s := sel >> (4 * i) & 15
			v := byte((b<<32 | a) >> (8 * (s & 7)))
			if s&8 != 0 {
				v = byte(int8(v) >> 7)
			}
			prmt |= uint64(v) << (8 * i)
		}
		lop := uint64(0)
		for i := range 32 {
			ix := a>>i&1<<2 | b>>i&1<<1 | c>>i&1
			lop |= uint64(lut>>ix&1) << i
		}
		hiU, _ := bits.Mul64(x, y)
		hiS := hiU
		if int64(x) < 0 {
			hiS -= y
		}
		if int64(y) < 0 {
			hiS -= x
		}
		remS := uint64(0)
		if int64(y) != -1 {
			remS = uint64(int64(x) % int64(y))
		}
		for text, want := range map[string]uint64{
			fmt.Sprintf("prmt.b32 %%r9, %d, %d, %d; cvt.u64.u32 %%rd9, %%r9;", a, b, sel):                  prmt,
			fmt.Sprintf("lop3.b32 %%r9, %d, %d, %d, %d; cvt.u64.u32 %%rd9, %%r9;", a, b, c, lut):           lop,
			fmt.Sprintf("mul.hi.u64 %%rd9, %d, %d;", x, y):                                                 hiU,
			fmt.Sprintf("mul.hi.s64 %%rd9, %d, %d;", int64(x), int64(y)):                                   hiS,
			fmt.Sprintf("div.u64 %%rd9, %d, %d;", x, y):                                                    x / y,
			fmt.Sprintf("rem.s64 %%rd9, %d, %d;", int64(x), int64(y)):                                      remS,
			fmt.Sprintf("rem.u32 %%r9, %d, %d; cvt.u64.u32 %%rd9, %%r9;", a, b|1):                          a % (b | 1),
			fmt.Sprintf("mad.hi.u32 %%r9, %d, %d, %d; cvt.u64.u32 %%rd9, %%r9;", a, b, c):                  (a*b>>32 + c) & 0xffffffff,
			fmt.Sprintf("cvt.rn.f64.s32 %%fd1, %d; mov.b64 %%rd9, %%fd1;", int32(a)):                       math.Float64bits(float64(int32(a))),
			fmt.Sprintf("cvt.rn.f64.u64 %%fd1, %d; mov.b64 %%rd9, %%fd1;", x):                              math.Float64bits(float64(x)),
			fmt.Sprintf("mov.u64 %%rd5, %d; mov.b64 {%%r1, %%r2}, %%rd5; mov.b64 %%rd9, {%%r2, %%r1};", x): x<<32 | x>>32,
		} {
			if got := runLanes(t, text)[0]; got != want {
				t.Fatalf("%s: %#x, want %#x", text, got, want)
			}
		}
	}
}

func TestShuffles(t *testing.T) {
	for width := 1; width <= 32; width *= 2 {
		seg := (32 - width) << 8
		for n := range 32 {
			for mode, f := range map[string]func(i int) int{
				"up": func(i int) int {
					if i%width >= n {
						return i - n
					}
					return i
				},
				"down": func(i int) int {
					if i%width+n < width {
						return i + n
					}
					return i
				},
				"bfly": func(i int) int {
					if j := i ^ n; j <= i/width*width+width-1 {
						return j
					}
					return i
				},
				"idx": func(i int) int { return i/width*width + n%width },
			} {
				c := seg | 31
				if mode == "up" {
					c = seg
				}
				out := runLanes(t, fmt.Sprintf("mad.lo.s32 %%r1, %%r0, 3, 5; shfl.sync.%s.b32 %%r2, %%r1, %d, %d, -1; cvt.u64.u32 %%rd9, %%r2;", mode, n, c))
				for i, v := range out {
					if want := uint64(3*f(i) + 5); v != want {
						t.Fatalf("%s width %d by %d, lane %d: %d, want %d", mode, width, n, i, v, want)
					}
				}
			}
		}
	}
}

func TestControlFlow(t *testing.T) {
	// a loop with another count in each lane, then a join
	out := runLanes(t, "mov.u64 %rd9, 0; mov.u32 %r1, 0; $L1: setp.ge.u32 %p3, %r1, %r0; @%p3 bra $L2; add.s64 %rd9, %rd9, 2; add.s32 %r1, %r1, 1; bra $L1; $L2: vote.sync.ballot.b32 %r2, %p3, -1; cvt.u64.u32 %rd8, %r2; add.s64 %rd9, %rd9, %rd8;")
	for i, v := range out {
		if v != uint64(2*i)+0xffffffff {
			t.Fatalf("lane %d: %#x", i, v)
		}
	}
	// a branch table
	out = runLanes(t, "and.b32 %r1, %r0, 3; $T: .branchtargets $A, $B, $C, $C; brx.idx %r1, $T; $A: mov.u64 %rd9, 10; bra $E; $B: mov.u64 %rd9, 20; bra $E; $C: mov.u64 %rd9, 30; $E: add.s64 %rd9, %rd9, 1;")
	for i, v := range out {
		if v != []uint64{11, 21, 31, 31}[i%4] {
			t.Fatalf("lane %d: %d", i, v)
		}
	}
	// vectors, local memory, generic shared addresses, atomics with results
	out = runLanes(t, "st.local.v2.u32 [l], {%r0, %r0}; ld.local.v2.u32 {%r1, %r2}, [l]; add.s32 %r3, %r1, %r2; cvta.shared.u64 %rd5, %rd4; st.u32 [%rd5], %r3; ld.shared.u32 %r4, [%rd4]; setp.eq.s32 %p1, %r0, 0; @%p1 st.shared.u32 [b], 0; bar.sync 0; atom.shared.add.u32 %r5, [b], 1; bar.sync 0; ld.shared.u32 %r6, [b]; mov.b64 %rd9, {%r4, %r6};")
	for i, v := range out {
		if v != uint64(2*i)|32<<32 {
			t.Fatalf("lane %d: %#x", i, v)
		}
	}
}
