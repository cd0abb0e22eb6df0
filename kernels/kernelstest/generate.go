package kernelstest

import (
	"fmt"
	"math/rand"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// Field makes a field with a field id.
func Field(id int, name string, t arrow.DataType, nullable bool) arrow.Field {
	return arrow.Field{Name: name, Type: t, Nullable: nullable, Metadata: arrow.NewMetadata([]string{"PARQUET:field_id"}, []string{strconv.Itoa(id)})}
}

// Flat are top-level fields of every primitive type that a table can have.
func Flat(nullable bool) []arrow.Field {
	types := []arrow.DataType{
		arrow.FixedWidthTypes.Boolean, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Float32,
		arrow.PrimitiveTypes.Float64, arrow.FixedWidthTypes.Date32, &arrow.Time64Type{Unit: arrow.Microsecond},
		&arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}, &arrow.TimestampType{Unit: arrow.Microsecond},
		&arrow.TimestampType{Unit: arrow.Nanosecond}, arrow.BinaryTypes.String, arrow.BinaryTypes.Binary,
		&arrow.FixedSizeBinaryType{ByteWidth: 5}, extensions.NewUUIDType(), &arrow.Decimal128Type{Precision: 9, Scale: 2},
		&arrow.Decimal128Type{Precision: 18, Scale: 4}, &arrow.Decimal128Type{Precision: 38, Scale: 10},
	}
	out := make([]arrow.Field, len(types))
	for i, t := range types {
		out[i] = Field(i+1, fmt.Sprintf("c%02d", i+1), t, nullable)
	}
	return out
}

// Nested are top-level fields with lists, maps and structs in each other.
func Nested() []arrow.Field {
	point := arrow.StructOf(Field(102, "x", arrow.PrimitiveTypes.Int32, true), Field(103, "label", arrow.BinaryTypes.String, true))
	lists := arrow.ListOfField(Field(105, "element", arrow.ListOfField(Field(106, "element", arrow.PrimitiveTypes.Int64, true)), true))
	points := arrow.ListOfField(Field(108, "element", arrow.StructOf(
		Field(109, "a", arrow.PrimitiveTypes.Int32, true), Field(110, "b", arrow.ListOfField(Field(111, "element", arrow.BinaryTypes.String, true)), true)), true))
	maps := arrow.MapOfFields(Field(113, "key", arrow.BinaryTypes.String, false), Field(114, "value", arrow.StructOf(
		Field(115, "d", &arrow.Decimal128Type{Precision: 12, Scale: 3}, true)), true))
	deep := arrow.StructOf(Field(117, "inner", arrow.StructOf(Field(118, "tags", arrow.ListOfField(Field(119, "element", arrow.BinaryTypes.String, true)), true)), true))
	required := arrow.StructOf(Field(121, "a", arrow.PrimitiveTypes.Int64, false), Field(122, "b", arrow.FixedWidthTypes.Boolean, true))
	return []arrow.Field{
		Field(101, "point", point, true), Field(104, "lists", lists, true), Field(107, "points", points, true), Field(112, "maps", maps, true),
		Field(116, "deep", deep, true), Field(120, "required", required, true),
		Field(123, "plain", arrow.ListOfField(Field(124, "element", arrow.PrimitiveTypes.Float64, false)), false),
	}
}

// Random makes a batch of random values; about nulls of all nullable slots are null. The caller releases it.
func Random(fields []arrow.Field, rows int, nulls float64, seed int64, mem memory.Allocator) arrow.RecordBatch {
	r := rand.New(rand.NewSource(seed))
	arrays := make([]arrow.Array, len(fields))
	for i, f := range fields {
		b := array.NewBuilder(mem, f.Type)
		for range rows {
			fill(b, f, r, nulls)
		}
		arrays[i] = b.NewArray()
		b.Release()
	}
	defer func() {
		for _, a := range arrays {
			a.Release()
		}
	}()
	return array.NewRecordBatch(arrow.NewSchema(fields, nil), arrays, int64(rows))
}

func fill(b array.Builder, f arrow.Field, r *rand.Rand, nulls float64) {
	if f.Nullable && r.Float64() < nulls {
		b.AppendNull()
		return
	}
	switch b := b.(type) {
	case *array.ListBuilder:
		b.Append(true)
		for range r.Intn(4) {
			fill(b.ValueBuilder(), f.Type.(*arrow.ListType).ElemField(), r, nulls)
		}
	case *array.MapBuilder:
		b.Append(true)
		for range r.Intn(4) {
			fill(b.KeyBuilder(), f.Type.(*arrow.MapType).KeyField(), r, 0)
			fill(b.ItemBuilder(), f.Type.(*arrow.MapType).ItemField(), r, nulls)
		}
	case *array.StructBuilder:
		b.Append(true)
		for i, child := range f.Type.(*arrow.StructType).Fields() {
			fill(b.FieldBuilder(i), child, r, nulls)
		}
	default:
		fillPrimitive(b, r)
	}
}

func fillPrimitive(b array.Builder, r *rand.Rand) {
	switch b := b.(type) {
	case *array.BooleanBuilder:
		b.Append(r.Intn(2) == 0)
	case *array.Int32Builder:
		b.Append(int32(number(r)))
	case *array.Int64Builder:
		b.Append(number(r))
	case *array.Float32Builder:
		b.Append(r.Float32() * 100)
	case *array.Float64Builder:
		b.Append(float64(r.Intn(50)) / 8)
	case *array.Date32Builder:
		b.Append(arrow.Date32(r.Intn(40000) - 20000))
	case *array.Time64Builder:
		b.Append(arrow.Time64(r.Int63n(86400 * 1000000)))
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(number(r)))
	case *array.StringBuilder:
		b.Append(words(r))
	case *array.BinaryBuilder:
		b.Append([]byte(words(r)))
	case *array.FixedSizeBinaryBuilder:
		fixed := make([]byte, b.Type().(*arrow.FixedSizeBinaryType).ByteWidth)
		r.Read(fixed[:1+r.Intn(len(fixed))])
		b.Append(fixed)
	case *extensions.UUIDBuilder:
		var id [16]byte
		r.Read(id[:])
		b.AppendBytes(id)
	case *array.Decimal128Builder:
		digits := min(int(b.Type().(*arrow.Decimal128Type).Precision), 18)
		limit := int64(1)
		for range digits {
			limit *= 10
		}
		b.Append(decimal128.FromI64(r.Int63n(2*limit-1) - limit + 1))
	default:
		panic(fmt.Sprintf("no random values for %T", b))
	}
}

// number is mostly small, so that dictionaries pay, and sometimes as wide as it gets.
func number(r *rand.Rand) int64 {
	if r.Intn(10) == 0 {
		return int64(r.Uint64())
	}
	return r.Int63n(40) - 20
}

func words(r *rand.Rand) string {
	const alphabet = "abcdefghij é\u4e16"
	letters := []rune(alphabet)
	if r.Intn(3) > 0 {
		return strings.Repeat(string(letters[r.Intn(4)]), r.Intn(3))
	}
	out := make([]rune, r.Intn(30))
	for i := range out {
		out[i] = letters[r.Intn(len(letters))]
	}
	return string(out)
}
