//go:build cgo

package duckdb

import "math"

// strictPow is x to the y-th: 2 to the y times its logarithm to the base 2, which has two doubles.
func strictPow(x, y float64) float64 {
	a := math.Abs(x)
	switch {
	case y == 0:
		return 1
	case math.IsNaN(x) || math.IsNaN(y):
		return math.NaN()
	case math.IsInf(y, 0) && a == 1:
		return math.NaN()
	case math.IsInf(y, 0) || a == 0 || math.IsInf(x, 0):
		return math.Pow(x, y) // 0 or infinite
	case y == 2:
		return x * x
	case y == 1:
		return x
	case y == -1:
		return 1 / x
	case y == 0.5 && x >= 0:
		return math.Sqrt(x)
	}
	whole := math.Trunc(y) == y
	if x < 0 && !whole {
		return math.NaN()
	}
	sign := 1.0
	if x < 0 && math.Abs(y) < 1<<53 && int64(y)&1 == 1 {
		sign = -1
	}
	if a == 1 {
		return sign
	}
	t1, t2, fits := logarithm2(a, y)
	if !fits {
		if (a > 1) == (y > 0) {
			return math.Inf(int(sign))
		}
		return sign * 0
	}
	y1 := truncatedLow(y)
	low := float64((y-y1)*t1) + float64(y*t2)
	high := float64(y1 * t1)
	return sign * exp2(high, low)
}

// logarithm2 gives the logarithm to the base 2 in two parts; false: x to the y-th is 0 or infinite for sure.
func logarithm2(x, y float64) (high, low float64, fits bool) {
	size := upperWord(x)
	if ySize := upperWord(y) & 0x7fffffff; ySize > 0x41e00000 {
		if size < 0x3fefffff || size > 0x3ff00000 {
			return 0, 0, false
		}
		if ySize > 0x43f00000 {
			return 0, 0, false
		}
		t := x - 1
		w := float64(t*t) * (0.5 - float64(t*(0.3333333333333333333333-float64(t*0.25))))
		u := float64(1.44269502162933349609e+00 * t)
		v := float64(t*1.92596299112661746887e-08) - float64(w*1.44269504088896338700e+00)
		high = truncatedLow(u + v)
		return high, v - (high - u), true
	}
	n := int32(0)
	if size < 0x00100000 {
		x *= 1 << 53
		n = -53
		size = upperWord(x)
	}
	n += size>>20 - 0x3ff
	j := size & 0x000fffff
	size = j | 0x3ff00000
	k := 0
	switch {
	case j <= 0x3988e:
	case j < 0xbb67a:
		k = 1
	default:
		n++
		size -= 0x00100000
	}
	x = withUpper(x, size)
	base := [2]float64{1, 1.5}[k]
	u := x - base
	v := 1 / (x + base)
	ss := u * v
	sHigh := truncatedLow(ss)
	tHigh := withUpper(0, (size>>1|0x20000000)+0x00080000+int32(k)<<18)
	tLow := x - (tHigh - base)
	sLow := v * ((u - float64(sHigh*tHigh)) - float64(sHigh*tLow))
	s2 := ss * ss
	r := float64(float64(s2*s2) * polynomial(s2, 5.99999999999994648725e-01, 4.28571428578550184252e-01, 3.33333329818377432918e-01, 2.72728123808534006489e-01, 2.30660745775561754067e-01, 2.06975017800338417784e-01))
	r += float64(sLow * (sHigh + ss))
	s2 = sHigh * sHigh
	tHigh = truncatedLow(3 + s2 + r)
	tLow = r - ((tHigh - 3) - s2)
	u = sHigh * tHigh
	v = float64(sLow*tHigh) + float64(tLow*ss)
	pHigh := truncatedLow(u + v)
	pLow := v - (pHigh - u)
	zHigh := float64(9.61796700954437255859e-01 * pHigh)
	zLow := float64(-7.02846165095275826516e-09*pHigh) + float64(pLow*9.61796693925975554329e-01) + [2]float64{0, 1.35003920212974897128e-08}[k]
	t, step := float64(n), [2]float64{0, 5.84962487220764160156e-01}[k]
	high = truncatedLow(((zHigh + zLow) + step) + t)
	return high, zLow - (((high - t) - step) - zHigh), true
}

// exp2 is 2 to the sum of two parts.
func exp2(high, low float64) float64 {
	z := high + low
	top, bottom := upperWord(z), int32(math.Float64bits(z))
	switch {
	case top >= 0x40900000 && (top != 0x40900000 || bottom != 0 || low+8.0085662595372944372e-17 > z-high):
		return math.Inf(1)
	case top&0x7fffffff >= 0x4090cc00 && (uint32(top) != 0xc090cc00 || bottom != 0 || low <= z-high) && top < 0:
		return 0
	}
	size := top & 0x7fffffff
	n := int32(0)
	if size > 0x3fe00000 {
		n = top + 0x00100000>>(size>>20-0x3ff+1)
		k := n&0x7fffffff>>20 - 0x3ff
		t := withUpper(0, n&^(0x000fffff>>k))
		n = (n&0x000fffff | 0x00100000) >> (20 - k)
		if top < 0 {
			n = -n
		}
		high -= t
	}
	t := truncatedLow(low + high)
	u := float64(t * 6.93147182464599609375e-01)
	v := float64((low-(t-high))*6.93147180559945286227e-01) + float64(t*-1.90465429995776804525e-09)
	z = u + v
	w := v - (z - u)
	t1 := expTerms(z)
	r := float64(z*t1)/(t1-2) - (w + float64(z*w))
	z = 1 - (r - z)
	if j := upperWord(z) + n<<20; j>>20 <= 0 {
		return math.Ldexp(z, int(n))
	}
	return withUpper(z, upperWord(z)+n<<20)
}

// strictHypot is the length of a diagonal.
func strictHypot(x, y float64) float64 {
	a, b := math.Abs(x), math.Abs(y)
	if math.IsInf(a, 0) || math.IsInf(b, 0) || math.IsNaN(a+b) || a == 0 || b == 0 {
		return math.Hypot(x, y) // one of them, infinite, or no number
	}
	if a < b {
		a, b = b, a
	}
	if upperWord(a)-upperWord(b) > 0x3c00000 {
		return a + b
	}
	scale := 1.0
	switch { // so that squares are in the middle of the doubles
	case a > 0x1.00000ffffffffp500:
		a, b, scale = a*0x1p-600, b*0x1p-600, 0x1p600
	case b < 0x1p-1022:
		a, b, scale = a*0x1p1022, b*0x1p1022, 0x1p-1022
	case b < 0x1p-500:
		a, b, scale = a*0x1p600, b*0x1p600, 0x1p-600
	}
	w := a - b
	if w > b {
		t1 := truncatedLow(a)
		t2 := a - t1
		return scale * math.Sqrt(float64(t1*t1)-(float64(b*-b)-float64(t2*(a+t1))))
	}
	twice := a + a
	y1, t1 := truncatedLow(b), truncatedLow(twice)
	y2, t2 := b-y1, twice-t1
	return scale * math.Sqrt(float64(t1*y1)-(float64(w*-w)-(float64(t1*y2)+float64(t2*b))))
}
