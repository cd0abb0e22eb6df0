package engine

import (
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/engine/syntax"
)

// Constants are Spark's. Under the dialect ansi an Executor gives some of the same expressions another value or another type where they read columns, so there
// those are left to it without columns, too: a text means the same wherever it stands. Instants keep their type, as do values that are bound: how their statement is
// run was settled before they were known.
type leaving uint8

const (
	leaveNothing leaving = iota // the dialect is Spark's, or nobody else could evaluate it
	leaveValues                 // in filters: what has another value
	leaveTypes                  // in select lists: what has another type, too
)

// otherTypes are the functions whose results have another type in an Executor under ansi.
var otherTypes = map[string]bool{"length": true, "char_length": true, "unix_date": true}

// leaves says what of a query is left to the Executor in a place.
func (s *statement) leaves(q *query, what leaving) leaving {
	if dialect, _ := s.state.Get(dialectKey); q.parameters.NumFields() > 0 || s.engine.config.Executor == nil || strings.EqualFold(dialect, "spark") {
		return leaveNothing
	}
	return what
}

func leftOver(e syntax.Expr) error {
	return unsupported("the constant %s has another meaning in the dialect ansi, which is the SQL engine's", outputName(e))
}

// leavesCast decides about a cast: fractions are rounded to whole numbers, floats are spelled otherwise.
func (b *binder) leavesCast(from, to arrow.DataType) bool {
	_, _, exact := decimalOf(from)
	switch {
	case b.leave == leaveNothing:
		return false
	case integral(to):
		return exact || floating(from)
	case to.ID() == arrow.STRING:
		return floating(from)
	}
	return false
}

// leavesBinary decides about an operator: ^ is a power, and a quotient of decimals is a double.
func (b *binder) leavesBinary(op string, left, right constant) bool {
	_, _, one := decimalOf(left.typ)
	_, _, other := decimalOf(right.typ)
	switch {
	case b.leave == leaveNothing:
		return false
	case op == "^", op == "/" && (one || other):
		return true
	}
	return b.leave == leaveTypes && (op == "DIV" || one || other)
}

// leavesCall decides about a function.
func (b *binder) leavesCall(name string, args []constant) bool {
	if b.leave == leaveNothing {
		return false
	}
	if name == "concat" {
		return slices.ContainsFunc(args, func(c constant) bool { return c.null() || c.typ.ID() == arrow.BINARY || floating(c.typ) })
	}
	return b.leave == leaveTypes && otherTypes[name]
}

// common gives the type in which two values are compared. Under ansi a float and an exact number meet in a float, as in the Executor.
func (b *binder) common(x, y arrow.DataType) (arrow.DataType, bool) {
	if b.leave != leaveNothing && (halfFloat(x, y) || halfFloat(y, x)) {
		return arrow.PrimitiveTypes.Float32, true
	}
	return commonType(x, y)
}

// halfFloat reports whether one type is a float of 32 bits and the other one of exact numbers.
func halfFloat(f, other arrow.DataType) bool {
	_, _, exact := decimalOf(other)
	return f.ID() == arrow.FLOAT32 && (exact || integral(other))
}
