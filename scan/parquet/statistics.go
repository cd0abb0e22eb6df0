package parquet

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/kernels/convert"
	"github.com/skua-data/skua/predicate"
)

// bounds reads what the statistics of a leaf prove in a row group, in the type of the field.
func (f *File) bounds(ordinal int, n *kernels.Node, field predicate.Field) bounds {
	meta := f.metadata.RowGroups[ordinal].Columns[n.Leaf].MetaData
	column := f.metadata.Schema.Column(n.Leaf)
	var out bounds
	out.noNulls = column.MaxDefinitionLevel() == 0
	s := meta.Statistics
	if s == nil {
		return out
	}
	if s.NullCount != nil {
		// Some writers leave the nulls of an outer struct out of the count: then only "all are null" is certain.
		out.noNulls = out.noNulls || (*s.NullCount == 0 && len(column.ColumnPath()) == 1)
		out.onlyNulls = *s.NullCount > 0 && *s.NullCount == meta.NumValues
	}
	low, high := s.MinValue, s.MaxValue
	switch f.order(n.Leaf) {
	case unknownOrder:
		return out
	case undefinedOrder:
		if !signed(column) {
			return out
		}
		if low == nil && high == nil {
			low, high = s.Min, s.Max
		}
	case typeOrder:
		if low == nil && high == nil && signed(column) {
			low, high = s.Min, s.Max
		}
	}
	out.order(column, field.Type, low, high)
	return out
}

// Least gives the least whole number, date or time of a leaf, in its target's unit, as the statistics of all row groups prove it; false: they do not.
func (f *File) Least(n *kernels.Node) (least int64, ok bool) {
	least = math.MaxInt64
	for i, group := range f.metadata.RowGroups {
		b := f.bounds(i, n, predicate.Field{Type: n.Field.Type})
		if b.onlyNulls || group.NumRows == 0 {
			continue
		}
		v, known := b.low.(int64)
		if !known {
			return 0, false
		}
		least = min(least, v)
	}
	return least, true
}

type columnOrder uint8

const (
	undefinedOrder columnOrder = iota // the footer names none
	typeOrder                         // the order that the type defines
	unknownOrder                      // one that was not known when this was written
)

func (f *File) order(leaf int) columnOrder {
	if leaf >= len(f.metadata.ColumnOrders) {
		return undefinedOrder
	}
	if o := f.metadata.ColumnOrders[leaf]; o != nil && o.TYPE_ORDER != nil {
		return typeOrder
	}
	return unknownOrder
}

// signed says that values order as signed numbers, which is the only order that the deprecated statistics knew.
func signed(c *schema.Column) bool {
	switch c.PhysicalType() {
	case parquet.Types.Boolean, parquet.Types.Float, parquet.Types.Double:
		return true
	case parquet.Types.Int32, parquet.Types.Int64:
		t, isInteger := c.LogicalType().(schema.IntLogicalType)
		return !isInteger || t.IsSigned()
	}
	return false
}

// order sets the bounds and how they compare, where the file's values and the field's order alike.
func (b *bounds) order(c *schema.Column, target arrow.DataType, low, high []byte) {
	read := bound(c, target)
	if read == nil {
		return
	}
	lowValue, lowOK := read(low)
	highValue, highOK := read(high)
	sample := lowValue
	if !lowOK {
		sample = highValue
	}
	switch sample.(type) {
	case bool:
		b.compare = func(a, b any) int { return boolInt(a.(bool)) - boolInt(b.(bool)) }
	case int64:
		b.compare = func(a, b any) int { return cmp.Compare(a.(int64), b.(int64)) }
	case float64:
		b.compare = func(a, b any) int { return cmp.Compare(a.(float64), b.(float64)) }
		b.nan, b.isNaN = true, func(v any) bool { return math.IsNaN(v.(float64)) }
		lowOK, highOK = lowOK && !b.isNaN(lowValue), highOK && !b.isNaN(highValue)
	case decimal128.Num:
		b.compare = func(a, b any) int { return a.(decimal128.Num).Cmp(b.(decimal128.Num)) }
	case string:
		b.compare = func(a, b any) int { return cmp.Compare(a.(string), b.(string)) }
	case []byte:
		b.compare = func(a, b any) int { return bytes.Compare(a.([]byte), b.([]byte)) }
	}
	if lowOK {
		b.low = lowValue
	}
	if highOK {
		b.high = highValue
	}
	if lowOK && highOK && b.compare(b.low, b.high) > 0 {
		b.low, b.high = nil, nil // bounds that cross are no bounds
	}
}

