package avro

import (
	"math"
	"math/big"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/google/uuid"

	"github.com/skua-data/skua/fault"
)

// put reads one value and appends it to a builder.
type put func(d *decoder, b array.Builder)

// convert gives how a primitive type of a file is read as an Arrow type; nil: it is not.
func convert(s *schema, want arrow.DataType) put {
	if e, ok := want.(arrow.ExtensionType); ok {
		inner := convert(s, e.StorageType())
		if inner == nil {
			return nil
		}
		return func(d *decoder, b array.Builder) {
			inner(d, b.(interface{ StorageBuilder() array.Builder }).StorageBuilder())
		}
	}
	if s.kind == kindNull {
		return func(_ *decoder, b array.Builder) { b.AppendNull() }
	}
	switch t := want.(type) {
	case *arrow.BooleanType:
		if s.kind == kindBoolean {
			return func(d *decoder, b array.Builder) { b.(*array.BooleanBuilder).Append(d.boolean()) }
		}
	case *arrow.Int32Type:
		if s.kind == kindInt && s.logical == "" {
			return func(d *decoder, b array.Builder) { b.(*array.Int32Builder).Append(d.int()) }
		}
	case *arrow.Int64Type:
		if (s.kind == kindLong || s.kind == kindInt) && s.logical == "" {
			return func(d *decoder, b array.Builder) { b.(*array.Int64Builder).Append(d.long()) }
		}
	case *arrow.Date32Type:
		if s.kind == kindInt && (s.logical == "date" || s.logical == "") {
			return func(d *decoder, b array.Builder) { b.(*array.Date32Builder).Append(arrow.Date32(d.int())) }
		}
	case *arrow.Time64Type:
		if factor := timeFactor(s); factor != 0 {
			return func(d *decoder, b array.Builder) { b.(*array.Time64Builder).Append(arrow.Time64(scaled(d, factor, 1))) }
		}
	case *arrow.TimestampType:
		return convertTimestamp(s, t)
	case *arrow.Float32Type:
		if s.kind == kindFloat {
			return func(d *decoder, b array.Builder) { b.(*array.Float32Builder).Append(d.float()) }
		}
	case *arrow.Float64Type:
		switch s.kind {
		case kindFloat:
			return func(d *decoder, b array.Builder) { b.(*array.Float64Builder).Append(float64(d.float())) }
		case kindDouble:
			return func(d *decoder, b array.Builder) { b.(*array.Float64Builder).Append(d.double()) }
		}
	case *arrow.Decimal128Type:
		return convertDecimal(s, t)
	case *arrow.StringType:
		return convertString(s)
	case *arrow.BinaryType:
		switch s.kind {
		case kindBytes:
			return func(d *decoder, b array.Builder) { b.(*array.BinaryBuilder).Append(d.bytes()) }
		case kindFixed:
			return func(d *decoder, b array.Builder) { b.(*array.BinaryBuilder).Append(d.take(int64(s.size))) }
		}
	case *arrow.FixedSizeBinaryType:
		return convertFixed(s, t)
	}
	return nil
}

func timeFactor(s *schema) int64 {
	switch {
	case s.kind == kindLong && (s.logical == "time-micros" || s.logical == ""):
		return 1
	case s.kind == kindInt && s.logical == "time-millis":
		return 1000
	}
	return 0
}

// nanos is how many nanoseconds a unit of a timestamp type has; 0: it is none. A plain long is taken for microseconds, as in Iceberg.
func nanos(s *schema) int64 {
	if s.kind != kindLong {
		return 0
	}
	switch s.logical {
	case "timestamp-millis", "local-timestamp-millis":
		return 1e6
	case "timestamp-micros", "local-timestamp-micros", "":
		return 1e3
	case "timestamp-nanos", "local-timestamp-nanos":
		return 1
	}
	return 0
}

func convertTimestamp(s *schema, t *arrow.TimestampType) put {
	unit := int64(1e3)
	if t.Unit == arrow.Nanosecond {
		unit = 1
	}
	if s.kind == kindInt && s.logical == "date" { // of a column that was promoted
		return func(d *decoder, b array.Builder) {
			b.(*array.TimestampBuilder).Append(arrow.Timestamp(product(d, int64(d.int()), 86400e9/unit)))
		}
	}
	own := nanos(s)
	if own == 0 {
		return nil
	}
	return func(d *decoder, b array.Builder) {
		b.(*array.TimestampBuilder).Append(arrow.Timestamp(scaled(d, max(own/unit, 1), max(unit/own, 1))))
	}
}

// scaled reads a number and multiplies it or divides it, rounding down as times before 1970 want it.
func scaled(d *decoder, factor, divisor int64) int64 {
	v := product(d, d.long(), factor)
	q := v / divisor
	if v%divisor < 0 {
		q--
	}
	return q
}

