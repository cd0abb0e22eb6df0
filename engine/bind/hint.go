package bind

import (
	"errors"
	"strings"

	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
)

// textHint is told where a column is not known that stands where a value would: texts stand in single quotes.
func textHint(err error, e syntax.Expr) error {
	c, ok := e.(*syntax.Column)
	var unknown *fault.Error
	if !ok || len(c.Parts) != 1 || !errors.As(err, &unknown) || !strings.HasPrefix(unknown.Condition, "UNRESOLVED_COLUMN") {
		return err
	}
	return fault.Hint(err, " A text stands in single quotes: '"+strings.ReplaceAll(c.Parts[0].Text, "'", "''")+"'.")
}

// instead says what can be written in place of a test over an expression, where that is easy; empty: it is not.
func instead(e syntax.Expr) string {
	columns := columnsIn(e)
	if len(columns) != 1 {
		return ""
	}
	name := syntax.QuoteName(syntax.Texts(columns[0].Parts))
	switch e := e.(type) {
	case *syntax.Cast:
		if strings.EqualFold(e.Type.Name, "date") {
			return dayHint(name)
		}
		return "; compare the column itself with a constant of its own type"
	case *syntax.Call:
		switch function := strings.ToLower(syntax.Texts(e.Name)[len(e.Name)-1]); function {
		case "date", "to_date", "date_trunc", "trunc", "date_format", "year", "month", "day", "hour", "minute", "dayofmonth", "quarter", "extract":
			return dayHint(name)
		case "lower", "upper", "lcase", "ucase":
			return "; compare with every spelling, such as " + name + " IN ('abc', 'ABC')"
		case "substring", "substr", "left":
			return "; a prefix can be written as " + name + " LIKE 'abc%'"
		}
	case *syntax.Binary, *syntax.Unary:
		if isArithmetic(e) {
			return "; compare the column itself, with the arithmetic on the other side"
		}
	}
	return ""
}

func dayHint(name string) string {
	return "; write a range of the column instead, such as " + name + " >= '2025-06-01' AND " + name + " < '2025-06-02'"
}

func isArithmetic(e syntax.Expr) bool {
	switch e := e.(type) {
	case *syntax.Binary:
		return e.Op == "+" || e.Op == "-"
	case *syntax.Unary:
		return e.Op == "-"
	}
	return false
}

// columnsIn gives the columns that an expression names.
func columnsIn(e syntax.Expr) []*syntax.Column {
	if c, ok := e.(*syntax.Column); ok {
		return []*syntax.Column{c}
	}
	var out []*syntax.Column
	for _, child := range syntax.Children(e) {
		out = append(out, columnsIn(child)...)
	}
	return out
}

// readable says which patterns LIKE takes.
func readable(value operand) string {
	if value.column {
		return "; a prefix is supported: " + syntax.QuoteName(value.ref.Path) + " LIKE 'abc%'"
	}
	return "; LIKE 'abc%', a prefix, is"
}
