//go:build cgo

package duckdb

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/engine/syntax"
)

// recordedTypes are Spark's names of types without parts.
var recordedTypes = map[string]arrow.DataType{"void": arrow.Null, "boolean": arrow.FixedWidthTypes.Boolean, "tinyint": arrow.PrimitiveTypes.Int8, "smallint": arrow.PrimitiveTypes.Int16,
	"int": arrow.PrimitiveTypes.Int32, "bigint": arrow.PrimitiveTypes.Int64, "float": arrow.PrimitiveTypes.Float32, "double": arrow.PrimitiveTypes.Float64,
	"string": arrow.BinaryTypes.String, "binary": arrow.BinaryTypes.Binary, "date": arrow.FixedWidthTypes.Date32, "timestamp": arrow.FixedWidthTypes.Timestamp_us,
	"timestamp_ntz": &arrow.TimestampType{Unit: arrow.Microsecond}}

// recordedType spells a type as Spark does.
func recordedType(t arrow.DataType) string {
	switch t := t.(type) {
	case *arrow.StructType:
		var fields []string
		for _, f := range t.Fields() {
			fields = append(fields, f.Name+":"+recordedType(f.Type))
		}
		return "struct<" + strings.Join(fields, ",") + ">"
	case *arrow.MapType:
		return "map<" + recordedType(t.KeyType()) + "," + recordedType(t.ItemType()) + ">"
	case *arrow.ListType:
		return "array<" + recordedType(t.Elem()) + ">"
	case *arrow.Decimal128Type:
		return fmt.Sprintf("decimal(%d,%d)", t.Precision, t.Scale)
	case *arrow.MonthDayNanoIntervalType:
		return "interval"
	}
	for name, of := range recordedTypes {
		if arrow.TypeEqual(of, t) {
			return name
		}
	}
	return t.String()
}

// typeOfRecorded gives the type of a name of Spark's; what has no type here travels as text.
func typeOfRecorded(name string) arrow.DataType {
	p := syntax.NewParser(name)
	t, err := p.TypeName()
	if err != nil {
		return arrow.BinaryTypes.String
	}
	return typeOfName(t)
}

func typeOfName(t syntax.TypeName) arrow.DataType {
	switch t.Name {
	case "array":
		return arrow.ListOf(typeOfName(t.Args[0]))
	case "map":
		return arrow.MapOf(typeOfName(t.Args[0]), typeOfName(t.Args[1]))
	case "struct":
		var fields []arrow.Field
		for _, f := range t.Fields {
			fields = append(fields, arrow.Field{Name: f.Name.Text, Type: typeOfName(f.Type), Nullable: true})
		}
		return arrow.StructOf(fields...)
	case "decimal":
		return &arrow.Decimal128Type{Precision: int32(t.Params[0]), Scale: int32(t.Params[1])}
	}
	if of, ok := recordedTypes[t.Name]; ok {
		return of
	}
	return arrow.BinaryTypes.String
}

// readableByArrow gives a recorded value as Arrow's JSON has it.
func readableByArrow(v any, t arrow.DataType) any {
	switch v := v.(type) {
	case json.Number:
		if t.ID() == arrow.DECIMAL128 {
			return v.String()
		}
	case map[string]any:
		m, ok := t.(*arrow.MapType)
		if !ok {
			out := map[string]any{}
			for i, f := range t.(*arrow.StructType).Fields() {
				out[f.Name] = readableByArrow(v[f.Name], t.(*arrow.StructType).Field(i).Type)
			}
			return out
		}
		out := []any{}
		for key, value := range v {
			out = append(out, map[string]any{"key": keyOfObject(key, m.KeyType()), "value": readableByArrow(value, m.ItemType())})
		}
		return out
	case []any:
		out := []any{}
		for _, e := range v {
			out = append(out, readableByArrow(e, t.(*arrow.ListType).Elem()))
		}
		return out
	case string:
		if stamp, ok := t.(*arrow.TimestampType); ok && stamp.TimeZone != "" {
			return v + "Z"
		}
	}
	return v
}

