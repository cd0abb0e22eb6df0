//go:build cgo

package duckdb

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/engine/sparktext"
	"github.com/skua-data/skua/predicate"
)

// cut is a year, a day or another unit that the wall clock of a column is cut to in Spark's dialect: it never falls as the clock goes on.
type cut struct {
	field predicate.Field
	zone  *sparktext.Zone
	// unit gives the unit of wall clocks, in microseconds, around one: where it starts and where the next one does.
	unit func(wall int64) (start, next int64, ok bool)
	year bool // it is compared as a number
}

// slack is by how much bounds are moved apart where a zone's clocks are put back: an hour may come twice, around midnight, too.
const slack = 3 * hour

// weakCut gives a predicate that holds wherever a comparison of a cut column does; nil: it is something else.
func (c *converter) weakCut(e *planExpr) predicate.Expr {
	switch e.Type {
	case "COMPARE_BETWEEN":
		return joined(c.cutCompared(predicate.GtEq, e.Input, e.Lower), c.cutCompared(predicate.LtEq, e.Input, e.Upper))
	case "COMPARE_IN":
		if len(e.Children) < 2 || len(e.Children) > 101 {
			return nil
		}
		return c.any(e.Children[1:], func(value *planExpr) predicate.Expr { return c.cutCompared(predicate.Eq, e.Children[0], value) })
	}
	op, ok := comparisons[e.Type]
	if !ok || op == predicate.NotEq {
		return nil
	}
	if p := c.cutCompared(op, e.Left, e.Right); p != nil {
		return p
	}
	return c.cutCompared(flipped[op], e.Right, e.Left)
}

// joined gives the And of those that there are.
func joined(a, b predicate.Expr) predicate.Expr {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return predicate.And{Left: a, Right: b}
}

func (c *converter) cutCompared(op predicate.Op, e, value *planExpr) predicate.Expr {
	if e == nil || value == nil || value.Type != "VALUE_CONSTANT" || value.Value.IsNull {
		return nil
	}
	k, ok := c.cutOf(e)
	if !ok {
		return nil
	}
	wall, ok := k.wall(value.Value)
	if !ok {
		return nil
	}
	start, next, ok := k.unit(wall)
	from, okFrom := k.bound(start, -slack)
	to, okTo := k.bound(next, slack)
	if !ok || !okFrom || !okTo {
		return nil
	}
	least, below := predicate.Comparison{Op: predicate.GtEq, Field: k.field, Value: from}, predicate.Comparison{Op: predicate.Lt, Field: k.field, Value: to}
	switch op {
	case predicate.Eq:
		return predicate.And{Left: least, Right: below}
	case predicate.Lt:
		if end, ok := k.bound(start, slack); ok && wall == start {
			below.Value = end
		}
		return below
	case predicate.LtEq:
		return below
	case predicate.Gt:
		if least.Value, ok = k.bound(next, -slack); !ok {
			return nil
		}
	}
	return least
}

// cutOf reads a cut; false: an expression is something else.
func (c *converter) cutOf(e *planExpr) (k cut, ok bool) {
	if e.Class != "BOUND_FUNCTION" {
		return k, false
	}
	var of *planExpr
	switch args := e.Children; {
	case e.Name == "skua_truncated_time" && len(args) == 3:
		of, k.zone, k.unit = args[1], zoneIn(args[2]), unitNamed(constantText(args[0]))
	case e.Name == "skua_truncated_day" && len(args) == 2:
		of, k.zone, k.unit = args[0], zoneIn(nil), unitNamed(constantText(args[1]))
	case e.Name == "skua_cast_date" && len(args) == 2:
		of, k.zone, k.unit = args[0], zoneIn(args[1]), unitNamed("DAY")
	case e.Name == "skua_field" && len(args) == 3 && constantText(args[0]) == "year":
		of, k.zone, k.unit, k.year = args[1], zoneIn(args[2]), unitNamed("YEAR"), true
	default:
		return k, false
	}
	if of.Class == "BOUND_FUNCTION" && (of.Name == "skua_cast_timestamp" || of.Name == "skua_cast_date") && len(of.Children) == 2 {
		of = of.Children[0]
	}
	if of.Class != "BOUND_REF" || k.zone == nil || k.unit == nil {
		return k, false
	}
	k.field, ok = c.column(of.Index)
	return k, ok
}

