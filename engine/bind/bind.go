// Package bind gives the expressions of one statement their meaning: names are found among a source's columns, constants become values, filters predicates.
// What a scan cannot do it refuses with an error of the kind fault.Unsupported.
package bind

import (
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/engine/constant"
	"github.com/skua-data/skua/engine/sparkname"
	"github.com/skua-data/skua/engine/sparktype"
	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/predicate"
)

// Binder binds expressions. Filters become predicates over field ids: every literal is brought into
// its field's type such that exactly those rows match that match when Spark brings both sides into their common type.
type Binder struct {
	constant.Evaluator // of constants, in the binder's scope
	schema, metadata   *arrow.Schema
	caseSensitive      bool
	names              Names
}

// Config says where the expressions of a binder stand.
type Config struct {
	Schema        *arrow.Schema // of the source; nil: there is none
	Metadata      *arrow.Schema // columns that may be named but are not part of *; nil: there are none
	CaseSensitive bool
	Session       sparktype.Session // without a zone: in UTC
	Parameters    []sparktype.Value // values of the parameters; nil: not known yet
	Names         Names             // nil: none
}

// Names are what a session lets names mean that no column has.
type Names interface {
	// Variable gives the value of a session variable; false: there is none of that name.
	Variable(parts []string) (sparktype.Value, bool)
	// SessionValue gives the value of a session function, which has no arguments; false: there is none of that name.
	SessionValue(name string) (sparktype.Value, bool)
}

var _ constant.Scope = (*Binder)(nil)

// New makes a binder; it is not safe for concurrent use.
func New(c Config) *Binder {
	none := arrow.NewSchema(nil, nil)
	if c.Schema == nil {
		c.Schema = none
	}
	if c.Metadata == nil {
		c.Metadata = none
	}
	if c.Session.Zone == nil {
		c.Session.Zone = time.UTC
	}
	b := &Binder{schema: c.Schema, metadata: c.Metadata, caseSensitive: c.CaseSensitive, names: c.Names}
	b.Evaluator = constant.Evaluator{Session: c.Session, Parameters: c.Parameters, Scope: b}
	return b
}

// Predicate binds a filter. False and null are not kept apart in it: a row is wanted where it is true.
func (b *Binder) Predicate(e syntax.Expr) (predicate.Expr, error) {
	p, err := b.bind(e)
	if err != nil {
		return nil, constant.Locate(err, e)
	}
	return predicate.Where(p), nil
}

// bind binds a boolean expression, in three-valued logic.
func (b *Binder) bind(e syntax.Expr) (predicate.Expr, error) {
	p, err := b.bindTest(e)
	if err != nil {
		return nil, constant.Locate(err, e)
	}
	return p, nil
}

func (b *Binder) bindTest(e syntax.Expr) (predicate.Expr, error) {
	switch e := e.(type) {
	case *syntax.Binary:
		return b.bindBinary(e)
	case *syntax.Unary:
		if e.Op == "NOT" {
			p, err := b.bind(e.Expr)
			return predicate.Negate(orNothing(p)), err
		}
	case *syntax.IsNull:
		return b.bindIsNull(e.Expr, e.Not)
	case *syntax.IsBool:
		return b.bindIsBool(e)
	case *syntax.Between:
		return b.bindBetween(e)
	case *syntax.In:
		return b.bindIn(e)
	case *syntax.Like:
		return b.bindLike(e)
	case *syntax.LikeList:
		return b.bind(e.Tests())
	case *syntax.Call:
		if constant.IsTest(e) {
			return b.bindCall(e)
		}
	case *syntax.Column:
		if !b.IsConstant(e) {
			return b.bindColumn(e)
		}
	}
	return b.bindConstant(e)
}

func orNothing(p predicate.Expr) predicate.Expr {
	if p == nil {
		return predicate.Null
	}
	return p
}

// comparisons are the operators that compare, as predicates have them.
var comparisons = map[string]predicate.Op{"=": predicate.Eq, "<>": predicate.NotEq, "<": predicate.Lt, "<=": predicate.LtEq, ">": predicate.Gt,
	">=": predicate.GtEq}

func (b *Binder) bindBinary(e *syntax.Binary) (predicate.Expr, error) {
	if op, ok := comparisons[e.Op]; ok {
		return b.bindComparison(e, op)
	}
	switch e.Op {
	case "<=>":
		return b.bindNullSafe(e, e.Left, e.Right)
	case "AND", "OR":
		left, err := b.bind(e.Left)
		if err != nil {
			return nil, err
		}
		right, err := b.bind(e.Right)
		if err != nil {
			return nil, err
		}
		if e.Op == "AND" {
			return predicate.And{Left: left, Right: right}, nil
		}
		return predicate.Or{Left: left, Right: right}, nil
	}
	return b.bindConstant(e)
}

