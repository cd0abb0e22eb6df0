// Package dialect turns statements as Spark's and BI tools' users write them into the SQL of DuckDB. It works on tokens, not on a tree, so that
// what it has never heard of passes through and is judged by the engine itself. Names of tables are lifted out with their time travel and
// options, for whoever knows the catalogs.
package dialect

import (
	"slices"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/engine/syntax"
)

// Options is what a translation depends on besides the text.
type Options struct {
	Spark bool                     // where Spark and ANSI differ, follow Spark
	Name  func(syntax.Expr) string // what a result column of an expression is called; nil: as DuckDB calls it
	// Rows evaluates the number of a LIMIT or an OFFSET, which it is told; false: it is no constant that it knows. Nil: none is known.
	Rows      func(word string, e syntax.Expr) (int64, bool, error)
	Constants map[string]string // values of functions without arguments, by name in lower case
	Clock     time.Time         // the statement's now
	Zone      *time.Location
	Values    map[int]Value     // of session variables, by the offset of the name that means one
	Arguments arrow.RecordBatch // one row with the values of the parameters; nil: they stay parameters
	Distinct  bool              // columns of one name in a query get names that nobody can mean, the first one, too
	Stars     map[int][]string  // columns that stars stand for which are arguments, by the star's Offset
	Growth    map[string]int    // how much functions of the engine multiply their arguments, by name, besides those that are known here
	Nulls     bool              // ORDER BY says where nulls go: the statement will be part of one of the other dialect
}

// Value is what stands for a name: a constant in SQL. Tokens is how many the name has.
type Value struct {
	Tokens int
	Text   string
}

// Statement is a translated statement.
type Statement struct {
	Stars      []StarArgument // whose columns Options.Stars lacks; unless there are none, nothing else is known of the statement
	Tables     []Reference
	Parameters int
	Joined     int             // how often texts are joined: || and concat
	Names      []string        // of the result's columns as the text spells them; empty ones are the engine's. Nil where a star hides their number
	Aliases    map[string]bool // of tables, and the last parts of their names, in lower case
	Words      map[string]bool // every identifier of the text, in lower case
	Bare       bool            // somewhere all columns of a table are selected without a star
	Repeated   []Repeated      // names that queries in parentheses give to several columns
	Starred    []Starred       // queries in parentheses whose stars may do so
	Intervals  bool            // the word INTERVAL stands in the text
	Keyed      []Keyed         // names in ORDER BY and HAVING that may be those of a star's columns, too
	Voids      bool            // the text may give values of no type: NULL, or what is made of nothing
	pieces     []piece
	main       int // the piece that the query begins with, behind WITH
	typed      []placed
	asked      []typed // by number
	keys       []sortKey
	inlined    map[int][]piece // what stands for a table that is a query
}

// Reference is one place where a table is read.
type Reference struct {
	syntax.TableRef
	Aliased bool   // an alias stands in the text behind it
	Alias   string // that one; else the last part of the name
}

// Pos is where the table's name stands.
func (r Reference) Pos() syntax.Pos { return r.Name[0].Pos }

// Last is the last part of the table's name, by which its columns are qualified where it has no alias.
func (r Reference) Last() string { return r.Name[len(r.Name)-1].Text }

// piece is a part of the translated text: text as it stands, a table, or a name with dots that may begin with a table's.
type piece struct {
	text  string
	table int            // index into Tables, -1: none
	chain []syntax.Ident // a dotted name
	star  bool           // .* follows the chain
	level *level         // of a star in a select list, or of what its EXCEPT leaves out besides; nil: neither
	more  bool           // it is the latter
	typed int            // 1 + index into Statement.typed, 0: none
	key   int            // 1 + index into Statement.keys, 0: none
	exact bool           // the text stands only where keys are written in their final form
	pos   syntax.Pos     // where it comes from; Line 0: unknown
}

// Rendered is a text for the engine that knows where its parts come from.
type Rendered struct {
	Text    string
	Exact   []Exact // functions that the text calls
	offsets []int   // of pieces, ascending
	places  []syntax.Pos
}

// Position gives the place in the original text that a byte of the rendered one comes from.
func (r *Rendered) Position(offset int) syntax.Pos {
	var out syntax.Pos
	for i, o := range r.offsets {
		if o > offset {
			break
		}
		if r.places[i].Line > 0 {
			out = r.places[i]
		}
	}
	return out
}

