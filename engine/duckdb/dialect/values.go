package dialect

import (
	"strconv"
	"strings"

	"github.com/skua-data/skua/engine/syntax"
)

// values writes the rows of VALUES in FROM, in parentheses as the engine wants them. Spark counts their columns from 1.
func (r *rewriter) values() {
	last := len(r.out.pieces) - 1
	r.out.pieces[last].text = "(VALUES"
	width := r.valuesRows()
	r.emit(")")
	t := r.peek()
	named := t.Kind == syntax.Quoted || t.Kind == syntax.Word && !t.EndsRelation()
	if r.Spark && named {
		if r.is("AS") {
			r.next++
		}
		if alias := r.ident(); r.failed == nil {
			r.emitAt("AS "+spellIdent(alias), t.Pos)
		}
	}
	if !named {
		r.emit("AS \"values\"")
	}
	if r.Spark && !r.is("(") {
		r.emit("(" + valueColumns(width) + ")")
	}
}

// valuesRows writes rows and gives how many columns the first has.
func (r *rewriter) valuesRows() (width int) {
	if r.Spark {
		return r.inlineRows()
	}
	for r.failed == nil {
		r.operand(&scope{})
		if !r.is(",") || !r.at(r.next+1).Is("(") && r.at(r.next+1).Kind == syntax.Word {
			break
		}
		r.copy()
	}
	return width
}

// valueColumns gives Spark's names of the columns of VALUES.
func valueColumns(width int) string {
	names := make([]string, width)
	for i := range names {
		names[i] = "col" + strconv.Itoa(i+1)
	}
	return strings.Join(names, ", ")
}

// valuesAlias writes what a query of VALUES is called, and its columns.
func (r *rewriter) valuesAlias(width int) {
	name, columns := "values", valueColumns(width)
	as := r.is("AS")
	if t := r.peek(); as || t.Kind == syntax.Quoted || t.Kind == syntax.Word && !t.EndsRelation() {
		if as {
			r.next++
		}
		name = r.ident().Text
		if r.failed == nil && r.is("(") {
			bounds, end := r.argumentBounds(), r.endOf(r.next+1)
			names := make([]string, len(bounds))
			for i, b := range bounds {
				r.next = b[0]
				names[i] = QuoteIdent(r.ident().Text)
			}
			columns, r.next = strings.Join(names, ", "), end+1
		}
	}
	r.emit(QuoteIdent(name) + "(" + columns + ")")
}

// valuesQuery writes VALUES where a query stands; false: it is none.
func (r *rewriter) valuesQuery(s *scope) bool {
	first := r.at(r.next + 1)
	begins := s.place == len(r.out.pieces)+1 || s.setOp && oneOf(r.at(r.next-1), "UNION", "ALL", "DISTINCT", "EXCEPT", "INTERSECT", "MINUS")
	if !r.Spark || !r.is("VALUES") || !begins || s.query || !first.Is("(") && !first.Is("-") && first.Kind != syntax.Number && first.Kind != syntax.Text {
		return false
	}
	r.emit("SELECT * FROM")
	r.copy()
	last := len(r.out.pieces) - 1
	r.out.pieces[last].text = "(VALUES"
	width := r.valuesRows()
	r.emit(") AS")
	r.valuesAlias(width)
	s.query = true
	return true
}
