package scantest

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/skua-data/skua/predicate"
	"github.com/skua-data/skua/scan"
)

// query is a question that a scan can answer.
type query struct {
	ref     scan.Reference
	commit  *commit
	schema  *schema
	output  [][]*field // ways from the top level down; none: rows alone
	filter  predicate.Expr
	options []scan.Option
	apart   bool // splits are opened one by one

	sql    bool     // it is one for the engine alone
	spark  bool     // in Spark's dialect
	sorted bool     // by all of its columns in turn
	order  []string // of each column: empty, or what SQL says
	limit  int      // of what is sorted; negative: none
}

// String is the query in words.
func (q *query) String() string {
	var columns []string
	for _, p := range q.output {
		columns = append(columns, pathText(p))
	}
	out := fmt.Sprintf("select %s at %s", strings.Join(columns, ", "), q.ref)
	if q.filter != nil {
		out += " where " + q.filter.String()
	}
	if q.sorted {
		out += fmt.Sprintf(" sorted %q to %d", q.order, q.limit)
	}
	for _, o := range q.options {
		out += fmt.Sprintf(" %s=%s", o.Name, o.Value)
	}
	return out
}

func pathText(p []*field) string {
	var parts []string
	for _, f := range p {
		parts = append(parts, f.name)
	}
	return strings.Join(parts, "/")
}

func (t *table) randomQuery() *query {
	q := &query{commit: t.commits[len(t.commits)-1], schema: t.schema(), apart: t.r.Intn(3) == 0, sql: t.r.Intn(4) == 0, spark: t.r.Intn(2) == 0}
	switch t.r.Intn(6) {
	case 0, 1:
		q.commit = t.commits[t.r.Intn(len(t.commits))]
		q.ref = scan.Reference{Kind: scan.RefSnapshot, ID: q.commit.id}
		q.schema = q.commit.schema
	case 2:
		if t.version > 1 {
			q.commit, q.ref = t.middle(), scan.Reference{Kind: scan.RefBranch, Name: branch}
		}
	case 3:
		if t.version > 1 {
			q.commit, q.ref = t.middle(), scan.Reference{Kind: scan.RefTag, Name: tag}
			q.schema = q.commit.schema
		}
	}
	t.chooseOutput(q)
	if q.sql && t.r.Intn(2) == 0 {
		t.sort(q)
	}
	if t.r.Intn(5) > 0 {
		q.filter = t.randomFilter(q, 2)
	}
	var size int64
	for _, f := range q.commit.data {
		size += f.size
	}
	target := fmt.Sprint(1 + size/oneOf[int64](t.r, 2, 5, 20, 60))
	for _, o := range []scan.Option{{Name: "split-size", Value: target}, {Name: "file-open-cost", Value: oneOf(t.r, "0", "100")},
		{Name: "batch-size", Value: oneOf(t.r, "1", "7", "100")}, {Name: "lookback", Value: "1"}, {Name: "preserve-data-grouping", Value: "true"}} {
		if t.r.Intn(3) == 0 {
			q.options = append(q.options, o)
		}
	}
	return q
}

// sort sorts a query by all that it gives, so that there is one answer whatever is cut off; floats are no part of it, of which -0.0 equals 0.0.
func (t *table) sort(q *query) {
	q.output = slices.DeleteFunc(q.output, func(p []*field) bool {
		k := p[len(p)-1].typ.kind
		return !p[len(p)-1].typ.compared() || k == float || k == double
	})
	if len(q.output) == 0 {
		return
	}
	q.sorted, q.limit = true, t.r.Intn(12)-1
	for range q.output {
		q.order = append(q.order, oneOf(t.r, "", " ASC", " DESC", " NULLS LAST", " DESC NULLS FIRST"))
	}
	t.has("sorted queries")
}

// chooseOutput picks columns, parts of structs among them, and at times metadata columns. No field is asked for twice.
func (t *table) chooseOutput(q *query) {
	all := reachable(q.schema.fields)
	t.r.Shuffle(len(all), func(a, b int) { all[a], all[b] = all[b], all[a] })
	if t.r.Intn(4) == 0 {
		all = slices.Clone(q.schema.fields)
	} else {
		all = all[:t.r.Intn(len(all)+1)]
	}
	for _, f := range all {
		q.output = append(q.output, path(q.schema.fields, f.id))
	}
	for _, f := range t.metadataColumns() {
		if t.r.Intn(8) == 0 {
			q.output = append(q.output, []*field{f})
			t.has("queries of " + f.name)
		}
	}
}

