package dialect

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/skua-data/skua/engine/arith"
)

// Exact is a function of ours on decimals and whole numbers that gives a decimal of one type.
type Exact struct {
	Op           string // +, -, *, /, %, or pmod
	Width, Scale int    // of the result
	Tried        bool   // NULL stands for what fails
	Name         string
}

// exactNames are the names of operators in those of functions.
var exactNames = map[string]string{"+": "add", "-": "subtract", "*": "multiply", "/": "divide", "%": "remainder", "pmod": "pmod", "round": "round", "bround": "bround",
	"ceil": "ceil", "floor": "floor"}

// exact gives the name of the function for an operator, which the statement needs from then on.
func (w *writer) exact(op string, t arith.Type) string {
	f := Exact{Op: op, Width: t.Precision, Scale: t.Scale}
	f.Name = fmt.Sprintf("skua_%s_%d_%d", exactNames[op], t.Precision, t.Scale)
	w.out.Exact = append(w.out.Exact, f)
	return f.Name
}

// exactOrNull gives the name of the one that gives NULL where it fails.
func (w *writer) exactOrNull(op string, t arith.Type) string {
	f := Exact{Op: op, Width: t.Precision, Scale: t.Scale, Tried: true}
	f.Name = fmt.Sprintf("skua_try_%s_%d_%d", exactNames[op], t.Precision, t.Scale)
	w.out.Exact = append(w.out.Exact, f)
	return f.Name
}

// write writes the expression with the types of its leaves; as it stands, operators group as in Spark.
func (a *arithmetic) write(w *writer, types []Type) {
	aw := &arithmeticWriter{writer: w, engine: types, zone: a.zone}
	if types == nil {
		aw.types = make([]arith.Type, a.nodes)
	} else {
		aw.types, _ = a.resolve(types)
	}
	aw.node(a.root)
}

// arithmeticWriter writes one expression.
type arithmeticWriter struct {
	*writer
	types  []arith.Type // of nodes
	engine []Type       // of the leaves that were asked for
	zone   string
}

func (w *arithmeticWriter) typeOf(n *node) arith.Type { return w.types[n.id] }

// asIs reports whether the engine has a node in the type that it has in Spark.
func (w *arithmeticWriter) asIs(n *node) bool {
	if n.op != "" || n.asked == 0 {
		return n.asked > 0 || n.op != "" || n.known.Kind != arith.Decimal && n.known.Kind != arith.Void
	}
	return w.engine != nil && spelled(w.typeOf(n)).Text == w.engine[n.asked-1].Text
}

// inner writes an operand, in parentheses where it has operators.
func (w *arithmeticWriter) inner(n *node) {
	if n.op == "" {
		w.place(n.pos)
		w.node(n)
		return
	}
	w.text("(")
	w.node(n)
	w.text(")")
}

// first writes a left operand, whose operators need no parentheses if they group so by themselves.
func (w *arithmeticWriter) first(n *node, op string) {
	if n.tried {
		w.inner(n)
		return
	}
	additive := (op == "+" || op == "-") && (n.op == "+" || n.op == "-")
	if n.left != nil && (additive || op == "*" && n.op == "*") && w.plain(n) {
		w.node(n)
		return
	}
	w.inner(n)
}

// plain reports whether a node is written as operands with its operator between them.
func (w *arithmeticWriter) plain(n *node) bool {
	t := w.typeOf(n)
	return w.engine != nil && (t.Whole() || t.Kind == arith.Float || t.Kind == arith.Double) && w.typeOf(n.left).Kind != arith.Void && w.typeOf(n.right).Kind != arith.Void ||
		w.engine == nil
}

// as writes an operand in a type.
func (w *arithmeticWriter) as(n *node, t arith.Type) {
	have := w.typeOf(n)
	same := have.Kind == t.Kind && have.Precision == t.Precision && have.Scale == t.Scale
	if same && w.asIs(n) {
		w.inner(n)
		return
	}
	w.cast(n, spelled(t).Text)
}

// cast writes an operand as the engine's cast makes it of what it holds anyway, or as Spark's makes it.
func (w *arithmeticWriter) cast(n *node, name string) {
	have := w.typeOf(n)
	if target, ok := castTargets[name]; ok && w.engine != nil && have.Kind != arith.Void && !have.Widens(kinds[target.native]) {
		w.text(CastFunction(target.function, false) + "(")
		w.node(n)
		w.text(", " + QuoteText(w.zone) + ")")
		return
	}
	if t := parseType(name); t.Name == "DECIMAL" && (have.Kind == arith.Float || have.Kind == arith.Double || have.Kind == arith.String) {
		w.text("CAST(" + CastFunction("decimal_"+strconv.Itoa(t.Scale), false) + "(")
		w.node(n)
		w.text(fmt.Sprintf(", %d) AS %s)", t.Width, name))
		return
	}
	w.text("CAST(")
	w.node(n)
	w.text("AS " + name + ")")
}

