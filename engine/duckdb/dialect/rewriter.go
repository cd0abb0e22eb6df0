package dialect

import (
	"fmt"
	"strings"

	"github.com/skua-data/skua/engine/syntax"
)

// The bounds of a statement. What is deeper or longer could cost the engine its stack.
const (
	maxNesting = 150
	maxSetOps  = 400
	maxTokens  = 100_000
	maxPieces  = 300_000 // functions that name an argument twice write it twice
	maxJoins   = 60      // the order of more takes the optimiser minutes, which nothing interrupts
	maxOrs     = 5_000
	maxLambdas = 30
)

// rewriter walks the tokens once and writes pieces. The first failure ends it.
type rewriter struct {
	Options
	text           string
	tokens         []syntax.Token
	parser         *syntax.Parser // for what has a grammar of its own: names, types, values
	next           int
	depth          int
	setOps         int
	counts         map[string]int // of what is bounded, by its word
	out            *Statement
	named, starred bool           // the first select list was seen; it holds a star
	odbc           bool           // inside {fn …}
	listing        bool           // an element of a select list is read
	main           int            // the token that the query begins with, behind WITH
	query          int            // the number of the query that is read
	queries        int            // how many were seen
	numbers        map[string]int // of typed parts, by query and text
	operators      bool           // there are some, and they mean what they mean in Spark
	likes          bool           // some test compares with a pattern
	pattern        [2]int         // the pieces of the last pattern that is an expression
	compared       int            // the token that a value begins with that is compared already
	subqueries     int            // how deep in subqueries among the operands of arithmetic
	closers        []int          // of tokens that open something, once asked for
	leaf, until    int            // the token that a leaf of an expression with operators begins with, and the one behind it
	averages       int            // how deep inside arguments of averages
	generating     int            // and of generators
	repeated       int            // names that were made different
	starLists      []starredLevel
	pairs          map[int]bool      // tokens in front of which a join lacks its condition
	growth         int               // how much the functions around multiply their arguments
	lambdaNames    map[string]string // what the names of lambdas around are written as, by name in lower case
	lambdaScope    string            // the text of the calls that they are lambdas of
	lambdaLevel    int
	stands         map[int]stand
	subscripts     map[int]int // how many are behind each other, by the typed part that ends with them
	failed         error

	functions, odbcTable, sparkCalls map[string]function
}

// scope is what one level of parentheses knows of itself.
type scope struct {
	query    bool // SELECT or a leading FROM was seen: FROM, commas and joins name tables here
	from     bool // inside FROM
	relation bool // a table comes next
	window   bool // inside OVER
	windows  bool // inside WINDOW
	distinct bool
	setOp    bool   // a set operator was seen
	sides    []side // of the set operation that is read; nil: unknown, or they were united
	place    int    // 1 + index of the level's first piece; 0: unknown
	level    *level // nil: no select list was seen
	items    []listed
	weights  map[string]int // of elements, by name
	top      string         // the number of a TOP, still to be written as LIMIT
	limited  bool

	start      int             // the SELECT
	relations  map[string]bool // names of what its FROM reads, in lower case; nil: not asked for
	generators int             // in the select list
	names      listNames       // of the select list; of the first query of a set operation
	joined     bool            // a JOIN was seen
	lacking    bool            // and some lack a condition
}

func (r *rewriter) at(i int) syntax.Token { return r.tokens[min(max(i, 0), len(r.tokens)-1)] }
func (r *rewriter) peek() syntax.Token    { return r.at(r.next) }
func (r *rewriter) is(word string) bool   { return r.peek().Is(word) }

// ahead reports whether these words come next.
func (r *rewriter) ahead(words ...string) bool {
	for i, w := range words {
		if !r.at(r.next + i).Is(w) {
			return false
		}
	}
	return true
}

func (r *rewriter) isAny(words ...string) bool {
	for _, w := range words {
		if r.is(w) {
			return true
		}
	}
	return false
}

func (r *rewriter) emit(text string) { r.emitAt(text, syntax.Pos{}) }

func (r *rewriter) emitAt(text string, pos syntax.Pos) {
	r.out.pieces = append(r.out.pieces, piece{text: text, table: -1, pos: pos})
}

// bounds are the words whose number is bounded.
var bounds = map[string]int{"JOIN": maxJoins, "OR": maxOrs, "AND": maxOrs, "->": maxLambdas, "LAMBDA": maxLambdas}

// bound counts a word of those that are bounded.
func (r *rewriter) bound(t syntax.Token) {
	if t.Kind != syntax.Word && t.Kind != syntax.Symbol {
		return
	}
	word := strings.ToUpper(t.Text)
	if most, ok := bounds[word]; ok {
		if r.counts[word]++; r.counts[word] > most {
			r.failed = tooComplex(t.Pos, word, most)
		}
	}
}

