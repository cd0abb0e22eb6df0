package engine

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

// binder gives names and constants of one statement their meaning. Filters become predicates over field ids: every literal is brought into
// its field's type such that exactly those rows match that match when Spark brings both sides into their common type.
type binder struct {
	schema             *arrow.Schema // of the source; no fields where there is none
	metadata           *arrow.Schema // columns that may be named but are not part of *
	caseSensitive      bool
	session            *statement // whose functions are known; nil: none
	constant.Evaluator            // of constants, in the binder's scope
}

// newBinder makes a binder. Schemas may be nil.
func newBinder(schema, metadata *arrow.Schema, caseSensitive bool, zone *time.Location, now time.Time, params []sparktype.Value) *binder {
	none := arrow.NewSchema(nil, nil)
	if schema == nil {
		schema = none
	}
	if metadata == nil {
		metadata = none
	}
	if zone == nil {
		zone = time.UTC
	}
	b := &binder{schema: schema, metadata: metadata, caseSensitive: caseSensitive, Evaluator: constant.Evaluator{Session: sparktype.Session{Zone: zone, Now: now}, Parameters: params}}
	b.Scope = b
	return b
}

// predicate binds a filter. False and null are not kept apart in it: a row is wanted where it is true.
func (b *binder) predicate(e syntax.Expr) (predicate.Expr, error) {
	p, err := b.bind(e)
	if err != nil {
		return nil, constant.Locate(err, e)
	}
	return predicate.Where(p), nil
}

// bind binds a boolean expression, in three-valued logic.
func (b *binder) bind(e syntax.Expr) (predicate.Expr, error) {
	p, err := b.bindTest(e)
	if err != nil {
		return nil, constant.Locate(err, e)
	}
	return p, nil
}

func (b *binder) bindTest(e syntax.Expr) (predicate.Expr, error) {
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

func (b *binder) bindBinary(e *syntax.Binary) (predicate.Expr, error) {
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
func (b *binder) bindColumn(e *syntax.Column) (predicate.Expr, error) {
	ref, err := b.column(e)
	if err != nil {
		return nil, err
	}
	if ref.typ.ID() != arrow.BOOL {
		return nil, notBoolean(e, ref.typ)
	}
	return predicate.Comparison{Op: predicate.Eq, Field: ref.field(), Value: predicate.Literal{Type: ref.typ, Value: true}}, nil
}

// bindConstant binds a test that reads no column.
func (b *binder) bindConstant(e syntax.Expr) (predicate.Expr, error) {
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

// foldedConstant gives the value of a test that reads no column.
func foldedConstant(p predicate.Expr, e syntax.Expr) (sparktype.Value, error) {
	switch predicate.Simplify(p) {
	case predicate.True:
		return sparktype.BoolValue(true), nil
	case predicate.False:
		return sparktype.BoolValue(false), nil
	case predicate.Null:
		return sparktype.NullOf(sparktype.Boolean), nil
	}
	return sparktype.Value{}, overColumns(e)
}

func overColumns(e syntax.Expr) error {
	name := sparkname.Of(e)
	if call, ok := e.(*syntax.Call); ok {
		name = call.String() // date(ts) is called ts
	}
	return unsupported("%s: an expression over columns is not supported yet%s", name, instead(e))
}

func notBoolean(e syntax.Expr, t arrow.DataType) error {
	return fault.New(fault.Invalid, "Cannot resolve \"%s\" due to data type mismatch: Filter expression \"%s\" of type %s is not a boolean.", sparkname.Of(e), sparkname.Of(e),
		sparktype.SQLName(t)).With("DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN", "42K09")
}

// readsColumn reports whether an expression names a column.
func (b *binder) readsColumn(e syntax.Expr) bool {
	if c, ok := e.(*syntax.Column); ok {
		return !b.IsConstant(c)
	}
	for _, child := range children(e) {
		if b.readsColumn(child) {
			return true
		}
	}
	return false
}

// operand is a side of a test: a column or a constant.
type operand struct {
	column bool
	ref    fieldRef
	value  sparktype.Value
}

func (o operand) typ() arrow.DataType {
	if o.column {
		return sparktype.Logical(o.ref.typ)
	}
	return o.value.Type
}

func (b *binder) operand(e syntax.Expr) (operand, error) {
	if c, ok := e.(*syntax.Column); ok {
		if !b.IsConstant(c) {
			ref, err := b.column(c)
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
func (b *binder) valueFor(other operand, e syntax.Expr) (operand, error) {
	o, err := b.operand(e)
	if err != nil && other.column {
		return o, textHint(err, e)
	}
	return o, err
}

// overColumnsOf refuses an expression over columns, unless one of them does not exist: that is the better news.
func (b *binder) overColumnsOf(e syntax.Expr) error {
	if c, ok := e.(*syntax.Column); ok {
		if _, err := b.column(c); err != nil {
			return err
		}
	}
	for _, child := range children(e) {
		if err := b.overColumnsOf(child); err != nil && !fault.Is(err, fault.Unsupported) {
			return err
		}
	}
	return overColumns(e)
}

func (b *binder) bindCall(e *syntax.Call) (predicate.Expr, error) {
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

// Variable gives the value of a session variable that a name of one part means where no column has it.
func (b *binder) Variable(e *syntax.Column) (sparktype.Value, bool) {
	if b.session == nil || len(e.Parts) != 1 || b.session.state.Objects.Len() == 0 {
		return sparktype.Value{}, false
	}
	if _, err := b.column(e); err == nil {
		return sparktype.Value{}, false
	}
	return b.session.variable(syntax.Texts(e.Parts))
}

// Resolve is nil where a name means a column, else the error of one that means none.
func (b *binder) Resolve(e *syntax.Column) error {
	_, err := b.column(e)
	return err
}

// Test evaluates a test of constants by binding it: the binder folds it.
func (b *binder) Test(e syntax.Expr) (sparktype.Value, error) {
	p, err := b.bind(e)
	if err != nil {
		return sparktype.Value{}, err
	}
	return foldedConstant(p, e)
}