// Spelling is how Render spells what depends on the tables.
type Spelling struct {
	Table     func(i int) string                // a text for each table
	Qualified func(i int) []string              // a table's full name, by which columns may be qualified; nil: as written
	Field     func(column, field string) string // a name of two parts that is no column of a table but a field of one; nil, or empty: it is none
	Hidden    func(i int) []string              // the columns of a table that * leaves out; nil: none
	Stage     Stage
	Types     [][]Type // of the expressions that typed parts hang on, by the part's number; nil: they are not known
	Left      []bool   // the parts that are left to the engine while types are asked for, by number
	Finder    uint64   // what says who asks
	KeyTypes  []string // of keys; empty: not known
	Nested    bool     // the least or the greatest of values with parts is asked for
}

// writer renders a statement.
type writer struct {
	Spelling
	statement *Statement
	aliases   [][]string
	out       *Rendered
	b         strings.Builder
}

// Render spells the statement.
func (s *Statement) Render(spelling Spelling) *Rendered {
	w := &writer{Spelling: spelling, statement: s, aliases: s.aliases(spelling.Qualified), out: &Rendered{}}
	w.pieces(s.pieces)
	w.out.Text = w.b.String()
	return w.out
}

// RenderTable spells one of the statement's tables alone.
func (s *Statement) RenderTable(i int, spelling Spelling) *Rendered {
	w := &writer{Spelling: spelling, statement: s, aliases: s.aliases(spelling.Qualified), out: &Rendered{}}
	w.pieces([]piece{{table: i}})
	w.out.Text = w.b.String()
	return w.out
}

// isOperator reports whether a token is an operator of arithmetic, or the name of a function that follows types like one.
func isOperator(t syntax.Token) bool {
	if _, named := numberCalls[strings.ToLower(t.Text)]; named {
		return true
	}
	level, _ := syntax.Operator(t)
	return level > 0 || t.Is("~")
}

func (w *writer) pieces(pieces []piece) {
	for _, p := range pieces {
		switch {
		case p.exact && w.Stage != Final && w.Stage != ProbeKeys:
		case p.typed > 0:
			w.place(p.pos)
			w.typed(p.typed - 1)
		case p.key > 0:
			w.place(p.pos)
			w.key(p.key - 1)
		case p.table >= 0 && w.statement.inlined[p.table] != nil:
			w.pieces(w.statement.inlined[p.table])
			if ref := w.statement.Tables[p.table]; !ref.Aliased {
				w.text("AS " + QuoteIdent(ref.Last()))
			}
		default:
			if text := w.spell(p); text != "" {
				w.place(p.pos)
				w.text(text)
			}
		}
	}
}

// place notes where the next text comes from.
func (w *writer) place(pos syntax.Pos) {
	at := w.b.Len()
	if at > 0 {
		at++ // the blank in front of it
	}
	w.out.offsets, w.out.places = append(w.out.offsets, at), append(w.out.places, pos)
}

func (w *writer) text(text string) {
	if w.b.Len() > 0 {
		w.b.WriteByte(' ')
	}
	w.b.WriteString(text)
}

func (w *writer) spell(p piece) string {
	switch {
	case p.level != nil:
		return w.star(p)
	case p.table >= 0:
		return w.Table(p.table)
	case p.chain != nil:
		return w.statement.spellChain(p, w.aliases, w.Field)
	}
	return p.text
}

// aliases gives the full names of the tables without an alias.
func (s *Statement) aliases(qualified func(i int) []string) [][]string {
	var out [][]string
	for i, t := range s.Tables {
		if t.Aliased {
			continue
		}
		name := make([]string, len(t.Name))
		for j, part := range t.Name {
			name[j] = part.Text
		}
		if qualified != nil {
			if full := qualified(i); len(full) > 0 {
				name = full
			}
		}
		out = append(out, name)
	}
	return out
}

// spellChain writes a dotted name, or the field that it means.
func (s *Statement) spellChain(p piece, aliases [][]string, field func(column, field string) string) string {
	if field != nil && len(p.chain) == 2 && !p.star && !s.Aliases[strings.ToLower(p.chain[0].Text)] {
		if text := field(p.chain[0].Text, p.chain[1].Text); text != "" {
			return text
		}
	}
	return spellChain(p, aliases)
}

// spellChain writes a dotted name. Where it begins with a table's name of several parts, the last of them is enough.
func spellChain(p piece, aliases [][]string) string {
	parts := p.chain
	most := len(parts) - 1
	if p.star {
		most = len(parts)
	}
	for n := most; n >= 2; n-- {
		if matchesTable(parts[:n], aliases) {
			parts = parts[n-1:]
			break
		}
	}
	out := make([]string, len(parts))
	for i, part := range parts {
		out[i] = spellIdent(part)
	}
	text := strings.Join(out, ".")
	if p.star && len(parts) > 1 { // the fields of a struct
		return "unnest(" + text + ")"
	}
	if p.star {
		text += ".*"
	}
	return text
}