// number writes an operand in a type of numbers other than decimals. An integer literal takes the type of the other operand by itself.
func (w *arithmeticWriter) number(n *node, t, other arith.Type) {
	have := w.typeOf(n)
	if n.op == "" && n.asked == 0 && have.Whole() && have.Digits > 0 && t.Whole() && have.Kind <= t.Kind && (other.Digits == 0 || have.Kind == t.Kind) && have.Kind >= arith.Int {
		w.inner(n)
		return
	}
	w.as(n, arith.Of(t.Kind))
}

// node writes an expression.
func (w *arithmeticWriter) node(n *node) {
	t := w.typeOf(n)
	switch {
	case n.op == "":
		w.pieces(n.value)
	case t.Kind == arith.Unknown:
		w.native(n)
	case n.tried:
		w.tried(n, t)
	case n.left == nil && len(n.op) > 1:
		w.functionOf(n, t)
	case n.left == nil:
		w.sign(n, t)
	case w.typeOf(n.left).Kind == arith.Void || w.typeOf(n.right).Kind == arith.Void:
		w.text("CAST(NULL AS " + spelled(t).Text + ")")
	case n.op == "||":
		w.joined(n)
	case strings.Contains("<<>>>", n.op):
		w.shift(n, t)
	case n.op == "&" || n.op == "|" || n.op == "^":
		w.bits(n, t)
	case w.typeOf(n.left).IsInterval() || w.typeOf(n.right).IsInterval() || w.typeOf(n.left).Datetime() || w.typeOf(n.right).Datetime():
		w.times(n, t)
	default:
		w.numbers(n, t)
	}
}

// spellings are the operators that the engine calls otherwise.
var spellings = map[string]string{"DIV": "//"}

// native writes an expression as it stands.
func (w *arithmeticWriter) native(n *node) {
	op := n.op
	if other, ok := spellings[op]; ok {
		op = other
	}
	switch {
	case n.rounds && !n.bare:
		w.text(map[bool]string{true: "round_even", false: op}[op == "bround"] + "(")
		w.node(n.right)
		w.text(", " + strconv.Itoa(n.digits) + ")")
	case n.left == nil && len(op) > 1:
		w.text(map[bool]string{true: "round_even", false: op}[op == "bround"] + "(")
		w.node(n.right)
		w.text(map[bool]string{true: ", 0)", false: ")"}[op == "bround"])
	case n.left == nil:
		w.text(op)
		w.inner(n.right)
	case op == "pmod":
		w.infix(n, "%")
	case op == ">>>":
		w.infix(n, ">>")
	default:
		w.infix(n, op)
	}
}

func (w *arithmeticWriter) infix(n *node, op string) {
	w.first(n.left, n.op)
	w.text(op)
	w.inner(n.right)
}

func (w *arithmeticWriter) sign(n *node, t arith.Type) {
	if w.typeOf(n.right).Kind == arith.Void {
		w.text("CAST(NULL AS " + spelled(t).Text + ")")
		return
	}
	if n.op == "-" || n.op == "~" {
		w.text(n.op)
	}
	w.as(n.right, t)
}

func (w *arithmeticWriter) shift(n *node, t arith.Type) {
	name := map[string]string{"<<": "skua_shift_left(", ">>": "skua_shift_right(", ">>>": "skua_shift_right_unsigned("}[n.op]
	w.text(name)
	w.as(n.left, t)
	w.text(",")
	w.as(n.right, arith.Of(arith.Int))
	w.text(")")
}

func (w *arithmeticWriter) bits(n *node, t arith.Type) {
	l, r := w.typeOf(n.left), w.typeOf(n.right)
	if n.op == "^" {
		w.text("xor(")
	}
	w.number(n.left, t, r)
	w.text(map[string]string{"&": "&", "|": "|", "^": ","}[n.op])
	w.number(n.right, t, l)
	if n.op == "^" {
		w.text(")")
	}
}

// numbers writes an operator on numbers, and on texts that stand for them.
func (w *arithmeticWriter) numbers(n *node, t arith.Type) {
	l, r := w.typeOf(n.left), w.typeOf(n.right)
	switch {
	case n.op == "DIV" && (l.Kind == arith.Decimal || r.Kind == arith.Decimal):
		w.call("skua_quotient", n)
	case t.Kind == arith.Decimal && (n.op == "+" || n.op == "-") && w.summed(l, r, t):
		w.as(n.left, exactType(l))
		w.text(n.op)
		w.as(n.right, exactType(r))
	case t.Kind == arith.Decimal:
		w.call(w.exact(n.op, t), n)
	case n.op == "pmod":
		w.text("skua_pmod(")
		w.as(n.left, t)
		w.text(",")
		w.as(n.right, t)
		w.text(")")
	case n.op == "/" || n.op == "%" || n.op == "DIV":
		w.divided(n, t)
	default:
		if w.plain(n) && n.left.op != "" && w.typeOf(n.left).Kind == t.Kind {
			w.first(n.left, n.op)
		} else {
			w.number(n.left, t, r)
		}
		w.text(n.op)
		w.number(n.right, t, l)
	}
}

