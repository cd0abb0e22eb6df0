package parquet

import (
	"strings"

	"github.com/skua-data/skua/predicate"
)

// pruner decides from statistics which tests no row can pass.
type pruner struct {
	bounds func(predicate.Field) (bounds, bool) // false: nothing is known
}

// impossible gives a part of e that is true for no row and so makes e true for none, or nil. Being unsure means nil.
func (p pruner) impossible(e predicate.Expr) predicate.Expr {
	switch e := e.(type) {
	case predicate.Constant:
		if e != predicate.True {
			return e
		}
	case predicate.And:
		if failed := p.impossible(e.Left); failed != nil {
			return failed
		}
		return p.impossible(e.Right)
	case predicate.Or:
		if p.impossible(e.Left) != nil && p.impossible(e.Right) != nil {
			return e
		}
	case predicate.Not:
		return p.negated(e)
	case predicate.IsNull:
		if b, ok := p.bounds(e.Field); ok && b.noNulls {
			return e
		}
	case predicate.IsNaN:
		if b, ok := p.bounds(e.Field); ok && b.onlyNulls {
			return e
		}
	case predicate.Comparison:
		if b, ok := p.bounds(e.Field); ok && (b.onlyNulls || b.excludes(e.Op, e.Value)) {
			return e
		}
	case predicate.In:
		if b, ok := p.bounds(e.Field); ok && b.excludesAll(e.Values) {
			return e
		}
	case predicate.StartsWith:
		if b, ok := p.bounds(e.Field); ok && (b.onlyNulls || b.excludesPrefix(e.Prefix)) {
			return e
		}
	}
	return nil
}

// negated is impossible for what Simplify leaves under a Not. All of these are null or false for a null, except NOT isnan.
func (p pruner) negated(e predicate.Not) predicate.Expr {
	var field predicate.Field
	switch inner := e.Expr.(type) {
	case predicate.IsNull:
		field = inner.Field
	case predicate.In:
		if inner.HasNull {
			return e // x NOT IN (…, NULL) is false or null
		}
		field = inner.Field
	case predicate.StartsWith:
		field = inner.Field
	case predicate.Comparison:
		field = inner.Field
	default:
		return nil
	}
	if b, ok := p.bounds(field); ok && b.onlyNulls {
		return e
	}
	return nil
}

// bounds are what statistics prove about a leaf in a row group.
type bounds struct {
	noNulls, onlyNulls bool
	low, high          any                  // literals' values; nil: unknown
	compare            func(a, b any) int   // of values that are in order; nil: nothing is in order
	nan                bool                 // there may be NaNs, which are above high
	isNaN              func(value any) bool // nil: no value is
	absent             func(value any) bool // says that no row has a value; nil: nothing can tell
}

// excludes says that no non-null value v satisfies "v op value".
func (b bounds) excludes(op predicate.Op, value predicate.Literal) bool {
	return b.ordersOut(op, value) || op == predicate.Eq && b.absent != nil && b.absent(value.Value)
}

// ordersOut says so by the order of values alone.
func (b bounds) ordersOut(op predicate.Op, value predicate.Literal) bool {
	if b.compare == nil {
		return false
	}
	v := value.Value
	nan := b.isNaN != nil && b.isNaN(v)
	above := b.low != nil && !nan && b.compare(b.low, v) > 0                 // every value is above v
	below := b.high != nil && !nan && b.compare(b.high, v) < 0               // every value is below v, NaNs aside
	notBelow := b.low != nil && !nan && b.compare(b.low, v) >= 0             // every value is v or above
	notAbove := b.high != nil && !nan && !b.nan && b.compare(b.high, v) <= 0 // every value is v or below
	only := b.low != nil && b.high != nil && notBelow && notAbove            // every value is v
	switch op {
	case predicate.Eq:
		return above || below
	case predicate.NotEq:
		return only
	case predicate.Lt:
		return notBelow
	case predicate.LtEq:
		return above
	case predicate.Gt:
		return notAbove
	case predicate.GtEq:
		return below && !b.nan
	}
	return false
}

// excludesAll says that no row is equal to any of the values.
func (b bounds) excludesAll(values []predicate.Literal) bool {
	for _, v := range values {
		if !b.onlyNulls && !b.excludes(predicate.Eq, v) {
			return false
		}
	}
	return true
}

// excludesPrefix says that no value begins with prefix.
func (b bounds) excludesPrefix(prefix string) bool {
	if low, ok := text(b.low); ok && low > prefix && !strings.HasPrefix(low, prefix) {
		return true
	}
	high, ok := text(b.high)
	return ok && high < prefix
}

func text(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case []byte:
		return string(v), v != nil
	}
	return "", false
}
