package dialect

import (
	"strconv"
	"strings"

	"github.com/skua-data/skua/engine/syntax"
)

// coercion is an expression some of whose operands are cast by the types that they have: what Spark does by itself, and the engine does otherwise or not at all.
type coercion struct {
	text     string // of the expression, with $1, $2, … for its operands
	operands [][]piece
	asked    []int // those whose types matter
	zone     string
	rule     func(types []Type) (verdict, error)
}

// verdict is what a rule says of operands of some types.
type verdict struct {
	casts []string // the type that each operand asked for is cast to; empty: it stays
	text  string   // the expression, where another one than coercion's
	gives Type
}

func (c *coercion) asks() [][]piece {
	out := make([][]piece, len(c.asked))
	for i, a := range c.asked {
		out[i] = c.operands[a]
	}
	return out
}

func (c *coercion) of(types []Type) (Type, error) {
	v, err := c.rule(types)
	return v.gives, err
}

// plain gives the expression as it stands where no types are asked for.
func (c *coercion) plain(pos syntax.Pos) (out []piece) {
	for text := c.text; text != ""; {
		before, n, rest := nextOperand(text)
		if before != "" {
			out = append(out, piece{text: before, table: -1, pos: pos})
		}
		if n >= 0 {
			out = append(out, c.operands[n]...)
		}
		text = rest
	}
	return out
}

func (c *coercion) mapped(pieces func([]piece) []piece) typed {
	out := *c
	out.operands = make([][]piece, len(c.operands))
	for i, o := range c.operands {
		out.operands[i] = pieces(o)
	}
	return &out
}

func (c *coercion) write(w *writer, types []Type) {
	v := verdict{}
	if types != nil {
		v, _ = c.rule(types)
	}
	casts, have := make([]string, len(c.operands)), make([]Type, len(c.operands))
	for i, to := range v.casts {
		casts[c.asked[i]], have[c.asked[i]] = to, types[i]
	}
	text := c.text
	if v.text != "" {
		text = v.text
	}
	for text != "" {
		before, n, rest := nextOperand(text)
		if before != "" {
			w.text(before)
		}
		if n >= 0 {
			w.coerced(c.operands[n], have[n], casts[n], c.zone)
		}
		text = rest
	}
}

// nextOperand gives the text up to the first $1, $2, … with the index of the operand, and what is behind it; -1: there is none.
func nextOperand(text string) (before string, operand int, rest string) {
	at := strings.IndexByte(text, '$')
	if at < 0 {
		return strings.TrimSpace(text), -1, ""
	}
	end := at + 1
	for end < len(text) && '0' <= text[end] && text[end] <= '9' {
		end++
	}
	n, _ := strconv.Atoi(text[at+1 : end])
	return strings.TrimSpace(text[:at]), n - 1, text[end:]
}

// coerced writes an operand as a cast of Spark's gives it.
func (w *writer) coerced(operand []piece, have Type, to, zone string) {
	open, closing := "", ""
	if to != "" && to != have.Text {
		open, closing = castCall(have, parseType(to), zone)
	}
	if open != "" {
		w.text(open)
	}
	w.pieces(operand)
	if closing != "" {
		w.text(closing)
	}
}

// widening reports whether the engine's own cast between types of numbers is Spark's.
func widening(from, to Type) bool {
	a, b := numberRank[from.Name], numberRank[to.Name]
	switch {
	case from.Name == "DECIMAL" && to.Name == "DECIMAL":
		return from.Scale <= to.Scale && from.Width-from.Scale <= to.Width-to.Scale
	case to.Name == "DECIMAL":
		return a > 0 && a <= rankBigint && decimalDigits[a] <= to.Width-to.Scale
	}
	return a > 0 && b > 0 && a <= b
}

// Ranks of types of numbers, by which the wider one is found.
const (
	rankBigint = 4
	rankFloat  = 5
	rankDouble = 6
)

var numberRank = map[string]int{"TINYINT": 1, "SMALLINT": 2, "INTEGER": 3, "BIGINT": rankBigint, "HUGEINT": rankBigint, "UTINYINT": 2, "USMALLINT": 3, "UINTEGER": rankBigint, "UBIGINT": rankBigint,
	"FLOAT": rankFloat, "DOUBLE": rankDouble}

// rankNames are the types by their ranks, and decimalDigits the digits that their whole numbers have.
var (
	rankNames     = []string{"", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "FLOAT", "DOUBLE"}
	decimalDigits = []int{0, 3, 5, 10, 20}
)

