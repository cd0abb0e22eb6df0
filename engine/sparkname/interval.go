package sparkname

import (
	"slices"
	"strings"

	"github.com/skua-data/skua/engine/syntax"
)

// shifted names a time that an interval is added to or taken from, which Spark resolves to functions of their own, and an interval times a number; false: it is none.
func (n *namer) shifted(e *syntax.Binary) bool {
	time, by := e.Left, e.Right
	if isInterval(time) && (e.Op == "+" || e.Op == "*") {
		time, by = by, time
	}
	switch {
	case !isInterval(by) || isInterval(time) || isNumber(time) && e.Op != "*":
		return false
	case e.Op == "*":
		n.words("(", by, " * ", time, ")")
	case e.Op != "+" && e.Op != "-":
		return false
	case !isDate(time) || !isDays(by):
		n.words(time, " ", e.Op, " ", by)
	case e.Op == "+":
		n.words("date_add(", time, ", extractansiintervaldays(", by, "))")
	default:
		n.words("date_add(", time, ", (- extractansiintervaldays(", by, ")))")
	}
	return true
}

// isInterval reports whether an expression is made of intervals.
func isInterval(e syntax.Expr) bool {
	switch e := e.(type) {
	case *syntax.Unsupported:
		return e.Feature == "INTERVAL"
	case *syntax.Unary:
		return isInterval(e.Expr)
	case *syntax.Binary:
		return isInterval(e.Left) && (e.Op != "+" && e.Op != "-" || isInterval(e.Right)) || e.Op == "*" && isInterval(e.Right)
	}
	return false
}

// isDays reports whether an expression is an interval of days alone, as it is written.
func isDays(e syntax.Expr) bool {
	u, ok := e.(*syntax.Unsupported)
	return ok && len(u.Parts) == 1 && strings.HasSuffix(u.Parts[0].Words, "' DAY")
}

func isNumber(e syntax.Expr) bool {
	l, ok := e.(*syntax.Literal)
	return ok && l.Kind != syntax.String && l.Kind != syntax.Null
}

// dateFunctions give dates.
var dateFunctions = []string{"current_date", "curdate", "to_date", "date", "date_add", "date_sub", "make_date", "last_day", "next_day", "add_months", "trunc", "date_from_unix_date"}

// isDate reports whether an expression says that it is a date.
func isDate(e syntax.Expr) bool {
	switch e := e.(type) {
	case *syntax.Typed:
		return e.Type == "DATE"
	case *syntax.Cast:
		return e.Type.Name == "date"
	case *syntax.Call:
		return len(e.Name) == 1 && slices.Contains(dateFunctions, strings.ToLower(e.Name[0].Text))
	case *syntax.Column:
		return len(e.Parts) == 1 && strings.EqualFold(e.Parts[0].Text, "current_date")
	}
	return false
}
