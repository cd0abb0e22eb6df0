package dialect

import (
	"slices"

	"github.com/skua-data/skua/engine/sparktext"
	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
)

// comparisons are the marks of comparisons, as the engine spells them.
var comparisons = map[string]string{"=": "=", "==": "=", "<>": "<>", "!=": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">=", "<=>": "IS NOT DISTINCT FROM"}

// comparison writes the comparison that comes next, of values whose types may differ; false: none comes, or the engine's own is Spark's.
func (r *rewriter) comparison() bool {
	if !r.Spark || r.next == r.compared || !r.beginsOperand() {
		return false
	}
	from := r.next
	left := r.comparedEnd(from)
	if left < 0 || r.until > 0 && left >= r.until {
		return false
	}
	operands := [][2]int{{from, left}}
	not, at := "", left
	if r.at(at).Is("NOT") {
		not, at = "NOT ", at+1
	}
	switch t := r.at(at); {
	case comparisons[t.Text] != "" && not == "":
		return r.compares(append(operands, [2]int{at + 1, r.comparedEnd(at + 1)}), "$1 "+comparisons[t.Text]+" $2", twoRule)
	case t.Is("BETWEEN"):
		middle := r.comparedEnd(at + 1)
		if middle < 0 || !r.at(middle).Is("AND") {
			return false
		}
		return r.compares(append(operands, [2]int{at + 1, middle}, [2]int{middle + 1, r.comparedEnd(middle + 1)}), "$1 "+not+"BETWEEN $2 AND $3", betweenRule(not))
	case t.Is("IN") && r.at(at+1).Is("("):
		return r.comparesIn(operands, at, not)
	}
	return false
}

// comparedEnd gives the token behind a value that is compared; -1: none begins there.
func (r *rewriter) comparedEnd(from int) int {
	p := &operators{r: r, next: from, limit: r.until}
	if p.value(0) == nil {
		return -1
	}
	return p.next
}

// comparesIn writes x IN (a, b, …).
func (r *rewriter) comparesIn(operands [][2]int, in int, not string) bool {
	end := r.endOf(in + 2)
	next := r.next
	r.next = in + 1
	list := r.argumentBounds()
	r.next = next
	if oneOf(r.at(in+2), "SELECT", "WITH") {
		return r.comparesQuery(operands[0], in, not)
	}
	if len(list) == 0 || len(list) > maxCompared {
		return false
	}
	text := "$1 " + not + "IN ("
	for i, b := range list {
		if oneOf(r.at(b[0]), "SELECT", "WITH", "VALUES", "FROM", "TABLE") || r.comparedEnd(b[0]) != b[1] {
			return false
		}
		if i > 0 {
			text += ", "
		}
		text += "$" + itoa(i+2)
		operands = append(operands, b)
	}
	if !r.compares(operands, text+")", listRule) {
		return false
	}
	r.next = end + 1
	return true
}

// compares writes a comparison by a rule; false: its operands are literals, or one is missing.
func (r *rewriter) compares(bounds [][2]int, text string, rule func(*compared, []Type) (verdict, error)) bool {
	from, last := bounds[0][0], bounds[len(bounds)-1]
	c := &compared{text: text, literals: make([]string, len(bounds))}
	fixed := 0
	for i, b := range bounds {
		if b[1] < 0 || r.unbound(b[0], b[1]) {
			return false
		}
		if t := r.at(b[0]); b[1]-b[0] == 1 && (t.Kind == syntax.Text || t.Kind == syntax.Number) {
			fixed++
			if t.Kind == syntax.Text {
				c.literals[i] = syntax.TextOf(t)
			}
		}
	}
	if fixed == len(bounds) {
		return false
	}
	operands, asked := make([][]piece, len(bounds)), make([]int, len(bounds))
	before, until := r.compared, r.until
	for i, b := range bounds {
		asked[i] = i
		operands[i] = r.capture(func() {
			r.next, r.compared, r.until = b[0], b[0], b[1]
			for r.failed == nil && r.next < b[1] {
				r.operand(&scope{})
			}
		})
	}
	r.compared, r.until = before, until
	r.next = last[1]
	if r.failed == nil {
		r.put(&coercion{text: text, operands: operands, asked: asked, zone: r.Zone.String(), rule: func(types []Type) (verdict, error) { return rule(c, types) }}, from, r.next)
	}
	return true
}

// compared is what is known of a comparison beforehand: how it is written, and its operands that are literals of text.
type compared struct {
	text     string
	literals []string
}

