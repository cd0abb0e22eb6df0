package bind

import (
	"encoding/hex"
	"math"
	"math/big"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"github.com/skua-data/skua/engine/sparkname"
	"github.com/skua-data/skua/engine/sparktext"
	"github.com/skua-data/skua/engine/sparktype"
	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/predicate"
)

// domain is a column's values, in their order numbered from first to last, and how each one compares with a constant once Spark has brought
// both into their common type. Since that conversion keeps the order, at most two bounds in the column's own type say it all, however
// the conversion rounds; they are found by bisection.
type domain struct {
	first, last *big.Int
	literal     func(n *big.Int) predicate.Literal
	order       func(n *big.Int) int // of the converted value against the constant: never falls as n grows
}

// domainOf gives the domain of a column's type against a constant in the type that both have in common.
func (b *Binder) domainOf(e syntax.Expr, t arrow.DataType, c sparktype.Value) (domain, error) {
	if sparktype.IsUUID(t) {
		return uuidDomain(t, func(text string) int { return strings.Compare(text, b.Text(c)) }), nil
	}
	switch t.ID() {
	case arrow.INT8, arrow.INT16, arrow.INT32, arrow.INT64:
		return numberDomain(t, c, 0), nil
	case arrow.DECIMAL128:
		_, scale, _ := sparktype.DecimalOf(t)
		return numberDomain(t, c, scale), nil
	case arrow.FLOAT32, arrow.FLOAT64:
		return floatDomain(t, c), nil
	case arrow.DATE32, arrow.TIMESTAMP, arrow.TIME64:
		if err := b.repeatable(e, t, c); err != nil {
			return domain{}, err
		}
		return b.timeDomain(t, c), nil
	}
	return domain{}, fault.New(fault.Unsupported, "%s: comparing a %s with a %s is not supported", sparkname.Of(e), sparktype.SQLName(t), sparktype.SQLName(c.Type))
}

func intRange(bits uint) (first, last *big.Int) {
	last = new(big.Int).Lsh(big.NewInt(1), bits-1)
	first = new(big.Int).Neg(last)
	return first, last.Sub(last, big.NewInt(1))
}

func intLiteral(t arrow.DataType) func(*big.Int) predicate.Literal {
	return func(n *big.Int) predicate.Literal { return predicate.Literal{Type: t, Value: n.Int64()} }
}

// numberDomain is that of integers, and of decimals by their unscaled value.
func numberDomain(t arrow.DataType, c sparktype.Value, scale int) domain {
	d := domain{literal: intLiteral(t)}
	if precision, _, ok := sparktype.DecimalOf(t); ok {
		d.last = new(big.Int).Sub(sparktext.Power10(precision), big.NewInt(1))
		d.first = new(big.Int).Neg(d.last)
		d.literal = func(n *big.Int) predicate.Literal { return predicate.Literal{Type: t, Value: decimal128.FromBigInt(n)} }
	} else {
		d.first, d.last = intRange(uint(t.(arrow.FixedWidthDataType).BitWidth()))
	}
	if v, ok := c.Value.(float64); ok {
		d.order = func(n *big.Int) int { return sparktype.CompareFloats(sparktext.ToDouble(n, scale), v) }
		return d
	}
	value, to := sparktype.Unscaled(c)
	d.order = func(n *big.Int) int { return sparktext.Rescale(n, scale, to).Cmp(value) }
	return d
}

// floatDomain numbers the floats from -Infinity through a single zero to Infinity, and then NaN.
func floatDomain(t arrow.DataType, c sparktype.Value) domain {
	infinity, value := int64(math.Float64bits(math.Inf(1))), func(n int64) float64 { return math.Float64frombits(uint64(n)) }
	if t.ID() == arrow.FLOAT32 {
		infinity, value = int64(math.Float32bits(float32(math.Inf(1)))), func(n int64) float64 { return float64(math.Float32frombits(uint32(n))) }
	}
	float := func(n *big.Int) float64 {
		switch n := n.Int64(); {
		case n > infinity:
			return math.NaN()
		case n < 0:
			return -value(-n)
		default:
			return value(n)
		}
	}
	return domain{first: big.NewInt(-infinity), last: big.NewInt(infinity + 1),
		literal: func(n *big.Int) predicate.Literal { return predicate.Literal{Type: t, Value: float(n)} },
		order:   func(n *big.Int) int { return sparktype.CompareFloats(float(n), c.Value.(float64)) }}
}

