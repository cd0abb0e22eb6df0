package convert

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/skua-data/skua/fault"
)

// TestInt96ThatWentAround has the value that Spark writes of the year 290000, and values out of any range.
func TestInt96ThatWentAround(t *testing.T) {
	for _, c := range []struct {
		bytes string
		want  int64
		ok    bool
	}{
		{"\x00\x60\xb9\xc7\x6e\xe2\xff\xff\xa8\xab\xb0\xf9", 9089380393200000000, true},
		{"\x00\x00\x00\x00\x00\x00\x00\x00\x8c\x3d\x25\x00", 0, true},
		{"\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\x7f", 0, false},
		{"\x00\x60\xb9\xc7\x6e\xe2\xff\xff\xff\xff\xff\x7f", 0, false},
		{"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80", 0, false},
	} {
		got, ok := int96([]byte(c.bytes), 1_000_000)
		if ok != c.ok || ok && got != c.want {
			t.Errorf("%x: %d, %v, want %d, %v", c.bytes, got, ok, c.want, c.ok)
		}
	}
}

func leaf(t *testing.T, physical parquet.Type, logical schema.LogicalType, width int) *schema.Column {
	t.Helper()
	n, err := schema.NewPrimitiveNodeLogical("c", parquet.Repetitions.Required, logical, physical, width, -1)
	if err != nil {
		t.Fatal(err)
	}
	return schema.NewColumn(n, 0, 0)
}

func little[T int32 | int64 | float32](values ...T) (out []byte) {
	for _, v := range values {
		out, _ = binary.Append(out, binary.LittleEndian, v)
	}
	return out
}

// texts spells the values of a buffer.
func texts(out []byte, target arrow.DataType) (all []string) {
	width := target.(arrow.FixedWidthDataType).Bytes()
	for ; len(out) > 0; out = out[width:] {
		switch {
		case width == 16:
			all = append(all, decimal128.New(int64(binary.LittleEndian.Uint64(out[8:])), binary.LittleEndian.Uint64(out)).BigInt().String())
		case target.ID() == arrow.FLOAT64:
			all = append(all, fmt.Sprint(math.Float64frombits(binary.LittleEndian.Uint64(out))))
		case width == 8:
			all = append(all, fmt.Sprint(int64(binary.LittleEndian.Uint64(out))))
		case width == 2:
			all = append(all, fmt.Sprint(int16(binary.LittleEndian.Uint16(out))))
		case width == 1:
			all = append(all, fmt.Sprint(int8(out[0])))
		}
	}
	return all
}

