package dialect

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/skua-data/skua/engine/syntax"
)

// quantifies reports whether a list of patterns begins with the token: LIKE ANY (…).
func (r *rewriter) quantifies(token int) bool {
	return oneOf(r.at(token), "ANY", "SOME", "ALL") && r.at(token+1).Is("(")
}

// testsPatterns writes x [NOT] LIKE and ILIKE with ANY, SOME or ALL of several patterns, and in Spark's dialect with one, of what may be no text; false: something
// else comes next.
func (r *rewriter) testsPatterns() bool {
	if !r.likes || r.next == r.compared || !r.beginsOperand() {
		return false
	}
	from := r.next
	left := r.comparedEnd(from)
	if left < 0 || r.until > 0 && left >= r.until {
		return false
	}
	at, not := left, false
	if r.at(at).Is("NOT") {
		at, not = at+1, true
	}
	word := r.at(at)
	searches := word.Is("RLIKE") || word.Is("REGEXP")
	switch {
	case !searches && !word.Is("LIKE") && !word.Is("ILIKE"):
		return false
	case !searches && r.quantifies(at+1):
		return r.testsList([2]int{from, left}, at, not)
	case !r.Spark || r.unbound(from, left):
		return false
	}
	value := r.valuePieces([2]int{from, left})
	r.next = at + 1
	r.putTests(from, value, []patternTest{r.patternTest(func() {
		switch {
		case searches && not:
			r.regex("!~", word.Pos)
		case searches:
			r.regex("~", word.Pos)
		default:
			r.like(word, not)
		}
	})}, "")
	return true
}

// patternTest is what is written behind a value that is compared with a pattern: what the pattern is made of stands between two parts; nil: it is a literal in the
// first one.
type patternTest struct{ before, pattern, after []piece }

// patternTest gives what write writes.
func (r *rewriter) patternTest(write func()) patternTest {
	r.pattern = [2]int{}
	pieces := r.capture(write)
	at := r.pattern
	if at[1] == 0 || at[1] > len(pieces) {
		return patternTest{before: pieces}
	}
	return patternTest{pieces[:at[0]], pieces[at[0]:at[1]], pieces[at[1]:]}
}

// testsList writes a value before LIKE ANY (a, b, …) as a test of each pattern; the token at is LIKE.
func (r *rewriter) testsList(value [2]int, at int, not bool) bool {
	if oneOf(r.at(at+3), "SELECT", "WITH", "VALUES", "FROM", "TABLE") {
		return false
	}
	word, op := r.at(at), " OR "
	if r.at(at + 1).Is("ALL") {
		op = " AND "
	}
	operand := r.valuePieces(value)
	r.next = at + 2
	bounds, end := r.argumentBounds(), r.endOf(at+3)
	if len(bounds) == 0 {
		r.fail(at + 3)
	}
	if r.counts["OR"] += len(bounds); r.counts["OR"] > maxOrs {
		r.failed = tooComplex(word.Pos, "patterns", maxOrs)
	}
	tests := make([]patternTest, len(bounds))
	for i, b := range bounds {
		tests[i] = r.patternTest(func() { r.next = b[0]; r.like(word, not) })
		if r.next != b[1] {
			r.fail(r.next)
		}
	}
	if r.next = end; r.failed == nil && !r.is(")") {
		r.fail(end)
	}
	if r.next++; r.is("IS") || comparisons[r.peek().Text] != "" {
		r.fail(r.next)
	}
	r.putTests(value[0], operand, tests, op)
	return true
}

// valuePieces gives what is written of a value that a test follows.
func (r *rewriter) valuePieces(b [2]int) []piece {
	before, until := r.compared, r.until
	defer func() { r.compared, r.until = before, until }()
	return r.capture(func() {
		r.next, r.compared, r.until = b[0], b[0], b[1]
		for r.failed == nil && r.next < b[1] {
			r.operand(&scope{})
		}
	})
}

