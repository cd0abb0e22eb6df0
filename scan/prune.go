package scan

import (
	"math"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/iceberg-go"

	"github.com/skua-data/skua/predicate"
)

// known is what metadata tells of the values of one column in a file, or of one partition field in a manifest. Whatever is not known leaves
// the test open, and an open test keeps the file.
type known struct {
	Nulls        presence
	Values       presence // non-null ones
	NaNs         presence
	Lower, Upper any  // of the values that are not NaN; nil: unknown
	Exact        bool // every value is Lower
	Whole        bool // and that is the column's own, which nobody cut
}

// presence says whether something occurs.
type presence uint8

const (
	unknown presence = iota
	none
	some
)

// facts looks up what is known of a field; false: nothing.
type facts func(f predicate.Field) (known, bool)

// mayMatch says whether a row with these facts can make e true. It is sure of every false, and of nothing else. e has Not only above
// leaves, as predicate.Simplify leaves it; any other Not is taken as open.
func mayMatch(e predicate.Expr, of facts) bool {
	switch e := e.(type) {
	case predicate.Constant:
		return e == predicate.True
	case predicate.And:
		return mayMatch(e.Left, of) && mayMatch(e.Right, of)
	case predicate.Or:
		return mayMatch(e.Left, of) || mayMatch(e.Right, of)
	case predicate.Not:
		return mayMatchNot(e.Expr, of)
	case predicate.IsNull:
		k, ok := of(e.Field)
		return !ok || k.Nulls != none
	case predicate.IsNaN:
		k, ok := of(e.Field)
		return !ok || k.NaNs != none && k.Values != none
	case predicate.Comparison:
		k, ok := of(e.Field)
		return !ok || k.Values != none && k.compares(e.Op, e.Value.Value)
	case predicate.In:
		return mayBeIn(e, of)
	case predicate.StartsWith:
		k, ok := of(e.Field)
		return !ok || k.Values != none && k.startsWith(e.Prefix)
	}
	return true
}

func mayMatchNot(e predicate.Expr, of facts) bool {
	switch e := e.(type) {
	case predicate.Constant:
		return e == predicate.False
	case predicate.IsNull:
		k, ok := of(e.Field)
		return !ok || k.Values != none
	case predicate.Comparison:
		return mayMatch(predicate.Comparison{Op: negated(e.Op), Field: e.Field, Value: e.Value}, of)
	case predicate.In:
		k, ok := of(e.Field)
		return !e.HasNull && (!ok || k.Values != none && !k.isOneOf(e.Values))
	case predicate.StartsWith:
		k, ok := of(e.Field)
		return !ok || k.Values != none && !k.allStartWith(e.Prefix)
	}
	return true
}

// isOneOf is sure that every value is in a list.
func (k known) isOneOf(list []predicate.Literal) bool {
	for _, v := range list {
		if k.is(v.Value) {
			return true
		}
	}
	return false
}

// is is sure that every value equals lit.
func (k known) is(lit any) bool {
	if !k.Exact {
		return false
	}
	c, ok := compare(k.Lower, lit)
	return ok && c == 0
}

// allStartWith is sure that every value begins with prefix.
func (k known) allStartWith(prefix string) bool {
	value, ok := text(k.Lower)
	return k.Exact && ok && strings.HasPrefix(value, prefix)
}

func negated(op predicate.Op) predicate.Op {
	return [...]predicate.Op{predicate.NotEq, predicate.Eq, predicate.GtEq, predicate.Gt, predicate.LtEq, predicate.Lt}[op]
}

func mayBeIn(e predicate.In, of facts) bool {
	k, ok := of(e.Field)
	if !ok {
		return true
	}
	if k.Values == none {
		return false
	}
	for _, v := range e.Values {
		if k.compares(predicate.Eq, v.Value) {
			return true
		}
	}
	return false
}

// compares says whether some non-null value may compare so with lit. NaN lies outside the bounds and above everything.
func (k known) compares(op predicate.Op, lit any) bool {
	if f, ok := lit.(float64); ok && math.IsNaN(f) {
		return k.comparesNaN(op)
	}
	switch op {
	case predicate.Eq:
		return k.mayReach(lit, -1) && k.mayReach(lit, 1)
	case predicate.Lt:
		return !atLeast(k.Lower, lit, false)
	case predicate.LtEq:
		return k.mayReach(lit, -1)
	case predicate.Gt:
		return k.NaNs != none && isFloat(lit) || !atMost(k.Upper, lit, k.Whole)
	case predicate.GtEq:
		return k.NaNs != none && isFloat(lit) || k.mayReach(lit, 1)
	}
	return !k.is(lit) // unequal
}

