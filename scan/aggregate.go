package scan

// Aggregate is a value over all rows of a scan that metadata may tell.
type Aggregate struct {
	Kind  AggregateKind
	Field int // field id of a top-level column; CountRows has none
}

// AggregateKind says which value.
type AggregateKind uint8

// The aggregates that metadata may tell. Minimum and maximum are null where there is no value.
const (
	CountRows AggregateKind = iota
	CountValues
	Minimum
	Maximum
)

// Aggregates gives the values of what the request of a plan asked for, in its order: int64 for counts, else in the forms of predicate.Literal; nil is
// null. A reason says why metadata does not tell them: then the rows have to be read. Metadata tells them where no delete applies, where the filter is
// decided by partition values alone, and where counts and bounds are those of the very values. It reads nothing.
func Aggregates(p Plan) (values []any, instead string) {
	t, ok := p.(*tablePlan)
	switch {
	case !ok:
		return nil, "it is no table"
	case len(t.request.Aggregates) == 0:
		return nil, "no aggregate was asked for"
	case t.sums == nil: // no snapshot, or no row can match
		return newAggregation(t).values(), ""
	case t.sums.instead != "":
		return nil, t.sums.instead
	}
	return t.sums.values(), ""
}

// aggregateColumns lists the columns whose statistics aggregates ask for.
func aggregateColumns(list []Aggregate) []int {
	var out []int
	for _, g := range list {
		if g.Kind != CountRows && g.Field > 0 && g.Field <= partitionIDBase {
			out = append(out, g.Field)
		}
	}
	return out
}
