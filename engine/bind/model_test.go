package bind

import (
	"fmt"
	"math"
	"math/rand"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/engine/sparktext"
	"github.com/skua-data/skua/engine/sparktype"
	"github.com/skua-data/skua/predicate"
)

// oneColumn is a batch of a single column.
type oneColumn struct{ array arrow.Array }

func (c oneColumn) Column(predicate.Field) (arrow.Array, error) { return c.array, nil }

var modelTypes = []arrow.DataType{sparktype.Int, sparktype.Bigint, sparktype.Float, sparktype.Double, sparktype.Decimal(9, 2), sparktype.Decimal(20, 0), sparktype.Decimal(38, 10), sparktype.Date, sparktype.Timestamp,
	sparktype.TimestampNTZ, timestampNanos, sparktype.Time, sparktype.String, sparktype.Binary, sparktype.Boolean, extensions.NewUUIDType(), &arrow.FixedSizeBinaryType{ByteWidth: 3}}

var modelFloats = []float64{0, math.Copysign(0, -1), 0.1, float64(float32(0.1)), 1, -1, 1.5, 2, 1 << 53, 1<<53 + 2, math.MaxInt64, math.MaxFloat32, 1e39, math.NaN(),
	math.Inf(1), math.Inf(-1), math.MaxFloat64, 5e-324}

// modelValue draws a value as a constant of the logical type; half of them are near values that others have too.
func modelValue(r *rand.Rand, t arrow.DataType) any {
	switch d := t.(type) {
	case *arrow.Decimal128Type:
		n := sparktext.Power10(r.Intn(int(d.Precision)))
		if r.Intn(3) > 0 {
			n = sparktext.Power10(min(int(d.Precision)-1, int(d.Scale)))
		}
		return decimal128.FromBigInt(n).Mul(decimal128.FromI64(int64(r.Intn(3) - 1))).Add(decimal128.FromI64(int64(r.Intn(3) - 1)))
	case *arrow.FixedSizeBinaryType:
		raw := make([]byte, d.ByteWidth)
		raw[r.Intn(len(raw))] = byte(r.Intn(3))
		return raw
	}
	switch t.ID() {
	case arrow.INT32:
		return int64([]int32{0, 1, -1, 2, math.MaxInt32, math.MinInt32, 100}[r.Intn(7)])
	case arrow.INT64:
		return []int64{0, 1, -1, 2, math.MaxInt64, math.MinInt64, 1 << 53, 1<<53 + 1, 1<<53 + 2, 3_000_000_000}[r.Intn(10)]
	case arrow.FLOAT32:
		return float64(float32(modelFloats[r.Intn(len(modelFloats))]))
	case arrow.FLOAT64:
		return modelFloats[r.Intn(len(modelFloats))]
	case arrow.DATE32:
		return int64(r.Intn(5) - 2)
	case arrow.TIMESTAMP:
		return (int64(r.Intn(5)-2)*sparktext.SecondsPerDay/2)*sparktype.PerSecond(t) + int64(r.Intn(3)-1)
	case arrow.TIME64:
		return int64(r.Intn(3)) * 3_600_000_000
	case arrow.STRING:
		return []string{"", "a", "b", "8", "00000000-0000-0000-0000-000000000001", "f"}[r.Intn(6)]
	case arrow.BINARY:
		return [][]byte{{}, {0}, {0, 0, 0}, {0, 1}, {2, 0, 0, 0}, {1, 0, 0}}[r.Intn(6)]
	case arrow.BOOL:
		return r.Intn(2) == 0
	}
	panic(fmt.Sprintf("no value of %s", t))
}

