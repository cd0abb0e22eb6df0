package dialect

import (
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/engine/syntax"
)

// beforeValue are the words behind which LIMIT or OFFSET is the name of a column.
var beforeValue = []string{"WHERE", "AND", "OR", "NOT", "ON", "HAVING", "BY", "SELECT", "WHEN", "THEN", "ELSE", "CASE", "IN", "LIKE", "BETWEEN", "DISTINCT", "QUALIFY"}

// rowNumber writes LIMIT or OFFSET with its number; false: the word is something else. The engine takes NULL as no limit and rounds fractions: both are
// refused, by whoever evaluates constants as far as it can, else by a function of the engine.
func (r *rewriter) rowNumber(s *scope) bool {
	word, from := r.peek(), r.next+1
	first, previous := r.at(from), r.at(r.next-1)
	_, variable := r.Values[first.Pos.Offset]
	switch {
	case !s.query && !s.setOp || r.next == 0 || !isOperandEnd(previous) && !previous.Is("}") && !previous.Is("*"):
		return false
	case first.Kind != syntax.Number && first.Kind != syntax.Text && !oneOf(first, "?", "(", "-", "+", "NULL", "CASE") && !variable && !(first.Kind == syntax.Word && r.at(from+1).Is("(")):
		return false
	case oneOf(previous, beforeValue...):
		return false
	}
	end := r.endOf(from, "LIMIT", "OFFSET", "UNION", "INTERSECT", "EXCEPT", "MINUS", "ROW", "ROWS", "FETCH", ",")
	if last := r.at(end - 1); last.Is("%") || last.Is("PERCENT") {
		return false
	}
	if condition, why := r.badParameter(from, end); condition != "" {
		r.failed = &syntax.Error{Message: "The limit like expression \"?\" is invalid. The " + strings.ToLower(word.Text) + " expression must " + why + ".",
			Condition: "INVALID_LIMIT_LIKE_EXPRESSION." + condition, SQLState: "42K0E", Line: first.Pos.Line, Column: first.Pos.Column}
		return true
	}
	n, known, err := r.rows(strings.ToLower(word.Text), from, end)
	if err != nil {
		r.failed = err
		return true
	}
	defer r.rowsWord(word)
	r.copy()
	open, closing := "skua_rows(", ")"
	switch {
	case known:
		r.emitAt(strconv.FormatInt(n, 10), first.Pos)
		r.next = end
		return true
	case end-from == 1 && (first.Is("?") || first.Kind == syntax.Number && strings.Trim(first.Text, "0123456789") == ""):
		open, closing = "", ""
	case r.marked(from, end):
		open, closing = "coalesce(", ", -1)" // which tells the parameter's type, and the engine refuses
	}
	r.emit(open)
	for r.failed == nil && r.next < end {
		r.operand(&scope{})
	}
	r.emit(closing)
	return true
}

// rowsWord leaves out standard SQL's ROW or ROWS behind OFFSET's number, which says nothing; Spark has none.
func (r *rewriter) rowsWord(word syntax.Token) {
	if !r.Spark && word.Is("OFFSET") && r.isAny("ROW", "ROWS") {
		r.next++
	}
}

// rows evaluates a number of rows that is a constant; false: it is none that is known.
func (r *rewriter) rows(word string, from, end int) (int64, bool, error) {
	if r.Rows == nil || r.marked(from, end) {
		return 0, false, nil
	}
	r.parser.Seek(from)
	e, err := r.parser.Expression()
	if err != nil || r.parser.Place() != end {
		return 0, false, nil
	}
	return r.Rows(word, e)
}

// marked reports whether there is a parameter among the tokens.
func (r *rewriter) marked(from, end int) bool {
	return slices.ContainsFunc(r.tokens[from:end], func(t syntax.Token) bool { return t.Is("?") })
}

// badParameter says what is wrong with the value of a parameter that is a number of rows.
func (r *rewriter) badParameter(from, end int) (condition, why string) {
	if !r.at(from).Is("?") || end-from != 1 || r.Arguments == nil || r.out.Parameters >= int(r.Arguments.NumCols()) {
		return "", ""
	}
	switch column := r.Arguments.Column(r.out.Parameters); {
	case column.IsNull(0) || column.DataType().ID() == arrow.NULL:
		return "IS_NULL", "not be null"
	case !arrow.IsInteger(column.DataType().ID()) && column.DataType().ID() != arrow.DICTIONARY:
		return "DATA_TYPE", "be integer type"
	}
	return "", ""
}