// TestNumbers has the values of each conversion at its edges, and the first that does not fit.
func TestNumbers(t *testing.T) {
	const i32, i64 = math.MinInt32, math.MinInt64
	none, day := schema.NoLogicalType{}, schema.DateLogicalType{}
	stamp := func(u schema.TimeUnitType) schema.LogicalType { return schema.NewTimestampLogicalType(true, u) }
	clock := func(u schema.TimeUnitType) schema.LogicalType { return schema.NewTimeLogicalType(true, u) }
	dec := func(precision int32) arrow.DataType { return &arrow.Decimal128Type{Precision: precision, Scale: 2} }
	micros, nanos, seconds := &arrow.TimestampType{Unit: arrow.Microsecond}, &arrow.TimestampType{Unit: arrow.Nanosecond}, &arrow.TimestampType{Unit: arrow.Second}
	for _, c := range []struct {
		physical parquet.Type
		logical  schema.LogicalType
		target   arrow.DataType
		in       []byte
		want     string // the values, then ! where the next one does not fit; "as it is": they are the same bytes; "": there is no conversion
	}{
		{parquet.Types.Int32, none, arrow.PrimitiveTypes.Int32, nil, "as it is"},
		{parquet.Types.Int32, none, arrow.PrimitiveTypes.Int64, little[int32](-1, i32, math.MaxInt32), "-1 -2147483648 2147483647"},
		{parquet.Types.Int32, schema.NewIntLogicalType(32, false), arrow.PrimitiveTypes.Int64, little[int32](-1, i32, 7), "4294967295 2147483648 7"},
		{parquet.Types.Int32, schema.NewIntLogicalType(32, false), arrow.PrimitiveTypes.Int32, nil, ""},
		{parquet.Types.Int32, schema.NewIntLogicalType(16, false), arrow.PrimitiveTypes.Int32, nil, "as it is"},
		{parquet.Types.Int32, none, arrow.PrimitiveTypes.Int8, little[int32](-128, 127, 128), "-128 127 !"},
		{parquet.Types.Int32, schema.NewIntLogicalType(8, false), arrow.PrimitiveTypes.Int8, little[int32](127, -1), "127 !"},
		{parquet.Types.Int32, none, arrow.PrimitiveTypes.Int16, little[int32](-32768, 32767, -32769), "-32768 32767 !"},
		{parquet.Types.Int32, none, arrow.FixedWidthTypes.Date32, nil, "as it is"},
		{parquet.Types.Int32, schema.NewIntLogicalType(32, true), arrow.FixedWidthTypes.Date32, nil, ""},
		{parquet.Types.Int32, day, arrow.FixedWidthTypes.Date32, nil, "as it is"},
		{parquet.Types.Int32, day, micros, little[int32](-1, 106_751_991, 106_751_992), "-86400000000 9223372022400000000 !"},
		{parquet.Types.Int32, day, &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}, nil, ""},
		{parquet.Types.Int32, day, arrow.PrimitiveTypes.Int32, nil, ""},
		{parquet.Types.Int32, clock(schema.TimeUnitMillis), &arrow.Time64Type{Unit: arrow.Microsecond}, little[int32](86_399_999), "86399999000"},
		{parquet.Types.Int32, clock(schema.TimeUnitMillis), &arrow.Time32Type{Unit: arrow.Millisecond}, nil, "as it is"},
		{parquet.Types.Int32, schema.NewDecimalLogicalType(9, 2), dec(9), little[int32](-1, 999_999_999), "-1 999999999"},
		{parquet.Types.Int32, schema.NewDecimalLogicalType(9, 2), dec(3), little[int32](-999, 1000), "-999 !"},
		{parquet.Types.Int32, schema.NewDecimalLogicalType(9, 3), dec(9), nil, ""},
		{parquet.Types.Int64, none, arrow.PrimitiveTypes.Int64, nil, "as it is"},
		{parquet.Types.Int64, schema.NewIntLogicalType(64, false), arrow.PrimitiveTypes.Int64, little[int64](math.MaxInt64, -1), "9223372036854775807 !"},
		{parquet.Types.Int64, none, micros, nil, "as it is"},
		{parquet.Types.Int64, stamp(schema.TimeUnitMicros), micros, nil, "as it is"},
		{parquet.Types.Int64, stamp(schema.TimeUnitMillis), micros, little[int64](-1, 9_223_372_036_854_775, 9_223_372_036_854_776), "-1000 9223372036854775000 !"},
		{parquet.Types.Int64, stamp(schema.TimeUnitMicros), nanos, little[int64](i64/1000, i64), "-9223372036854775000 !"},
		{parquet.Types.Int64, stamp(schema.TimeUnitNanos), micros, little[int64](-1, 1999, i64), "-1 1 -9223372036854776"},
		{parquet.Types.Int64, stamp(schema.TimeUnitMillis), seconds, little[int64](-1000, -1001, 999), "-1 -2 0"},
		{parquet.Types.Int64, clock(schema.TimeUnitNanos), &arrow.Time64Type{Unit: arrow.Microsecond}, little[int64](86_399_999_999_999), "86399999999"},
		{parquet.Types.Int64, stamp(schema.TimeUnitMicros), arrow.PrimitiveTypes.Int64, nil, ""},
		{parquet.Types.Int64, schema.NewDecimalLogicalType(18, 2), dec(18), little[int64](i64, 5), "-9223372036854775808 5"},
		{parquet.Types.Int64, schema.NewDecimalLogicalType(18, 2), dec(5), little[int64](99_999, -100_000), "99999 !"},
		{parquet.Types.Float, none, arrow.PrimitiveTypes.Float64, little[float32](1.5, float32(math.Inf(-1))), "1.5 -Inf"},
		{parquet.Types.Float, none, arrow.PrimitiveTypes.Float32, nil, "as it is"},
		{parquet.Types.Double, none, arrow.PrimitiveTypes.Float64, nil, "as it is"},
		{parquet.Types.Double, none, arrow.PrimitiveTypes.Float32, nil, ""},
		{parquet.Types.Int96, none, nanos, []byte("\x01\x00\x00\x00\x00\x00\x00\x00\x8d\x3d\x25\x00"), "86400000000001"},
		{parquet.Types.Int96, none, arrow.PrimitiveTypes.Int64, nil, ""},
	} {
		column := leaf(t, c.physical, c.logical, 0)
		f, ok := Numbers(column, c.target)
		what := fmt.Sprintf("%s (%s) as %s", c.physical, c.logical, c.target)
		if !ok || f == nil {
			if got := map[bool]string{true: "as it is"}[ok]; got != c.want {
				t.Errorf("%s: %q, want %q", what, got, c.want)
			}
			continue
		}
		width, stored := c.target.(arrow.FixedWidthDataType).Bytes(), column.PhysicalType().ByteSize()
		out := make([]byte, len(c.in)/stored*width)
		bad := f(out, c.in)
		var got []string
		if bad < 0 {
			got = texts(out, c.target)
		} else {
			got = append(texts(out[:bad*width], c.target), "!")
			if err := Failure(column, c.target, c.in[bad*stored:(bad+1)*stored]); !fault.Is(err, fault.Corrupt) {
				t.Errorf("%s: %v", what, err)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %s, want %s", what, got, c.want)
		}
	}
}