// castCall gives what stands around an operand that is cast.
func castCall(have, to Type, zone string) (open, closing string) {
	text := to.Text
	if text == "TIMESTAMP WITH TIME ZONE" {
		text = "TIMESTAMPTZ"
	}
	switch {
	case have.Name == "LIST" && to.Name == "LIST":
		inner, end := castCall(parseType(strings.TrimSuffix(have.Text, "[]")), parseType(strings.TrimSuffix(to.Text, "[]")), zone)
		return "list_transform(", ", lambda skua_e: " + inner + " skua_e " + end + ")"
	case have.Name == "STRUCT" && to.Name == "STRUCT":
		return structCast(have, to, zone)
	case have.Name == `"NULL"`, widening(have, to), have.Name == "":
		return "CAST(", "AS " + text + ")"
	case to.Name == "DECIMAL":
		return "CAST(" + CastFunction("decimal_"+strconv.Itoa(to.Scale), false) + "(", ", " + strconv.Itoa(to.Width) + ") AS " + text + ")"
	}
	if target, ok := castTargets[text]; ok {
		return CastFunction(target.function, false) + "(", ", " + QuoteText(zone) + ")"
	}
	return "CAST(", "AS " + text + ")"
}

// sparkNames are Spark's names of the engine's types.
var sparkNames = map[string]string{"INTEGER": "INT", "VARCHAR": "STRING", "BLOB": "BINARY", "TIMESTAMP WITH TIME ZONE": "TIMESTAMP", "TIMESTAMP": "TIMESTAMP_NTZ", "HUGEINT": "BIGINT", `"NULL"`: "VOID"}

// sparkName spells a type as Spark's errors do.
func (t Type) sparkName() string {
	if element, ok := strings.CutSuffix(t.Text, "[]"); ok {
		return "ARRAY<" + parseType(element).sparkName() + ">"
	}
	return orText(sparkNames[t.Text], t.Text)
}

func orText(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// common gives the type in which values of two types meet; false: Spark has none.
func common(a, b Type) (Type, bool) {
	switch {
	case a.Text == b.Text || b.Name == `"NULL"`:
		return a, true
	case a.Name == `"NULL"`:
		return b, true
	case a.Name == "LIST" && b.Name == "LIST":
		return commonList(a, b)
	case a.Name == "STRUCT" && b.Name == "STRUCT":
		return commonStruct(a, b)
	case isNumber(a) && isNumber(b):
		return commonNumber(a, b), true
	case isDatetime(a) && isDatetime(b):
		return commonTime(a, b), true
	case a.Name == "VARCHAR":
		return commonWithText(b)
	case b.Name == "VARCHAR":
		return commonWithText(a)
	}
	return Type{}, false
}

func isNumber(t Type) bool { return t.Name == "DECIMAL" || numberRank[t.Name] > 0 }

func isWhole(t Type) bool { return numberRank[t.Name] > 0 && numberRank[t.Name] <= rankBigint }

func isDatetime(t Type) bool {
	return t.Name == "DATE" || t.Name == "TIMESTAMP" || t.Name == "TIMESTAMP WITH TIME ZONE"
}

func commonNumber(a, b Type) Type {
	exact := func(t Type) (width, scale int) {
		if t.Name == "DECIMAL" {
			return t.Width, t.Scale
		}
		return decimalDigits[numberRank[t.Name]], 0
	}
	switch rank := max(numberRank[a.Name], numberRank[b.Name]); {
	case rank >= rankFloat && (a.Name != b.Name):
		return parseType("DOUBLE")
	case a.Name == "DECIMAL" || b.Name == "DECIMAL":
		w1, s1 := exact(a)
		w2, s2 := exact(b)
		scale := max(s1, s2)
		width := max(w1-s1, w2-s2) + scale
		if width > 38 { // digits before the point win
			return decimalType(38, max(0, scale-(width-38)))
		}
		return decimalType(width, scale)
	default:
		return parseType(rankNames[rank])
	}
}

func commonTime(a, b Type) Type {
	zoned := parseType("TIMESTAMP WITH TIME ZONE")
	if a.Name == zoned.Name || b.Name == zoned.Name {
		return zoned
	}
	return parseType("TIMESTAMP")
}

// commonWithText gives what a text becomes beside a value of another type.
func commonWithText(other Type) (Type, bool) {
	switch {
	case isWhole(other):
		return parseType("BIGINT"), true
	case isNumber(other):
		return parseType("DOUBLE"), true
	case isDatetime(other), other.Name == "BOOLEAN", other.Name == "BLOB":
		return other, true
	}
	return Type{}, false
}
