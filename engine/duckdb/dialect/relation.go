package dialect

import (
	"strconv"
	"strings"

	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
)

// relation writes what stands where a table may: a name, with its clauses lifted out, a parenthesis, or what the engine knows itself; false: it
// is none of ours.
func (r *rewriter) relation(s *scope) bool {
	t := r.peek()
	switch {
	case t.Is("("):
		s.relation = false
		inner := r.at(r.next + 1)
		r.groupIn(s.level, !oneOf(inner, "SELECT", "WITH", "VALUES", "FROM", "TABLE") && (!inner.Is("(") || r.relatesNested()))
		return true
	case t.Is("LATERAL") && r.at(r.next+1).Is("("):
		r.copy()
		r.group(false)
		s.relation = false
		return true
	case t.Is("LATERAL") && !r.at(r.next+1).Is("VIEW") && r.at(r.next+2).Is("("):
		r.copy()
		return true
	case t.Is("VALUES") && (r.at(r.next+1).Is("(") || r.at(r.next+1).Kind != syntax.Word):
		r.copy()
		s.relation = false
		r.values()
		return true
	case t.Is("{") && r.at(r.next+1).Is("oj"):
		r.next += 2
		inner := *s
		r.level(&inner, true)
		if !r.is("}") {
			r.fail(r.next)
		}
		r.next++
		s.relation = false
		return true
	case t.Kind != syntax.Word && t.Kind != syntax.Quoted:
		return false
	}
	s.relation = false
	return r.table(s)
}

// relatesNested reports whether the second of two parentheses holds a relation that others follow in the first, and not a query.
func (r *rewriter) relatesNested() bool {
	after := r.at(r.after(r.next + 1))
	return !after.Is(")") && !oneOf(after, afterQueries...)
}

// afterQueries are the words that go on behind a query in parentheses.
var afterQueries = []string{"UNION", "INTERSECT", "EXCEPT", "MINUS", "SETMINUS", "ORDER", "LIMIT", "OFFSET", "FETCH"}

// table lifts a table's name out; false: it is a function.
func (r *rewriter) table(s *scope) bool {
	start := r.next
	r.parser.Seek(r.next)
	name, err := r.parser.Name()
	if err != nil {
		r.failed = err
		return true
	}
	if r.parser.Peek().Is("(") {
		return r.tableFunction(name)
	}
	ref := Reference{TableRef: syntax.TableRef{Name: name}}
	if ref.At, err = r.parser.TimeTravel(); err != nil {
		r.failed = err
		return true
	}
	if next := r.parser.Place(); r.at(next).Is("WITH") && r.at(next+1).Is("(") {
		r.parser.Next()
		if ref.Options, err = r.parser.Options(); err != nil {
			r.failed = err
			return true
		}
	}
	r.next = r.parser.Place()
	r.sample()
	after := r.peek()
	ref.Aliased = after.Is("AS") || after.Kind == syntax.Quoted || after.Kind == syntax.Word && !after.EndsRelation() && !afterTable(after)
	if ref.Alias = ref.Last(); ref.Aliased {
		ref.Alias = r.aliasAt(r.next)
	}
	if s.level != nil && !r.joinsNone(start) {
		s.level.tables = append(s.level.tables, len(r.out.Tables))
	}
	r.out.Tables = append(r.out.Tables, ref)
	r.out.pieces = append(r.out.pieces, piece{table: len(r.out.Tables) - 1, pos: name[0].Pos})
	if len(name) == 1 {
		r.out.Words[strings.ToLower(name[0].Text)] = true
	}
	return true
}

// afterTable reports whether a word goes on behind a table without being its alias.
func afterTable(t syntax.Token) bool {
	for _, w := range []string{"ASOF", "POSITIONAL", "AT", "OUTER", "SELECT", "USE", "WITH"} {
		if t.Is(w) {
			return true
		}
	}
	return false
}

// sample refuses samples, whose rows nobody could give again.
func (r *rewriter) sample() {
	if r.is("TABLESAMPLE") {
		p := r.peek().Pos
		r.failed = fault.New(fault.Unsupported, "TABLESAMPLE is not supported").At(fault.Position{Line: p.Line, Column: p.Column})
	}
}

// tableFunction writes a function in FROM.
func (r *rewriter) tableFunction(name []syntax.Ident) bool {
	if len(name) == 1 {
		if function, outer := r.generatorOf(r.next); function != "" {
			r.generatorTable(function, outer)
			return true
		}
		switch strings.ToLower(name[0].Text) {
		case "generate_series", "unnest":
			r.copy()
			r.group(false)
			return true
		case "range":
			if r.Spark {
				r.rangeTable()
				return true
			}
			r.copy()
			r.group(false)
			if t := r.peek(); !t.Is("AS") && t.Kind != syntax.Quoted && (t.Kind != syntax.Word || t.EndsRelation()) {
				r.emit("AS range(id)")
			}
			return true
		}
	}
	return false
}

// rangeTable writes range(…) as a query of its column. Without an alias it has none that could be meant.
func (r *rewriter) rangeTable() {
	pos := r.peek().Pos
	r.next++
	bounds := r.argumentBounds()
	if len(bounds) == 0 || len(bounds) > 4 {
		r.wrongCount("range", len(bounds), aggregation{least: 1, most: 4}, pos)
		return
	}
	numbers := make([]string, min(len(bounds), 3)) // not how many partitions there are
	for i := range numbers {
		numbers[i] = "$" + strconv.Itoa(i+1)
		switch t := r.at(bounds[i][0]); {
		case bounds[i][1]-bounds[i][0] > 1:
		case t.Is("NULL"):
			r.invalid(bounds[i][0], "UNEXPECTED_INPUT_TYPE", "42K09", "The parameter %d of function range requires the BIGINT type, however NULL has the type VOID.", i+1)
			return
		case i == 2 && t.Text == "0":
			r.invalid(bounds[i][0], "FAILED_FUNCTION_CALL", "38000", "Failed preparing of the function range for call: step cannot be 0.")
			return
		case t.Kind == syntax.Text:
			numbers[i] = "CAST(" + numbers[i] + " AS BIGINT)"
		case strings.Contains(t.Text, "."):
			numbers[i] = "CAST(trunc(" + numbers[i] + ") AS BIGINT)"
		}
	}
	r.template("(SELECT range AS id FROM range("+strings.Join(numbers, ", ")+"))", pos, r.argumentPieces(bounds)...)
	if t := r.peek(); !t.Is("AS") && t.Kind != syntax.Quoted && (t.Kind != syntax.Word || t.EndsRelation()) {
		r.counts["range"]++
		r.emit("AS skua_range" + strconv.Itoa(r.counts["range"]))
	}
}

func (r *rewriter) ident() syntax.Ident {
	r.parser.Seek(r.next)
	i, err := r.parser.Ident()
	if err != nil && r.failed == nil {
		r.failed = err
	}
	r.next = r.parser.Place()
	return i
}