func tooComplex(pos syntax.Pos, word string, most int) error {
	return &syntax.Error{Message: fmt.Sprintf("The statement was too complex to parse: it has more than %d of %s. To mitigate this error divide the statement into "+
		"multiple, less complex chunks.", most, word), Condition: "FAILED_TO_PARSE_TOO_COMPLEX", SQLState: "54001", Line: pos.Line, Column: pos.Column}
}

// copy writes the next token as it is.
func (r *rewriter) copy() {
	t := r.peek()
	r.bound(t)
	r.emitAt(t.Text, t.Pos)
	r.next++
}

// fail ends the translation with a syntax error at a token.
func (r *rewriter) fail(token int) {
	if r.failed == nil {
		r.parser.Seek(token)
		r.failed = r.parser.Unexpected()
	}
}

// refuse ends the translation with an error about a token.
func (r *rewriter) refuse(token int, message string) {
	if r.failed == nil {
		p := r.at(token).Pos
		r.failed = &syntax.Error{Message: message, Condition: "PARSE_SYNTAX_ERROR", SQLState: "42601", Line: p.Line, Column: p.Column}
	}
}

// closes reports whether the next token ends a level.
func (r *rewriter) closes() bool {
	t := r.peek()
	return t.Kind == syntax.EndOfText || t.Is(")") || t.Is("]") || t.Is("}") || t.Is(";")
}

// level writes tokens up to the mark that closes the level. s is nil at the start of a statement or a parenthesis of unknown kind.
func (r *rewriter) level(s *scope, relation bool) {
	if r.depth++; r.depth > maxNesting {
		r.failed = tooComplex(r.peek().Pos, "levels of nesting", maxNesting)
	}
	defer func(query int, listing bool) { r.depth, r.query, r.listing = r.depth-1, query, listing }(r.query, r.listing)
	if s == nil {
		s = &scope{}
	}
	s.relation, s.place = relation, len(r.out.pieces)+1
	if relation {
		s.from, s.query = true, true
	}
	for r.failed == nil && !r.closes() {
		r.step(s)
	}
	r.paired()
	r.limit(s)
	r.unites(s)
}

// limit writes the LIMIT that a TOP stands for.
func (r *rewriter) limit(s *scope) {
	if s.top != "" && !s.limited {
		r.emit("LIMIT " + s.top)
	}
	s.top, s.limited = "", false
}

// step writes one token or one construct.
func (r *rewriter) step(s *scope) {
	r.paired()
	if r.depth == 1 && r.next == r.main {
		r.out.main = len(r.out.pieces)
	}
	t := r.peek()
	switch {
	case s.relation && r.relation(s):
	case r.valuesQuery(s):
	case t.Kind == syntax.Word && r.clause(s):
	case t.Is(","):
		r.copy()
		s.relation = s.from
	default:
		s.relation = false
		r.operand(s)
	}
}

// group writes a parenthesis, bracket or brace with what is inside.
func (r *rewriter) group(relation bool) { r.groupIn(nil, relation) }

// groupIn is group; what is a table inside is one of the level.
func (r *rewriter) groupIn(l *level, relation bool) {
	closing := map[string]string{"(": ")", "[": "]", "{": "}"}[r.peek().Text]
	r.copy()
	r.level(&scope{level: l}, relation)
	r.close(closing)
}

func (r *rewriter) close(mark string) {
	if r.failed == nil && !r.is(mark) {
		r.fail(r.next)
	}
	if r.failed == nil {
		r.copy()
	}
}

