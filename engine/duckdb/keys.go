//go:build cgo

package duckdb

import (
	"math"
	"strings"
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
	wanted   int  // tables that were not opened yet and are told of it
}

// want makes the set collect a column for one more table, and gives its number.
func (k *keySet) want(field predicate.Field) int {
	for i, c := range k.columns {
		if c.field.ID == field.ID {
			c.wanted++
			return i
		}
	}
	k.columns = append(k.columns, &keyColumn{field: field, values: map[any]struct{}{}, wanted: 1})
	return len(k.columns) - 1
}

// keyReader puts the batches of one reader into a set.
type keyReader struct {
	set     *keySet
	columns []int // where in a batch each of the set's columns is; -1: not read
}

// begin gives what a reader of these fields puts its batches into. What every table that was to be told of it has begun without is not collected: a
// join says which keys each of its sides has, and reads one of them first.
func (k *keySet) begin(fields []int) *keyReader {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.readers++
	out := &keyReader{set: k}
	for _, c := range k.columns {
		at := -1
		for i, id := range fields {
			if id == c.field.ID && c.wanted > 0 {
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
	switch a := a.(type) {
	case *array.Int32:
		addWhole(c, a, a.Int32Values())
	case *array.Int64:
		addWhole(c, a, a.Int64Values())
	case *array.Date32:
		addWhole(c, a, a.Date32Values())
	case *array.Timestamp:
		addWhole(c, a, a.TimestampValues())
	case *array.Dictionary:
		c.addEach(a, func(i int) any { v, _ := keyOf(a.Dictionary(), a.GetValueIndex(i)); return v })
	default:
		c.addEach(a, func(i int) any { v, _ := keyOf(a, i); return v })
	}
}

// addWhole collects whole numbers. Most columns soon have too many for a list of them, and then it is only their least and greatest that count.
func addWhole[T ~int32 | ~int64](c *keyColumn, a arrow.Array, values []T) {
	some, least, greatest, last := false, T(0), T(0), T(0)
	for i, v := range values {
		if a.NullN() > 0 && a.IsNull(i) || some && v == last {
			continue
		}
		if !some {
			some, least, greatest = true, v, v
		}
		least, greatest, last = min(least, v), max(greatest, v), v
		if c.values != nil {
			c.note(int64(v))
		}
	}
	if some {
		c.span(int64(least), int64(greatest))
	}
}

// addEach collects other values one by one; nil of them all: they are not of a type that is collected.
func (c *keyColumn) addEach(a arrow.Array, value func(i int) any) {
	for i := range a.Len() {
		if a.IsNull(i) {
			continue
		}
		v := value(i)
		if v == nil {
			c.foreign = true
			return
		}
		if c.values != nil {
			if _, known := c.values[v]; known {
				continue
			}
			v = owned(v)
			c.note(v)
		}
		c.span(v, v)
	}
}

// note adds a value to the list, unless that gets too long.
func (c *keyColumn) note(v any) {
	if c.values[v] = struct{}{}; len(c.values) > maxKeys {
		c.values = nil
	}
}

// span widens the range of the values.
func (c *keyColumn) span(least, greatest any) {
	if c.least == nil || lessKey(least, c.least) {
		c.least = owned(least)
	}
	if c.greatest == nil || lessKey(c.greatest, greatest) {
		c.greatest = owned(greatest)
	}
}

// owned gives a value that does not lie in a batch.
func owned(v any) any {
	if text, ok := v.(string); ok {
		return strings.Clone(text)
	}
	return v
}

// keyOf gives a value as predicate.Literal has it, a text in the batch's memory; false: keys of its type are not collected.
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
		return a.Value(i), true
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
	c.wanted--
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
