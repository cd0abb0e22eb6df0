package dialect

import (
	"fmt"

	"github.com/skua-data/skua/engine/syntax"
)

// average is avg(x) with all that may follow: its type follows its argument's.
type average struct {
	aggregate
}

// aggregate is the call of an aggregate function of one argument.
type aggregate struct {
	value  []piece
	before string  // DISTINCT, or nothing
	after  []piece // FILTER and OVER
}

// maxAverages is how deep averages of averages are looked into: each is written twice.
const maxAverages = 3

// asks gives the largest of the arguments: an expression of their type that stands where the aggregate does.
func (a aggregate) asks() [][]piece {
	out := append([]piece{{table: -1, text: "max(" + a.before}}, a.value...)
	return [][]piece{append(append(out, piece{table: -1, text: ")"}), a.after...)}
}

// call writes the call of a function with the aggregate's argument.
func (a aggregate) call(w *writer, function string) {
	w.text(function + "(" + a.before)
	w.pieces(a.value)
	w.text(")")
	w.pieces(a.after)
}

// castCall writes it of the argument as a double.
func (a aggregate) castCall(w *writer, function string) {
	w.text(function + "(" + a.before + "CAST(")
	w.pieces(a.value)
	w.text("AS DOUBLE))")
	w.pieces(a.after)
}

func (a aggregate) mapped(pieces func([]piece) []piece) aggregate {
	return aggregate{value: pieces(a.value), before: a.before, after: pieces(a.after)}
}

func (a average) mapped(pieces func([]piece) []piece) typed {
	return average{a.aggregate.mapped(pieces)}
}

func (a average) of(types []Type) (Type, error) {
	if err := summable("avg", types[0]); err != nil {
		return Type{}, err
	}
	if t := types[0]; t.Name == "DECIMAL" {
		return decimalType(min(38, t.Width+4), min(38, t.Scale+4)), nil
	} else if numbers[t.Name] || t.Name == "VARCHAR" {
		return parseType("DOUBLE"), nil
	}
	return Type{}, nil
}

// numbers are the types whose average is a double.
var numbers = map[string]bool{"TINYINT": true, "SMALLINT": true, "INTEGER": true, "BIGINT": true, "HUGEINT": true, "UTINYINT": true, "USMALLINT": true, "UINTEGER": true, "UBIGINT": true,
	"FLOAT": true, "DOUBLE": true}

// write writes the average of decimals with four digits more before and behind the point, as far as there are 38.
func (a average) write(w *writer, types []Type) {
	switch {
	case len(types) > 0 && types[0].Name == "VARCHAR":
		a.castCall(w, "avg")
		return
	case len(types) == 0 || types[0].Name != "DECIMAL":
		a.call(w, "avg")
		return
	}
	out, _ := a.of(types)
	w.text("CAST(skua_average(")
	sum{a.aggregate}.write(w, types)
	w.text(",")
	a.call(w, "count")
	w.text(fmt.Sprintf(", %d) AS DECIMAL(%d, %d))", out.Scale, out.Width, out.Scale))
}

// averageCall writes avg(x), with all that may follow.
func averageCall(r *rewriter, bounds [][2]int, pos syntax.Pos) bool {
	if r.averages >= maxAverages {
		return false
	}
	r.averages++
	defer func() { r.averages-- }()
	return r.aggregateCall(bounds, func(a aggregate) typed { return average{a} })
}

// aggregateCall writes the call of an aggregate function of one argument; false: it has others, or an order.
func (r *rewriter) aggregateCall(bounds [][2]int, make func(aggregate) typed) bool {
	if len(bounds) != 1 {
		return false
	}
	start := r.next - 1
	from, to := bounds[0][0], bounds[0][1]
	a := aggregate{}
	switch {
	case r.at(from).Is("DISTINCT"):
		a.before = "DISTINCT "
		from++
	case r.at(from).Is("ALL"):
		from++
	}
	if r.endOf(from, "ORDER") < to || from == to || r.unbound(from, to) {
		return false
	}
	a.value = r.argumentPieces([][2]int{{from, to}})[0]
	a.after = r.capture(func() {
		if r.ahead("FILTER", "(", "WHERE") {
			pos := r.peek().Pos
			r.next++
			r.filtered("", nil, r.booleanFilter(), pos)
		}
		if r.is("OVER") {
			r.over(false)
		}
	})
	r.put(make(a), start, r.next)
	return true
}
