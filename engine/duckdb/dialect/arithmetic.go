package dialect

import (
	"strings"

	"github.com/skua-data/skua/engine/arith"
	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
)

// arithmetic is an expression of operators, whose meaning in Spark hangs on the types of its leaves.
type arithmetic struct {
	root   *node
	nodes  int
	source string    // the text of the statement
	zone   string    // the session's
	leaves [][]piece // those whose types are asked for
}

// node is an operator with its operands, or a leaf.
type node struct {
	id          int
	op          string // of a leaf: empty
	left, right *node  // left is nil where the operator stands in front of its operand
	from, to    int    // tokens
	pos         syntax.Pos
	begin, end  int // of its text, which errors name

	rounds bool // a function that rounds
	digits int  // to how many digits
	bare   bool // as nobody said
	tried  bool // a function that gives NULL where the operator fails

	asked   int        // of a leaf: 1 + its place among those asked for; 0: its type is known
	known   arith.Type // then; of an interval that is asked for, what its units say
	value   []piece
	nonzero bool // a number that is not 0
	named   bool // a number that the engine has in another type unless that is named
	called  bool // a function's result, whose type may be wider than Spark's
}

func (a *arithmetic) asks() [][]piece { return a.leaves }

// maxSubqueries is how deep in subqueries among its operands the types of arithmetic are asked for: the engine binds each of them several times.
const maxSubqueries = 5

// arithmetic writes the expression that comes next if it has operators; false: it has none, or is none.
func (r *rewriter) arithmetic() bool {
	if !r.operators || r.next == r.leaf || r.subqueries > maxSubqueries || !r.beginsOperand() {
		return false
	}
	from := r.next
	p := &operators{r: r, next: from, limit: r.until}
	root := p.value(0)
	if root == nil || !p.matters() && !root.named || r.unbound(from, p.next) {
		return false
	}
	a := &arithmetic{root: root, nodes: p.nodes, source: r.text, zone: r.Zone.String()}
	r.leavesOf(a, root)
	r.next = p.next
	if r.failed == nil {
		r.put(a, from, p.next)
	}
	return true
}

// leavesOf writes the leaves of an expression.
func (r *rewriter) leavesOf(a *arithmetic, n *node) {
	if n == nil || r.failed != nil {
		return
	}
	if n.op != "" {
		r.leavesOf(a, n.left)
		r.leavesOf(a, n.right)
		return
	}
	leaf, until, subqueries := r.leaf, r.until, r.subqueries
	if r.at(n.from).Is("(") && oneOf(r.at(n.from+1), "SELECT", "WITH", "FROM", "VALUES") {
		r.subqueries++
	}
	n.value = r.capture(func() {
		if n.named {
			r.emitAt("CAST(", n.pos)
			defer func() { r.emit("AS " + spelled(n.known).Text + ")") }()
		}
		r.next, r.leaf, r.until = n.from, n.from, n.to
		for r.failed == nil && r.next < n.to {
			r.operand(&scope{})
		}
	})
	r.leaf, r.until, r.subqueries = leaf, until, subqueries
	if n.asked > 0 {
		a.leaves = append(a.leaves, n.value)
		n.asked = len(a.leaves)
	}
}

func (a *arithmetic) mapped(pieces func([]piece) []piece) typed {
	out := &arithmetic{nodes: a.nodes, source: a.source, zone: a.zone}
	var copied func(n *node) *node
	copied = func(n *node) *node {
		if n == nil {
			return nil
		}
		c := *n
		c.value, c.left, c.right = pieces(n.value), copied(n.left), copied(n.right)
		if c.asked > 0 {
			out.leaves = append(out.leaves, c.value)
		}
		return &c
	}
	out.root = copied(a.root)
	return out
}

