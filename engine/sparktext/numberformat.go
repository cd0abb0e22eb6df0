package sparktext

import (
	"strings"
	"unicode"

	"github.com/skua-data/skua/fault"
)

// NumberFormat is a format of to_number and to_char: [MI|S] [$] [0|9|G|,]* [.|D] [0|9]* [$] [PR|MI|S].
type NumberFormat struct {
	text          string
	tokens        []numberToken
	before, after int // digits
}

// numberToken is a mark, as the first of its letters, or a run of digits with the commas in it.
type numberToken struct {
	mark   byte // S, M for MI, $, . and < and > for PR; 0: digits
	groups []digitGroup
}

// digitGroup is a run of digits between commas.
type digitGroup struct {
	runs []digitRun
}

// digitRun is a run of 0 and 9. One that begins with 0 takes as many digits as it has.
type digitRun struct {
	digits int
	exact  bool
}

func (g digitGroup) digits() (n int) {
	for _, r := range g.runs {
		n += r.digits
	}
	return n
}

// ParseNumberFormat reads a format; letters may be small. An error is Spark's.
func ParseNumberFormat(text string) (*NumberFormat, error) {
	f := &NumberFormat{text: text}
	rest := strings.ToUpper(text)
	for shown := rest; rest != ""; {
		token, length := numberToken{}, 1
		switch c := rest[0]; {
		case strings.IndexByte("09,G", c) >= 0:
			length = len(rest) - len(strings.TrimLeft(rest, "09,G"))
			token.groups = digitGroups(strings.ReplaceAll(rest[:length], "G", ","))
		case c == '.' || c == 'D':
			token.mark = '.'
		case c == 'S' || c == '$':
			token.mark = c
		case strings.HasPrefix(rest, "MI"):
			token.mark, length = 'M', 2
		case strings.HasPrefix(rest, "PR"):
			token.mark, length = '>', 2
			f.tokens = append([]numberToken{{mark: '<'}}, f.tokens...)
		default:
			return nil, wrongFormat("UNEXPECTED_TOKEN", shown, "Found the unexpected character '"+string([]rune(rest)[0])+"' in the format string; the structure of the format string must match: "+
				formatStructure+".")
		}
		f.tokens, rest = append(f.tokens, token), rest[length:]
	}
	return f, f.check()
}

// digitGroups reads digits with commas in them.
func digitGroups(text string) (out []digitGroup) {
	for _, part := range strings.Split(text, ",") {
		g := digitGroup{}
		if part != "" {
			g.runs = []digitRun{{len(part), part[0] == '0'}}
		}
		out = append(out, g)
	}
	return out
}

func wrongFormat(kind, format, why string) error {
	return fault.New(fault.Invalid, "The format is invalid: '%s'. %s", format, why).With("INVALID_FORMAT."+kind, "42601")
}

// check counts digits, and tells what is wrong with the order of what a format has.
func (f *NumberFormat) check() error {
	shown := strings.ToUpper(f.text)
	if shown == "" {
		return wrongFormat("EMPTY", shown, "The number format string cannot be empty.")
	}
	for _, m := range []struct {
		mark byte
		name string
	}{{'.', ". or D"}, {'S', "S"}, {'M', "MI"}, {'$', "$"}, {'>', "PR"}} {
		if f.count(m.mark) > 1 {
			return wrongFormat("WRONG_NUM_TOKEN", shown, "At most one "+m.name+" is allowed in the number format.")
		}
	}
	point := false
	for _, t := range f.tokens {
		point = point || t.mark == '.'
		if t.mark == '$' && f.before+f.after > 0 {
			return wrongFormat("CUR_MUST_BEFORE_DIGIT", shown, "Currency characters must appear before digits in the number format.")
		}
		if err := f.checkGroups(t.groups, point, shown); err != nil {
			return err
		}
	}
	if f.before+f.after == 0 {
		return wrongFormat("WRONG_NUM_DIGIT", shown, "The format string requires at least one number digit.")
	}
	return f.checkOrder(shown)
}

