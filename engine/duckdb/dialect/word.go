package dialect

import (
	"strings"

	"github.com/skua-data/skua/engine/syntax"
)

// word writes a word that is more than a name: an operator, a typed literal, a function; false: it is a name.
func (r *rewriter) word(s *scope) bool {
	t, after := r.peek(), r.at(r.next+1)
	if r.next > 0 && r.at(r.next-1).Is(".") || after.Is(".") {
		return false
	}
	switch strings.ToUpper(t.Text) {
	case "DIV":
		if r.next > 0 && endsOperand(r.at(r.next-1)) && isOperandStart(after) {
			r.next++
			r.emitAt("//", t.Pos)
			return true
		}
	case "IN":
		if r.next > 0 && r.inTuple(t.Pos) {
			return true
		}
	case "NOT":
		if r.next > 0 && r.notInTuple(t.Pos) {
			return true
		}
		if after.Is("RLIKE") || after.Is("REGEXP") {
			r.next += 2
			r.regex("!~", t.Pos)
			return true
		}
		if (after.Is("LIKE") || after.Is("ILIKE")) && r.next > 0 && isOperandEnd(r.at(r.next-1)) && !r.quantifies(r.next+2) {
			r.next += 2
			r.like(after, true)
			return true
		}
	case "RLIKE", "REGEXP":
		if r.next > 0 && isOperandEnd(r.at(r.next-1)) && !after.Is("(") {
			r.next++
			r.regex("~", t.Pos)
			return true
		}
	case "LIKE", "ILIKE":
		if r.Spark && after.Is("(") && (r.next == 0 || !endsOperand(r.at(r.next-1))) {
			r.call([]syntax.Ident{{Text: t.Text, Pos: t.Pos}}, r.next)
			return true
		}
		if r.next > 0 && isOperandEnd(r.at(r.next-1)) && !r.quantifies(r.next+1) {
			r.next++
			r.like(t, false)
			return true
		}
	case "BETWEEN":
		if r.Spark && after.Is("(") && (r.next == 0 || !endsOperand(r.at(r.next-1)) && !r.at(r.next-1).Is("SYMMETRIC")) {
			r.call([]syntax.Ident{{Text: t.Text, Pos: t.Pos}}, r.next)
			return true
		}
	case "WINDOW":
		if r.Spark && after.Is("(") {
			r.failed = unknownFunction([]syntax.Ident{{Text: "window"}}, t.Pos)
			return true
		}
	case "INTERVAL":
		if r.interval() {
			return true
		}
	case "AT":
		if !r.Spark && after.Is("TIME") && r.at(r.next+2).Is("ZONE") && r.next > 0 && endsOperand(r.at(r.next-1)) {
			r.emitAt("AT TIME ZONE", t.Pos)
			r.next += 3
			return true
		}
	case "SIMILAR":
		if !r.Spark && after.Is("TO") && r.next > 0 && (endsOperand(r.at(r.next-1)) || r.at(r.next-1).Is("NOT")) {
			r.emitAt("SIMILAR TO", t.Pos)
			r.next += 2
			return true
		}
	case "TIES":
		if !r.Spark && r.next > 0 && r.at(r.next-1).Is("WITH") {
			r.failed = unsupportedTies(t.Pos)
			return true
		}
	case "GLOB":
		if after.Kind != syntax.Text {
			r.refuse(r.next, "GLOB takes a literal as its pattern.")
			return true
		}
		r.copy()
		return true
	case "EXCEPT":
		if r.at(r.next-1).Is("*") && after.Is("(") {
			r.next++
			r.emitAt("EXCLUDE", t.Pos)
			return true
		}
	case "X":
		if after.Kind == syntax.Text && after.Pos.Offset == t.Pos.Offset+1 {
			r.bytes()
			return true
		}
	case "DATE":
		if after.Kind == syntax.Text && r.namedTime(t) {
			return true
		}
	case "TIMESTAMP", "TIMESTAMP_NTZ", "TIMESTAMP_LTZ", "TIMESTAMPTZ":
		if after.Kind == syntax.Text && r.namedTime(t) {
			return true
		}
		if after.Kind == syntax.Text {
			r.next++
			r.emitAt(spellType(syntax.TypeName{Name: strings.ToLower(t.Text)}, r.Spark), t.Pos)
			r.string()
			return true
		}
	case "EXISTS", "FILTER":
		if r.Spark && after.Is("(") && !oneOf(r.at(r.next+2), "SELECT", "WITH", "VALUES", "FROM", "TABLE", "(", "WHERE") {
			r.call([]syntax.Ident{{Text: t.Text, Pos: t.Pos}}, r.next)
			return true
		}
	case "ANY", "SOME":
		if r.Spark && after.Is("(") && !r.quantified() {
			r.call([]syntax.Ident{{Text: t.Text, Pos: t.Pos}}, r.next)
			return true
		}
	}
	switch strings.ToUpper(t.Text) {
	case "CASE", "IN", "AND", "OR", "EXISTS", "OVER", "FILTER", "WHEN", "THEN", "ELSE", "BETWEEN", "ON", "BY", "AS", "USING", "VALUES", "ANY", "ALL",
		"SOME", "WITHIN", "UNION", "WITH", "WHERE", "HAVING", "DISTINCT", "INTERVAL", "ROWS", "GROUPS", "LIMIT", "OFFSET", "SELECT", "FROM", "JOIN",
		"SETS", "ROLLUP", "CUBE", "PIVOT", "UNPIVOT", "MATERIALIZED", "RECURSIVE", "EXCLUDE", "REPLACE_", "ESCAPE", "IS", "LATERAL", "FETCH", "PARTITION", "QUALIFY":
		r.out.Intervals = r.out.Intervals || t.Is("INTERVAL")
		switch {
		case after.Is("(") && (t.Is("OVER") || t.Is("AS") && s.windows):
			r.copy()
			r.copy()
			r.level(&scope{window: true}, false)
			r.close(")")
			return true
		case after.Is("("):
			r.copy()
			r.group(false)
			return true
		case t.Is("INTERVAL") && after.Kind == syntax.Text && r.intervalEnd(r.next) == r.texts(r.next+1) && !unitWords[strings.ToLower(r.at(r.texts(r.next+1)).Text)]:
			r.next++
			r.emitAt("skua_interval(", t.Pos)
			r.string()
			r.emit(")")
			return true
		}
		r.copy()
		return true
	}
	if after.Is("(") {
		r.call([]syntax.Ident{{Text: t.Text, Pos: t.Pos}}, r.next)
		return true
	}
	if previous := r.at(r.next - 1); r.next > 0 && (previous.Is("AS") || previous.Is(".")) || after.Is(".") {
		return false
	}
	return r.constantWord(t)
}