// exactType is the decimal type that an operand has in arithmetic with decimals.
func exactType(t arith.Type) arith.Type { return arith.DecimalOf(arith.Exact(t, t)) }

// engineDigits is how many digits the engine's narrow decimals have, whose sums it keeps narrow.
const engineDigits = 18

// summed reports whether the engine's own sum of decimals has Spark's type.
func (w *arithmeticWriter) summed(l, r, t arith.Type) bool {
	p1, s1 := arith.Exact(l, r)
	p2, s2 := arith.Exact(r, l)
	scale := max(s1, s2)
	width := max(max(p1-s1, p2-s2)+scale, p1, p2) + 1
	return width == t.Precision && scale == t.Scale && (width <= engineDigits || max(p1, p2) > engineDigits)
}

// call writes a call of a function of ours on both operands.
func (w *arithmeticWriter) call(name string, n *node) {
	w.text(name + "(")
	w.exactly(n.left)
	w.text(",")
	w.exactly(n.right)
	w.text(")")
}

// exactly writes an operand of exact arithmetic: a text is none, and what the engine has of whole numbers is as good as what Spark has.
func (w *arithmeticWriter) exactly(n *node) {
	if w.typeOf(n).Kind == arith.String {
		w.cast(n, "BIGINT")
		return
	}
	w.node(n)
}

// divided writes a division, whose divisor is checked unless it is a number that is not 0.
func (w *arithmeticWriter) divided(n *node, t arith.Type) {
	check, op := "skua_divisor(", n.op
	switch n.op {
	case "%":
		check = "skua_modulus("
	case "DIV":
		op = "//"
	}
	l, r := w.typeOf(n.left), w.typeOf(n.right)
	if t.Kind == arith.Double || t.Kind == arith.Float {
		l, r = arith.Type{}, arith.Type{}
	}
	w.number(n.left, t, r)
	w.text(op)
	if n.right.nonzero {
		w.number(n.right, t, l)
		return
	}
	w.text(check)
	w.as(n.right, arith.Of(t.Kind))
	w.text(")")
}

// times writes an operator on dates, timestamps and intervals.
func (w *arithmeticWriter) times(n *node, t arith.Type) {
	l, r := w.typeOf(n.left), w.typeOf(n.right)
	switch {
	case t.Kind == arith.String:
		w.text("CAST(")
		w.unless(n.left, l.IsInterval(), "TIMESTAMPTZ")
		w.text(n.op)
		w.unless(n.right, r.IsInterval(), "TIMESTAMPTZ")
		w.text("AS VARCHAR)")
	case t.Kind == arith.Days && !l.IsInterval() && !r.IsInterval():
		w.text("to_days(CAST((")
		w.as(n.left, arith.Of(arith.Date))
		w.text("-")
		w.as(n.right, arith.Of(arith.Date))
		w.text(") AS INTEGER))")
	case t.Kind == arith.Date && (l.IsInterval() || r.IsInterval()):
		w.text("CAST(")
		w.infix(n, n.op)
		w.text("AS DATE)")
	case t.Kind == arith.Date && !n.near():
		date, days := n.left, n.right
		if l.Kind != arith.Date {
			date, days = days, date
		}
		w.text("skua_days_on(")
		w.node(date)
		w.text(",")
		w.as(days, arith.Of(arith.Int))
		w.text(map[string]string{"+": ", 1)", "-": ", -1)"}[n.op])
	case t.Kind == arith.Date:
		w.moved(n.left, l)
		w.text(n.op)
		w.moved(n.right, r)
	case t.IsTimestamp() && (l.Kind == arith.Date || r.Kind == arith.Date):
		w.unless(n.left, l.IsInterval(), "TIMESTAMPTZ")
		w.text(n.op)
		w.unless(n.right, r.IsInterval(), "TIMESTAMPTZ")
	case t.Kind == arith.Interval && !l.IsInterval() && !r.IsInterval():
		zone := "TIMESTAMPTZ"
		if l.Kind != arith.Timestamp && r.Kind != arith.Timestamp {
			zone = "TIMESTAMP"
		}
		w.unless(n.left, spelled(l).Text == zone, zone)
		w.text("-")
		w.unless(n.right, spelled(r).Text == zone, zone)
	case t.IsInterval() && (n.op == "*" || n.op == "/"):
		w.unless(n.left, l.IsInterval(), "DOUBLE")
		w.text(n.op)
		if n.op == "/" && !n.right.nonzero {
			w.text("skua_divisor(")
			w.as(n.right, arith.Of(arith.Double))
			w.text(")")
			return
		}
		w.unless(n.right, r.IsInterval(), "DOUBLE")
	default:
		w.native(n)
	}
}

// moved writes a date, or the days that are added to one.
func (w *arithmeticWriter) moved(n *node, t arith.Type) {
	if t.Kind == arith.Date {
		w.inner(n)
		return
	}
	w.as(n, arith.Of(arith.Int))
}

// unless writes an operand, cast to a type unless it is as it should be.
func (w *arithmeticWriter) unless(n *node, fine bool, name string) {
	if fine {
		w.inner(n)
		return
	}
	w.cast(n, name)
}