func (f *NumberFormat) count(mark byte) (n int) {
	for _, t := range f.tokens {
		if t.mark == mark {
			n++
		}
	}
	return n
}

// checkGroups counts the digits of a token.
func (f *NumberFormat) checkGroups(groups []digitGroup, behind bool, shown string) error {
	for i, g := range groups {
		switch {
		case behind && i > 0:
			return wrongFormat("THOUSANDS_SEPS_MUST_BEFORE_DEC", shown, "Thousands separators (, or G) may not appear after the decimal point in the number format.")
		case len(groups) > 1 && g.digits() == 0:
			return wrongFormat("CONT_THOUSANDS_SEPS", shown, "Thousands separators (, or G) must have digits in between them in the number format.")
		case behind:
			f.after += g.digits()
		default:
			f.before += g.digits()
		}
	}
	return nil
}

// checkOrder tells of what stands where it may not.
func (f *NumberFormat) checkOrder(shown string) error {
	order := []string{"<", "SM", "$", "\x00", ".", "\x00", "$", ">SM"}
	for _, t := range f.tokens {
		for len(order) > 0 && strings.IndexByte(order[0], t.mark) < 0 {
			order = order[1:]
		}
		if len(order) == 0 {
			what := map[byte]string{0: "digit sequence", 'M': "MI", '>': "PR", '<': "PR"}[t.mark]
			if what == "" {
				what = string(rune(t.mark))
			}
			return wrongFormat("UNEXPECTED_TOKEN", shown, "Found the unexpected "+what+" in the format string; the structure of the format string must match: "+formatStructure+".")
		}
		order = order[1:]
	}
	return nil
}

const formatStructure = "`[MI|S]` `[$]` `[0|9|G|,]*` `[.|D]` `[0|9]*` `[$]` `[PR|MI|S]`"

// Precision is how many digits a number of the format has, Scale how many of them are behind the point.
func (f *NumberFormat) Precision() int { return f.before + f.after }

// Scale is how many digits are behind the point.
func (f *NumberFormat) Scale() int { return f.after }

// Read gives the number that a text of the format stands for, as a text that any reader of decimals takes; false: it has another form.
func (f *NumberFormat) Read(text string) (string, bool) {
	rest, sign, number, behind := []rune(text), "", "", false
	for _, t := range f.tokens {
		next := rune(0)
		if len(rest) > 0 {
			next = rest[0]
		}
		switch {
		case t.mark == 0:
			digits, used, ok := readDigits(t.groups, rest, behind)
			if !ok {
				return "", false
			}
			number, rest = number+digits, rest[used:]
			continue
		case t.mark == '.':
			if behind = true; next != '.' {
				continue
			}
			number += "."
		case t.mark == '$':
			if next != '$' {
				return "", false
			}
		case t.mark == '>' && next == '>':
			if sign = "-"; !strings.Contains(text, "<") {
				return "", false
			}
		case next == '-' && (t.mark == 'S' || t.mark == 'M'):
			sign = "-"
		case next == '+' && t.mark == 'S', next == '<' && t.mark == '<':
		default:
			continue
		}
		rest = rest[1:]
	}
	if len(rest) > 0 || strings.Trim(number, ".") == "" || strings.HasPrefix(text, "<") != strings.HasSuffix(text, ">") {
		return "", false
	}
	return sign + number, true
}

