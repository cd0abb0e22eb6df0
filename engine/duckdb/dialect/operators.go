package dialect

import (
	"strings"

	"github.com/skua-data/skua/engine/arith"
	"github.com/skua-data/skua/engine/syntax"
)

// operators reads an expression over tokens: which operators it has and how they group, as in Spark. What it does not know ends it.
type operators struct {
	r     *rewriter
	next  int
	limit int // the token that it may not read; 0: none
	nodes int
	depth int

	more bool // something beyond signs of numbers, sums of integer literals and joined texts was read
}

// value reads operators that bind at least as tight as level, which associate to the left; nil: no operand comes next.
func (p *operators) value(level int) *node {
	left := p.signed()
	for left != nil {
		l, op := p.operator()
		if l < max(level, 1) {
			return left
		}
		start := p.next
		p.next++
		right := p.value(l + 1)
		if right == nil {
			p.next = start
			return left
		}
		left = p.node(&node{op: op, left: left, right: right, from: left.from})
	}
	return left
}

func (p *operators) node(n *node) *node {
	n.id, n.to, n.pos = p.nodes, p.next, p.r.at(n.from).Pos
	p.nodes++
	last := p.r.at(n.to - 1)
	n.begin, n.end = n.pos.Offset, last.Pos.Offset+len(last.Text)
	switch {
	case n.op == "":
	case n.left == nil:
		p.more = true
	case n.op == "||":
		p.more = p.more || n.mixed() || !n.left.joins() || !n.right.joins()
	case (n.op == "+" || n.op == "-" || n.op == "*") && n.left.small() && n.right.small():
	default:
		p.more = true
	}
	return n
}

// small reports whether a leaf is an int as it is written, or made of those alone.
func (n *node) small() bool {
	if n.op != "" {
		return n.op != "||" && n.left != nil && n.left.small() && n.right.small()
	}
	return n.asked == 0 && n.known.Kind == arith.Int
}

// joins reports whether an operand of || is a text as it is written, or made of those.
func (n *node) joins() bool {
	return n.op == "||" || n.op == "" && n.asked == 0 && n.known.Kind == arith.String
}

// mixed reports whether texts are joined with what other operators give.
func (n *node) mixed() bool {
	return n.left.op != "" && n.left.op != "||" || n.right.op != "" && n.right.op != "||"
}

// matters reports whether what was read is spelled by types.
func (p *operators) matters() bool { return p.more }

// operator gives the level and the spelling of the operator that comes next; less than 1: none does.
func (p *operators) operator() (int, string) {
	if p.limit > 0 && p.next >= p.limit {
		return 0, ""
	}
	t := p.r.at(p.next)
	if t.Is("DIV") && !isOperandStart(p.r.at(p.next+1)) {
		return 0, ""
	}
	return syntax.Operator(t)
}

// signed reads signs and what binds tighter.
func (p *operators) signed() *node {
	if p.depth++; p.depth > maxNesting {
		return nil
	}
	defer func() { p.depth-- }()
	from, t := p.next, p.r.at(p.next)
	if !t.Is("-") && !t.Is("+") && !t.Is("~") || t.Is("-") && p.r.at(from+1).Kind == syntax.Number {
		return p.operand()
	}
	p.next++
	if right := p.signed(); right != nil {
		return p.node(&node{op: t.Text, right: right, from: from})
	}
	p.next = from
	return nil
}

// operand reads what stands in parentheses, or a leaf.
func (p *operators) operand() *node {
	from := p.next
	if p.r.at(from).Is("(") {
		inner := &operators{r: p.r, next: from + 1, limit: p.limit, nodes: p.nodes, depth: p.depth}
		n := inner.value(0)
		if n != nil && p.r.at(inner.next).Is(")") && !p.r.postfix(inner.next+1) {
			p.next, p.nodes, p.more = inner.next+1, inner.nodes, p.more || inner.more
			n.from, n.to = from, p.next
			if n.op == "" {
				n.from, n.to = from+1, inner.next
			}
			return n
		}
	}
	if n := p.called(); n != nil {
		return n
	}
	end := p.r.leafEnd(from)
	if end < 0 || p.limit > 0 && end > p.limit {
		return nil
	}
	p.next = end
	n := &node{from: from}
	p.r.literalType(n, from, end)
	return p.node(n)
}

