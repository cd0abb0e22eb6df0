//go:build cgo

package duckdb

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/scan"
)

// sparkTypes are the types without parts, as Spark spells them.
var sparkTypes = map[string]arrow.DataType{
	"tinyint": arrow.PrimitiveTypes.Int8, "smallint": arrow.PrimitiveTypes.Int16, "int": arrow.PrimitiveTypes.Int32, "bigint": arrow.PrimitiveTypes.Int64,
	"float": arrow.PrimitiveTypes.Float32, "double": arrow.PrimitiveTypes.Float64, "string": arrow.BinaryTypes.String, "binary": arrow.BinaryTypes.Binary,
	"boolean": arrow.FixedWidthTypes.Boolean, "date": arrow.FixedWidthTypes.Date32, "timestamp": &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"},
	"timestamp_ntz": &arrow.TimestampType{Unit: arrow.Microsecond}, "time(6)": arrow.FixedWidthTypes.Time64us, "interval": arrow.FixedWidthTypes.MonthDayNanoInterval,
	"void": arrow.Null,
}

// sparkType spells a type as Spark does.
func sparkType(t arrow.DataType) string {
	switch t := t.(type) {
	case *arrow.Decimal128Type:
		return fmt.Sprintf("decimal(%d,%d)", t.Precision, t.Scale)
	case *arrow.TimestampType:
		if t.TimeZone != "" {
			return "timestamp"
		}
		return "timestamp_ntz"
	case *arrow.MapType:
		return "map<" + sparkType(t.KeyType()) + "," + sparkType(t.ItemType()) + ">"
	case *arrow.StructType:
		fields := make([]string, t.NumFields())
		for i, f := range t.Fields() {
			fields[i] = f.Name + ":" + sparkType(f.Type)
		}
		return "struct<" + strings.Join(fields, ",") + ">"
	case arrow.ListLikeType:
		return "array<" + sparkType(t.Elem()) + ">"
	}
	for name, other := range sparkTypes {
		if arrow.TypeEqual(t, other) {
			return name
		}
	}
	return t.String()
}

// arrowType reads a type of one of the table's columns.
func arrowType(t *testing.T, name string) arrow.DataType {
	t.Helper()
	if inner, ok := strings.CutPrefix(name, "array<"); ok {
		return arrow.ListOf(arrowType(t, strings.TrimSuffix(inner, ">")))
	}
	if inner, ok := strings.CutPrefix(name, "map<"); ok {
		key, value, _ := strings.Cut(strings.TrimSuffix(inner, ">"), ",")
		return arrow.MapOf(arrowType(t, key), arrowType(t, value))
	}
	if inner, ok := strings.CutPrefix(name, "struct<"); ok {
		var fields []arrow.Field
		for _, f := range strings.Split(strings.TrimSuffix(inner, ">"), ",") {
			field, typ, _ := strings.Cut(f, ":")
			fields = append(fields, arrow.Field{Name: field, Type: arrowType(t, typ), Nullable: true})
		}
		return arrow.StructOf(fields...)
	}
	var precision, scale int32
	if n, _ := fmt.Sscanf(name, "decimal(%d,%d)", &precision, &scale); n == 2 {
		return &arrow.Decimal128Type{Precision: precision, Scale: scale}
	}
	if sparkTypes[name] == nil {
		t.Fatalf("a column of the type %s", name)
	}
	return sparkTypes[name]
}

// sparkValue spells a value as make.py does: times and dates are whole numbers since 1970, bytes are hexadecimal, maps lists of pairs.
func sparkValue(a arrow.Array, i int) any {
	if a.IsNull(i) || a.DataType().ID() == arrow.NULL {
		return nil
	}
	switch a := a.(type) {
	case *array.Boolean:
		return a.Value(i)
	case *array.Float32:
		return floatText(float64(a.Value(i)), 32)
	case *array.Float64:
		return floatText(a.Value(i), 64)
	case *array.Decimal128:
		return a.Value(i).ToString(a.DataType().(*arrow.Decimal128Type).Scale)
	case *array.Binary:
		return hex.EncodeToString(a.Value(i))
	case *array.Date32:
		return json.Number(strconv.Itoa(int(a.Value(i))))
	case *array.Timestamp:
		return json.Number(strconv.FormatInt(int64(a.Value(i)), 10))
	case *array.MonthDayNanoInterval:
		v := a.Value(i)
		return []any{v.Months, v.Days, v.Nanoseconds / 1000}
	case *array.Map:
		out := []any{}
		for from, to := a.ValueOffsets(i); from < to; from++ {
			out = append(out, []any{sparkValue(a.Keys(), int(from)), sparkValue(a.Items(), int(from))})
		}
		return out
	case array.ListLike:
		out := []any{}
		for from, to := a.ValueOffsets(i); from < to; from++ {
			out = append(out, sparkValue(a.ListValues(), int(from)))
		}
		return out
	case *array.Struct:
		out := []any{}
		for f := range a.NumField() {
			out = append(out, sparkValue(a.Field(f), i))
		}
		return out
	case *array.Int8, *array.Int16, *array.Int32, *array.Int64, *array.Uint8, *array.Uint16, *array.Uint32, *array.Uint64:
		return json.Number(a.ValueStr(i))
	case *array.Time64:
		return json.Number(strconv.FormatInt(int64(a.Value(i)), 10))
	}
	return a.ValueStr(i)
}

