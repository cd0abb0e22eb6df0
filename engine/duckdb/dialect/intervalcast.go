package dialect

import (
	"github.com/skua-data/skua/engine/arith"
	"github.com/skua-data/skua/engine/syntax"
)

// intervalSum is the cast of an expression of operators that may give an interval: days between dates are cast as a number of days, which the engine's intervals do not
// tell from a number of seconds.
type intervalSum struct {
	*arithmetic
	gives Type
	texts map[arith.Kind]string // how each kind is cast; Unknown: everything else
}

// castArithmetic writes the cast of an expression of operators; false: it is another operand, or cast to a type with parts.
func (r *rewriter) castArithmetic(t syntax.TypeName, try bool, from, to int, operand []piece) bool {
	if len(operand) == 3 && operand[0].text == "(" && operand[2].text == ")" {
		operand = operand[1:2]
	}
	if len(operand) != 1 || operand[0].typed == 0 || len(t.Args) > 0 || len(t.Fields) > 0 {
		return false
	}
	a, ok := r.out.typed[operand[0].typed-1].typed.(*arithmetic)
	gives, whole := castResult(t)
	if !ok || !whole || !a.mayBeInterval() {
		return false
	}
	days := r.castScalar(t, try, "date_part('day', $1)")
	if gives.Name == "VARCHAR" {
		days = "'INTERVAL ''' || date_part('day', $1) || ''' DAY'"
	}
	c := &intervalSum{arithmetic: a, gives: gives, texts: map[arith.Kind]string{arith.Days: "(" + days + ")", arith.Unknown: r.castScalar(t, try, "$1"),
		arith.Interval: r.castScalar(t, try, "to_microseconds(epoch_us($1))")}}
	scope := r.lambdaScope
	r.lambdaScope += castPrefix + gives.Text + map[bool]string{true: "try"}[try] // the cast and its operand are asked for apart
	r.put(c, from, to)
	r.lambdaScope = scope
	return true
}

// castResult gives the type of a cast to texts, whole numbers or decimals; false: it is to another type, which no interval has a cast to.
func castResult(t syntax.TypeName) (Type, bool) {
	if precision, scale, ok := decimalOf(t); ok {
		return decimalType(precision, scale), true
	}
	switch native := castTargets[spellType(t, true)].native; native {
	case "VARCHAR", "TINYINT", "SMALLINT", "INTEGER", "BIGINT":
		return parseType(native), true
	}
	return Type{}, false
}

// mayBeInterval reports whether an expression's operators may give an interval.
func (a *arithmetic) mayBeInterval() bool {
	switch a.root.op {
	case "+", "-", "*", "/":
		return !a.root.tried
	}
	return false
}

func (c *intervalSum) of(types []Type) (Type, error) {
	_, err := c.resolve(types)
	return c.gives, err
}

func (c *intervalSum) mapped(pieces func([]piece) []piece) typed {
	out := *c
	out.arithmetic, _ = c.arithmetic.mapped(pieces).(*arithmetic)
	return &out
}

func (c *intervalSum) write(w *writer, types []Type) {
	kind := arith.Unknown
	if types != nil {
		resolved, _ := c.resolve(types)
		if kind = resolved[c.root.id].Kind; kind != arith.Days && (kind != arith.Interval || c.root.unclear(types)) {
			kind = arith.Unknown
		}
	}
	for text := c.texts[kind]; text != ""; {
		before, n, rest := nextOperand(text)
		if before != "" {
			w.text(before)
		}
		if n >= 0 {
			c.arithmetic.write(w, types)
		}
		text = rest
	}
}

// unclear reports whether an operand is an interval of which nobody says what it is made of.
func (n *node) unclear(types []Type) bool {
	if n == nil || n.op != "" {
		return n != nil && (n.left.unclear(types) || n.right.unclear(types))
	}
	return n.asked > 0 && types[n.asked-1].Name == "INTERVAL" && !n.known.IsInterval()
}