// kinds are the types of the engine that have arithmetic.
var kinds = map[string]arith.Kind{`"NULL"`: arith.Void, "BOOLEAN": arith.Boolean, "TINYINT": arith.Tinyint, "SMALLINT": arith.Smallint, "INTEGER": arith.Int, "BIGINT": arith.Bigint,
	"HUGEINT": arith.Bigint, "UTINYINT": arith.Smallint, "USMALLINT": arith.Int, "UINTEGER": arith.Bigint, "UBIGINT": arith.Bigint, "FLOAT": arith.Float, "DOUBLE": arith.Double,
	"LIST": arith.Other, "STRUCT": arith.Other, "MAP": arith.Other, "BLOB": arith.Other, "DECIMAL": arith.Decimal, "VARCHAR": arith.String, "DATE": arith.Date, "TIMESTAMP": arith.TimestampNTZ, "TIMESTAMP WITH TIME ZONE": arith.Timestamp, "INTERVAL": arith.Interval}

// meant gives what a type of the engine is to Spark.
func (t Type) meant() arith.Type {
	return arith.Type{Kind: kinds[t.Name], Precision: t.Width, Scale: t.Scale}
}

// spelled gives the engine's name of a type.
func spelled(t arith.Type) Type {
	switch t.Kind {
	case arith.Unknown, arith.Other:
		return Type{}
	case arith.Decimal:
		return decimalType(t.Precision, t.Scale)
	case arith.Bigint:
		return parseType("BIGINT")
	case arith.Days, arith.Months:
		return parseType("INTERVAL")
	}
	for name, kind := range kinds {
		if kind == t.Kind && name[0] != 'U' {
			return parseType(strings.Trim(name, `"`))
		}
	}
	return Type{}
}

// of gives the type of the expression.
func (a *arithmetic) of(types []Type) (Type, error) {
	resolved, err := a.resolve(types)
	if err != nil {
		return Type{}, err
	}
	t := resolved[a.root.id]
	if t.Kind == arith.Void {
		return Type{}, nil
	}
	return spelled(t), nil
}

// resolve gives the types of all nodes.
func (a *arithmetic) resolve(types []Type) ([]arith.Type, error) {
	out := make([]arith.Type, a.nodes)
	var failed error
	var walk func(n *node)
	walk = func(n *node) {
		var err error
		switch {
		case n.op == "":
			out[n.id] = n.typeOf(types)
			return
		case n.left == nil:
			walk(n.right)
			out[n.id], err = n.function(out[n.right.id])
		default:
			walk(n.left)
			walk(n.right)
			out[n.id], err = arith.Binary(n.op, out[n.left.id], out[n.right.id])
			if err != nil && n.days(out) {
				out[n.id], err = arith.Of(arith.Date), nil
			}
		}
		if err != nil && failed == nil {
			failed = fault.New(fault.Invalid, "Cannot resolve \"%s\" due to data type mismatch: the operator %s does not take operands of these types.", a.textOf(n), n.op).
				With(err.Error(), "42K09").At(faultAt(n.pos))
		}
	}
	walk(a.root)
	return out, failed
}

// maxShown is how many bytes of an expression an error shows.
const maxShown = 200

func (a *arithmetic) textOf(n *node) string {
	text := strings.Join(strings.Fields(a.source[n.begin:min(n.end, n.begin+maxShown)]), " ")
	return strings.ToValidUTF8(text, "")
}

// typeOf gives a leaf's type.
func (n *node) typeOf(types []Type) arith.Type {
	if n.asked == 0 {
		return n.known
	}
	t := types[n.asked-1].meant()
	if t.Kind == arith.Interval && n.known.IsInterval() || t.Kind == arith.Bigint && n.known.Kind == arith.Int {
		return n.known
	}
	return t
}

// days reports whether days that a function gives, an int in Spark, are added to a date or taken away.
func (n *node) days(types []arith.Type) bool {
	l, r := types[n.left.id].Kind, types[n.right.id].Kind
	return (n.op == "+" || n.op == "-") && l == arith.Date && r == arith.Bigint && n.right.called || n.op == "+" && r == arith.Date && l == arith.Bigint && n.left.called
}

// near reports whether a number of days as it is written is added to a date, or taken away, that is too small for any date to be beyond those that there are.
func (n *node) near() bool {
	const digits = 6
	near := func(n *node) bool {
		return n.op == "" && n.asked == 0 && 0 < n.known.Digits && n.known.Digits <= digits
	}
	return near(n.left) || near(n.right)
}