// floatText spells a number of some bits as Python does the text that Java has for it.
func floatText(f float64, bits int) string {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return strings.ToLower(strings.TrimPrefix(strconv.FormatFloat(f, 'g', -1, 64), "+"))
	}
	text := strconv.FormatFloat(f, 'e', -1, bits)
	_, e, _ := strings.Cut(text, "e")
	if n, _ := strconv.Atoi(e); n >= -4 && n < 16 {
		text = strconv.FormatFloat(f, 'f', -1, bits)
		if !strings.Contains(text, ".") {
			text += ".0"
		}
	}
	return text
}

// shortFloats spells recorded floats with the fewest digits that give them back, of which not every Java has as few.
func shortFloats(types []string, row []any) []any {
	out := slices.Clone(row)
	for i, v := range row {
		if text, ok := v.(string); ok && i < len(types) && types[i] == "float" {
			if f, err := strconv.ParseFloat(text, 32); err == nil {
				out[i] = floatText(f, 32)
			}
		}
	}
	return out
}

// newTableOf makes a table of values as make.py spells them.
func newTableOf(t *testing.T, rows [][]any, fields ...arrow.Field) *memoryTable {
	for i := range fields {
		fields[i].Metadata = arrow.NewMetadata([]string{scan.FieldIDKey}, []string{strconv.Itoa(i + 1)})
		fields[i].Nullable = true
	}
	m := &memoryTable{schema: arrow.NewSchema(fields, nil)}
	b := array.NewRecordBuilder(memory.DefaultAllocator, m.schema)
	for _, row := range rows {
		for i, v := range row {
			appendSpark(t, b.Field(i), v)
		}
	}
	m.batches = []arrow.RecordBatch{b.NewRecordBatch()}
	return m
}

// appendSpark adds a value as make.py spells it.
func appendSpark(t *testing.T, b array.Builder, v any) {
	t.Helper()
	if v == nil {
		b.AppendNull()
		return
	}
	var err error
	switch b := b.(type) {
	case *array.StructBuilder:
		b.Append(true)
		for i, f := range v.([]any) {
			appendSpark(t, b.FieldBuilder(i), f)
		}
	case *array.MapBuilder:
		b.Append(true)
		for _, pair := range v.([]any) {
			appendSpark(t, b.KeyBuilder(), pair.([]any)[0])
			appendSpark(t, b.ItemBuilder(), pair.([]any)[1])
		}
	case *array.ListBuilder:
		b.Append(true)
		for _, e := range v.([]any) {
			appendSpark(t, b.ValueBuilder(), e)
		}
	case *array.BooleanBuilder:
		b.Append(v.(bool))
	case *array.StringBuilder:
		b.Append(v.(string))
	case *array.BinaryBuilder:
		var raw []byte
		raw, err = hex.DecodeString(v.(string))
		b.Append(raw)
	case *array.Date32Builder:
		b.Append(arrow.Date32(integer(t, v)))
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(integer(t, v)))
	case *array.Decimal128Builder:
		var n decimal128.Num
		typ := b.Type().(*arrow.Decimal128Type)
		n, err = decimal128.FromString(v.(string), typ.Precision, typ.Scale)
		b.Append(n)
	default:
		err = b.AppendValueFromString(fmt.Sprint(v))
	}
	if err != nil {
		t.Fatal(err)
	}
}

func integer(t *testing.T, v any) int64 {
	n, err := v.(json.Number).Int64()
	if err != nil {
		t.Fatal(err)
	}
	return n
}