// clause writes a word that begins a clause; false: it does not.
func (r *rewriter) clause(s *scope) bool {
	t := r.peek()
	previous := r.at(r.next - 1)
	if r.next > 0 && (previous.Is(".") || previous.Is("AS")) || r.at(r.next+1).Is(".") {
		return false
	}
	switch strings.ToUpper(t.Text) {
	case "SELECT":
		r.selectList(s)
	case "FROM":
		if previous.Is("DISTINCT") && (r.at(r.next-2).Is("IS") || r.at(r.next-2).Is("NOT")) {
			return false
		}
		if !s.query && r.next > 0 && !opensQuery(previous) {
			return false
		}
		r.out.Bare = r.out.Bare || !s.query
		r.copy()
		s.query, s.from, s.relation = true, true, true
	case "JOIN":
		if !s.query {
			return false
		}
		r.join(s)
		r.copy()
		s.relation = true
	case "LEFT", "RIGHT":
		if (r.at(r.next+1).Is("SEMI") || r.at(r.next+1).Is("ANTI")) && s.query {
			r.next++
			r.copy()
			return true
		}
		return false
	case "LATERAL":
		if s.query && r.at(r.next+1).Is("VIEW") {
			r.lateralView()
			return true
		}
		return false
	case "UNION", "INTERSECT", "EXCEPT", "MINUS", "SETMINUS":
		return r.setOperator(s)
	case "WHERE", "HAVING", "QUALIFY", "WINDOW":
		if s.query {
			s.from, s.relation, s.windows = false, false, r.is("WINDOW")
		}
		if r.is("HAVING") {
			r.means(s, r.next+1, r.endOf(r.next+1, fromEnds...), false)
		}
		return false
	case "ORDER", "PARTITION":
		if !r.at(r.next+1).Is("BY") || !s.window && (r.is("PARTITION") || !s.query && !s.setOp) {
			return false
		}
		s.from, s.relation = false, false
		r.keys(s)
	case "LIMIT", "FETCH":
		r.unites(s)
		s.limited, s.from = true, false
		return r.is("LIMIT") && r.rowNumber(s)
	case "OFFSET":
		r.unites(s)
		return r.rowNumber(s)
	case "GROUP":
		s.from, s.relation = false, false
		if r.at(r.next+1).Is("BY") && s.query {
			r.groupBy()
			return true
		}
		return false
	case "SORT", "DISTRIBUTE", "CLUSTER":
		return s.query && r.sortBy(s)
	default:
		return false
	}
	return true
}

// opensQuery reports whether a FROM behind the token begins a query.
func opensQuery(t syntax.Token) bool {
	return t.Is("(") || t.Is(")") || t.Is("UNION") || t.Is("ALL") || t.Is("EXCEPT") || t.Is("INTERSECT") || t.Is("AS")
}

// setOperator writes UNION and its like between two queries.
func (r *rewriter) setOperator(s *scope) bool {
	after := r.at(r.next + 1)
	if !s.query && !r.at(r.next-1).Is(")") {
		return false
	}
	if !after.Is("SELECT") && !after.Is("(") && !after.Is("ALL") && !after.Is("DISTINCT") && !after.Is("VALUES") && !after.Is("FROM") &&
		!after.Is("BY") && !after.Is("WITH") && !after.Is("TABLE") {
		return false
	}
	if r.at(r.next-1).Is("*") && after.Is("(") && !r.at(r.next+2).Is("SELECT") {
		return false // * EXCEPT (a, b)
	}
	if r.setOps++; r.setOps > maxSetOps {
		r.failed = tooComplex(r.peek().Pos, "set operations", maxSetOps)
		return true
	}
	r.limit(s)
	sides := r.sideEnds(s)
	t := r.peek()
	word := strings.ToUpper(t.Text)
	if word == "MINUS" || word == "SETMINUS" {
		word = "EXCEPT"
	}
	r.next++
	r.emitAt(word, t.Pos)
	*s = scope{place: s.place, setOp: true, names: s.names, sides: sides}
	return true
}

// sortBy writes Spark's SORT BY as ORDER BY and leaves out how rows are distributed.
func (r *rewriter) sortBy(s *scope) bool {
	if !r.at(r.next + 1).Is("BY") {
		return false
	}
	r.unites(s)
	s.from = false
	order := !r.is("DISTRIBUTE")
	pos := r.peek().Pos
	r.next += 2
	if order {
		r.emitAt("ORDER BY", pos)
		return true
	}
	kept := len(r.out.pieces)
	for r.failed == nil && !r.closes() && !r.isAny("SORT", "LIMIT") {
		r.operand(s)
	}
	r.out.pieces = r.out.pieces[:kept]
	return true
}

// endOf gives the first token from one on that closes the level or is one of the words at it.
func (r *rewriter) endOf(from int, words ...string) int {
	depth := 0
	for i := from; ; i++ {
		t := r.at(i)
		switch {
		case t.Kind == syntax.EndOfText:
			return i
		case t.Is("(") || t.Is("[") || t.Is("{"):
			depth++
		case t.Is(")") || t.Is("]") || t.Is("}"):
			if depth == 0 {
				return i
			}
			depth--
		case depth == 0 && t.Is(";"):
			return i
		case depth == 0 && t.Is("GROUP") && r.at(i-1).Is("WITHIN"): // it ends nothing
		case depth == 0 && t.Kind == syntax.Word:
			for _, w := range words {
				if t.Is(w) {
					return i
				}
			}
		case depth == 0 && t.Is(","):
			for _, w := range words {
				if w == "," {
					return i
				}
			}
		}
	}
}