// modelColumn draws a column and the constants that Spark sees in it.
func modelColumn(r *rand.Rand, t arrow.DataType, rows int, mem memory.Allocator) (arrow.Array, []sparktype.Value) {
	b := array.NewBuilder(mem, t)
	defer b.Release()
	var out []sparktype.Value
	for range rows {
		if r.Intn(8) == 0 {
			b.AppendNull()
			out = append(out, sparktype.NullOf(sparktype.Logical(t)))
			continue
		}
		if u, ok := b.(*extensions.UUIDBuilder); ok {
			raw := make([]byte, 16)
			raw[15*r.Intn(2)] = []byte{0, 1, 0x80, 0xff}[r.Intn(4)]
			u.StorageBuilder().(*array.FixedSizeBinaryBuilder).Append(raw)
			out = append(out, sparktype.TextValue(uuidText(raw)))
			continue
		}
		v := modelValue(r, t)
		appendModel(b, v)
		out = append(out, sparktype.Value{Type: sparktype.Logical(t), Value: v})
	}
	return b.NewArray(), out
}

func appendModel(b array.Builder, v any) {
	switch b := b.(type) {
	case *array.Int32Builder:
		b.Append(int32(v.(int64)))
	case *array.Int64Builder:
		b.Append(v.(int64))
	case *array.Float32Builder:
		b.Append(float32(v.(float64)))
	case *array.Float64Builder:
		b.Append(v.(float64))
	case *array.Decimal128Builder:
		b.Append(v.(decimal128.Num))
	case *array.Date32Builder:
		b.Append(arrow.Date32(v.(int64)))
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(v.(int64)))
	case *array.Time64Builder:
		b.Append(arrow.Time64(v.(int64)))
	case *array.StringBuilder:
		b.Append(v.(string))
	case *array.BinaryBuilder:
		b.Append(v.([]byte))
	case *array.FixedSizeBinaryBuilder:
		b.Append(v.([]byte))
	case *array.BooleanBuilder:
		b.Append(v.(bool))
	default:
		panic(fmt.Sprintf("no builder %T", b))
	}
}

// TestComparisonsAgreeWithThePromotedOnes casts every row's value and the constant into the common type, compares there, and wants the bound
// predicate to find the same rows in the column as it is.
func TestComparisonsAgreeWithThePromotedOnes(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	r := rand.New(rand.NewSource(3))
	for _, zone := range []string{"UTC", "Asia/Kolkata"} {
		b := testBinder(zone)
		for _, t1 := range modelTypes {
			column, rows := modelColumn(r, t1, 40, mem)
			for _, t2 := range modelTypes {
				for range 12 {
					checkPromoted(t, b, r, t1, t2, column, rows, mem)
				}
			}
			column.Release()
		}
	}
}

func checkPromoted(t *testing.T, b *Binder, r *rand.Rand, t1, t2 arrow.DataType, column arrow.Array, rows []sparktype.Value, mem memory.Allocator) {
	t.Helper()
	t2 = sparktype.Logical(t2)
	common, ok := sparktype.Common(sparktype.Logical(t1), t2)
	c := sparktype.Value{Type: t2, Value: modelValue(r, t2)}
	if !ok {
		return
	}
	promoted, err := b.Cast(c, common)
	if err != nil {
		return // a text that is no number
	}
	ref := Field{ID: 1, Path: []string{"c"}, Type: t1, Nullable: true}
	op := predicate.Op(r.Intn(6))
	p, err := b.compareColumn(parseExpr(t, "c = 0"), op, ref, c, common)
	if err != nil {
		if t1.ID() != arrow.STRING && !sparktype.IsUUID(t1) {
			t.Fatalf("%s %s %s %s: %v", t1, op, t2, c.SQL(), err)
		}
		return
	}
	got, err := predicate.Evaluate(p, len(rows), oneColumn{column}, mem)
	if err != nil {
		t.Fatalf("%s: %v", p, err)
	}
	defer got.Release()
	for i, row := range rows {
		value, err := b.Cast(row, common)
		if err != nil {
			continue // Spark fails on such a row
		}
		want, err := b.compareConstants(op, value, promoted, common)
		if err != nil {
			t.Fatal(err)
		}
		is := predicate.Null
		if got.IsValid(i) {
			is = truth(sparktype.BoolValue(got.Value(i)))
		}
		if is != want {
			t.Fatalf("%s %s %s %s (as %s) became %s: %s gives %s, want %s", t1, op, t2, c.SQL(), common, p, row.SQL(), is, want)
		}
	}
}
