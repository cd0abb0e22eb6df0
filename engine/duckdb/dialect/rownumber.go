package dialect

import (
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/engine/syntax"
)

// beforeValue are the words behind which LIMIT or OFFSET is the name of a column.
var beforeValue = []string{"WHERE", "AND", "OR", "NOT", "ON", "HAVING", "BY", "SELECT", "WHEN", "THEN", "ELSE", "CASE", "IN", "LIKE", "BETWEEN", "DISTINCT", "QUALIFY"}

// rowNumber writes LIMIT or OFFSET with its number; false: the word is something else. The engine takes NULL as no limit and rounds fractions: both are
// refused.
func (r *rewriter) rowNumber(s *scope) bool {
	word, from := r.peek(), r.next+1
	first, previous := r.at(from), r.at(r.next-1)
	_, variable := r.Values[first.Pos.Offset]
	switch {
	case !s.query && !s.setOp || r.next == 0 || !isOperandEnd(previous) && !previous.Is("}") && !previous.Is("*"):
		return false
	case first.Kind != syntax.Number && first.Kind != syntax.Text && !first.Is("?") && !first.Is("(") && !first.Is("-") && !first.Is("+") && !first.Is("NULL") && !first.Is("CAST") && !variable:
		return false
	}
	for _, w := range beforeValue {
		if previous.Is(w) {
			return false
		}
	}
	end := r.endOf(from, "LIMIT", "OFFSET", "UNION", "INTERSECT", "EXCEPT", "MINUS", ",")
	if last := r.at(end - 1); last.Is("%") || last.Is("PERCENT") {
		return false
	}
	if condition, why := r.badNumber(from, end); condition != "" {
		name := strings.ToLower(word.Text)
		r.failed = &syntax.Error{Message: "The limit like expression is invalid. The " + name + " expression must " + why + ".", Condition: "INVALID_LIMIT_LIKE_EXPRESSION." + condition,
			SQLState: "42K0E", Line: first.Pos.Line, Column: first.Pos.Column}
		return true
	}
	r.copy()
	plain := end-from == 1
	if !plain {
		r.emit("coalesce(")
	}
	for r.failed == nil && r.next < end {
		r.operand(&scope{})
	}
	if !plain {
		r.emit(", -1)") // the engine refuses it
	}
	return true
}

const (
	notNull = "not be null"
	whole   = "be integer type"
)

// badNumber says what is wrong with a number of rows as far as its text, a bound value or a variable's tells.
func (r *rewriter) badNumber(from, end int) (condition, why string) {
	t := r.at(from)
	if v, ok := r.Values[t.Pos.Offset]; ok && from+v.Tokens == end {
		return badText(v.Text)
	}
	switch {
	case end-from == 2 && t.Is("-") && r.at(from+1).Kind == syntax.Number && strings.Trim(r.at(from+1).Text, "0") != "":
		return "IS_NEGATIVE", "be equal to or greater than 0"
	case t.Is("CAST") && r.at(from+2).Is("NULL"):
		return "IS_NULL", notNull
	case end-from != 1:
	case t.Is("NULL"):
		return "IS_NULL", notNull
	case t.Kind == syntax.Text, t.Kind == syntax.Number && strings.Trim(strings.TrimRight(t.Text, "LlSsYy"), "0123456789") != "":
		return "DATA_TYPE", whole
	case t.Is("?") && r.Arguments != nil && r.out.Parameters < int(r.Arguments.NumCols()):
		switch column := r.Arguments.Column(r.out.Parameters); {
		case column.IsNull(0) || column.DataType().ID() == arrow.NULL:
			return "IS_NULL", notNull
		case !arrow.IsInteger(column.DataType().ID()) && column.DataType().ID() != arrow.DICTIONARY:
			return "DATA_TYPE", whole
		}
	}
	return "", ""
}

// badText is badNumber of a variable's value.
func badText(text string) (condition, why string) {
	upper := strings.ToUpper(text)
	switch {
	case upper == "NULL" || strings.HasPrefix(upper, "CAST(NULL "):
		return "IS_NULL", notNull
	case strings.HasPrefix(upper, "'"):
		return "DATA_TYPE", whole
	case strings.HasPrefix(upper, "CAST("):
		for _, t := range []string{"INT", "INTEGER", "BIGINT", "LONG", "SMALLINT", "SHORT", "TINYINT", "BYTE"} {
			if strings.HasSuffix(upper, " AS "+t+")") {
				return "", ""
			}
		}
		return "DATA_TYPE", whole
	}
	return "", ""
}
