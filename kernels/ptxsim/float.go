package ptxsim

import (
	"math"
	"math/bits"
)

func f32(v uint64) float32  { return math.Float32frombits(uint32(v)) }
func f64(v uint64) float64  { return math.Float64frombits(v) }
func b32(f float32) uint64  { return uint64(math.Float32bits(f)) }
func b64f(f float64) uint64 { return math.Float64bits(f) }

// float runs arithmetic of float32, by way of float64, and of float64. Sums, differences, products and quotients of two float32 are rounded
// as if once; a fused product is not, so that it is known for float64 only.
func (w *warp) float(in *instr, m uint32, d, a, b, c *reg) {
	for x := m; x != 0; x &= x - 1 {
		i := bits.TrailingZeros32(x) & 31
		if in.bits == 32 {
			d[i] = b32(float32(floatOp(in, float64(f32(a[i])), float64(f32(b[i])), 0)))
			continue
		}
		d[i] = b64f(floatOp(in, f64(a[i]), f64(b[i]), f64(c[i])))
	}
}

func floatOp(in *instr, a, b, c float64) float64 {
	switch in.op {
	case opAdd:
		return a + b
	case opSub:
		return a - b
	case opMulLo:
		return a * b
	case opDiv:
		return a / b
	case opNeg:
		return -a
	case opAbs:
		return math.Abs(a)
	case opFma:
		return math.FMA(a, b, c)
	case opMin, opMax:
		switch {
		case a != a:
			return b
		case b != b:
			return a
		case in.op == opMin:
			return math.Min(a, b)
		}
		return math.Max(a, b)
	}
	panic("instruction " + in.text) // Parse decodes no others
}