// meet says how two of the operands are cast to be compared.
func (c *compared) meet(types []Type, l, r int) (left, right string, err error) {
	a, b := types[l], types[r]
	text := isText(a) != isText(b)
	switch {
	case a.Name == "" || b.Name == "" || a.Text == b.Text || a.Name == `"NULL"` || b.Name == `"NULL"`:
		return "", "", nil
	case isNumber(a) && isNumber(b):
		if (a.Name == "FLOAT") != (b.Name == "FLOAT") && a.Name != "DOUBLE" && b.Name != "DOUBLE" {
			return "DOUBLE", "DOUBLE", nil
		}
		return "", "", nil
	case isDatetime(a) && isDatetime(b):
		return "", "", nil
	case text && (c.exact(l, b) || c.exact(r, a)):
		return "", "", nil
	case text:
		other := a
		if isText(a) {
			other = b
		}
		to, ok := commonWithText(other)
		if !ok && !slices.Contains([]string{"LIST", "STRUCT", "MAP"}, other.Name) {
			return "", "", nil // the engine's
		}
		if !ok {
			return "", "", unlike(a, b)
		}
		if isWhole(other) && isText(a) {
			return to.Text, "", nil
		}
		if isWhole(other) {
			return "", to.Text, nil
		}
		return to.Text, to.Text, nil
	case simple(a) && simple(b):
		return "", "", unlike(a, b)
	case a.Name == "LIST" && b.Name == "LIST":
		if err := unlikeElements(a, b); err != nil {
			return "", "", err
		}
		if to, ok := common(a, b); ok {
			return to.Text, to.Text, nil
		}
	}
	return "", "", nil
}

// exact reports whether an operand is a text that a decimal equals as it equals its number: neither has more digits than a double.
func (c *compared) exact(operand int, decimal Type) bool {
	n, scale, ok := sparktext.ParseDecimal(sparktext.Trim(c.literals[operand]))
	return ok && decimal.Name == "DECIMAL" && decimal.Width <= 15 && scale >= 0 && scale <= decimal.Scale && len(n.String()) <= 15
}

// unlike is Spark's error for types that are not compared.
func unlike(a, b Type) error {
	return fault.New(fault.Invalid, "Cannot resolve the comparison due to data type mismatch: the left and right operands of the binary operator have incompatible types (%q and %q).", a.sparkName(), b.sparkName()).
		With("DATATYPE_MISMATCH.BINARY_OP_DIFF_TYPES", "42K09")
}

var boolean = parseType("BOOLEAN")

// twoRule compares two values.
func twoRule(c *compared, types []Type) (verdict, error) {
	left, right, err := c.meet(types, 0, 1)
	if err != nil {
		return verdict{}, err
	}
	text, err := comparesNested(c.text, types)
	return verdict{casts: []string{left, right}, text: text, gives: boolean}, err
}

// betweenRule compares a value with two bounds. Where the bounds meet it in different types, it is named twice.
func betweenRule(not string) func(c *compared, types []Type) (verdict, error) {
	return func(c *compared, types []Type) (verdict, error) {
		low, least, err := c.meet(types, 0, 1)
		if err != nil {
			return verdict{}, err
		}
		high, most, err := c.meet(types, 0, 2)
		if err != nil || low == high {
			text, unordered := comparesNested(c.text, types)
			if err == nil {
				err = unordered
			}
			return verdict{casts: []string{low, least, most}, text: text, gives: boolean}, err
		}
		return verdict{casts: []string{orText(low, high), orText(least, low), orText(most, high)}, gives: boolean}, nil
	}
}

// listRule compares a value with several, in the type that all of them meet in.
func listRule(c *compared, types []Type) (verdict, error) {
	out := verdict{casts: make([]string, len(types)), gives: boolean}
	if _, err := comparesNested(c.text, types); err != nil {
		return out, err
	}
	if hasType(types, "FLOAT") && hasType(types, "DECIMAL") {
		return doubles(types), nil
	}
	if !slices.ContainsFunc(types, isText) || !slices.ContainsFunc(types, func(t Type) bool { return !isText(t) && t.Name != `"NULL"` && simple(t) }) {
		return out, nil
	}
	to := types[0]
	for _, t := range types[1:] {
		if t.Name == "" {
			return verdict{gives: boolean}, nil
		}
		wider, ok := common(to, t)
		if !ok {
			return out, unlike(to, t)
		}
		to = wider
	}
	for i, t := range types {
		if t.Text != to.Text && !(isWhole(t) && isWhole(to)) && (isText(t) || !c.exactAll(t, types)) {
			out.casts[i] = to.Text
		}
	}
	return out, nil
}

func hasType(types []Type, name string) bool {
	return slices.ContainsFunc(types, func(t Type) bool { return t.Name == name })
}

// doubles compares floats with decimals: both meet in a double, in which a float is seldom the number that was written.
func doubles(types []Type) verdict {
	out := verdict{casts: make([]string, len(types)), gives: boolean}
	for i, t := range types {
		if isNumber(t) && t.Name != "DOUBLE" {
			out.casts[i] = "DOUBLE"
		}
	}
	return out
}

// exactAll reports whether a decimal is compared with texts that are exact for it.
func (c *compared) exactAll(decimal Type, types []Type) bool {
	for i, t := range types {
		if isText(t) && !c.exact(i, decimal) {
			return false
		}
	}
	return true
}