// bindColumn binds a boolean column that stands for itself.
func (b *Binder) bindColumn(e *syntax.Column) (predicate.Expr, error) {
	ref, err := b.Column(e)
	if err != nil {
		return nil, err
	}
	if ref.Type.ID() != arrow.BOOL {
		return nil, notBoolean(e, ref.Type)
	}
	return predicate.Comparison{Op: predicate.Eq, Field: ref.field(), Value: predicate.Literal{Type: ref.Type, Value: true}}, nil
}

// bindConstant binds a test that reads no column.
func (b *Binder) bindConstant(e syntax.Expr) (predicate.Expr, error) {
	if b.readsColumn(e) {
		return nil, overColumns(e)
	}
	c, err := b.Evaluate(e)
	switch {
	case err != nil:
		return nil, err
	case c.Type.ID() == arrow.NULL:
		return predicate.Null, nil
	case c.Type.ID() != arrow.BOOL:
		return nil, notBoolean(e, c.Type)
	}
	return truth(c), nil
}

func truth(c sparktype.Value) predicate.Constant {
	switch v, _ := c.Value.(bool); {
	case c.Null():
		return predicate.Null
	case v:
		return predicate.True
	}
	return predicate.False
}

func overColumns(e syntax.Expr) error {
	name := sparkname.Of(e)
	if call, ok := e.(*syntax.Call); ok {
		name = call.String() // date(ts) is called ts
	}
	return fault.New(fault.Unsupported, "%s: an expression over columns is not supported yet%s", name, instead(e))
}

func notBoolean(e syntax.Expr, t arrow.DataType) error {
	return fault.New(fault.Invalid, "Cannot resolve \"%s\" due to data type mismatch: Filter expression \"%s\" of type %s is not a boolean.", sparkname.Of(e), sparkname.Of(e),
		sparktype.SQLName(t)).With("DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN", "42K09")
}

// readsColumn reports whether an expression names a column.
func (b *Binder) readsColumn(e syntax.Expr) bool {
	if c, ok := e.(*syntax.Column); ok {
		return !b.IsConstant(c)
	}
	for _, child := range syntax.Children(e) {
		if b.readsColumn(child) {
			return true
		}
	}
	return false
}

// operand is a side of a test: a column or a constant.
type operand struct {
	column bool
	ref    Field
	value  sparktype.Value
}

func (o operand) typ() arrow.DataType {
	if o.column {
		return sparktype.Logical(o.ref.Type)
	}
	return o.value.Type
}

func (b *Binder) operand(e syntax.Expr) (operand, error) {
	if c, ok := e.(*syntax.Column); ok {
		if !b.IsConstant(c) {
			ref, err := b.Column(c)
			return operand{column: true, ref: ref}, constant.Locate(err, e)
		}
	}
	if b.readsColumn(e) {
		return operand{}, constant.Locate(b.overColumnsOf(e), e)
	}
	c, err := b.Evaluate(e)
	return operand{value: c}, err
}

// valueFor is the operand that others is compared with: a column that is not known there may be a text without its quotes.
func (b *Binder) valueFor(other operand, e syntax.Expr) (operand, error) {
	o, err := b.operand(e)
	if err != nil && other.column {
		return o, textHint(err, e)
	}
	return o, err
}

// overColumnsOf refuses an expression over columns, unless one of them does not exist: that is the better news.
func (b *Binder) overColumnsOf(e syntax.Expr) error {
	if c, ok := e.(*syntax.Column); ok {
		if _, err := b.Column(c); err != nil {
			return err
		}
	}
	for _, child := range syntax.Children(e) {
		if err := b.overColumnsOf(child); err != nil && !fault.Is(err, fault.Unsupported) {
			return err
		}
	}
	return overColumns(e)
}

func (b *Binder) bindCall(e *syntax.Call) (predicate.Expr, error) {
	name, want := strings.ToLower(e.Name[0].Text), 1
	if name == "startswith" || name == "equal_null" {
		want = 2
	}
	if len(e.Args) != want {
		return nil, fault.New(fault.Invalid, "The `%s` requires %d parameters but the actual number is %d.", name, want, len(e.Args)).
			With("WRONG_NUM_ARGS.WITHOUT_SUGGESTION", "42605")
	}
	switch name {
	case "isnan":
		return b.bindIsNaN(e.Args[0])
	case "isnull", "isnotnull":
		return b.bindIsNull(e.Args[0], name == "isnotnull")
	case "equal_null":
		return b.bindNullSafe(e, e.Args[0], e.Args[1])
	}
	return b.bindStartsWith(e.Args[0], e.Args[1])
}
