package predicate

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/fault"
)

// Columns gives the values that an expression reads.
type Columns interface {
	// Column gives a field's values for the batch, nulls of its parents applied. The array is borrowed: it must stay alive until Evaluate
	// returns. Its type is the field's, or a dictionary of it.
	Column(f Field) (arrow.Array, error)
}

// Evaluate tests rows rows: true, false or null per row. Its cost is one pass over each column that e reads. The caller releases the array.
func Evaluate(e Expr, rows int, columns Columns, mem memory.Allocator) (*array.Boolean, error) {
	return nil, fault.New(fault.Unsupported, "evaluating %s is not supported", e)
}

// Fields gives the fields that e reads, distinct by id, in order of first use.
func Fields(e Expr) []Field { return nil }

// Simplify gives an equivalent expression that is no longer: constants folded, Not pushed into comparisons as three-valued logic
// allows, lists flattened and freed of repetition.
func Simplify(e Expr) Expr { return e }

// Conjuncts gives the list of expressions whose And is e, in order; none for True.
func Conjuncts(e Expr) []Expr { return nil }

// Join gives the And of es; True for none.
func Join(es []Expr) Expr { return True }
