//go:build cgo

package duckdb

import (
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// TestParametersWhoseTypeNobodySays wants columns for drivers before anything is bound.
func TestParametersWhoseTypeNobodySays(t *testing.T) {
	f := newFixture(t)
	for _, sql := range []string{
		"SELECT id * ? FROM orders",
		"SELECT ? + id, status FROM orders",
		"SELECT status || ? FROM orders",
		"SELECT max(?) FROM orders",
		"SELECT round(id / 2.0, ?) FROM orders",
		"VALUES (?)",
	} {
		p, err := f.run.Compile(t.Context(), f.query(sql, nil))
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		if p.Schema() == nil || p.Schema().NumFields() == 0 || p.Parameters().NumFields() != 1 || p.Parameters().Field(0).Name != "parameter_1" {
			t.Errorf("%s: columns %v, parameters %v", sql, p.Schema(), p.Parameters())
		}
		p.Close()
	}
}

// TestParametersKeepTypesAndValues of every type of Iceberg's, and of NULL in it.
func TestParametersKeepTypesAndValues(t *testing.T) {
	f := newFixture(t)
	nanos, zonedNanos := &arrow.TimestampType{Unit: arrow.Nanosecond}, &arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "UTC"}
	for _, c := range []struct {
		typ  arrow.DataType
		json string
		sent arrow.DataType // nil: the same
	}{
		{arrow.FixedWidthTypes.Boolean, "true", nil}, {arrow.PrimitiveTypes.Int32, "-7", nil}, {arrow.PrimitiveTypes.Int64, "1", nil}, {arrow.PrimitiveTypes.Float32, "1.5", nil},
		{arrow.PrimitiveTypes.Float64, "1.5", nil}, {arrow.FixedWidthTypes.Date32, `"2024-01-02"`, nil}, {arrow.FixedWidthTypes.Time64us, `"01:02:03.000004"`, nil},
		{&arrow.TimestampType{Unit: arrow.Microsecond}, `"2024-01-02T03:04:05.123456"`, nil}, {arrow.FixedWidthTypes.Timestamp_us, `"2024-01-02T03:04:05.123456Z"`, nil},
		{nanos, `"2024-01-02T03:04:05.123456789"`, nil}, {zonedNanos, `"2024-01-02T03:04:05.123456789Z"`, nil}, {zonedNanos, `"1969-12-31T23:59:59.999999999Z"`, nil},
		{arrow.BinaryTypes.String, `"it's"`, nil}, {extensions.NewUUIDType(), `"f79c3e09-677c-4bbd-a479-3f349cb785e7"`, nil}, {arrow.BinaryTypes.Binary, `"AQI="`, nil},
		{&arrow.FixedSizeBinaryType{ByteWidth: 2}, `"AQI="`, arrow.BinaryTypes.Binary}, {&arrow.Decimal128Type{Precision: 9, Scale: 2}, `"1.25"`, nil},
		{&arrow.Decimal128Type{Precision: 38, Scale: 10}, `"1.2500000000"`, nil}, {arrow.ListOf(nanos), `["2024-01-02T03:04:05.123456789",null]`, nil},
		{arrow.ListOf(zonedNanos), `["2024-01-02T03:04:05.123456789Z",null]`, nil}, {arrow.MapOf(arrow.BinaryTypes.String, zonedNanos), `[{"key":"a","value":"2024-01-02T03:04:05.123456789Z"}]`, nil},
		{arrow.StructOf(arrow.Field{Name: "x", Type: nanos, Nullable: true}, arrow.Field{Name: "y", Type: zonedNanos, Nullable: true}),
			`{"x":"2024-01-02T03:04:05.123456789","y":"2024-01-02T03:04:05.123456789Z"}`, nil},
	} {
		if c.sent == nil {
			c.sent = c.typ
		}
		for _, value := range []string{c.json, "null"} {
			schema := arrow.NewSchema([]arrow.Field{{Name: "p", Type: c.typ, Nullable: true}}, nil)
			args, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, strings.NewReader(`[{"p": `+value+`}]`))
			if err != nil {
				t.Fatal(err)
			}
			p, err := f.run.Compile(t.Context(), f.query("SELECT x, count(*) AS n FROM (SELECT ? AS x) GROUP BY x", args))
			if err != nil {
				t.Errorf("%s %s: %v", c.typ, value, err)
				continue
			}
			if got := p.Schema().Field(0).Type; !arrow.TypeEqual(got, c.sent) {
				t.Errorf("%s %s is sent as %s", c.typ, value, got)
			}
			got, err := rowsOf(t, p.(*program))
			got = strings.Join(strings.Fields(got), "")
			if want := `[{"n":1,"x":` + value + `}]`; err != nil || got != strings.ReplaceAll(want, "1.2500000000", "1.25") {
				t.Errorf("%s: %s, %v; want %s", c.typ, got, err, want)
			}
			args.Release()
		}
	}
}