func boolInt(v bool) int {
	if v {
		return 1
	}
	return 0
}

// bound gives the reader of a plain-encoded bound, as a literal of the target type; nil where the file's values do not order as the
// target's. What it cannot read is no bound.
func bound(c *schema.Column, target arrow.DataType) func([]byte) (any, bool) {
	if to, _ := conversionOf(c, target); to == nil {
		return nil
	}
	switch c.PhysicalType() {
	case parquet.Types.Boolean:
		return func(b []byte) (any, bool) { return len(b) == 1 && b[0] != 0, len(b) == 1 }
	case parquet.Types.Int32, parquet.Types.Int64:
		return integerBound(c, target)
	case parquet.Types.Float:
		return func(b []byte) (any, bool) {
			if len(b) != 4 {
				return float64(0), false
			}
			return float64(math.Float32frombits(binary.LittleEndian.Uint32(b))), true
		}
	case parquet.Types.Double:
		return func(b []byte) (any, bool) {
			if len(b) != 8 {
				return float64(0), false
			}
			return math.Float64frombits(binary.LittleEndian.Uint64(b)), true
		}
	case parquet.Types.ByteArray, parquet.Types.FixedLenByteArray:
		return bytesBound(c, target)
	}
	return nil
}

func integerBound(c *schema.Column, target arrow.DataType) func([]byte) (any, bool) {
	if t, ok := c.LogicalType().(schema.IntLogicalType); ok && !t.IsSigned() && t.BitWidth() > 16 {
		return nil // writers differ in how they order these
	}
	size := c.PhysicalType().ByteSize()
	return func(b []byte) (any, bool) {
		if len(b) != size {
			return nil, false
		}
		v := int64(0)
		if size == 4 {
			v = int64(int32(binary.LittleEndian.Uint32(b)))
		} else {
			v = int64(binary.LittleEndian.Uint64(b))
		}
		return scaleBound(c, target, v)
	}
}

// scaleBound brings a bound into the target's unit; rounding down keeps the order.
func scaleBound(c *schema.Column, target arrow.DataType, v int64) (any, bool) {
	if _, ok := target.(*arrow.Decimal128Type); ok {
		return decimal128.FromI64(v), true
	}
	to := int64(0)
	switch t := target.(type) {
	case *arrow.TimestampType:
		to = convert.UnitsPerSecond(t.Unit)
	case *arrow.Time64Type:
		to = convert.UnitsPerSecond(t.Unit)
	default:
		return v, true
	}
	from := to
	switch t := c.LogicalType().(type) {
	case schema.TimestampLogicalType:
		from = convert.UnitOf(t.TimeUnit())
	case schema.TimeLogicalType:
		from = convert.UnitOf(t.TimeUnit())
	case schema.DateLogicalType:
		return convert.Multiply(v, convert.SecondsPerDay*to)
	}
	if from <= to {
		return convert.Multiply(v, to/from)
	}
	return convert.Floor(v, from/to), true
}

// bytesBound reads bounds that order by unsigned bytes, cut ones included, and decimals, which are never cut.
func bytesBound(c *schema.Column, target arrow.DataType) func([]byte) (any, bool) {
	switch c.LogicalType().(type) {
	case schema.IntervalLogicalType, schema.Float16LogicalType:
		return nil
	}
	switch target.(type) {
	case *arrow.StringType:
		return func(b []byte) (any, bool) { return string(b), b != nil }
	case *arrow.BinaryType, *arrow.FixedSizeBinaryType, *extensions.UUIDType:
		return func(b []byte) (any, bool) { return b, b != nil }
	case *arrow.Decimal128Type:
		return func(b []byte) (any, bool) {
			if len(b) == 0 || (c.PhysicalType() == parquet.Types.FixedLenByteArray && len(b) != c.TypeLength()) {
				return nil, false
			}
			low, high, ok := convert.BigEndian(b)
			return decimal128.New(int64(high), low), ok
		}
	}
	return nil
}