func (k known) comparesNaN(op predicate.Op) bool {
	switch op {
	case predicate.Eq, predicate.GtEq:
		return k.NaNs != none
	case predicate.Gt:
		return false
	}
	return true
}

func isFloat(v any) bool { _, ok := v.(float64); return ok }

// mayReach says whether a value may lie at lit or below it (side -1), or at lit or above it (side 1), as far as the bounds tell.
func (k known) mayReach(lit any, side int) bool {
	if side < 0 {
		return !atLeast(k.Lower, lit, true)
	}
	if isNaN(k.Upper) {
		return true
	}
	c, ok := compare(k.Upper, lit)
	if !ok || c >= 0 {
		return true
	}
	// A bound that a writer cut without rounding it up still begins the values it stands for.
	upper, isText := text(k.Upper)
	value, _ := text(lit)
	return isText && !k.Whole && strings.HasPrefix(value, upper)
}

// atLeast says that every value is surely >= lit, or > lit where strict is set.
func atLeast(lower, lit any, strict bool) bool {
	if isNaN(lower) {
		return false
	}
	c, ok := compare(lower, lit)
	return ok && (c > 0 || c == 0 && !strict)
}

// atMost says that every value is surely <= lit. A bound that is not whole may have been cut without being rounded up.
func atMost(upper, lit any, whole bool) bool {
	if isNaN(upper) {
		return false
	}
	c, ok := compare(upper, lit)
	if !ok || c > 0 {
		return false
	}
	bound, isText := text(upper)
	value, _ := text(lit)
	return !isText || whole || !strings.HasPrefix(value, bound)
}

func isNaN(v any) bool { f, ok := v.(float64); return ok && math.IsNaN(f) }

func (k known) startsWith(prefix string) bool {
	if value, ok := text(k.Lower); ok && k.Whole {
		return strings.HasPrefix(value, prefix)
	}
	if lower, ok := text(k.Lower); ok && lower[:min(len(lower), len(prefix))] > prefix {
		return false
	}
	if upper, ok := text(k.Upper); ok && upper < prefix && !strings.HasPrefix(prefix, upper) {
		return false
	}
	return true
}

// partitionFacts restates a test of a column as what is known of the column through partition fields. Each field of the spec that has the
// column as its source is asked, and one that rules the test out is enough.
type partitionFacts struct {
	spec  *spec
	terms []Term
	value func(f specField, i int) (known, bool)
}

// mayMatch is mayMatch over partition values.
func (p partitionFacts) mayMatch(e predicate.Expr) bool {
	switch e := e.(type) {
	case predicate.Constant:
		return e == predicate.True
	case predicate.And:
		return p.mayMatch(e.Left) && p.mayMatch(e.Right)
	case predicate.Or:
		return p.mayMatch(e.Left) || p.mayMatch(e.Right)
	}
	fields := predicate.Fields(e)
	if len(fields) != 1 {
		return true
	}
	for _, t := range p.terms {
		if t.ID == fields[0].ID {
			return p.mayMatchTerm(e, t)
		}
	}
	for i, f := range p.spec.Fields {
		if f.Source != fields[0].ID {
			continue
		}
		if k, ok := p.value(f, i); ok && !f.mayMatch(e, k, fields[0].Type) {
			return false
		}
	}
	return true
}

// mayMatchTerm asks partition fields that are the very term of a test.
func (p partitionFacts) mayMatchTerm(e predicate.Expr, t Term) bool {
	for i, f := range p.spec.Fields {
		if f.Source != t.Source.ID || f.Transform.String() != t.Transform {
			continue
		}
		k, ok := p.value(f, i)
		if !ok {
			continue
		}
		if cut, truncates := f.Transform.(iceberg.TruncateTransform); truncates {
			k = k.unwrapped(cut.Width, t.Source.Type)
		}
		if !mayMatch(e, func(predicate.Field) (known, bool) { return k, true }) {
			return false
		}
	}
	return true
}