// matchesTable reports whether a name is the end of one of the full names.
func matchesTable(name []syntax.Ident, full [][]string) bool {
	for _, f := range full {
		if len(f) < len(name) {
			continue
		}
		same := true
		for i, part := range f[len(f)-len(name):] {
			same = same && strings.EqualFold(part, name[i].Text)
		}
		if same {
			return true
		}
	}
	return false
}

func spellIdent(i syntax.Ident) string {
	if !i.Quoted && plain(i.Text) && !reserved[strings.ToLower(i.Text)] {
		return i.Text
	}
	return QuoteIdent(i.Text)
}

// reserved are words that the engine keeps for itself and that are names to everybody else: no query has them as keywords.
var reserved = map[string]bool{"at": true, "analyse": true, "analyze": true, "check": true, "column": true, "constraint": true, "default": true,
	"deferrable": true, "describe": true, "do": true, "foreign": true, "initially": true, "placing": true, "primary": true, "references": true, "returning": true,
	"show": true, "summarize": true, "unique": true, "variadic": true}

// plain reports whether a bare word is one to the engine, too.
func plain(word string) bool {
	for i := range len(word) {
		c := word[i]
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// QuoteIdent spells a name in double quotes.
func QuoteIdent(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// QuoteText spells a string literal.
func QuoteText(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// Translate reads a statement. Errors are *syntax.Error or faults of a parameter's value.
func Translate(text string, o Options) (*Statement, error) {
	tokens, err := syntax.Tokens(text)
	if err != nil {
		return nil, err
	}
	if len(tokens) > maxTokens {
		return nil, tooComplex(tokens[maxTokens].Pos, "words and marks", maxTokens)
	}
	if o.Zone == nil {
		o.Zone = time.UTC
	}
	r := &rewriter{Options: o, text: text, tokens: tokens, parser: syntax.NewParser(text), out: &Statement{Words: map[string]bool{}, Aliases: map[string]bool{}},
		counts: map[string]int{}, functions: functions, odbcTable: odbcFunctions, sparkCalls: sparkCalls}
	if again, ok := r.timeWindows(); ok {
		return Translate(again, o)
	}
	if r.failed != nil {
		return nil, r.failed
	}
	if r.out.Stars = r.expandStars(); r.failed != nil || r.out.Stars != nil {
		return r.out, r.failed
	}
	if r.windows(); r.failed != nil {
		return nil, r.failed
	}
	r.operators = r.Spark && slices.ContainsFunc(tokens, isOperator)
	r.likes = slices.ContainsFunc(tokens, func(t syntax.Token) bool { return oneOf(t, "LIKE", "ILIKE", "RLIKE", "REGEXP") })
	r.out.Voids = r.Spark && (r.Arguments != nil || len(r.Values) > 0 || slices.ContainsFunc(tokens, mayBeVoid))
	r.main = r.withEnd()
	r.level(nil, false)
	for r.failed == nil && r.is(";") {
		r.next++
	}
	if r.failed == nil && r.peek().Kind != syntax.EndOfText {
		r.fail(r.next)
	}
	if r.failed != nil {
		return nil, r.failed
	}
	if err := patterns(tokens); err != nil {
		return nil, err
	}
	r.out.Starred = r.starredQueries()
	for i, t := range r.tokens[:len(r.tokens)-1] {
		if t.Kind == syntax.Quoted && strings.Contains(t.Text, repeatMark) {
			return nil, &syntax.Error{Message: "A name with the character U+001F is not supported.", Condition: "PARSE_SYNTAX_ERROR", SQLState: "42601", Line: t.Pos.Line, Column: t.Pos.Column}
		}
		r.out.Bare = r.out.Bare || t.Is("TABLE") || t.Is("COLUMNS")
		if t.Is("||") || t.Is("CONCAT") || t.Is("CONCAT_WS") {
			r.out.Joined++
		}
		if i > 0 && (r.at(i-1).Is("AS") || r.at(i-1).Is(")") || r.at(i-1).Kind == syntax.Word || r.at(i-1).Kind == syntax.Quoted) && t.Kind != syntax.Symbol &&
			!r.at(i+1).Is(".") {
			r.out.Aliases[strings.ToLower(strings.Trim(t.Text, "`\""))] = true
		}
	}
	for _, t := range r.out.Tables {
		r.out.Aliases[strings.ToLower(t.Last())] = true
	}
	return r.out, nil
}
