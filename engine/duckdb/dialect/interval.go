package dialect

import (
	"strconv"
	"strings"

	"github.com/skua-data/skua/engine/arith"
	"github.com/skua-data/skua/engine/syntax"
)

// interval writes the interval literal that comes next where the engine would read it otherwise or not at all; false: it stands as it is, or something else comes next.
func (r *rewriter) interval() bool {
	literal, n, err := syntax.ReadInterval(r.tokens[r.next:])
	after := r.at(r.next + n)
	quarters := oneOf(after, "QUARTER", "QUARTERS") || n == 0 && oneOf(r.at(r.next+2), "QUARTER", "QUARTERS") && r.at(r.next+1).Kind == syntax.Number
	switch {
	case r.Spark && quarters:
		r.fail(r.next + max(n, 2))
		return true
	case n == 0 || quarters:
		return false
	case err != nil && (r.Spark || r.spansFields(n)):
		r.failed = err
		return true
	case err != nil || r.plainInterval(literal, n) || !r.Spark && n <= 3 && !r.at(r.next+1).Is("-") && !r.at(r.next+1).Is("+"):
		return false
	}
	r.out.Intervals = true
	r.emitAt("skua_interval("+QuoteText(intervalText(literal))+")", r.peek().Pos)
	r.next += n
	return true
}

// spansFields reports whether an interval of so many tokens is spelled from a field to another one.
func (r *rewriter) spansFields(n int) bool { return n > 3 && r.at(r.next+n-2).Is("TO") }

// plainInterval reports whether a literal of so many tokens is one amount of a unit that means the same to the engine: a day of hours is a day in Spark.
func (r *rewriter) plainInterval(literal syntax.Interval, n int) bool {
	days, _ := literal.Days()
	amount := r.at(r.next + 1)
	digits := amount.Text
	if amount.Kind == syntax.Text {
		digits = syntax.TextOf(amount)
	}
	return n == 3 && literal.From == literal.To && strings.Trim(digits, "0123456789") == "" && (literal.Months || literal.To == "DAY" || days == 0)
}

// intervalText spells an interval for the engine, which keeps days apart.
func intervalText(literal syntax.Interval) string {
	if literal.Months {
		return strconv.FormatInt(literal.Value, 10) + " months"
	}
	days, micros := literal.Days()
	return strconv.FormatInt(days, 10) + " days " + strconv.FormatInt(micros, 10) + " microseconds"
}

// intervalLiteral gives the literal that an argument is; false: it is something else.
func (r *rewriter) intervalLiteral(b [2]int) (syntax.Interval, bool) {
	if !r.Spark || b[1]-b[0] < 2 || !r.at(b[0]).Is("INTERVAL") {
		return syntax.Interval{}, false
	}
	literal, n, err := syntax.ReadInterval(r.tokens[b[0]:])
	return literal, err == nil && n > 0 && b[0]+n == b[1]
}

// intervalCast gives what a literal is once it is cast: its text, or how many of its units it is; false: that is the engine's.
func intervalCast(literal syntax.Interval, to string) (string, bool) {
	switch {
	case to == "VARCHAR":
		return QuoteText(literal.String()), true
	case literal.From == literal.To && literal.To != "SECOND" && (to == "TINYINT" || to == "SMALLINT" || to == "INT" || to == "INTEGER" || to == "BIGINT"):
		return "CAST(" + strconv.FormatInt(literal.Units(), 10) + " AS " + to + ")", true
	}
	return "", false
}

// intervalCall writes the functions that tell of a literal; false: the call is another one.
func (r *rewriter) intervalCall(name string, pos syntax.Pos) bool {
	if !r.is("(") {
		return false
	}
	switch name {
	case "date_add", "date_sub", "dateadd":
		if bounds := r.argumentBounds(); len(bounds) == 2 {
			if _, ok := r.intervalLiteral(bounds[1]); ok {
				r.failed = unexpected(name, "INT", parseType("INTERVAL"))
				return true
			}
		}
		return false
	case "typeof", "string":
	default:
		return false
	}
	end := r.endOf(r.next + 1)
	literal, ok := r.intervalLiteral([2]int{r.next + 1, end})
	if !ok || !r.at(end).Is(")") {
		return false
	}
	text := literal.String()
	if name == "typeof" {
		text = literal.Type()
	}
	r.emitAt(QuoteText(text), pos)
	r.next = end + 1
	return true
}

// literalKind tells what an interval literal counts for in arithmetic.
func literalKind(literal syntax.Interval) arith.Kind {
	switch {
	case literal.Months:
		return arith.Months
	case literal.From == "DAY" && literal.To == "DAY":
		return arith.Days
	}
	return arith.Interval
}
