package dialect

import (
	"fmt"
	"slices"

	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
)

// tried is try_sum(x) or try_avg(x) with all that may follow: NULL where the sum is beyond its type.
type tried struct {
	aggregate
	average bool
}

func (t tried) mapped(pieces func([]piece) []piece) typed {
	return tried{t.aggregate.mapped(pieces), t.average}
}

func (t tried) of(types []Type) (Type, error) {
	if t.average {
		return average{t.aggregate}.of(types)
	}
	out, err := sum{t.aggregate}.of(types)
	if out.Name == "HUGEINT" {
		out = parseType("BIGINT")
	}
	return out, err
}

func (t tried) write(w *writer, types []Type) {
	out := Type{}
	if len(types) > 0 {
		out, _ = t.of(types)
	}
	switch {
	case t.average && out.Name == "DECIMAL":
		w.text("TRY_CAST(skua_average(")
		t.call(w, "sum")
		w.text(",")
		t.call(w, "count")
		w.text(fmt.Sprintf(", %d) AS %s)", out.Scale, out.Text))
	case t.average:
		average{t.aggregate}.write(w, types)
	case out.Name == "DECIMAL":
		w.text("TRY_CAST(CAST(")
		t.call(w, "sum")
		w.text("AS VARCHAR) AS " + out.Text + ")")
	case out.Name == "BIGINT":
		w.text("TRY_CAST(")
		t.call(w, "sum")
		w.text("AS BIGINT)")
	default:
		sum{t.aggregate}.write(w, types)
	}
}

func trySum(r *rewriter, bounds [][2]int, _ syntax.Pos) bool {
	return r.aggregateCall(bounds, func(a aggregate) typed { return tried{a, false} })
}

func tryAverage(r *rewriter, bounds [][2]int, _ syntax.Pos) bool {
	return r.aggregateCall(bounds, func(a aggregate) typed { return tried{a, true} })
}

// notNumbers are the types that nothing sums up.
var notNumbers = []string{"BOOLEAN", "BLOB", "DATE", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE", "LIST", "STRUCT", "MAP"}

// summable refuses what nothing sums up.
func summable(function string, t Type) error {
	if !slices.Contains(notNumbers, t.Name) {
		return nil
	}
	return fault.New(fault.Invalid, `Cannot resolve "%s" due to data type mismatch: The first parameter requires the "NUMERIC" or "ANSI INTERVAL" type, however it has the type "%s".`, function, t.Text).
		With("DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE", "42K09")
}
