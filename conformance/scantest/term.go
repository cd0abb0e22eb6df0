package scantest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/skua-data/skua/predicate"
)

// termTest is a test of a transformed field, which SQL can write and a scan's filter cannot. It stands in a filter beside the tests of fields.
type termTest struct {
	predicate.Expr // none: it makes the test a part of filters
	field          *field
	path           []*field
	transform      transform
	function       string // that SQL calls it by
	op             string // =, <>, <, <=, >, >=, IN or IS NULL
	values         []any  // in the transform's type
}

// String is the test as SQL.
func (e termTest) String() string {
	out := e.function + "(" + spelling(sparkName).column(e.path) + ")"
	if e.transform.n > 0 {
		out = fmt.Sprintf("%s(%d, %s)", e.function, e.transform.n, spelling(sparkName).column(e.path))
	}
	if e.op == "IS NULL" {
		return "(" + out + " IS NULL)"
	}
	var list []string
	for _, v := range e.values {
		list = append(list, sparkLiteral(e.result(), v))
	}
	if e.op == "IN" {
		return "(" + out + " IN (" + strings.Join(list, ", ") + "))"
	}
	return "(" + out + " " + e.op + " " + list[0] + ")"
}

// result is the type of the transformed values in SQL: year(x) counts from the year 0, and days are dates.
func (e termTest) result() *typ { return e.transform.result(e.field.typ) }

// value is the transformed value of a field's.
func (e termTest) value(v any) any {
	out := e.transform.apply(e.field.typ, v)
	if n, ok := out.(int64); ok && e.function == "year" {
		return n + 1970
	}
	return out
}

// truth evaluates the test on one row.
func (e termTest) truth(row record) outcome {
	v := e.value(dig(e.path, row))
	if e.op == "IS NULL" {
		return is(v == nil)
	}
	if v == nil {
		return null
	}
	if e.op == "IN" {
		return is(slices.ContainsFunc(e.values, func(o any) bool { return order(v, o) == 0 }))
	}
	c := order(v, e.values[0])
	return is(map[string]bool{"=": c == 0, "<>": c != 0, "<": c < 0, "<=": c <= 0, ">": c > 0, ">=": c >= 0}[e.op])
}

// functions are what SQL calls the transforms of a type by. Truncated decimals are not among them: the largest ones have no value in their type.
func (t *table) functions(of *typ) []termTest {
	var out []termTest
	add := func(function, name string, n int) {
		out = append(out, termTest{function: function, transform: transform{name, n}})
	}
	switch of.kind {
	case integer, long, text, binary:
		add("system.truncate", "truncate", 1+t.r.Intn(4))
		fallthrough
	case decimal, date, timestamp, timestampTZ:
		add("system.bucket", "bucket", 1+t.r.Intn(4))
	}
	switch of.kind {
	case timestamp, timestampTZ:
		add("system.hours", "hour", 0)
		fallthrough
	case date:
		add("system.years", "year", 0)
		add("year", "year", 0)
		add("system.months", "month", 0)
		add("system.days", "day", 0)
		if of.kind != date {
			add("date", "day", 0)
		}
	}
	return out
}

// randomTerm makes a test of a transformed field, often by a transform that the table is partitioned by; nil: no field has a transform.
func (t *table) randomTerm(q *query) predicate.Expr {
	var found []termTest
	for _, f := range reachable(q.schema.fields) {
		for _, e := range t.functions(f.typ) {
			e.field, e.path = f, path(q.schema.fields, f.id)
			found = append(found, e)
			for _, s := range t.specs {
				for _, p := range s.fields {
					if p.source == f.id && p.transform.name == e.transform.name {
						e.transform = p.transform
						found = append(found, e, e, e)
					}
				}
			}
		}
	}
	if len(found) == 0 {
		return nil
	}
	e := oneOf(t.r, found...)
	t.has("tests of " + e.function)
	e.op = oneOf(t.r, "=", "=", "IN", "<>", "<", "<=", ">", ">=", "IS NULL")
	for range 1 + 2*rank(e.op == "IN") {
		v := e.value(t.literal(q, e.field))
		if n, ok := v.(int64); ok && e.transform.name != "truncate" && e.transform.name != "day" && t.r.Intn(3) == 0 {
			v = n + int64(t.r.Intn(3)) - 1
		}
		e.values = append(e.values, v)
	}
	return e
}
