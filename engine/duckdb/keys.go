//go:build cgo

package duckdb

import (
	"math"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"github.com/skua-data/skua/predicate"
)

// maxKeys is how many distinct keys are told to the other side of a join one by one; of more, the least and the greatest are. Testing rows for
// more keys would take longer than the join itself.
const maxKeys = 512

// keySet collects the values of columns while a table is read for one side of a join. They say something about the join once the table was
// read to its end, by a single reader, before the other side is opened.
type keySet struct {
	mu      sync.Mutex
	columns []*keyColumn
	readers int
	whole   bool
}

// keyColumn are the values of one column. Values are as in predicate.Literal, of whole numbers, texts and decimals only.
type keyColumn struct {
	field    predicate.Field
	values   map[any]struct{} // nil: too many
	least    any
	greatest any
	foreign  bool // of a type that is not collected
}

// want makes the set collect a column, and gives its number.
func (k *keySet) want(field predicate.Field) int {
	for i, c := range k.columns {
		if c.field.ID == field.ID {
			return i
		}
	}
	k.columns = append(k.columns, &keyColumn{field: field, values: map[any]struct{}{}})
	return len(k.columns) - 1
}

// keyReader puts the batches of one reader into a set.
type keyReader struct {
	set     *keySet
	columns []int // where in a batch each of the set's columns is; -1: not read
}

// begin gives what a reader of these fields puts its batches into.
func (k *keySet) begin(fields []int) *keyReader {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.readers++
	out := &keyReader{set: k}
	for _, c := range k.columns {
		at := -1
		for i, id := range fields {
			if id == c.field.ID {
				at = i
			}
		}
		out.columns = append(out.columns, at)
		c.foreign = c.foreign || at < 0
	}
	return out
}

// add collects a batch.
func (r *keyReader) add(b arrow.RecordBatch) {
	if r == nil {
		return
	}
	r.set.mu.Lock()
	defer r.set.mu.Unlock()
	for i, at := range r.columns {
		if at >= 0 && !r.set.columns[i].foreign {
			r.set.columns[i].add(b.Column(at))
		}
	}
}

// end says that the table was read to its end.
func (r *keyReader) end() {
	if r == nil {
		return
	}
	r.set.mu.Lock()
	defer r.set.mu.Unlock()
	r.set.whole = r.set.readers == 1
}

// add collects the values of an array.
func (c *keyColumn) add(a arrow.Array) {
	for i := range a.Len() {
		if a.IsNull(i) {
			continue
		}
		v, ok := keyOf(a, i)
		if !ok {
			c.foreign = true
			return
		}
		if c.values != nil {
			if _, known := c.values[v]; known {
				continue
			}
			c.values[v] = struct{}{}
			if len(c.values) > maxKeys {
				c.values = nil
			}
		}
		if c.least == nil || lessKey(v, c.least) {
			c.least = v
		}
		if c.greatest == nil || lessKey(c.greatest, v) {
			c.greatest = v
		}
	}
}

// keyOf gives a value as predicate.Literal has it; false: keys of its type are not collected.
func keyOf(a arrow.Array, i int) (any, bool) {
	switch a := a.(type) {
	case *array.Int32:
		return int64(a.Value(i)), true
	case *array.Int64:
		return a.Value(i), true
	case *array.Date32:
		return int64(a.Value(i)), true
	case *array.Timestamp:
		return int64(a.Value(i)), true
	case *array.String:
		return string(append([]byte(nil), a.Value(i)...)), true
	case *array.Dictionary:
		return keyOf(a.Dictionary(), a.GetValueIndex(i))
	case *array.Decimal128:
		return a.Value(i), true
	}
	return nil, false
}

func lessKey(a, b any) bool {
	switch a := a.(type) {
	case int64:
		return a < b.(int64)
	case string:
		return a < b.(string)
	case decimal128.Num:
		return a.Less(b.(decimal128.Num))
	}
	return false
}

// joinFilter is what one side of a join says about the other.
type joinFilter struct {
	keys   *keySet
	column int
	field  predicate.Field
}

// filter gives the filter that holds for every row with a partner; nil: nothing is known. A wide one, a mere range, is of use only where it leaves
// out files.
func (j joinFilter) filter() (e predicate.Expr, wide bool) {
	j.keys.mu.Lock()
	defer j.keys.mu.Unlock()
	c := j.keys.columns[j.column]
	if !j.keys.whole || j.keys.readers != 1 || c.foreign {
		return nil, false
	}
	if c.least == nil {
		return predicate.False, false
	}
	if c.values == nil {
		low, lowFits := literalFor(j.field, c.field, c.least)
		high, highFits := literalFor(j.field, c.field, c.greatest)
		if !lowFits || !highFits {
			return nil, false
		}
		return predicate.And{Left: predicate.Comparison{Op: predicate.GtEq, Field: j.field, Value: low},
			Right: predicate.Comparison{Op: predicate.LtEq, Field: j.field, Value: high}}, true
	}
	var values []predicate.Literal
	for v := range c.values {
		if l, fits := literalFor(j.field, c.field, v); fits {
			values = append(values, l)
		} else if !sameKind(j.field, c.field) {
			return nil, false
		}
	}
	if len(values) == 0 {
		return predicate.False, false
	}
	return predicate.In{Field: j.field, Values: values}, false
}

// sameKind reports whether keys of one field can be compared with those of the other at all.
func sameKind(a, b predicate.Field) bool {
	return arrow.IsInteger(a.Type.ID()) && arrow.IsInteger(b.Type.ID()) || arrow.TypeEqual(a.Type, b.Type)
}

// literalFor brings a key into the type of the other side's field; false: no value of that field equals it.
func literalFor(to, from predicate.Field, v any) (predicate.Literal, bool) {
	if !sameKind(to, from) {
		return predicate.Literal{}, false
	}
	if n, ok := v.(int64); ok && to.Type.ID() == arrow.INT32 && (n < math.MinInt32 || n > math.MaxInt32) {
		return predicate.Literal{}, false
	}
	return predicate.Literal{Type: to.Type, Value: v}, true
}