func constantText(e *planExpr) string {
	text, _ := e.Value.Value.(string)
	return text
}

// zoneIn gives the zone that a constant names, UTC where there is none; nil: it names no zone.
func zoneIn(e *planExpr) *sparktext.Zone {
	name := "UTC"
	if e != nil {
		name = constantText(e)
	}
	location, ok := sparktext.ParseZone(name)
	if !ok {
		return nil
	}
	return sparktext.ZoneOf(location)
}

// unitNamed gives the bounds of a unit; nil: there is no such unit.
func unitNamed(name string) func(wall int64) (start, next int64, ok bool) {
	name = strings.ToUpper(name)
	if size, ok := clockUnits[name]; ok {
		return func(wall int64) (int64, int64, bool) {
			start := sparktext.FloorDiv(wall, size) * size
			return start, start + size, true
		}
	}
	longest := map[string]int64{"WEEK": 7, "MONTH": 31, "MON": 31, "MM": 31, "QUARTER": 92, "YEAR": 366, "YYYY": 366, "YY": 366}[name]
	if longest == 0 {
		return nil
	}
	return func(wall int64) (int64, int64, bool) {
		start, ok := truncatedDay(name, sparktext.FloorDiv(wall, sparktext.MicrosPerDay))
		// The day that far on is in the next unit, and not in the one after it.
		next, okNext := truncatedDay(name, start+longest)
		return start * sparktext.MicrosPerDay, next * sparktext.MicrosPerDay, ok && okNext
	}
}

// wall gives a constant that a cut is compared with as a wall clock.
func (k cut) wall(v planValue) (int64, bool) {
	number, ok := v.Value.(json.Number)
	n, err := strconv.ParseInt(number.String(), 10, 64)
	const far = 9999 * 366
	switch {
	case !ok || err != nil:
	case k.year:
		days, _ := sparktext.DaysOf(max(min(n, 9999), -9999), 1, 1)
		return days * sparktext.MicrosPerDay, v.Type.ID == "INTEGER" && n > -9999 && n < 9999
	case v.Type.ID == "DATE":
		return n * sparktext.MicrosPerDay, n > -far && n < far
	case v.Type.ID == "TIMESTAMP WITH TIME ZONE":
		return n + k.zone.Offset(sparktext.FloorDiv(n, 1_000_000))*1_000_000, n > -far*sparktext.MicrosPerDay && n < far*sparktext.MicrosPerDay
	case v.Type.ID == "TIMESTAMP":
		return n, n > -far*sparktext.MicrosPerDay && n < far*sparktext.MicrosPerDay
	}
	return 0, false
}

// bound gives a wall clock in the column's type, moved where the zone's clocks may be put back.
func (k cut) bound(wall, move int64) (predicate.Literal, bool) {
	if k.zone.Name() == "UTC" {
		move = 0
	}
	switch t := k.field.Type.(type) {
	case *arrow.Date32Type:
		days := sparktext.FloorDiv(wall, sparktext.MicrosPerDay)
		if days*sparktext.MicrosPerDay != wall {
			return predicate.Literal{}, false
		}
		return predicate.Literal{Type: t, Value: days}, true
	case *arrow.TimestampType:
		if t.TimeZone != "" {
			wall = k.zone.InstantOf(wall)
		}
		return predicate.Literal{Type: t, Value: wall + move}, t.Unit == arrow.Microsecond
	}
	return predicate.Literal{}, false
}
