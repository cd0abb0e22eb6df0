package scan

import (
	"strings"

	"github.com/skua-data/skua/predicate"
)

// decide evaluates the filter on a file's partition values, where it is over nothing else; false: rows decide.
func (p *tablePlan) decide(f *dataFile) (predicate.Constant, bool) {
	if p.filter == nil {
		return predicate.True, true
	}
	return decide(p.filter, func(field predicate.Field) (any, bool) {
		if len(field.Path) != 1 {
			return nil, false
		}
		return f.constant(field.ID)
	})
}

// decide evaluates e where every field has one value; false: some has not, and it matters.
func decide(e predicate.Expr, value func(predicate.Field) (any, bool)) (predicate.Constant, bool) {
	switch e := e.(type) {
	case predicate.Constant:
		return e, true
	case predicate.Not:
		c, ok := decide(e.Expr, value)
		return [...]predicate.Constant{predicate.False: predicate.True, predicate.True: predicate.False, predicate.Null: predicate.Null}[c], ok
	case predicate.And:
		return both(e.Left, e.Right, predicate.False, value)
	case predicate.Or:
		return both(e.Left, e.Right, predicate.True, value)
	}
	fields := predicate.Fields(e)
	if len(fields) != 1 {
		return predicate.Null, false
	}
	v, ok := value(fields[0])
	if !ok {
		return predicate.Null, false
	}
	return decideLeaf(e, v)
}

// both joins two sides, of which one that is strong decides alone.
func both(left, right predicate.Expr, strong predicate.Constant, value func(predicate.Field) (any, bool)) (predicate.Constant, bool) {
	l, okL := decide(left, value)
	r, okR := decide(right, value)
	switch {
	case okL && l == strong || okR && r == strong:
		return strong, true
	case !okL || !okR:
		return predicate.Null, false
	case l == predicate.Null || r == predicate.Null:
		return predicate.Null, true
	}
	return l, true
}

func decideLeaf(e predicate.Expr, v any) (predicate.Constant, bool) {
	truth := func(b bool) (predicate.Constant, bool) {
		if b {
			return predicate.True, true
		}
		return predicate.False, true
	}
	if _, ok := e.(predicate.IsNull); ok {
		return truth(v == nil)
	}
	if _, ok := e.(predicate.IsNaN); ok {
		return truth(isNaN(v))
	}
	if v == nil {
		return predicate.Null, true
	}
	switch e := e.(type) {
	case predicate.Comparison:
		c, ok := compare(v, e.Value.Value)
		if !ok {
			return predicate.Null, false
		}
		return truth([...]bool{predicate.Eq: c == 0, predicate.NotEq: c != 0, predicate.Lt: c < 0, predicate.LtEq: c <= 0, predicate.Gt: c > 0, predicate.GtEq: c >= 0}[e.Op])
	case predicate.In:
		for _, lit := range e.Values {
			c, ok := compare(v, lit.Value)
			if !ok {
				return predicate.Null, false
			}
			if c == 0 {
				return predicate.True, true
			}
		}
		if e.HasNull {
			return predicate.Null, true
		}
		return predicate.False, true
	case predicate.StartsWith:
		if s, ok := v.(string); ok {
			return truth(strings.HasPrefix(s, e.Prefix))
		}
	}
	return predicate.Null, false
}
