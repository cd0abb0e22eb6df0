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
	"github.com/skua-data/skua/scan/avrofile"
)

// put reads one value and appends it to a builder.
type put func(d *avrofile.Decoder, b array.Builder)

// convert gives how a primitive type of a file is read as an Arrow type; nil: it is not.
func convert(s *avrofile.Type, want arrow.DataType) put {
	if e, ok := want.(arrow.ExtensionType); ok {
		inner := convert(s, e.StorageType())
		if inner == nil {
			return nil
		}
		return func(d *avrofile.Decoder, b array.Builder) {
			inner(d, b.(interface{ StorageBuilder() array.Builder }).StorageBuilder())
		}
	}
	if s.Kind == avrofile.Null {
		return func(_ *avrofile.Decoder, b array.Builder) { b.AppendNull() }
	}
	switch t := want.(type) {
	case *arrow.BooleanType:
		if s.Kind == avrofile.Boolean {
			return func(d *avrofile.Decoder, b array.Builder) { b.(*array.BooleanBuilder).Append(d.Boolean()) }
		}
	case *arrow.Int32Type:
		if s.Kind == avrofile.Int && s.Logical == "" {
			return func(d *avrofile.Decoder, b array.Builder) { b.(*array.Int32Builder).Append(d.Int()) }
		}
	case *arrow.Int64Type:
		if (s.Kind == avrofile.Long || s.Kind == avrofile.Int) && s.Logical == "" {
			return func(d *avrofile.Decoder, b array.Builder) { b.(*array.Int64Builder).Append(d.Long()) }
		}
	case *arrow.Date32Type:
		if s.Kind == avrofile.Int && (s.Logical == "date" || s.Logical == "") {
			return func(d *avrofile.Decoder, b array.Builder) { b.(*array.Date32Builder).Append(arrow.Date32(d.Int())) }
		}
	case *arrow.Time64Type:
		if factor := timeFactor(s); factor != 0 {
			return func(d *avrofile.Decoder, b array.Builder) {
				b.(*array.Time64Builder).Append(arrow.Time64(scaled(d, factor, 1)))
			}
		}
	case *arrow.TimestampType:
		return convertTimestamp(s, t)
	case *arrow.Float32Type:
		if s.Kind == avrofile.Float {
			return func(d *avrofile.Decoder, b array.Builder) { b.(*array.Float32Builder).Append(d.Float()) }
		}
	case *arrow.Float64Type:
		switch s.Kind {
		case avrofile.Float:
			return func(d *avrofile.Decoder, b array.Builder) { b.(*array.Float64Builder).Append(float64(d.Float())) }
		case avrofile.Double:
			return func(d *avrofile.Decoder, b array.Builder) { b.(*array.Float64Builder).Append(d.Double()) }
		}
	case *arrow.Decimal128Type:
		return convertDecimal(s, t)
	case *arrow.StringType:
		return convertString(s)
	case *arrow.BinaryType:
		switch s.Kind {
		case avrofile.Bytes:
			return func(d *avrofile.Decoder, b array.Builder) { b.(*array.BinaryBuilder).Append(d.Bytes()) }
		case avrofile.Fixed:
			return func(d *avrofile.Decoder, b array.Builder) { b.(*array.BinaryBuilder).Append(d.Take(s.Size)) }
		}
	case *arrow.FixedSizeBinaryType:
		return convertFixed(s, t)
	}
	return nil
}

func timeFactor(s *avrofile.Type) int64 {
	switch {
	case s.Kind == avrofile.Long && (s.Logical == "time-micros" || s.Logical == ""):
		return 1
	case s.Kind == avrofile.Int && s.Logical == "time-millis":
		return 1000
	}
	return 0
}

// nanos is how many nanoseconds a unit of a timestamp type has; 0: it is none. A plain long is taken for microseconds, as in Iceberg.
func nanos(s *avrofile.Type) int64 {
	if s.Kind != avrofile.Long {
		return 0
	}
	switch s.Logical {
	case "timestamp-millis", "local-timestamp-millis":
		return 1e6
	case "timestamp-micros", "local-timestamp-micros", "":
		return 1e3
	case "timestamp-nanos", "local-timestamp-nanos":
		return 1
	}
	return 0
}