// literalType says what the tokens of a leaf say of its type.
func (r *rewriter) literalType(n *node, from, end int) {
	first := from
	if r.at(from).Is("-") {
		first++
	}
	n.asked = 1
	switch t := r.at(first); {
	case t.Kind == syntax.Number && first+1 == end:
		known, ok := numberType(t.Text)
		if smallest := smallestNumbers[t.Text]; first > from && smallest != arith.Unknown {
			known.Kind, known.Digits, n.named = smallest, len(t.Text), true
		}
		if ok {
			n.named = n.named || known.Kind == arith.Decimal && !strings.ContainsAny(t.Text, ".bB")
			n.asked, n.known = 0, known
			n.nonzero = strings.ContainsAny(strings.SplitN(strings.ToLower(t.Text), "e", 2)[0], "123456789")
		}
	case t.Kind == syntax.Text:
		if r.at(end-1).Kind == syntax.Text {
			n.asked, n.known = 0, arith.Of(arith.String)
		}
	case t.Is("NULL") && first+1 == end:
		n.asked, n.known = 0, arith.Of(arith.Void)
	case t.Is("INTERVAL") && end > first+1:
		n.known = arith.Of(r.intervalKind(first+1, end))
		if literal, ok := r.intervalLiteral([2]int{first, end}); ok {
			n.known = arith.Of(literalKind(literal))
		}
	case t.Kind == syntax.Word && r.at(first+1).Is("(") && !t.Is("CAST") && !t.Is("SUM") && !t.Is("COUNT"):
		n.called = true
		if t.Is("MAKE_YM_INTERVAL") && r.closing(first+1) == end {
			n.known = arith.Of(arith.Months)
		}
		if t.Is("MAKE_DT_INTERVAL") && r.closing(first+1) == end {
			n.known = arith.Of(arith.Interval)
		}
		if intFunctions[strings.ToLower(t.Text)] && r.closing(first+1) == end {
			n.known = arith.Of(arith.Int)
		}
	}
}

// intFunctions have results of 32 bits in Spark, and of 64 in the engine.
var intFunctions = words("year month day dayofmonth dayofweek dayofyear weekofyear weekday quarter hour minute second extract date_part datepart datediff date_diff length char_length character_length " +
	"len octet_length bit_length ascii instr locate position levenshtein unix_date size array_size cardinality find_in_set")

// smallestNumbers are the numbers whose type is narrower with a minus before them.
var smallestNumbers = map[string]arith.Kind{"2147483648": arith.Int, "9223372036854775808": arith.Bigint}

// numberType gives the type of a number as it is written; false: the engine is asked.
func numberType(text string) (arith.Type, bool) {
	digits := strings.TrimRight(text, "LlSsYyFfDdBb")
	suffix := strings.ToUpper(text[len(digits):])
	whole, fraction, point := strings.Cut(digits, ".")
	switch {
	case strings.HasPrefix(strings.ToLower(text), "0x") || strings.ContainsAny(digits, "eE_") || len(digits) > arith.MaxPrecision+1:
		return arith.Type{}, false
	case suffix == "D":
		return arith.Of(arith.Double), true
	case suffix == "F":
		return arith.Of(arith.Float), true
	}
	whole = strings.TrimLeft(whole, "0")
	size := max(len(whole), 1)
	kinds := map[string]arith.Kind{"L": arith.Bigint, "S": arith.Smallint, "Y": arith.Tinyint}
	switch kind, named := kinds[suffix]; {
	case named && !point:
		return arith.Type{Kind: kind, Digits: size}, true
	case point || suffix == "BD":
		all := strings.TrimLeft(whole+fraction, "0")
		return arith.DecimalOf(max(len(all), len(fraction), 1), len(fraction)), suffix == "" || suffix == "BD"
	case suffix != "":
		return arith.Type{}, false
	case size < 10 || size == 10 && whole <= "2147483647":
		return arith.Type{Kind: arith.Int, Digits: size}, true
	case size < 19 || size == 19 && whole <= "9223372036854775807":
		return arith.Type{Kind: arith.Bigint, Digits: size}, true
	}
	return arith.DecimalOf(size, 0), true
}

// dayUnits and monthUnits are the units of intervals that keep a day one.
var (
	dayUnits   = words("day days week weeks")
	monthUnits = words("month months year years quarter quarters")
)

// intervalKind tells by its units what an interval is made of.
func (r *rewriter) intervalKind(from, end int) arith.Kind {
	text := ""
	for i := from; i < end; i++ {
		if t := r.at(i); t.Kind == syntax.Text && i+1 == end {
			text += " " + syntax.TextOf(t)
		} else if t.Kind == syntax.Word {
			text += " " + t.Text
		}
	}
	kind := arith.Interval
	for _, word := range strings.Fields(strings.ToLower(text)) {
		switch {
		case dayUnits[word] && kind != arith.Months:
			kind = arith.Days
		case monthUnits[word] && kind != arith.Days:
			kind = arith.Months
		case word != "to" && strings.Trim(word, "-+0123456789") != "":
			return arith.Interval
		}
	}
	return kind
}
