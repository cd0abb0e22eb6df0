package constant

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/engine/sparkname"
	"github.com/skua-data/skua/engine/sparktype"
	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
)

// Leaving is what an evaluator leaves to an Executor. Constants are Spark's. Under the dialect ansi an Executor gives some of the same expressions another value or another type where they read columns, so there
// those are left to it without columns, too: a text means the same wherever it stands. Instants keep their type, as do values that are bound: how their statement is
// run was settled before they were known.
type Leaving uint8

// What can be left.
const (
	LeaveNothing Leaving = iota // the dialect is Spark's, or nobody else could evaluate it
	LeaveValues                 // in filters: what has another value
	LeaveTypes                  // in select lists: what has another type, too
)

// LeaveOut sets what is left to an Executor from now on; at first it is nothing.
func (ev *Evaluator) LeaveOut(what Leaving) { ev.leave, ev.Ansi = what, what != LeaveNothing }

// otherTypes are the functions whose results have another type in an Executor under ansi.
var otherTypes = map[string]bool{"length": true, "char_length": true, "unix_date": true}

func leftOver(e syntax.Expr) error {
	return fault.New(fault.Unsupported, "the constant %s has another meaning in the dialect ansi, which is the SQL engine's", sparkname.Of(e))
}

// leavesCast decides about a cast: fractions are rounded to whole numbers, floats are spelled otherwise.
func (ev *Evaluator) leavesCast(from, to arrow.DataType) bool {
	_, _, exact := sparktype.DecimalOf(from)
	switch {
	case ev.leave == LeaveNothing:
		return false
	case sparktype.Integral(to):
		return exact || sparktype.Floating(from)
	case to.ID() == arrow.STRING:
		return sparktype.Floating(from)
	}
	return false
}

// leavesBinary decides about an operator: ^ is a power, and a quotient of decimals is a double.
func (ev *Evaluator) leavesBinary(op string, left, right sparktype.Value) bool {
	_, _, one := sparktype.DecimalOf(left.Type)
	_, _, other := sparktype.DecimalOf(right.Type)
	switch {
	case ev.leave == LeaveNothing:
		return false
	case op == "^", op == "/" && (one || other):
		return true
	}
	return ev.leave == LeaveTypes && (op == "DIV" || one || other)
}

// leavesCall decides about a function.
func (ev *Evaluator) leavesCall(name string, args []sparktype.Value) bool {
	if ev.leave == LeaveNothing {
		return false
	}
	if name == "concat" {
		return slices.ContainsFunc(args, func(c sparktype.Value) bool {
			return c.Null() || c.Type.ID() == arrow.BINARY || sparktype.Floating(c.Type)
		})
	}
	return ev.leave == LeaveTypes && otherTypes[name]
}

// Common gives the type in which two values are compared. Under ansi a float and an exact number meet in a float, as in the Executor.
func (ev *Evaluator) Common(x, y arrow.DataType) (arrow.DataType, bool) {
	if ev.leave != LeaveNothing && (halfFloat(x, y) || halfFloat(y, x)) {
		return arrow.PrimitiveTypes.Float32, true
	}
	return sparktype.Common(x, y)
}

// halfFloat reports whether one type is a float of 32 bits and the other one of exact numbers.
func halfFloat(f, other arrow.DataType) bool {
	_, _, exact := sparktype.DecimalOf(other)
	return f.ID() == arrow.FLOAT32 && (exact || sparktype.Integral(other))
}
