package dialect

import (
	"crypto/sha256"
	"io"
	"strconv"
	"strings"

	"github.com/skua-data/skua/engine/syntax"
)

// typed is a part of a statement that is spelled by the types of expressions, which are known only once the engine has bound it. Each kind of part has a file of its
// own.
type typed interface {
	// asks gives the expressions whose types the part hangs on.
	asks() [][]piece
	// of gives the type that the part has where they are of these types. An unknown one: the part is the engine's, as it stands. An error says that
	// the statement is wrong.
	of(types []Type) (Type, error)
	// write writes the part: by these types, or as it stands where they are nil.
	write(w *writer, types []Type)
	// mapped gives the part made of other pieces.
	mapped(pieces func([]piece) []piece) typed
}

// columns is a typed part that stands for several columns, whose names hang on the types: it is spelled by them while others are still asked for.
type columns interface {
	typed
	// asking writes columns of those names around a question.
	asking(w *writer, question string)
}

// united is a typed part that stands for a query whose columns hang on the types of queries in it, which may hang on others: it is asked for until nothing changes.
type united interface {
	typed
	// holds gives the pieces that it is made of.
	holds() [][]piece
	// settled reports whether it is spelled as it stands where the queries have these types.
	settled(types []Type) bool
	// asking writes a query of its columns, as far as they are known, around a question.
	asking(w *writer, question string, types []Type)
}

// Type is the type of an expression as far as a spelling depends on it.
type Type struct {
	Name         string // without what is in parentheses: DECIMAL, DOUBLE, STRUCT, LIST, …; empty: unknown
	Width, Scale int    // of decimals
	Text         string // the whole type as the engine spells it
}

// parseType reads a type as the engine spells it.
func parseType(text string) Type {
	t := Type{Text: text}
	name, inner, _ := strings.Cut(text, "(")
	switch t.Name = name; {
	case strings.HasSuffix(text, "]"):
		t.Name = "LIST"
	case name == "DECIMAL":
		width, scale, _ := strings.Cut(strings.TrimSuffix(inner, ")"), ",")
		t.Width, _ = strconv.Atoi(width)
		t.Scale, _ = strconv.Atoi(scale)
	}
	return t
}

// decimalType gives a type of decimals.
func decimalType(width, scale int) Type {
	return parseType("DECIMAL(" + strconv.Itoa(width) + "," + strconv.Itoa(scale) + ")")
}

// Stage says how expressions whose types matter are spelled.
type Stage uint8

// The stages of a statement.
const (
	Plain      Stage = iota // as they stand
	AskTypes                // as nothing of the right type, which asks for the types of what is inside; in statements that are planned and never run
	ProbeKeys               // in their final form, keys are probes
	FinalTypes              // in their final form
	Final                   // keys, too
)

// Find is a function that the engine calls while it binds a statement whose types are asked for: with a number that says who asks, the number of the part and the
// types of its expressions. It gives the part's type.
const Find = "skua_find"

// typeMark is in front of each of the types that Find is told, which are those of lists: an expression that is NULL has a type only as an element of one.
const typeMark = "\x1e"

// Asked is the number of the parts that are spelled by types. Those of one text in one query have one number.
func (s *Statement) Asked() int { return len(s.asked) }

// put makes a piece of a typed part, which the tokens between two of them spell.
func (r *rewriter) put(t typed, from, to int) {
	if r.numbers == nil {
		r.numbers = map[string]int{}
	}
	key := r.asking(from, to)
	number, known := r.numbers[key]
	if !known {
		number = len(r.out.asked)
		r.numbers[key] = number
		r.out.asked = append(r.out.asked, t)
	}
	weight := 0
	parts := t.asks()
	if u, ok := t.(united); ok {
		parts = u.holds()
	}
	for _, e := range parts {
		weight += r.weightOf(e)
	}
	if weight > maxPieces && r.failed == nil {
		r.failed = tooComplex(r.at(from).Pos, "words and marks once its functions are written out", maxPieces)
	}
	r.out.typed = append(r.out.typed, placed{t, number, weight})
	r.out.pieces = append(r.out.pieces, piece{table: -1, typed: len(r.out.typed), pos: r.at(from).Pos})
}

// placed is a typed part in its place.
type placed struct {
	typed
	number int
	weight int // how many pieces it is made of
}

// weightOf counts pieces and those that typed parts among them are made of.
func (r *rewriter) weightOf(pieces []piece) (n int) {
	for _, p := range pieces {
		if n++; p.typed > 0 {
			n += r.out.typed[p.typed-1].weight
		}
	}
	return n
}

// asking gives what tells the part between two tokens from others: its query and its text, without the tables of columns. The same expression in a select
// list and in GROUP BY stays the same while types are asked for.
func (r *rewriter) asking(from, to int) string {
	h := sha256.New()
	_, _ = io.WriteString(h, strconv.Itoa(r.query)+r.lambdaScope)
	for i := from; i < to; i++ {
		t := r.at(i)
		text := " " + t.Text
		switch {
		case i+1 < to && r.at(i+1).Is("."):
			continue
		case t.Kind == syntax.Word || t.Kind == syntax.Quoted:
			text = " " + strings.ToLower(t.Name())
		}
		_, _ = io.WriteString(h, text)
	}
	return string(h.Sum(nil))
}

// typed writes a typed part.
func (w *writer) typed(place int) {
	t := w.statement.typed[place]
	var types []Type
	if w.Stage != Plain && t.number < len(w.Types) {
		types = w.Types[t.number]
	}
	if w.Stage != AskTypes || t.number < len(w.Left) && w.Left[t.number] {
		t.write(w, types)
		return
	}
	if u, ok := t.typed.(united); ok {
		u.asking(w, w.question(t), types)
		return
	}
	if c, ok := t.typed.(columns); ok {
		if types == nil {
			c.asking(w, w.question(t))
		} else {
			t.write(w, types)
		}
		return
	}
	w.text(w.question(t))
}

// question gives an expression that has the type of a part and asks for the types of those in it.
func (w *writer) question(t placed) string {
	inner := &writer{Spelling: w.Spelling, statement: w.statement, aliases: w.aliases, out: &Rendered{}}
	inner.text("json_transform('1', " + Find + "(" + strconv.FormatUint(w.Finder, 10) + ", " + strconv.Itoa(t.number) + ", concat_ws(chr(30), ''")
	for _, e := range t.asks() {
		inner.text(", typeof([")
		inner.pieces(e)
		inner.text("])")
	}
	inner.text(")))")
	return inner.b.String()
}

// Answer tells the type of a part whose expressions have these types, as Find is told them, and the types apart.
func (s *Statement) Answer(number int, text string) (Type, []Type, error) {
	if number < 0 || number >= len(s.asked) {
		return Type{}, nil, nil
	}
	types := []Type{}
	parts := strings.Split(text, typeMark)[1:]
	if len(parts) != len(s.asked[number].asks()) {
		return Type{}, nil, nil
	}
	for _, part := range parts {
		types = append(types, parseType(strings.TrimSuffix(part, "[]")))
	}
	t, err := s.asked[number].of(types)
	return t, types, err
}

// Columns reports whether a part stands for columns whose names hang on its type.
func (s *Statement) Columns(number int) bool {
	_, ok := s.asked[number].(columns)
	return ok
}

// Unites reports whether a part stands for a query, and is asked for until its types stay the same.
func (s *Statement) Unites(number int) bool {
	_, ok := s.asked[number].(united)
	return ok
}

// Settled reports whether such a part is spelled as it stands where what it asks for has these types.
func (s *Statement) Settled(number int, types []Type) bool {
	return s.asked[number].(united).settled(types)
}
