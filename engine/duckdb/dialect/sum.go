package dialect

import "github.com/skua-data/skua/engine/syntax"

// sum is sum(x) with all that may follow. A sum of decimals has ten digits more before the point, as far as there are 38.
type sum struct {
	aggregate
}

func (s sum) mapped(pieces func([]piece) []piece) typed { return sum{s.aggregate.mapped(pieces)} }

func (s sum) of(types []Type) (Type, error) {
	switch t := types[0]; {
	case t.Name == "DECIMAL":
		return decimalType(min(38, t.Width+10), t.Scale), nil
	case t.Name == "VARCHAR" || t.Name == "FLOAT" || t.Name == "DOUBLE":
		return parseType("DOUBLE"), nil
	case numbers[t.Name]:
		return parseType("HUGEINT"), nil
	}
	return Type{}, nil
}

func (s sum) write(w *writer, types []Type) {
	switch {
	case len(types) > 0 && types[0].Name == "VARCHAR":
		w.text("sum(" + s.before + "CAST(")
		w.pieces(s.value)
		w.text("AS DOUBLE))")
		w.pieces(s.after)
	case len(types) > 0 && types[0].Name == "DECIMAL" && types[0].Width+10 < 38:
		out, _ := s.of(types)
		w.text("CAST(")
		s.call(w, "sum")
		w.text("AS " + out.Text + ")")
	default:
		s.call(w, "sum")
	}
}

// sumCall writes sum(x), with all that may follow.
func sumCall(r *rewriter, bounds [][2]int, _ syntax.Pos) bool {
	return r.aggregateCall(bounds, func(a aggregate) typed { return sum{a} })
}
