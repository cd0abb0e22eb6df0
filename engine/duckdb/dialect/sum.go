package dialect

import (
	"fmt"

	"github.com/skua-data/skua/engine/syntax"
)

// sum is sum(x) with all that may follow. A sum of decimals has ten digits more before the point, as far as there are 38.
type sum struct {
	aggregate
}

func (s sum) mapped(pieces func([]piece) []piece) typed { return sum{s.aggregate.mapped(pieces)} }

func (s sum) of(types []Type) (Type, error) {
	if err := summable("sum", types[0]); err != nil {
		return Type{}, err
	}
	switch t := types[0]; {
	case t.Name == "DECIMAL":
		return decimalType(min(38, t.Width+10), t.Scale), nil
	case t.Name == "VARCHAR" || t.Name == `"NULL"` || t.Name == "FLOAT" || t.Name == "DOUBLE":
		return parseType("DOUBLE"), nil
	case numbers[t.Name]:
		return parseType("HUGEINT"), nil
	}
	return Type{}, nil
}

func (s sum) write(w *writer, types []Type) {
	switch {
	case len(types) > 0 && (types[0].Name == "VARCHAR" || types[0].Name == `"NULL"`):
		s.castCall(w, "sum")
	case len(types) > 0 && types[0].Name == "DECIMAL" && types[0].Width+10 < 38:
		out, _ := s.of(types)
		w.text("CAST(")
		s.call(w, "sum")
		w.text("AS " + out.Text + ")")
	case len(types) > 0 && types[0].Name == "DECIMAL": // an addition tells of what has more than 38 digits
		w.text("(")
		s.call(w, "sum")
		w.text(fmt.Sprintf("+ CAST(0 AS DECIMAL(38, %d)))", types[0].Scale))
	default:
		s.call(w, "sum")
	}
}

// sumCall writes sum(x), with all that may follow.
func sumCall(r *rewriter, bounds [][2]int, pos syntax.Pos) bool {
	if len(bounds) != 1 {
		r.wrongCount("sum", len(bounds), plainAggregate("sum"), pos)
		return true
	}
	return r.aggregateCall(bounds, func(a aggregate) typed { return sum{a} })
}