// timeDomain is that of dates, times and timestamps.
func (b *Binder) timeDomain(t arrow.DataType, c sparktype.Value) domain {
	d := domain{literal: intLiteral(t)}
	d.first, d.last = intRange(uint(t.(arrow.FixedWidthDataType).BitWidth()))
	want := big.NewInt(c.Value.(int64))
	if t.ID() == arrow.TIME64 || t.ID() == arrow.TIMESTAMP && sparktype.Zoned(t) == sparktype.Zoned(c.Type) {
		factor := big.NewInt(sparktype.PerSecond(c.Type) / sparktype.PerSecond(t))
		d.order = func(n *big.Int) int { return new(big.Int).Mul(n, factor).Cmp(want) }
		return d
	}
	nanos := big.NewInt(int64(time.Second) / sparktype.PerSecond(c.Type))
	want.Mul(want, nanos)
	d.order = func(n *big.Int) int {
		at := sparktype.Midnight(n.Int64())
		if t.ID() == arrow.TIMESTAMP {
			at = sparktype.Moment(n.Int64(), t)
		}
		if sparktype.Zoned(c.Type) {
			at = sparktype.Local(at, b.Zone)
		}
		got := new(big.Int).Mul(big.NewInt(at.Unix()), big.NewInt(int64(time.Second)))
		return got.Add(got, big.NewInt(int64(at.Nanosecond()))).Cmp(want)
	}
	return d
}

// repeatable refuses the one comparison whose conversion does not keep the order: a wall clock against an instant just after the clocks went
// forward, which both the skipped hour and the next one mean.
func (b *Binder) repeatable(e syntax.Expr, t arrow.DataType, c sparktype.Value) error {
	if t.ID() != arrow.TIMESTAMP || sparktype.Zoned(t) || !sparktype.Zoned(c.Type) {
		return nil
	}
	at := sparktype.Moment(c.Value.(int64), c.Type)
	change, _ := at.In(b.Zone).ZoneBounds()
	if change.IsZero() {
		return nil
	}
	gap := sparktext.ZoneOf(b.Zone).Offset(change.Unix()) - sparktext.ZoneOf(b.Zone).Offset(change.Unix()-1)
	if gap > 0 && at.Sub(change) < time.Duration(gap)*time.Second {
		return fault.New(fault.Unsupported, "%s: comparing a timestamp without time zone with a moment of the first hour after a change of clocks is not supported", sparkname.Of(e))
	}
	return nil
}

// uuidDomain is that of uuids, which Spark sees as text; order compares a uuid's text.
func uuidDomain(t arrow.DataType, order func(text string) int) domain {
	raw := func(n *big.Int) []byte { return n.FillBytes(make([]byte, 16)) }
	last := new(big.Int).Lsh(big.NewInt(1), 128)
	return domain{first: new(big.Int), last: last.Sub(last, big.NewInt(1)),
		literal: func(n *big.Int) predicate.Literal { return predicate.Literal{Type: t, Value: raw(n)} },
		order:   func(n *big.Int) int { return order(uuidText(raw(n))) }}
}

func uuidText(raw []byte) string {
	h := hex.EncodeToString(raw)
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// search gives the first number from lo on whose order is at least least; one past the last if there is none.
func (d domain) search(lo *big.Int, least int) *big.Int {
	lo = new(big.Int).Set(lo)
	hi := new(big.Int).Add(d.last, big.NewInt(1))
	for lo.Cmp(hi) < 0 {
		mid := new(big.Int).Add(lo, hi)
		mid.Rsh(mid, 1)
		if d.order(mid) >= least {
			hi = mid
		} else {
			lo = mid.Add(mid, big.NewInt(1))
		}
	}
	return lo
}

// compare gives the test of the field itself.
func (d domain) compare(op predicate.Op, f predicate.Field) predicate.Expr {
	equal := d.search(d.first, 0)
	above := d.search(equal, 1)
	if new(big.Int).Sub(above, equal).Cmp(big.NewInt(1)) == 0 {
		return predicate.Comparison{Op: op, Field: f, Value: d.literal(equal)}
	}
	switch op {
	case predicate.Eq:
		if above.Cmp(equal) == 0 {
			return never(f)
		}
		return predicate.Simplify(predicate.And{Left: predicate.Negate(d.below(equal, f)), Right: d.below(above, f)})
	case predicate.NotEq:
		return predicate.Negate(d.compare(predicate.Eq, f))
	case predicate.Lt:
		return d.below(equal, f)
	case predicate.LtEq:
		return d.below(above, f)
	case predicate.Gt:
		return predicate.Negate(d.below(above, f))
	}
	return predicate.Negate(d.below(equal, f))
}

// below tests for values before number n.
func (d domain) below(n *big.Int, f predicate.Field) predicate.Expr {
	switch {
	case n.Cmp(d.first) <= 0:
		return never(f)
	case n.Cmp(d.last) > 0:
		return always(f)
	}
	return predicate.Comparison{Op: predicate.Lt, Field: f, Value: d.literal(n)}
}
