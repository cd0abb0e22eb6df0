package engine

import (
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/predicate"
)

// binder gives names and constants of one statement their meaning. Filters become predicates over field ids: every literal is brought into
// its field's type such that exactly those rows match that match when Spark brings both sides into their common type.
type binder struct {
	schema        *arrow.Schema // of the source; no fields where there is none
	metadata      *arrow.Schema // columns that may be named but are not part of *
	caseSensitive bool
	zone          *time.Location // of the session
	now           time.Time      // of the statement
	params        []constant     // values of the parameters; nil: not known yet
	session       *statement     // whose functions are known; nil: none
	leave         leaving        // to the Executor, of constants
}

// newBinder makes a binder. Schemas may be nil.
func newBinder(schema, metadata *arrow.Schema, caseSensitive bool, zone *time.Location, now time.Time, params []constant) *binder {
	none := arrow.NewSchema(nil, nil)
	if schema == nil {
		schema = none
	}
	if metadata == nil {
		metadata = none
	}
	if zone == nil {
		zone = utc
	}
	return &binder{schema: schema, metadata: metadata, caseSensitive: caseSensitive, zone: zone, now: now, params: params}
}

// predicate binds a filter. False and null are not kept apart in it: a row is wanted where it is true.
func (b *binder) predicate(e syntax.Expr) (predicate.Expr, error) {
	p, err := b.bind(e)
	if err != nil {
		return nil, located(err, e.Pos())
	}
	return predicate.Where(p), nil
}

// bind binds a boolean expression, in three-valued logic.
func (b *binder) bind(e syntax.Expr) (predicate.Expr, error) {
	p, err := b.bindTest(e)
	if err != nil {
		return nil, located(err, e.Pos())
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
	case *syntax.Call:
		if isTruthFunction(e) {
			return b.bindCall(e)
		}
	case *syntax.Column:
		if _, function := b.functionLike(e); !function {
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
	c, err := b.constant(e)
	switch {
	case err != nil:
		return nil, err
	case c.typ.ID() == arrow.NULL:
		return predicate.Null, nil
	case c.typ.ID() != arrow.BOOL:
		return nil, notBoolean(e, c.typ)
	}
	return truth(c), nil
}

func truth(c constant) predicate.Constant {
	switch v, _ := c.value.(bool); {
	case c.null():
		return predicate.Null
	case v:
		return predicate.True
	}
	return predicate.False
}

// foldedConstant gives the value of a test that reads no column.
func foldedConstant(p predicate.Expr, e syntax.Expr) (constant, error) {
	switch predicate.Simplify(p) {
	case predicate.True:
		return boolConstant(true), nil
	case predicate.False:
		return boolConstant(false), nil
	case predicate.Null:
		return nullOf(typeBoolean), nil
	}
	return constant{}, overColumns(e)
}

func overColumns(e syntax.Expr) error {
	name := outputName(e)
	if call, ok := e.(*syntax.Call); ok {
		name = call.String() // date(ts) is called ts
	}
	return unsupported("%s: an expression over columns is not supported yet%s", name, instead(e))
}

func notBoolean(e syntax.Expr, t arrow.DataType) error {
	return fault.New(fault.Invalid, "Cannot resolve \"%s\" due to data type mismatch: Filter expression \"%s\" of type %s is not a boolean.", outputName(e), outputName(e),
		sqlName(t)).With("DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN", "42K09")
}

// readsColumn reports whether an expression names a column.
func (b *binder) readsColumn(e syntax.Expr) bool {
	if c, ok := e.(*syntax.Column); ok {
		_, function := b.functionLike(c)
		return !function
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
	value  constant
}

func (o operand) typ() arrow.DataType {
	if o.column {
		return logical(o.ref.typ)
	}
	return o.value.typ
}

func (b *binder) operand(e syntax.Expr) (operand, error) {
	if c, ok := e.(*syntax.Column); ok {
		if _, function := b.functionLike(c); !function {
			ref, err := b.column(c)
			return operand{column: true, ref: ref}, located(err, e.Pos())
		}
	}
	if b.readsColumn(e) {
		return operand{}, located(b.overColumnsOf(e), e.Pos())
	}
	c, err := b.constant(e)
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

// truthFunctions are the functions that are tests.
var truthFunctions = map[string]bool{"isnan": true, "isnull": true, "isnotnull": true, "startswith": true, "equal_null": true}

func isTruthFunction(e *syntax.Call) bool {
	return len(e.Name) == 1 && truthFunctions[strings.ToLower(e.Name[0].Text)]
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
