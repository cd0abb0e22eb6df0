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

// Evaluate tests rows rows: true, false or null per row. Its cost is one pass over each column that e reads; a side of And or Or that
// cannot change the outcome of any row is not read. The caller releases the array.
func Evaluate(e Expr, rows int, columns Columns, mem memory.Allocator) (out *array.Boolean, err error) {
	defer fault.Recover(&err, fault.Internal, "evaluate a filter")
	ev := evaluation{rows: rows, columns: columns, mem: mem}
	t := newTruth(mem, rows)
	defer t.release(mem)
	if err := ev.eval(e, t); err != nil {
		return nil, err
	}
	return t.boolean(mem), nil
}

// evaluation is one call of Evaluate.
type evaluation struct {
	rows    int
	columns Columns
	mem     memory.Allocator
}

// eval sets t, which holds anything, to e's outcome.
func (ev *evaluation) eval(e Expr, t *truth) error {
	switch e := e.(type) {
	case Constant:
		t.constant(e)
		return nil
	case And:
		return ev.pair(e.Left, e.Right, t, true)
	case Or:
		return ev.pair(e.Left, e.Right, t, false)
	case Not:
		if err := ev.eval(e.Expr, t); err != nil {
			return err
		}
		t.not()
		return nil
	case IsNull:
		return ev.leaf(e.Field, t, nullTest{})
	case IsNaN:
		return ev.leaf(e.Field, t, nanTest{})
	case Comparison:
		return ev.leaf(e.Field, t, comparison{e.Op, e.Value})
	case In:
		return ev.leaf(e.Field, t, membership{e.Values, e.HasNull})
	case StartsWith:
		return ev.leaf(e.Field, t, prefixTest(e.Prefix))
	}
	return fault.New(fault.Internal, "evaluate a filter: unknown expression %T", e)
}

// pair evaluates And (conjunction) or Or.
func (ev *evaluation) pair(left, right Expr, t *truth, conjunction bool) error {
	if err := ev.eval(left, t); err != nil {
		return err
	}
	if conjunction && t.allFalse() || !conjunction && t.allTrue() {
		return nil
	}
	other := newTruth(ev.mem, ev.rows)
	defer other.release(ev.mem)
	if err := ev.eval(right, other); err != nil {
		return err
	}
	if conjunction {
		t.and(other)
		return nil
	}
	t.or(other)
	return nil
}

// test is a leaf's question to the values of one array.
type test interface {
	// ask sets bit i of dst to the answer for value i of a; answers for null values mean nothing. The array is neither a dictionary nor an extension.
	ask(dst []uint64, a arrow.Array) error
	// settle turns the answers in t.yes into t's outcome, given which values are not null.
	settle(t *truth, valid []uint64)
}

func (ev *evaluation) leaf(f Field, t *truth, q test) error {
	a, err := ev.columns.Column(f)
	if err != nil {
		return err
	}
	if a.Len() != ev.rows {
		return fault.New(fault.Internal, "evaluate a filter: field %d has %d values for %d rows", f.ID, a.Len(), ev.rows)
	}
	if err := ev.answer(a, t, q); err != nil {
		return fault.Wrap(err, "test column %s", quotePath(f.Path))
	}
	return nil
}

// answer sets t to what q says of the array's values.
func (ev *evaluation) answer(a arrow.Array, t *truth, q test) error {
	switch a := a.(type) {
	case array.ExtensionArray:
		return ev.answer(a.Storage(), t, q)
	case *array.Dictionary:
		return ev.dictionary(a, t, q)
	}
	valid := newWords(ev.mem, t.rows)
	defer valid.release(ev.mem)
	validity(valid.words, a)
	if err := q.ask(t.yes, a); err != nil {
		return err
	}
	q.settle(t, valid.words)
	return nil
}

// dictionary asks each distinct value once and spreads the outcomes over the rows.
func (ev *evaluation) dictionary(a *array.Dictionary, t *truth, q test) error {
	values := newTruth(ev.mem, a.Dictionary().Len())
	defer values.release(ev.mem)
	if err := ev.answer(a.Dictionary(), values, q); err != nil {
		return err
	}
	valid := newWords(ev.mem, t.rows)
	defer valid.release(ev.mem)
	validity(valid.words, a)
	t.constant(Null)
	if _, nulls := q.(nullTest); nulls {
		t.constant(True)
	} else if _, nans := q.(nanTest); nans {
		t.constant(False)
	}
	return spread(t, values, valid.words, a.Indices())
}
