package dialect

import (
	"strings"

	"github.com/skua-data/skua/engine/syntax"
)

// Column is a column of a query that stands where a table was: what it is called outside, the column of the query's result (empty: the one at
// this place), and its type as Spark spells it (empty: the result's).
type Column struct{ Name, From, Type string }

// Inline puts another statement into the place of a table. It gives the number of its first table here: the others follow. The statement put in
// is no use by itself any more.
func (s *Statement) Inline(i int, inner *Statement, columns []Column) (first int, err error) {
	first = len(s.Tables)
	shift := shifting{tables: first, typed: len(s.typed), asked: len(s.asked), keys: len(s.keys), pos: s.Tables[i].Pos()}
	head, tail, err := wrapping(columns)
	if err != nil {
		return 0, err
	}
	pieces := append([]piece{{text: "(SELECT " + head + " FROM (", table: -1}}, shift.pieces(inner.pieces)...)
	pieces = append(pieces, piece{text: tail, table: -1})
	for _, t := range inner.asked {
		s.asked = append(s.asked, t.mapped(shift.pieces))
	}
	for _, t := range inner.typed {
		s.typed = append(s.typed, placed{t.mapped(shift.pieces), t.number + shift.asked, t.weight})
	}
	for _, k := range inner.keys {
		s.keys = append(s.keys, sortKey{value: shift.pieces(k.value), column: shift.pieces(k.column), nested: shift.pieces(k.nested)})
	}
	s.Joined += inner.Joined
	s.Voids = s.Voids || inner.Voids
	s.Tables = append(s.Tables, inner.Tables...)
	if s.inlined == nil {
		s.inlined = map[int][]piece{}
	}
	s.inlined[i] = pieces
	for alias := range inner.Aliases {
		s.Aliases[alias] = true
	}
	for n, p := range inner.inlined {
		s.inlined[n+first] = shift.pieces(p)
	}
	return first, nil
}

// wrapping gives what stands in front of and behind the query: a list of its columns, and a name for it.
func wrapping(columns []Column) (head, tail string, err error) {
	var list, names []string
	for _, c := range columns {
		from := c.From
		if from == "" {
			from = c.Name
			names = append(names, QuoteIdent(c.Name))
		}
		text := QuoteIdent(from)
		if c.Type != "" {
			t, err := syntax.NewParser(c.Type).TypeName()
			if err != nil {
				return "", "", err
			}
			text = "CAST(" + text + " AS " + spellType(t, true) + ")"
		}
		list = append(list, text+" AS "+QuoteIdent(c.Name))
	}
	tail = ") AS skua_view"
	if len(names) == len(columns) && len(names) > 0 {
		tail += "(" + strings.Join(names, ", ") + ")"
	}
	if len(list) == 0 {
		list = []string{"*"}
	}
	return strings.Join(list, ", "), tail + ")", nil
}

// shifting renumbers the pieces of a statement that is put into another one, where all of it stands in one place.
type shifting struct {
	tables, typed, asked, keys int
	pos                        syntax.Pos
}

func (s shifting) pieces(in []piece) []piece {
	out := make([]piece, len(in))
	for i, p := range in {
		if p.table >= 0 {
			p.table += s.tables
		}
		if p.typed > 0 {
			p.typed += s.typed
		}
		if p.key > 0 {
			p.key += s.keys
		}
		if p.level != nil {
			p.level = p.level.shifted(s.tables)
		}
		p.pos = s.pos
		out[i] = p
	}
	return out
}