// randomFilter makes a filter of some depth.
func (t *table) randomFilter(q *query, depth int) predicate.Expr {
	if depth > 0 && t.r.Intn(3) > 0 {
		a, b := t.randomFilter(q, depth-1), t.randomFilter(q, depth-1)
		switch t.r.Intn(5) {
		case 0:
			return predicate.Not{Expr: a}
		case 1, 2:
			return predicate.Or{Left: a, Right: b}
		}
		return predicate.And{Left: a, Right: b}
	}
	return t.randomTest(q)
}

// randomTest makes a test of one field.
func (t *table) randomTest(q *query) predicate.Expr {
	if q.sql && t.r.Intn(3) > 0 {
		if e := t.randomTerm(q); e != nil {
			return e
		}
	}
	all := reachable(q.schema.fields)
	f := all[t.r.Intn(len(all))]
	on := predicate.Field{ID: f.id, Type: f.typ.arrow(true)}
	for _, p := range path(q.schema.fields, f.id) {
		on.Path = append(on.Path, p.name)
	}
	if !f.typ.compared() || t.r.Intn(8) == 0 {
		if t.r.Intn(2) == 0 {
			return predicate.Not{Expr: predicate.IsNull{Field: on}}
		}
		return predicate.IsNull{Field: on}
	}
	literal := func() predicate.Literal { return predicate.Literal{Type: on.Type, Value: t.literal(q, f)} }
	switch t.r.Intn(8) {
	case 0, 1:
		in := predicate.In{Field: on, HasNull: t.r.Intn(6) == 0}
		for range 1 + t.r.Intn(3) {
			in.Values = append(in.Values, literal())
		}
		return in
	case 2:
		if f.typ.kind == float || f.typ.kind == double {
			return predicate.IsNaN{Field: on}
		}
		if s, ok := t.literal(q, f).(string); ok {
			letters := []rune(s)
			return predicate.StartsWith{Field: on, Prefix: string(letters[:t.r.Intn(len(letters)+1)])}
		}
	}
	return predicate.Comparison{Op: predicate.Op(t.r.Intn(6)), Field: on, Value: literal()}
}

// literal is a value of the field's type: one that a row has, or any.
func (t *table) literal(q *query, f *field) any {
	if len(q.commit.data) > 0 && t.r.Intn(2) == 0 {
		from := q.commit.data[t.r.Intn(len(q.commit.data))]
		row := t.project(q.schema.fields, from, from.rows[t.r.Intn(len(from.rows))])
		if v := dig(path(q.schema.fields, f.id), row); v != nil {
			return v
		}
	}
	return randomValue(t.r, f.typ)
}

// outcome is SQL's truth value.
type outcome int8

const (
	no outcome = iota - 1
	null
	yes
)

func is(b bool) outcome {
	if b {
		return yes
	}
	return no
}

// truth evaluates a filter on one row, by the book.
func truth(e predicate.Expr, fields []*field, row record) outcome {
	value := func(f predicate.Field) any { return dig(path(fields, f.ID), row) }
	switch e := e.(type) {
	case termTest:
		return e.truth(row)
	case predicate.And:
		return min(truth(e.Left, fields, row), truth(e.Right, fields, row))
	case predicate.Or:
		return max(truth(e.Left, fields, row), truth(e.Right, fields, row))
	case predicate.Not:
		return -truth(e.Expr, fields, row)
	case predicate.IsNull:
		return is(value(e.Field) == nil)
	case predicate.IsNaN:
		v, ok := value(e.Field).(float64)
		return is(ok && math.IsNaN(v))
	case predicate.StartsWith:
		v, ok := value(e.Field).(string)
		if !ok {
			return null
		}
		return is(strings.HasPrefix(v, e.Prefix))
	case predicate.In:
		return truthIn(e, value(e.Field))
	case predicate.Comparison:
		v := value(e.Field)
		if v == nil {
			return null
		}
		c := order(v, e.Value.Value)
		return is([...]bool{c == 0, c != 0, c < 0, c <= 0, c > 0, c >= 0}[e.Op])
	}
	panic(fmt.Sprintf("an unknown filter %T", e))
}

func truthIn(e predicate.In, v any) outcome {
	if v == nil {
		return null
	}
	if slices.ContainsFunc(e.Values, func(l predicate.Literal) bool { return order(v, l.Value) == 0 }) {
		return yes
	}
	if e.HasNull {
		return null
	}
	return no
}