// keyOfObject gives a key of a map, which a JSON object has as a text.
func keyOfObject(key string, t arrow.DataType) any {
	if t.ID() == arrow.STRING {
		return key
	}
	return json.Number(key)
}

// recordedValue gives a value, as Arrow or the recorded JSON has it, one form: numbers are json.Number, floats float64, times and bytes texts.
func recordedValue(v any, t arrow.DataType) any {
	if v == nil {
		return nil
	}
	switch t := t.(type) {
	case *arrow.StructType:
		return recordedStruct(v, t)
	case *arrow.MapType:
		return recordedMap(v, t)
	case *arrow.ListType:
		out := []any{}
		for _, e := range decodedJSON(v).([]any) {
			out = append(out, recordedValue(e, t.Elem()))
		}
		return out
	}
	text := fmt.Sprint(v)
	switch t.ID() {
	case arrow.FLOAT32, arrow.FLOAT64:
		size := map[arrow.Type]int{arrow.FLOAT32: 32, arrow.FLOAT64: 64}[t.ID()]
		f, err := strconv.ParseFloat(text, size)
		if err != nil {
			return text
		}
		return recordedFloat(f)
	case arrow.TIMESTAMP:
		text = strings.TrimSuffix(strings.Replace(text, "T", " ", 1), "Z")
		if head, tail, ok := strings.Cut(text, "."); ok {
			if tail = strings.TrimRight(tail, "0"); tail == "" {
				return head
			}
			return head + "." + tail
		}
	case arrow.BINARY, arrow.FIXED_SIZE_BINARY:
		if b, ok := v.([]byte); ok {
			return base64.StdEncoding.EncodeToString(b)
		}
	case arrow.BOOL, arrow.STRING:
	case arrow.DECIMAL128:
		if r, ok := new(big.Rat).SetString(text); ok {
			return r.FloatString(int(t.(*arrow.Decimal128Type).Scale))
		}
	}
	return text
}

// recordedFloat keeps what JSON has no numbers for apart.
func recordedFloat(f float64) any {
	if math.IsNaN(f) || math.IsInf(f, 0) || f == 0 && math.Signbit(f) {
		return fmt.Sprint(f)
	}
	return f
}

// decodedJSON gives raw JSON as values.
func decodedJSON(v any) any {
	raw, ok := v.(json.RawMessage)
	if !ok {
		return v
	}
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	var out any
	if d.Decode(&out) != nil {
		return string(raw)
	}
	return out
}

func recordedStruct(v any, t *arrow.StructType) any {
	object, ok := decodedJSON(v).(map[string]any)
	if !ok {
		return v
	}
	out := []any{}
	for _, f := range t.Fields() {
		out = append(out, recordedValue(object[f.Name], f.Type))
	}
	return out
}

func recordedMap(v any, t *arrow.MapType) any {
	out := map[string]any{}
	switch v := decodedJSON(v).(type) {
	case map[string]any:
		for key, value := range v {
			out[fmt.Sprint(recordedValue(key, t.KeyType()))] = recordedValue(value, t.ItemType())
		}
	case []any:
		for _, entry := range v {
			e, _ := entry.(map[string]any)
			out[fmt.Sprint(recordedValue(e["key"], t.KeyType()))] = recordedValue(e["value"], t.ItemType())
		}
	}
	return out
}

// sameRecorded compares values of one form. Floats may differ in their last digits: they are sums in another order.
func sameRecorded(a, b any) bool {
	switch a := a.(type) {
	case float64:
		f, ok := b.(float64)
		return ok && (a == f || math.Abs(a-f) <= 1e-12*math.Max(math.Abs(a), math.Abs(f)))
	case []any:
		other, ok := b.([]any)
		if !ok || len(a) != len(other) {
			return false
		}
		for i := range a {
			if !sameRecorded(a[i], other[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		other, ok := b.(map[string]any)
		if !ok || len(a) != len(other) {
			return false
		}
		for key := range a {
			if !sameRecorded(a[key], other[key]) {
				return false
			}
		}
		return true
	}
	return a == b
}
