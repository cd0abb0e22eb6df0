// Package constant evaluates expressions that read no column, as Spark does with spark.sql.ansi.enabled. What names mean, and tests such as comparisons, it asks
// of the place where an expression stands; it knows neither statements nor columns.
package constant

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/engine/sparkname"
	"github.com/skua-data/skua/engine/sparktype"
	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
)

// Evaluator evaluates expressions of one statement. What it does not know it refuses with an error of the kind fault.Unsupported, as it does what is left to
// an Executor; any other error is the expression's.
type Evaluator struct {
	sparktype.Session
	Parameters []sparktype.Value // values of the parameters; nil: not known yet
	Scope      Scope
	leave      Leaving
}

// Scope is the place where an expression stands.
type Scope interface {
	// Variable gives the value of the session variable that a name means; false: it means none, or a column.
	Variable(c *syntax.Column) (sparktype.Value, bool)
	// SessionValue gives the value of a function of the session, which has no arguments; false: there is none of that name.
	SessionValue(name string) (sparktype.Value, bool)
	// Resolve is nil where a name means a column, else the error of one that means none.
	Resolve(c *syntax.Column) error
	// Test evaluates what is true or false: comparisons, AND, OR and NOT, IS NULL, the functions of IsTest.
	Test(e syntax.Expr) (sparktype.Value, error)
}

// Evaluate gives the value of an expression; errors have its position.
func (ev *Evaluator) Evaluate(e syntax.Expr) (sparktype.Value, error) {
	c, err := ev.evaluate(e)
	if err != nil {
		return sparktype.Value{}, Locate(err, e)
	}
	return c, nil
}

func (ev *Evaluator) evaluate(e syntax.Expr) (sparktype.Value, error) {
	switch e := e.(type) {
	case *syntax.Literal:
		return sparktype.Literal(e)
	case *syntax.Typed:
		return ev.Typed(e)
	case *syntax.Parameter:
		return ev.parameter(e)
	case *syntax.Column:
		return ev.niladic(e)
	case *syntax.Cast:
		return ev.castExpr(e)
	case *syntax.Call:
		return ev.call(e)
	case *syntax.Unary:
		return ev.unary(e)
	case *syntax.Binary:
		return ev.binary(e)
	case *syntax.Unsupported:
		return sparktype.Value{}, fault.New(fault.Unsupported, "%s is not supported", e.Feature)
	}
	return ev.Scope.Test(e)
}

// parameter gives the value bound to a ?; without values it is NULL for the time being.
func (ev *Evaluator) parameter(e *syntax.Parameter) (sparktype.Value, error) {
	switch {
	case e.Index < 0:
		return sparktype.Value{}, fault.New(fault.Unsupported, "a named parameter such as :%s is not supported; use ?", e.Name)
	case ev.Parameters == nil:
		return sparktype.Value{Type: arrow.Null, Unbound: true}, nil
	case e.Index >= len(ev.Parameters):
		return sparktype.Value{}, fault.New(fault.Invalid, "Found the unbound parameter: parameter %d has no value.", e.Index+1).With("UNBOUND_SQL_PARAMETER", "42P02")
	}
	return ev.Parameters[e.Index], nil
}

func (ev *Evaluator) castExpr(e *syntax.Cast) (sparktype.Value, error) {
	to, err := sparktype.Of(e.Type)
	if err != nil {
		return sparktype.Value{}, err
	}
	c, err := ev.evaluate(e.Expr)
	if err != nil {
		return sparktype.Value{}, err
	}
	if c.Unbound {
		return sparktype.Value{Type: to, Unbound: true}, nil
	}
	if ev.leavesCast(c.Type, to) {
		return sparktype.Value{}, leftOver(e)
	}
	out, err := ev.Cast(c, to)
	if e.Try && badValue(err) {
		return sparktype.NullOf(to), nil
	}
	return out, err
}

// badValue reports whether an error is about a value, which TRY_CAST makes NULL, and not about its type.
func badValue(err error) bool {
	f, ok := err.(*fault.Error)
	if !ok {
		return false
	}
	switch f.Condition {
	case "CAST_INVALID_INPUT", "CAST_OVERFLOW", "NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION", "DATETIME_OVERFLOW":
		return true
	}
	return false
}

// DifferentTypes is the error of an operator whose sides have no common type.
func DifferentTypes(e syntax.Expr, left, right arrow.DataType) error {
	return fault.New(fault.Invalid, "Cannot resolve \"%s\" due to data type mismatch: the left and right operands of the binary operator have incompatible types "+
		"(%s and %s).", sparkname.Of(e), sparktype.SQLName(left), sparktype.SQLName(right)).With("DATATYPE_MISMATCH.BINARY_OP_DIFF_TYPES", "42K09")
}

// Locate gives an error that has no position the expression's.
func Locate(err error, e syntax.Expr) error {
	return fault.Locate(err, Position(e))
}

// Position is where an expression begins.
func Position(e syntax.Expr) fault.Position {
	p := e.Pos()
	return fault.Position{Line: p.Line, Column: p.Column}
}