// putTests writes a value, whose tokens begin with from, with tests of it joined by an operator. In Spark's dialect what is no text becomes one.
func (r *rewriter) putTests(from int, value []piece, tests []patternTest, op string) {
	if r.failed != nil {
		return
	}
	if weight := (len(tests) - 1) * r.weightOf(value); len(r.out.pieces)+weight > maxPieces {
		r.failed = tooComplex(r.at(from).Pos, "words and marks once its tests are written out", maxPieces)
		return
	}
	c := &coercion{operands: [][]piece{value}, asked: []int{0}, zone: r.Zone.String(), rule: likeRule}
	var texts []string
	for _, t := range tests {
		text := "$1"
		for _, part := range [][]piece{t.before, t.pattern, t.after} {
			if part != nil {
				c.operands = append(c.operands, part)
				text += " $" + itoa(len(c.operands))
			}
		}
		if t.pattern != nil {
			c.asked = append(c.asked, len(c.operands)-2)
		}
		texts = append(texts, text)
	}
	if c.text = texts[0]; op != "" {
		c.text = "(" + strings.Join(texts, op) + ")"
	}
	if r.Spark && !r.unbound(from, r.next) {
		r.put(c, from, r.next)
		return
	}
	r.out.pieces = append(r.out.pieces, c.plain(r.at(from).Pos)...)
}

// likeRule makes texts of a value and of patterns.
func likeRule(types []Type) (verdict, error) {
	out := verdict{casts: make([]string, len(types)), gives: boolean}
	for i, t := range types {
		switch {
		case slices.Contains([]string{"LIST", "MAP", "STRUCT"}, t.Name):
			return out, unexpected("like", "STRING", t)
		case !isText(t) && t.Name != `"NULL"`:
			out.casts[i] = "VARCHAR"
		}
	}
	return out, nil
}

// likeCall writes like(text, pattern) and ilike, whose third argument is the escape character.
func likeCall(word string) func(r *rewriter, bounds [][2]int, pos syntax.Pos) bool {
	return func(r *rewriter, bounds [][2]int, pos syntax.Pos) bool {
		if len(bounds) != 2 && len(bounds) != 3 {
			return false
		}
		escape := ""
		if len(bounds) == 3 {
			text, ok := r.literal(bounds[2])
			if _, plain := r.literal(bounds[1]); !ok || !plain {
				r.refuse(bounds[1][0], "The function "+word+" with an escape character takes literals as its pattern and that character.")
				return true
			}
			escape = text
		}
		from, end := r.next-1, bounds[len(bounds)-1][1]
		value := r.argument(bounds[0])
		r.next = bounds[1][0]
		test := r.patternTest(func() {
			r.likePattern(syntax.Token{Kind: syntax.Word, Text: word, Pos: pos}, false, func(int) (string, int, bool) { return escape, bounds[1][1], len(bounds) == 3 })
		})
		if r.next = end + 1; r.failed == nil {
			r.emitAt("(", pos)
			r.putTests(from, value, []patternTest{test}, "")
			r.emit(")")
		}
		return true
	}
}

// like writes [NOT] LIKE and ILIKE, in front of the pattern. A backslash in a literal is the escape character unless another one is named.
func (r *rewriter) like(word syntax.Token, not bool) {
	r.likePattern(word, not, func(end int) (string, int, bool) {
		at, more := end, 2
		if r.at(at).Is("{") && r.at(at+3).Is("}") {
			at, more = at+1, 4
		}
		if r.at(at).Is("ESCAPE") && r.at(at+1).Kind == syntax.Text {
			return syntax.TextOf(r.at(at + 1)), end + more, true
		}
		return "", end, r.at(end).Is("ESCAPE") || r.at(end).Is("{")
	})
}

// likePattern writes a test of a pattern, the next token, whose escape character is told by the token behind it. Patterns that are no literals, and those whose
// wildcards the engine would place by trying, become regular expressions, which take a time that grows with the text alone.
func (r *rewriter) likePattern(word syntax.Token, not bool, escapeAt func(end int) (escape string, next int, named bool)) {
	pattern, end := "", r.next
	for ; r.at(end).Kind == syntax.Text; end++ {
		pattern += syntax.TextOf(r.at(end))
	}
	operator, folds := "~", word.Is("ILIKE")
	if not {
		operator = "!~"
	}
	escape, next, named := escapeAt(end)
	if escape == "" && !named {
		escape = `\`
	}
	escaped := named || strings.Contains(pattern, escape)
	told := !named || next != end || escape != "" // else the engine is told as it stands
	tried := (escaped || folds || strings.Contains(pattern, "_")) && wildcardsTried(pattern) > 1 && told && !endsEscaped(pattern, escape)
	switch after := r.at(end); {
	case end == r.next, after.Is("||"), r.Spark && !named && strings.Contains(validEscapes.ReplaceAllString(pattern, ""), `\`):
		r.patternExpression(operator, folds, word.Pos)
	case tried && len([]rune(escape)) < 2:
		r.next = next
		r.emitAt(operator+" "+QuoteText("(?s)"+likeRegex(pattern, escape, folds)), word.Pos)
	default:
		if not {
			r.emit("NOT")
		}
		r.emitAt(strings.ToUpper(word.Text), word.Pos)
		r.string()
		switch {
		case named && told:
			r.next = next
			r.emit("ESCAPE " + QuoteText(escape))
		case !named && strings.Contains(pattern, `\`):
			r.emit(`ESCAPE '\'`)
		}
	}
}

