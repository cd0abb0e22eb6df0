//go:build cgo

package duckdb

import "math"

// Half of pi and pi, with what the doubles lack of them.
const (
	halfPi    = 1.57079632679489655800e+00
	halfPiLow = 6.12323399573676603587e-17
	piLow     = 1.2246467991473531772e-16
)

// atanSteps are the arcus tangents that others are counted from: of a half, 1, one and a half, and infinity.
var atanSteps = [4][2]float64{{4.63647609000806093515e-01, 2.26987774529616870924e-17}, {7.85398163397448278999e-01, 3.06161699786838301793e-17},
	{9.82793723247329054082e-01, 1.39033110312309984516e-17}, {halfPi, halfPiLow}}

func strictAtan(x float64) float64 {
	size, a := upperWord(x)&0x7fffffff, math.Abs(x)
	step := -1
	switch {
	case math.IsNaN(x):
		return x
	case size >= 0x44100000:
		return math.Copysign(halfPi+halfPiLow, x)
	case size < 0x3e200000:
		return x
	case size < 0x3fdc0000:
		a = x
	case size < 0x3fe60000:
		step, a = 0, (2*a-1)/(2+a)
	case size < 0x3ff30000:
		step, a = 1, (a-1)/(a+1)
	case size < 0x40038000:
		step, a = 2, (a-1.5)/(1+float64(1.5*a))
	default:
		step, a = 3, -1/a
	}
	z := a * a
	w := z * z
	odd := float64(z * polynomial(w, 3.33333333333329318027e-01, 1.42857142725034663711e-01, 9.09088713343650656196e-02, 6.66107313738753120669e-02, 4.97687799461593236017e-02, 1.62858201153657823623e-02))
	even := float64(w * polynomial(w, -1.99999999998764832476e-01, -1.11111104054623557880e-01, -7.69187620504482999495e-02, -5.83357013379057348645e-02, -3.65315727442169155270e-02))
	if step < 0 {
		return a - float64(a*(odd+even))
	}
	return math.Copysign(atanSteps[step][0]-((float64(a*(odd+even))-atanSteps[step][1])-a), x)
}

func strictAtan2(y, x float64) float64 {
	switch {
	case math.IsNaN(x) || math.IsNaN(y):
		return math.NaN()
	case x == 1:
		return strictAtan(y)
	case y == 0 || x == 0 || math.IsInf(x, 0) || math.IsInf(y, 0):
		return math.Atan2(y, x) // one of the multiples of a quarter of pi
	}
	k := (upperWord(y)&0x7fffffff - upperWord(x)&0x7fffffff) >> 20
	z := 0.0
	switch {
	case k > 60:
		z = halfPi + 0.5*piLow
	case x < 0 && k < -60:
	default:
		z = strictAtan(math.Abs(y / x))
	}
	switch {
	case x > 0:
		return math.Copysign(z, y)
	case y > 0:
		return math.Pi - (z - piLow)
	}
	return (z - piLow) - math.Pi
}

// arcRatio is the quotient of polynomials that asin and acos share.
func arcRatio(t float64) float64 {
	p := float64(t * polynomial(t, 1.66666666666666657415e-01, -3.25565818622400915405e-01, 2.01212532134862925881e-01, -4.00555345006794114027e-02, 7.91534994289814532176e-04, 3.47933107596021167570e-05))
	return p / polynomial(t, 1, -2.40339491173441421878e+00, 2.02094576023350569471e+00, -6.88283971605453293030e-01, 7.70381505559019352791e-02)
}

func strictAsin(x float64) float64 {
	size, a := upperWord(x)&0x7fffffff, math.Abs(x)
	switch {
	case !(a <= 1):
		return math.NaN()
	case a == 1:
		return float64(x*halfPi) + float64(x*halfPiLow)
	case size < 0x3e400000:
		return x
	case size < 0x3fe00000:
		return x + float64(x*arcRatio(x*x))
	}
	t := (1 - a) * 0.5
	r, s := arcRatio(t), math.Sqrt(t)
	if size >= 0x3fef3333 {
		return math.Copysign(halfPi-(float64(2*(s+float64(s*r)))-halfPiLow), x)
	}
	w := truncatedLow(s)
	c := (t - float64(w*w)) / (s + w)
	p := float64(float64(2*s)*r) - (halfPiLow - 2*c)
	q := halfPi/2 - 2*w
	return math.Copysign(halfPi/2-(p-q), x)
}

func strictAcos(x float64) float64 {
	size, a := upperWord(x)&0x7fffffff, math.Abs(x)
	switch {
	case !(a <= 1):
		return math.NaN()
	case x == 1:
		return 0
	case x == -1:
		return math.Pi
	case size < 0x3fe00000 && size <= 0x3c600000:
		return halfPi + halfPiLow
	case size < 0x3fe00000:
		return halfPi - (x - (halfPiLow - float64(x*arcRatio(x*x))))
	case x < 0:
		z := (1 + x) * 0.5
		s := math.Sqrt(z)
		w := float64(arcRatio(z)*s) - halfPiLow
		return math.Pi - 2*(s+w)
	}
	z := (1 - x) * 0.5
	s := math.Sqrt(z)
	high := truncatedLow(s)
	c := (z - float64(high*high)) / (s + high)
	w := float64(arcRatio(z)*s) + c
	return 2 * (high + w)
}
