//go:build cgo

package duckdb

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/predicate"
)

// step is a whole number that grows with a moment: its year, its months since 1970, its days, its hours. start gives the first moment of a
// number in microseconds; false: it is out of bounds.
type step func(n int64) (micros int64, ok bool)

// steps are the forms, as shape writes them, into which the engine brings years, months, days and hours. The transforms among them are
// macros, whose constants it moves about.
var steps = map[string]step{
	"year(x)":                          fromMonths(12, -1970),
	"INTEGER(year(x))":                 fromMonths(12, -1970),
	"-(year(x),1970)":                  fromMonths(12, 0),
	"INTEGER(-(year(x),1970))":         fromMonths(12, 0),
	monthShape:                         fromMonths(1, -1),
	"-(" + monthShape + ",1)":          fromMonths(1, 0),
	"INTEGER(-(" + monthShape + ",1))": fromMonths(1, 0),
	"DATE(x)":                          fromMicros(24 * hour),
	hourShape:                          fromMicros(hour),
	"INTEGER(" + hourShape + ")":       fromMicros(hour),
}

const (
	monthShape = "+(*(-(year(x),1970),12),month(x))"
	hourShape  = "//(-(epoch_us(x),%(+(%(epoch_us(x),3600000000),3600000000),3600000000)),3600000000)"
	hour       = int64(time.Hour / time.Microsecond)
)

// fromMonths counts steps of so many months; shift is added to a number to count from 1970.
func fromMonths(months, shift int64) step {
	return func(n int64) (int64, bool) {
		n += shift
		if n < -12*200_000 || n > 12*200_000 {
			return 0, false
		}
		return time.Date(1970, time.Month(1+n*months), 1, 0, 0, 0, 0, time.UTC).UnixMicro(), true
	}
}

func fromMicros(width int64) step {
	return func(n int64) (int64, bool) {
		return n * width, n > math.MinInt64/width && n < math.MaxInt64/width
	}
}

// stepped gives a comparison of a step of a column as one of the column; nil: it is something else.
func (c *converter) stepped(op predicate.Op, e, value *planExpr) predicate.Expr {
	s := shape{column: -1}
	start := steps[s.of(e)]
	if start == nil || value == nil || value.Type != "VALUE_CONSTANT" || value.Value.IsNull {
		return nil
	}
	f, ok := c.column(s.column)
	number, isNumber := value.Value.Value.(json.Number)
	n, err := strconv.ParseInt(number.String(), 10, 64)
	if !ok || !isNumber || err != nil || n == math.MaxInt64 {
		return nil
	}
	// All moments of a step lie from its start to before the next one's.
	at, okAt := momentOf(f, start, n)
	next, okNext := momentOf(f, start, n+1)
	if !okAt || !okNext {
		return nil
	}
	within := predicate.And{Left: predicate.Comparison{Op: predicate.GtEq, Field: f, Value: at}, Right: predicate.Comparison{Op: predicate.Lt, Field: f, Value: next}}
	switch op {
	case predicate.Eq:
		return within
	case predicate.NotEq:
		return predicate.Not{Expr: within}
	case predicate.Lt:
		return predicate.Comparison{Op: predicate.Lt, Field: f, Value: at}
	case predicate.LtEq:
		return predicate.Comparison{Op: predicate.Lt, Field: f, Value: next}
	case predicate.Gt:
		return predicate.Comparison{Op: predicate.GtEq, Field: f, Value: next}
	}
	return predicate.Comparison{Op: predicate.GtEq, Field: f, Value: at}
}

// inSteps converts a list of steps; nil: it is another list, or a very long one.
func (c *converter) inSteps(e *planExpr) predicate.Expr {
	if len(e.Children) > 101 {
		return nil
	}
	out := c.any(e.Children[1:], func(value *planExpr) predicate.Expr { return c.stepped(predicate.Eq, e.Children[0], value) })
	if out != nil && e.Type == "COMPARE_NOT_IN" {
		return predicate.Not{Expr: out}
	}
	return out
}

// momentOf gives the start of a step in a column's type.
func momentOf(f predicate.Field, start step, n int64) (predicate.Literal, bool) {
	micros, ok := start(n)
	switch t := f.Type.(type) {
	case *arrow.Date32Type:
		days := micros / (24 * hour)
		return predicate.Literal{Type: t, Value: days}, ok && days*24*hour == micros
	case *arrow.TimestampType:
		return predicate.Literal{Type: t, Value: micros}, ok && t.Unit == arrow.Microsecond
	}
	return predicate.Literal{}, false
}

// shape writes an expression of one column with the column as x: functions and casts by name, constants as they are. A moment with a zone is z
// where the session's zone would count, and x in UTC.
type shape struct{ column int }

// of gives the shape; empty: there is none.
func (s *shape) of(e *planExpr) string {
	if e == nil {
		return ""
	}
	switch e.Class {
	case "BOUND_REF":
		if s.column >= 0 && s.column != e.Index {
			return ""
		}
		s.column = e.Index
		if e.ReturnType.ID == "TIMESTAMP WITH TIME ZONE" {
			return "z"
		}
		return "x"
	case "BOUND_CAST":
		inner := s.of(e.Child)
		if inner == "" || inner == "z" || e.TryCast {
			return ""
		}
		return e.ReturnType.ID + "(" + inner + ")"
	case "BOUND_FUNCTION":
		return s.call(e)
	}
	if e.Type == "VALUE_CONSTANT" && !e.Value.IsNull {
		switch v := e.Value.Value.(type) {
		case json.Number:
			return v.String()
		case string:
			return v
		}
	}
	return ""
}

func (s *shape) call(e *planExpr) string {
	var arguments []string
	for _, child := range e.Children {
		inner := s.of(child)
		if inner == "" || inner == "z" && e.Name != "timezone" && e.Name != "epoch_us" {
			return ""
		}
		arguments = append(arguments, inner)
	}
	out := e.Name + "(" + strings.Join(arguments, ",") + ")"
	switch out {
	case "timezone(UTC,z)":
		return "x"
	case "epoch_us(z)":
		return "epoch_us(x)"
	}
	return out
}