func product(d *decoder, v, factor int64) int64 {
	p := v * factor
	if v != 0 && p/v != factor {
		d.fail("the time %d is out of range", v)
	}
	return p
}

func (d *decoder) float() float32 {
	b := d.take(4)
	if d.err != nil {
		return 0
	}
	return math.Float32frombits(uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24)
}

func (d *decoder) double() float64 {
	b := d.take(8)
	if d.err != nil {
		return 0
	}
	var v uint64
	for i := 7; i >= 0; i-- {
		v = v<<8 | uint64(b[i])
	}
	return math.Float64frombits(v)
}

func convertDecimal(s *schema, t *arrow.Decimal128Type) put {
	if s.logical != "decimal" || s.scale != int(t.Scale) || s.precision > int(t.Precision) || (s.kind != kindFixed && s.kind != kindBytes) {
		return nil
	}
	return func(d *decoder, b array.Builder) {
		var raw []byte
		if s.kind == kindFixed {
			raw = d.take(int64(s.size))
		} else {
			raw = d.bytes()
		}
		v, ok := decimal(raw, t.Precision)
		if !ok {
			d.fail("%d bytes that are no decimal of %d digits", len(raw), t.Precision)
		}
		b.(*array.Decimal128Builder).Append(v)
	}
}

// decimal reads a big-endian two's complement number.
func decimal(raw []byte, precision int32) (decimal128.Num, bool) {
	if len(raw) == 0 {
		return decimal128.Num{}, false
	}
	n := new(big.Int).SetBytes(raw)
	if raw[0]&0x80 != 0 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(len(raw)*8)))
	}
	if n.BitLen() > 127 {
		return decimal128.Num{}, false
	}
	v := decimal128.FromBigInt(n)
	return v, v.FitsInPrecision(precision)
}

func convertString(s *schema) put {
	switch s.kind {
	case kindString:
		return func(d *decoder, b array.Builder) {
			v := d.bytes()
			if !utf8.Valid(v) {
				d.fail("a text is not UTF-8")
			}
			b.(*array.StringBuilder).BinaryBuilder.Append(v)
		}
	case kindEnum:
		return func(d *decoder, b array.Builder) {
			i := d.long()
			if i < 0 || i >= int64(len(s.symbols)) {
				d.fail("symbol %d of %d", i, len(s.symbols))
				return
			}
			b.(*array.StringBuilder).Append(s.symbols[i])
		}
	}
	return nil
}

func convertFixed(s *schema, t *arrow.FixedSizeBinaryType) put {
	switch {
	case s.kind == kindFixed && s.size == t.ByteWidth:
		return func(d *decoder, b array.Builder) {
			if raw := d.take(int64(s.size)); d.err == nil {
				b.(*array.FixedSizeBinaryBuilder).Append(raw)
			}
		}
	case s.kind == kindString && s.logical == "uuid" && t.ByteWidth == 16:
		return func(d *decoder, b array.Builder) {
			id, err := uuid.ParseBytes(d.bytes())
			if err != nil {
				d.fail("%w", err)
				return
			}
			b.(*array.FixedSizeBinaryBuilder).Append(id[:])
		}
	}
	return nil
}

// skip passes over a value.
func skip(d *decoder, s *schema) {
	switch s.kind {
	case kindBoolean:
		d.take(1)
	case kindInt, kindLong, kindEnum:
		d.long()
	case kindFloat:
		d.take(4)
	case kindDouble:
		d.take(8)
	case kindBytes, kindString:
		d.bytes()
	case kindFixed:
		d.take(int64(s.size))
	case kindRecord:
		for i := 0; i < len(s.fields) && d.err == nil; i++ {
			skip(d, s.fields[i].typ)
		}
	case kindArray:
		d.items(s.items.least(), func() { skip(d, s.items) })
	case kindMap:
		d.items(1+s.items.least(), func() {
			d.bytes()
			skip(d, s.items)
		})
	case kindUnion:
		if b := d.branch(s); b != nil {
			skip(d, b)
		}
	}
}

func (d *decoder) branch(s *schema) *schema {
	i := d.long()
	if d.err != nil || i < 0 || i >= int64(len(s.branches)) {
		d.fail("branch %d of a union of %d", i, len(s.branches))
		return nil
	}
	return s.branches[i]
}

// items calls each once per item of an array or a map.
func (d *decoder) items(least int, each func()) (n int64) {
	for d.err == nil {
		count := d.blockCount(least)
		if count == 0 {
			return n
		}
		if n += count; n > math.MaxInt32 {
			d.err = fault.New(fault.Exhausted, "a list of %d items", n)
		}
		for ; count > 0 && d.err == nil; count-- {
			each()
		}
	}
	return n
}
