// Package predicate holds bound boolean expressions over the fields of one source, in SQL's three-valued logic, and evaluates them on
// Arrow columns. A field is named by its Iceberg field id. Everything that needs names, casts or functions happened before: whoever
// binds an expression brings each literal into the type of the field it is compared with, exactly (see Literal). It does not parse and
// does not prune by statistics.
package predicate

import "github.com/apache/arrow-go/v18/arrow"

// Expr is a bound boolean expression. Expressions are immutable and safe to share. The set of types is closed: Constant, And, Or, Not,
// IsNull, IsNaN, Comparison, In, StartsWith.
type Expr interface {
	// String gives SQL text with field names, for EXPLAIN and logs; it does not parse back.
	String() string
	isExpr()
}

// Field is a leaf that a test reads: a top-level field or one inside structs, never inside a list or a map. A null parent makes it null.
type Field struct {
	ID   int            // Iceberg field id; metadata columns have Iceberg's reserved ids
	Path []string       // names from the top level down, in the source's schema
	Type arrow.DataType // as the source's schema has it
}

// Op is a comparison operator.
type Op uint8

// The comparison operators.
const (
	Eq Op = iota
	NotEq
	Lt
	LtEq
	Gt
	GtEq
)

// Constant is TRUE, FALSE or NULL.
type Constant uint8

// The three values of a boolean.
const (
	False Constant = iota
	True
	Null
)

// And is true where both sides are, false where one is false, else null.
type And struct{ Left, Right Expr }

// Or is true where one side is, false where both are false, else null.
type Or struct{ Left, Right Expr }

// Not swaps true and false and keeps null.
type Not struct{ Expr Expr }

// IsNull is never null itself.
type IsNull struct{ Field Field }

// IsNaN is false for a null field, as Spark's isnan is, and never null. Its field is float32 or float64.
type IsNaN struct{ Field Field }

// Comparison is null where the field is null. NaN equals itself and is the largest value; -0.0 equals 0.0; uuids, strings and binary
// compare as unsigned bytes.
type Comparison struct {
	Op    Op
	Field Field
	Value Literal
}

// In is true where the field equals one of Values, null where the field is null, or where it equals none and HasNull is set. NOT IN is Not
// of it.
type In struct {
	Field   Field
	Values  []Literal // not empty, each of the field's type; order means nothing
	HasNull bool      // the list held a NULL
}

// StartsWith is true where a string (or binary) field begins with Prefix; null where the field is null.
type StartsWith struct {
	Field  Field
	Prefix string
}

func (Constant) isExpr()   {}
func (And) isExpr()        {}
func (Or) isExpr()         {}
func (Not) isExpr()        {}
func (IsNull) isExpr()     {}
func (IsNaN) isExpr()      {}
func (Comparison) isExpr() {}
func (In) isExpr()         {}
func (StartsWith) isExpr() {}

// Literal is a non-null value in the type of the field it is compared with. Value is one of:
// bool; int64 (every integer, date32 in days, time64, timestamp and timestamp_ns in the type's own unit since the epoch); float64 (a float32 field's literals
// are exact float32 values); decimal128.Num at the type's scale; string; []byte (binary, fixed_size_binary, uuid).
type Literal struct {
	Type  arrow.DataType
	Value any
}
