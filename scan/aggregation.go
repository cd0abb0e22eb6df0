package scan

import (
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"github.com/skua-data/skua/predicate"
	"github.com/skua-data/skua/scan/manifest"
)

// aggregation gathers aggregates over files.
type aggregation struct {
	plan    *tablePlan
	list    []aggregated
	instead string // why metadata does not tell; empty: it does so far
}

// aggregated is one aggregate so far.
type aggregated struct {
	Aggregate
	name  string
	typ   arrow.DataType // nil: of no column that can be told
	count int64
	best  any // nil: none yet
}

func newAggregation(p *tablePlan) *aggregation {
	a := &aggregation{plan: p}
	for _, g := range p.request.Aggregates {
		out := aggregated{Aggregate: g}
		if path, ok := p.source.paths[g.Field]; ok && len(path.Index) == 1 && g.Field <= partitionIDBase {
			out.name, out.typ = path.Names[0], path.Field.Type
		}
		a.list = append(a.list, out)
	}
	return a
}

func (a *aggregation) values() []any {
	out := make([]any, len(a.list))
	for i, g := range a.list {
		if g.Kind == CountRows || g.Kind == CountValues {
			out[i] = g.count
		} else {
			out[i] = g.best
		}
	}
	return out
}

func (a *aggregation) refuse(format string, args ...any) {
	if a.instead == "" {
		a.instead = fmt.Sprintf(format, args...)
	}
}

// add takes in a file that planning left.
func (a *aggregation) add(f *dataFile, stats fileStats, filter func(*dataFile) (predicate.Constant, bool)) {
	if a.instead != "" {
		return
	}
	result, decided := filter(f)
	switch {
	case !decided:
		a.refuse("the filter is not decided by partition values")
		return
	case result != predicate.True || f.Records == 0:
		return
	case len(f.Deletes) > 0:
		a.refuse("rows of %s are deleted", f.Path)
		return
	case f.Records < 0:
		a.refuse("the number of rows of %s is not known", f.Path)
		return
	}
	for i := range a.list {
		a.list[i].add(a, f, stats)
	}
}

func (g *aggregated) add(a *aggregation, f *dataFile, stats fileStats) {
	if g.Kind == CountRows {
		g.count += f.Records
		return
	}
	if g.typ == nil {
		a.refuse("the aggregate is of no top-level column")
		return
	}
	nulls, ok := g.nulls(a, f, stats)
	switch {
	case !ok:
		a.refuse("how many values of %s are null is not known of %s", g.name, f.Path)
	case g.Kind == CountValues:
		g.count += f.Records - nulls
	case nulls < f.Records:
		value, why := g.bound(f, stats)
		if why != "" {
			a.refuse("%s of %s", why, f.Path)
			return
		}
		g.take(value)
	}
}

// take keeps the smaller or the larger value.
func (g *aggregated) take(value any) {
	if g.best == nil {
		g.best = value
		return
	}
	if c, _ := compare(value, g.best); g.Kind == Minimum && c < 0 || g.Kind == Maximum && c > 0 {
		g.best = value
	}
}

// nulls is how many rows of a file are null: as a partition value tells, as its counts do, or none where the column is required.
func (g *aggregated) nulls(a *aggregation, f *dataFile, stats fileStats) (int64, bool) {
	if v, ok := f.constant(g.Field); ok {
		if v == nil {
			return f.Records, true
		}
		return 0, true
	}
	if c := stats.all.column(g.Field); c != nil && !arrow.IsNested(g.typ.ID()) {
		nulls, values := c.count(manifest.NullCounts, stats.row), c.count(manifest.ValueCounts, stats.row)
		if nulls >= 0 && nulls <= f.Records && (values < 0 || values == f.Records) {
			return nulls, true
		}
	}
	return 0, !a.plan.source.paths[g.Field].Field.Nullable
}

// constant is the value of a column that the file's partition is by, in the form of its type.
func (f *dataFile) constant(column int) (any, bool) {
	for _, field := range f.Spec.Fields {
		if field.Source != column || !isIdentity(field) || field.Type.ID() == arrow.NULL {
			continue
		}
		raw, present := f.Partition[field.ID]
		if v, ok := normalize(raw, field.Type); present && ok {
			return v, true
		}
	}
	return nil, false
}

// bound is the smallest or the largest value of a column in a file that has some, or why it is not known.
func (g *aggregated) bound(f *dataFile, stats fileStats) (value any, why string) {
	typ := storageType(g.typ)
	if !tight(g.typ) {
		return nil, "bounds of " + typ.Name() + " need not be values: " + g.name
	}
	if v, ok := f.constant(g.Field); ok {
		return exactly(v, g.name)
	}
	c := stats.all.column(g.Field)
	if c == nil {
		return nil, "there are no statistics of " + g.name
	}
	if arrow.IsFloating(typ.ID()) && c.count(manifest.NaNCounts, stats.row) != 0 {
		return nil, "there may be NaN in " + g.name
	}
	raw, other := c.lower.at(stats.row), c.upper.at(stats.row)
	if g.Kind == Maximum {
		raw, other = other, raw
	}
	value, ok := decodeBound(raw, typ)
	if !ok || !natural(raw, typ) {
		return nil, "there is no bound in its type of " + g.name
	}
	if against, ok := decodeBound(other, typ); ok {
		if c, ok := compare(value, against); !ok || g.Kind == Minimum && c > 0 || g.Kind == Maximum && c < 0 {
			return nil, "the bounds contradict each other for " + g.name
		}
	}
	return exactly(value, g.name)
}

// exactly refuses values that stand for others: zero may have either sign, and NaN lies outside of bounds.
func exactly(v any, name string) (any, string) {
	if f, ok := v.(float64); ok && (f == 0 || math.IsNaN(f)) {
		return nil, "zero may have either sign, and NaN has no bound, in " + name
	}
	return v, ""
}

// tight says that writers give the bounds of a type in full: text and bytes may be cut.
func tight(typ arrow.DataType) bool {
	switch typ.(type) {
	case *arrow.BooleanType, *arrow.Int32Type, *arrow.Int64Type, *arrow.Date32Type, *arrow.Time64Type, *arrow.TimestampType, *arrow.Float32Type,
		*arrow.Float64Type, *arrow.Decimal128Type:
		return true
	}
	return false
}

// natural says that a bound has the length of its type: a shorter one was written before the column was promoted.
func natural(raw []byte, typ arrow.DataType) bool {
	if t, ok := typ.(*arrow.Decimal128Type); ok {
		v, ok := decimalOf(raw)
		return ok && v.(decimal128.Num).FitsInPrecision(t.Precision)
	}
	if typ.ID() == arrow.BOOL {
		return len(raw) == 1
	}
	return len(raw) == typ.(arrow.FixedWidthDataType).Bytes()
}

// newSums makes room for the aggregates of the request; nil: there are none.
func (p *tablePlan) newSums() *aggregation {
	if len(p.request.Aggregates) == 0 {
		return nil
	}
	return newAggregation(p)
}

// merge joins what was gathered of later files.
func (a *aggregation) merge(o *aggregation) *aggregation {
	if a == nil || o == nil {
		return o
	}
	if o.instead != "" {
		a.refuse("%s", o.instead)
	}
	for i, g := range o.list {
		a.list[i].count += g.count
		if g.best != nil {
			a.list[i].take(g.best)
		}
	}
	return a
}