// mayMatch asks a leaf test of the source column, given what is known of the transformed values.
func (f specField) mayMatch(e predicate.Expr, k known, source arrow.DataType) bool {
	if isVoid(f) {
		return true
	}
	if isIdentity(f) {
		return mayMatch(e, func(predicate.Field) (known, bool) { return k, true })
	}
	if t, ok := f.Transform.(iceberg.TruncateTransform); ok {
		k = k.unwrapped(t.Width, source)
	}
	switch e := e.(type) {
	case predicate.Not:
		if f.leadsWith(e.Expr, k) {
			return false
		}
		return mayMatchNot(unequalOnly(e.Expr), func(predicate.Field) (known, bool) { return known{Nulls: k.Nulls, Values: k.Values}, true })
	case predicate.IsNull:
		return k.Nulls != none
	case predicate.Comparison:
		return k.Values != none && f.compares(e.Op, e.Value.Value, k, source)
	case predicate.In:
		if k.Values == none {
			return false
		}
		for _, v := range e.Values {
			if f.compares(predicate.Eq, v.Value, k, source) {
				return true
			}
		}
		return false
	case predicate.StartsWith:
		if k.Values == none {
			return false
		}
		t, ok := f.Transform.(iceberg.TruncateTransform)
		return !ok || k.startsWithTruncated(e.Prefix, t.Width)
	}
	return k.Values != none // IsNaN of a bucket
}

// leadsWith is sure that all values begin with the prefix of a test, as far as truncation kept of them.
func (f specField) leadsWith(e predicate.Expr, k known) bool {
	t, truncates := f.Transform.(iceberg.TruncateTransform)
	s, ok := e.(predicate.StartsWith)
	return truncates && ok && utf8.RuneCountInString(s.Prefix) <= t.Width && k.allStartWith(s.Prefix)
}

// unequalOnly leaves only what nulls decide: under a transform, NOT of a test tells nothing else.
func unequalOnly(e predicate.Expr) predicate.Expr {
	if c, ok := e.(predicate.Comparison); ok {
		return predicate.Comparison{Op: predicate.Eq, Field: c.Field, Value: c.Value}
	}
	return e
}

// compares brings lit through the transform and compares there; inequalities only where the transform keeps the order.
func (f specField) compares(op predicate.Op, lit any, k known, source arrow.DataType) bool {
	op, lit = closed(op, lit)
	t, ok := transformed(f.Transform, lit, source)
	if !ok || op == predicate.NotEq {
		return true
	}
	// Values before 1970 may have been rounded up by old writers.
	next := t
	if n, isInt := t.(int64); isInt && isTemporal(f.Transform) && n < 0 {
		next = n + 1
	}
	if op == predicate.Eq {
		return k.compares(predicate.Eq, t) || next != nil && isTemporal(f.Transform) && k.compares(predicate.Eq, next)
	}
	if !preservesOrder(f.Transform) {
		return true
	}
	if op == predicate.Lt || op == predicate.LtEq {
		return k.compares(predicate.LtEq, next)
	}
	return k.compares(predicate.GtEq, t)
}

// closed says < and > by <= and >= of the value before or after, where values are counted.
func closed(op predicate.Op, lit any) (predicate.Op, any) {
	switch v := lit.(type) {
	case int64:
		if op == predicate.Lt && v > math.MinInt64 {
			return predicate.LtEq, v - 1
		}
		if op == predicate.Gt && v < math.MaxInt64 {
			return predicate.GtEq, v + 1
		}
	case decimal128.Num:
		one := decimal128.FromI64(1)
		if op == predicate.Lt && v != decimal128.GetMaxValue(38).Negate() {
			return predicate.LtEq, v.Sub(one)
		}
		if op == predicate.Gt && v != decimal128.GetMaxValue(38) {
			return predicate.GtEq, v.Add(one)
		}
	}
	return op, lit
}

// startsWithTruncated asks the partition value, which is the first width characters.
func (k known) startsWithTruncated(prefix string, width int) bool {
	cut, _ := truncated(width, prefix)
	short, _ := cut.(string)
	return k.startsWith(short)
}

// unwrapped drops bounds that may stem from a truncation that wrapped around at the smallest integers. A column of longs may have been one of
// ints when its values were truncated: some of them are smaller then than the bounds say.
func (k known) unwrapped(width int, source arrow.DataType) known {
	lower, _ := k.Lower.(int64)
	upper, ok := k.Upper.(int64)
	top := int64(math.MaxInt64)
	if source.ID() == arrow.INT32 {
		top = math.MaxInt32
	}
	switch {
	case !ok:
	case upper > top-int64(width):
		k.Lower, k.Upper = nil, nil
	case source.ID() == arrow.INT64 && upper > math.MaxInt32-int64(width) && lower <= math.MaxInt32 && k.Lower != nil:
		k.Lower, k.Exact = min(lower, math.MinInt32-int64(width)), false
	}
	return k
}