// validEscapes are the backslashes that stand in front of themselves or of a wildcard; with others a pattern fails where it is used.
var validEscapes = regexp.MustCompile(`\\[\\%_]`)

// patternExpression writes a search for a pattern of LIKE, or of ILIKE, which folds cases, that is an expression.
func (r *rewriter) patternExpression(operator string, folds bool, pos syntax.Pos) {
	r.parser.Seek(r.next)
	if _, err := r.parser.Value(); err != nil {
		r.failed = err
		return
	}
	end := r.parser.Place()
	if r.at(end).Is("ESCAPE") {
		r.refuse(end, "LIKE with ESCAPE takes a literal as its pattern.")
		return
	}
	regex := "skua_like_regex"
	if r.Spark {
		regex = "skua_like_pattern" // which knows the backslash
	}
	if folds {
		regex = "skua_caseless(" + strconv.FormatBool(!r.Spark) + ", " + regex
	}
	r.emitAt(operator+" ('(?s)' || "+regex+"(skua_pattern(", pos)
	from := len(r.out.pieces)
	for r.failed == nil && r.next < end {
		r.operand(&scope{})
	}
	r.pattern = [2]int{from, len(r.out.pieces)}
	if folds {
		r.emit(")")
	}
	r.emit(")))")
}

// wildcardsTried counts the wildcards of a pattern that may stand for several parts of a text; one at its end stands for what is left.
func wildcardsTried(pattern string) int {
	pattern = strings.TrimRight(pattern, "%")
	n := strings.Count(pattern, "%")
	return n - strings.Count(pattern, "%%")
}

// endsEscaped reports whether a pattern ends within an escape sequence, which the engine refuses.
func endsEscaped(pattern, escape string) bool {
	return escape != "" && strings.Count(pattern[len(strings.TrimRight(pattern, escape)):], escape)%2 == 1
}

// likeRegex writes a pattern of LIKE, or of ILIKE, which folds cases, as a regular expression. An empty escape: there is no such character.
func likeRegex(pattern, escape string, folds bool) string {
	var b strings.Builder
	literal := false
	for _, c := range pattern {
		switch {
		case !literal && string(c) == escape:
			literal = true
			continue
		case !literal && c == '%':
			b.WriteString(".*")
		case !literal && c == '_':
			b.WriteByte('.')
		case folds:
			b.WriteString(caseClass(c, true))
		default:
			b.WriteString(regexp.QuoteMeta(string(c)))
		}
		literal = false
	}
	return b.String()
}

// FoldedRegex makes the letters of a regular expression of LIKE ignore cases as ILIKE does; what stands behind a backslash is no letter. Whether i is the same letter
// as İ is told by dotted.
func FoldedRegex(regex string, dotted bool) string {
	var b strings.Builder
	quoted := false
	for _, c := range regex {
		if quoted || c <= unicode.MaxASCII && !unicode.IsLetter(c) {
			b.WriteRune(c)
		} else {
			b.WriteString(caseClass(c, dotted))
		}
		quoted = !quoted && c == '\\'
	}
	return b.String()
}

// caseClass writes the characters that are the same letter in lower case; more are the same to a regular expression that ignores cases.
func caseClass(c rune, dotted bool) string {
	if c == 'İ' && !dotted {
		return "İ"
	}
	lower := unicode.ToLower(c)
	class := regexp.QuoteMeta(string(lower))
	for f := unicode.SimpleFold(lower); f != lower; f = unicode.SimpleFold(f) {
		if unicode.ToLower(f) == lower {
			class += string(f)
		}
	}
	if lower == 'i' && dotted {
		class += "İ"
	}
	if class == regexp.QuoteMeta(string(lower)) {
		return class
	}
	return "[" + class + "]"
}