func convertTimestamp(s *avrofile.Type, t *arrow.TimestampType) put {
	unit := int64(1e3)
	if t.Unit == arrow.Nanosecond {
		unit = 1
	}
	if s.Kind == avrofile.Int && s.Logical == "date" { // of a column that was promoted
		return func(d *avrofile.Decoder, b array.Builder) {
			b.(*array.TimestampBuilder).Append(arrow.Timestamp(product(d, int64(d.Int()), 86400e9/unit)))
		}
	}
	own := nanos(s)
	if own == 0 {
		return nil
	}
	return func(d *avrofile.Decoder, b array.Builder) {
		b.(*array.TimestampBuilder).Append(arrow.Timestamp(scaled(d, max(own/unit, 1), max(unit/own, 1))))
	}
}

// scaled reads a number and multiplies it or divides it, rounding down as times before 1970 want it.
func scaled(d *avrofile.Decoder, factor, divisor int64) int64 {
	v := product(d, d.Long(), factor)
	q := v / divisor
	if v%divisor < 0 {
		q--
	}
	return q
}

func product(d *avrofile.Decoder, v, factor int64) int64 {
	p := v * factor
	if v != 0 && p/v != factor {
		d.Fail("the time %d is out of range", v)
	}
	return p
}

func convertDecimal(s *avrofile.Type, t *arrow.Decimal128Type) put {
	if s.Logical != "decimal" || s.Scale != int(t.Scale) || s.Precision > int(t.Precision) || (s.Kind != avrofile.Fixed && s.Kind != avrofile.Bytes) {
		return nil
	}
	return func(d *avrofile.Decoder, b array.Builder) {
		var raw []byte
		if s.Kind == avrofile.Fixed {
			raw = d.Take(s.Size)
		} else {
			raw = d.Bytes()
		}
		v, ok := decimal(raw, t.Precision)
		if !ok {
			d.Fail("%d bytes that are no decimal of %d digits", len(raw), t.Precision)
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

func convertString(s *avrofile.Type) put {
	switch s.Kind {
	case avrofile.String:
		return func(d *avrofile.Decoder, b array.Builder) {
			v := d.Bytes()
			if !utf8.Valid(v) {
				d.Fail("a text is not UTF-8")
			}
			b.(*array.StringBuilder).BinaryBuilder.Append(v)
		}
	case avrofile.Enum:
		return func(d *avrofile.Decoder, b array.Builder) {
			i := d.Long()
			if i < 0 || i >= int64(len(s.Symbols)) {
				d.Fail("symbol %d of %d", i, len(s.Symbols))
				return
			}
			b.(*array.StringBuilder).Append(s.Symbols[i])
		}
	}
	return nil
}

func convertFixed(s *avrofile.Type, t *arrow.FixedSizeBinaryType) put {
	switch {
	case s.Kind == avrofile.Fixed && s.Size == int64(t.ByteWidth):
		return func(d *avrofile.Decoder, b array.Builder) {
			if raw := d.Take(s.Size); d.Err == nil {
				b.(*array.FixedSizeBinaryBuilder).Append(raw)
			}
		}
	case s.Kind == avrofile.String && s.Logical == "uuid" && t.ByteWidth == 16:
		return func(d *avrofile.Decoder, b array.Builder) {
			id, err := uuid.ParseBytes(d.Bytes())
			if err != nil {
				d.Fail("%w", err)
				return
			}
			b.(*array.FixedSizeBinaryBuilder).Append(id[:])
		}
	}
	return nil
}

// items calls each once per item of an array or a map.
func items(d *avrofile.Decoder, least int, each func()) (n int64) {
	for d.Err == nil {
		count, _ := d.Run(least)
		if count == 0 {
			return n
		}
		if n += count; n > math.MaxInt32 {
			d.Err = fault.New(fault.Exhausted, "a list of %d items", n)
		}
		for ; count > 0 && d.Err == nil; count-- {
			each()
		}
	}
	return n
}