// TestDecimalsOfBytes reads big-endian numbers of every width, by one and in rows.
func TestDecimalsOfBytes(t *testing.T) {
	for _, c := range []struct {
		in    string
		check int32
		want  string
	}{
		{"", 0, "0"}, {"\xff", 0, "-1"}, {"\x80", 0, "-128"}, {"\x00\xff", 0, "255"}, {"\x12\x34\x56\x78\x9a\xbc\xde\xf0", 0, "1311768467463790320"},
		{"\xff\x00\x00\x00\x00\x00\x00\x00\x00", 0, "-18446744073709551616"}, {"\x80" + strings.Repeat("\x00", 15), 0, "-170141183460469231731687303715884105728"},
		{"\x00\x80" + strings.Repeat("\x00", 15), 0, "!"}, {"\x00\x7f" + strings.Repeat("\xff", 15), 0, "170141183460469231731687303715884105727"},
		{strings.Repeat("\xff", 20), 0, "-1"}, {"\x01" + strings.Repeat("\x00", 16), 0, "!"}, {"\x03\xe7", 3, "999"}, {"\x03\xe8", 3, "!"},
	} {
		var one [16]byte
		got := "!"
		if Decimal(c.check)(one[:], []byte(c.in)) {
			got = texts(one[:], &arrow.Decimal128Type{})[0]
		}
		if got != c.want {
			t.Errorf("%x is %s, want %s", c.in, got, c.want)
		}
		if c.in == "" {
			continue
		}
		rows := make([]byte, 16*9)
		bad := Decimals(len(c.in), c.check)(rows, []byte(strings.Repeat(c.in, 9)))
		if c.want == "!" {
			if bad != 0 {
				t.Errorf("%x: the first bad one of nine is %d", c.in, bad)
			}
		} else if all := texts(rows, &arrow.Decimal128Type{}); bad != -1 || strings.Join(all, " ") != strings.TrimSpace(strings.Repeat(c.want+" ", 9)) {
			t.Errorf("nine of %x are %v, %d", c.in, all, bad)
		}
	}
}
