//go:build cgo

package duckdb

import "math"

// The functions of these files give the doubles of Java's StrictMath: they compute what fdlibm does, in its order. Products are rounded before they are added to
// anything, on every machine.

// ln2 in two parts, the first of which has zeros at its end.
const (
	ln2High = 6.93147180369123816490e-01
	ln2Low  = 1.90821492927058770002e-10
)

// upperWord is the half of a double that has its sign and exponent.
func upperWord(x float64) int32 { return int32(math.Float64bits(x) >> 32) }

// withUpper gives a double another upper half.
func withUpper(x float64, upper int32) float64 {
	return math.Float64frombits(uint64(uint32(upper))<<32 | math.Float64bits(x)&0xffffffff)
}

// truncatedLow drops the lower half.
func truncatedLow(x float64) float64 { return math.Float64frombits(math.Float64bits(x) &^ 0xffffffff) }

// polynomial gives c0 + x·(c1 + x·(c2 + …)).
func polynomial(x float64, coefficients ...float64) float64 {
	out := coefficients[len(coefficients)-1]
	for i := len(coefficients) - 2; i >= 0; i-- {
		out = coefficients[i] + float64(x*out)
	}
	return out
}

// expTerms is the part of exp that a rest of an argument gives.
func expTerms(x float64) float64 {
	t := x * x
	return x - float64(t*polynomial(t, 1.66666666666666019037e-01, -2.77777777770155933842e-03, 6.61375632143793436117e-05, -1.65339022054652515390e-06, 4.13813679705723846039e-08))
}

func strictExp(x float64) float64 {
	size := upperWord(x) & 0x7fffffff
	switch {
	case math.IsNaN(x):
		return x
	case x > 7.09782712893383973096e+02:
		return math.Inf(1)
	case x < -7.45133219101941108420e+02:
		return 0
	case size < 0x3e300000:
		return 1 + x
	}
	if size <= 0x3fd62e42 {
		c := expTerms(x)
		return 1 - (float64(x*c)/(c-2) - x)
	}
	sign, k := math.Copysign(1, x), 0
	var high, low float64
	if size < 0x3ff0a2b2 {
		k = int(sign)
		high, low = x-sign*ln2High, sign*ln2Low
	} else {
		k = int(float64(1.44269504088896338700e+00*x) + sign*0.5)
		high, low = x-float64(float64(k)*ln2High), float64(float64(k)*ln2Low)
	}
	x = high - low
	c := expTerms(x)
	y := 1 - ((low - float64(x*c)/(2-c)) - high)
	if k >= -1021 {
		return scaled(y, k)
	}
	return scaled(y, k+1000) * 0x1p-1000
}

// scaled adds to a double's exponent.
func scaled(y float64, k int) float64 {
	if k == 1024 {
		return y * 2 * 0x1p1023
	}
	return withUpper(y, upperWord(y)+int32(k)<<20)
}

func strictLog(x float64) float64 {
	switch {
	case x == 0:
		return math.Inf(-1)
	case x < 0:
		return math.NaN()
	case math.IsNaN(x) || math.IsInf(x, 1):
		return x
	}
	k := int32(0)
	if upperWord(x) < 0x00100000 {
		k, x = -54, x*(1<<54)
	}
	upper := upperWord(x)
	k += upper>>20 - 1023
	upper &= 0xfffff
	i := (upper + 0x95f64) & 0x100000
	x = withUpper(x, upper|(i^0x3ff00000))
	k += i >> 20
	f, dk := x-1, float64(k)
	if 0xfffff&(2+upper) < 3 {
		if f == 0 {
			return float64(dk*ln2High) + float64(dk*ln2Low)
		}
		r := float64(float64(f*f) * (0.5 - float64(0.33333333333333333*f)))
		return float64(dk*ln2High) - ((r - float64(dk*ln2Low)) - f)
	}
	s := f / (2 + f)
	z := s * s
	w := z * z
	odd := float64(z * polynomial(w, 6.666666666666735130e-01, 2.857142874366239149e-01, 1.818357216161805012e-01, 1.479819860511658591e-01))
	even := float64(w * polynomial(w, 3.999999999940941908e-01, 2.222219843214978396e-01, 1.531383769920937332e-01))
	r := odd + even
	if (upper-0x6147a)|(0x6b851-upper) > 0 {
		half := float64(0.5 * f * f)
		if k == 0 {
			return f - (half - float64(s*(half+r)))
		}
		return float64(dk*ln2High) - ((half - (float64(s*(half+r)) + float64(dk*ln2Low))) - f)
	}
	if k == 0 {
		return f - float64(s*(f-r))
	}
	return float64(dk*ln2High) - ((float64(s*(f-r)) - float64(dk*ln2Low)) - f)
}

func strictLog10(x float64) float64 {
	if x <= 0 || math.IsNaN(x) || math.IsInf(x, 1) {
		return strictLog(x)
	}
	k := int32(0)
	if upperWord(x) < 0x00100000 {
		k, x = -54, x*(1<<54)
	}
	upper := upperWord(x)
	k += upper>>20 - 1023
	i := int32(uint32(k) >> 31)
	y := float64(k + i)
	x = withUpper(x, upper&0xfffff|(0x3ff-i)<<20)
	z := float64(y*3.69423907715893078616e-13) + float64(4.34294481903251816668e-01*strictLog(x))
	return z + float64(y*3.01029995663611771306e-01)
}

func strictSinh(x float64) float64 {
	size, half := upperWord(x)&0x7fffffff, math.Copysign(0.5, x)
	a := math.Abs(x)
	switch {
	case size >= 0x7ff00000, size < 0x3e300000:
		return x
	case size < 0x3ff00000:
		t := math.Expm1(a)
		return half * (2*t - float64(t*t)/(t+1))
	case size < 0x40360000:
		t := math.Expm1(a)
		return half * (t + t/(t+1))
	case size < 0x40862e42:
		return half * strictExp(a)
	case a <= 7.10475860073943863426e+02:
		w := strictExp(0.5 * a)
		return float64(half*w) * w
	}
	return x * 1e307 * 10
}

func strictCosh(x float64) float64 {
	size, a := upperWord(x)&0x7fffffff, math.Abs(x)
	switch {
	case size >= 0x7ff00000:
		return x * x
	case size < 0x3fd62e43:
		t := math.Expm1(a)
		w := 1 + t
		if size < 0x3c800000 {
			return w
		}
		return 1 + float64(t*t)/(w+w)
	case size < 0x40360000:
		t := strictExp(a)
		return float64(0.5*t) + 0.5/t
	case size < 0x40862e42:
		return 0.5 * strictExp(a)
	case a <= 7.10475860073943863426e+02:
		w := strictExp(0.5 * a)
		return float64(0.5*w) * w
	}
	return math.Inf(1)
}

func strictTanh(x float64) float64 {
	size, a := upperWord(x)&0x7fffffff, math.Abs(x)
	z := 1.0
	switch {
	case math.IsNaN(x):
		return x
	case size < 0x3c800000:
		return x * (1 + x)
	case size < 0x3ff00000:
		t := math.Expm1(-2 * a)
		z = -t / (t + 2)
	case size < 0x40360000:
		t := math.Expm1(2 * a)
		z = 1 - 2/(t+2)
	}
	return math.Copysign(z, x)
}