func unsupportedTies(pos syntax.Pos) error {
	return &syntax.Error{Message: "FETCH … WITH TIES is not supported: write ROWS ONLY, or QUALIFY rank() OVER (ORDER BY …) <= n.", Condition: "UNSUPPORTED_FEATURE",
		SQLState: "0A000", Line: pos.Line, Column: pos.Column}
}

func isOperandStart(t syntax.Token) bool {
	return t.Kind == syntax.Word || t.Kind == syntax.Quoted || t.Kind == syntax.Text || t.Kind == syntax.Number || t.Is("(") || t.Is("-") || t.Is("?")
}

// regex writes a search for a pattern as the engine's operator, which wants the whole text to match.
func (r *rewriter) regex(operator string, pos syntax.Pos) {
	if r.peek().Kind == syntax.Text && r.at(r.next+1).Kind != syntax.Text {
		r.emitAt(operator+" "+QuoteText("(?s:.*)(?:"+syntax.TextOf(r.peek())+")(?s:.*)"), pos)
		r.next++
		return
	}
	r.parser.Seek(r.next)
	if _, err := r.parser.Value(); err != nil {
		r.failed = err
		return
	}
	end := r.parser.Place()
	r.emitAt(operator+" ('(?s:.*)(?:' || (", pos)
	for r.failed == nil && r.next < end {
		r.operand(&scope{})
	}
	r.emit(") || ')(?s:.*)')")
}

// bytes writes X'…'.
func (r *rewriter) bytes() {
	t := r.peek()
	digits := syntax.TextOf(r.at(r.next + 1))
	r.next += 2
	if len(digits)%2 == 1 {
		digits = "0" + digits
	}
	if strings.Trim(strings.ToLower(digits), "0123456789abcdef") != "" {
		r.refuse(r.next-2, "The value of the typed literal X is no hexadecimal number.")
		return
	}
	r.emitAt("unhex('"+digits+"')", t.Pos)
}

// chain writes a name with dots, or the call of a function that has one.
func (r *rewriter) chain() {
	start := r.next
	r.parser.Seek(start)
	var parts []syntax.Ident
	star := false
	for {
		part, err := r.parser.Ident()
		if err != nil {
			r.failed = err
			return
		}
		parts = append(parts, part)
		r.out.Words[strings.ToLower(part.Text)] = true
		if !r.parser.Peek().Is(".") {
			break
		}
		if after := r.at(r.parser.Place() + 1); after.Is("*") {
			r.parser.Next()
			r.parser.Next()
			star = true
			break
		} else if after.Kind != syntax.Word && after.Kind != syntax.Quoted {
			break
		}
		r.parser.Next()
	}
	if !star && r.parser.Peek().Is("(") && (len(parts) > 1 || r.callsQuoted(start)) {
		r.next = r.parser.Place() - 1
		r.call(parts, start)
		return
	}
	r.next = r.parser.Place()
	if len(parts) == 1 && !star {
		r.emitAt(spellIdent(parts[0]), parts[0].Pos)
		return
	}
	r.out.pieces = append(r.out.pieces, piece{table: -1, chain: parts, star: star, pos: parts[0].Pos})
}