// readDigits reads digits with commas, between which may be blanks, and says how many characters they have.
func readDigits(groups []digitGroup, text []rune, behind bool) (digits string, used int, ok bool) {
	counts := []int{0}
	for ; used < len(text); used++ {
		switch c := text[used]; {
		case c == ',' && !behind:
			counts = append(counts, 0)
			continue
		case unicode.Is(unicode.Nd, c):
			digits += string('0' + rune(digitValue(c)))
			counts[len(counts)-1]++
			continue
		case javaSpace(c):
			continue
		}
		break
	}
	if behind {
		return digits, used, len(digits) <= groups[0].digits()
	}
	for i := range max(len(counts), len(groups)) { // from the right
		count, exact, most := 0, false, 0
		if i < len(counts) {
			count = counts[len(counts)-1-i]
		}
		if i < len(groups) {
			g := groups[len(groups)-1-i]
			most, exact = g.digits(), g.runs[0].exact
		}
		if i >= len(groups) || count > most || exact && count != most {
			return "", 0, false
		}
	}
	return digits, used, true
}

// digitValue is the value of a decimal digit of any script: those of one script follow each other.
func digitValue(c rune) int {
	n := 0
	for n < 9 && unicode.Is(unicode.Nd, c-1) && n < 9 {
		c--
		n++
	}
	return n
}

func javaSpace(c rune) bool {
	return c >= 9 && c <= 13 || c >= 28 && c <= 31 || unicode.Is(unicode.Z, c) && c != 0xA0 && c != 0x2007 && c != 0x202F
}

// Write writes a number, given with the digits of its value. What has more digits than the format is written with # for each.
func (f *NumberFormat) Write(number string) string {
	negative := strings.HasPrefix(number, "-")
	before, after, _ := strings.Cut(strings.TrimPrefix(number, "-"), ".")
	before, after = strings.TrimLeft(before, "0"), strings.TrimRight(after, "0")
	negative = negative && before+after != ""
	if len(before) > f.before || len(after) > f.after {
		before, after = strings.Repeat("#", f.before), strings.Repeat("#", f.after)
	}
	before = strings.Repeat(" ", f.before-len(before)) + before
	after += strings.Repeat("0", f.after-len(after))
	out, point := []byte(nil), false
	for _, t := range f.tokens {
		switch t.mark {
		case 0:
			if point {
				out = append(out, after...)
				continue
			}
			out, before = writeDigits(out, t.groups, before)
		case '.':
			if len(out) > 0 && out[len(out)-1] == ' ' {
				out[len(out)-1] = '0'
			}
			out, point = append(out, '.'), true
		case '$':
			out = append(out, '$')
		case '<':
			if negative {
				out = append(out, '<')
			}
		default:
			out = writeSign(strings.TrimSuffix(string(out), "."), t.mark, negative)
		}
	}
	text := strings.TrimSuffix(string(out), ".")
	if text == "" || text == "+" || text == "-" {
		return text + "0"
	}
	return text
}

// writeDigits writes what is before the point. A sign goes to the first digit, over the blanks in front of it.
func writeDigits(out []byte, groups []digitGroup, digits string) ([]byte, string) {
	blank := func() {
		signs := len(out)
		for signs > 0 && strings.IndexByte("+-<", out[signs-1]) >= 0 {
			signs--
		}
		out = append(out[:signs], append([]byte{' '}, out[signs:]...)...)
	}
	for i, g := range groups {
		switch last := len(out) - 1; {
		case i > 0 && last >= 0 && out[last] >= '0' && out[last] <= '9':
			out = append(out, ',')
		case i > 0:
			blank()
		}
		for _, run := range g.runs {
			for range run.digits {
				switch d := digits[0]; {
				case d != ' ':
					out = append(out, d)
				case run.exact:
					out = append(out, '0')
				default:
					blank()
				}
				digits = digits[1:]
			}
		}
	}
	return out, digits
}

// writeSign writes a sign, in front of the blanks that a text ends with.
func writeSign(text string, mark byte, negative bool) []byte {
	sign := map[bool]map[byte]string{true: {'S': "-", 'M': "-", '>': ">"}, false: {'S': "+", 'M': " ", '>': "  "}}[negative][mark]
	head := text
	if negative || mark == 'S' {
		head = strings.TrimRight(text, " ")
	}
	return []byte(head + sign + text[len(head):])
}
