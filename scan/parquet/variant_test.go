package parquet

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/apache/arrow-go/v18/parquet/variant"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/kernels"
	ours "github.com/skua-data/skua/variant"
)

// shreddedAs is the type of a field that holds a value or a shredded one.
func shreddedAs(t arrow.DataType) arrow.DataType {
	return arrow.StructOf(arrow.Field{Name: "value", Type: arrow.BinaryTypes.Binary, Nullable: true}, arrow.Field{Name: "typed_value", Type: t, Nullable: true})
}

var shreddings = map[string]arrow.DataType{
	"numbers": arrow.PrimitiveTypes.Int64,
	"texts":   arrow.BinaryTypes.String,
	"doubles": arrow.PrimitiveTypes.Float64,
	"bools":   arrow.FixedWidthTypes.Boolean,
	"objects": arrow.StructOf(arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int64}, arrow.Field{Name: "b", Type: arrow.BinaryTypes.String}),
	"nested": arrow.StructOf(arrow.Field{Name: "a", Type: arrow.BinaryTypes.String},
		arrow.Field{Name: "c", Type: arrow.StructOf(arrow.Field{Name: "x", Type: arrow.FixedWidthTypes.Boolean})}),
}

// anything makes a value as JSON knows them.
func anything(rnd *rand.Rand, depth int) any {
	switch n := rnd.IntN(9); {
	case n == 0:
		return nil
	case n == 1:
		return rnd.IntN(2) == 0
	case n == 2:
		return rnd.Int64N(1<<40) - 1<<39
	case n == 3:
		return float64(rnd.IntN(1000)) / 8
	case n < 6 || depth == 0:
		return strings.Repeat("é", rnd.IntN(50))
	case n == 6:
		list := make([]any, rnd.IntN(4))
		for i := range list {
			list[i] = anything(rnd, depth-1)
		}
		return list
	}
	object := map[string]any{}
	for _, name := range []string{"c", "a", "x", "b", "long name"} {
		if rnd.IntN(2) == 0 {
			object[name] = anything(rnd, depth-1)
		}
	}
	return object
}

// writeVariants writes a file of one shredded column, and gives its values as arrow-go has them.
func writeVariants(t *testing.T, typed arrow.DataType, rnd *rand.Rand) ([]byte, []string) {
	t.Helper()
	typ := extensions.NewShreddedVariantType(typed)
	b := extensions.NewVariantBuilder(memory.DefaultAllocator, typ)
	defer b.Release()
	for range 200 {
		if rnd.IntN(10) == 0 {
			b.AppendNull()
			continue
		}
		var vb variant.Builder
		if err := vb.Append(anything(rnd, 3)); err != nil {
			t.Fatal(err)
		}
		v, err := vb.Build()
		if err != nil {
			t.Fatal(err)
		}
		b.Append(v)
	}
	a := b.NewArray().(*extensions.VariantArray)
	defer a.Release()
	var want []string
	for i := range a.Len() {
		if a.Storage().IsNull(i) {
			want = append(want, "")
			continue
		}
		v, err := a.Value(i)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, asText(t, v))
	}
	return writeColumn(t, a), want
}

// writeColumn writes a file of the column v, which has the id 1.
func writeColumn(t *testing.T, a arrow.Array) []byte {
	t.Helper()
	schema := arrow.NewSchema([]arrow.Field{{Name: "v", Type: a.DataType(), Nullable: true, Metadata: fieldMetadata(1)}}, nil)
	var out bytes.Buffer
	w, err := pqarrow.NewFileWriter(schema, &out, nil, pqarrow.DefaultWriterProps())
	if err != nil {
		t.Fatal(err)
	}
	batch := array.NewRecordBatch(schema, []arrow.Array{a}, int64(a.Len()))
	defer batch.Release()
	if err := w.Write(batch); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func fieldMetadata(id int) arrow.Metadata {
	return arrow.NewMetadata([]string{fieldIDKey}, []string{fmt.Sprint(id)})
}

// asText writes a value with an object's fields in the order of their names.
func asText(t *testing.T, v variant.Value) string {
	t.Helper()
	var parts []string
	switch x := v.Value().(type) {
	case variant.ArrayValue:
		for e := range x.Values() {
			parts = append(parts, asText(t, e))
		}
		return "[" + strings.Join(parts, ",") + "]"
	case variant.ObjectValue:
		for name, e := range x.Values() {
			parts = append(parts, fmt.Sprintf("%q:%s", name, asText(t, e)))
		}
		slices.Sort(parts)
		return "{" + strings.Join(parts, ",") + "}"
	}
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func readVariants(t *testing.T, raw []byte, mem memory.Allocator) (arrow.Array, error) {
	t.Helper()
	f := openBytes(t, raw)
	defer f.Close()
	m, err := f.Match([]arrow.Field{{Name: "v", Type: VariantType(), Nullable: true, Metadata: fieldMetadata(1)}}, nil)
	if err != nil {
		return nil, err
	}
	if !m[0].Present || len(m[0].Variants) != 1 {
		t.Fatalf("matched as %+v", m[0])
	}
	d := NewFallback()
	defer d.Close()
	r, err := d.Open(t.Context(), f.RowGroup(0, []kernels.Column{m[0].Column}))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	rows := f.Rows()
	batch, err := r.Read(t.Context(), []int{0}, kernels.All(rows), 0, rows)
	if err != nil {
		return nil, err
	}
	defer batch.Release()
	return m[0].Variants[0].Unshred(batch.Column(0), mem)
}

func TestShreddedVariants(t *testing.T) {
	for name, typed := range shreddings {
		t.Run(name, func(t *testing.T) {
			raw, want := writeVariants(t, typed, rand.New(rand.NewPCG(7, 8)))
			checked := memory.NewCheckedAllocator(memory.DefaultAllocator)
			defer checked.AssertSize(t, 0)
			a, err := readVariants(t, raw, checked)
			if err != nil {
				t.Fatal(err)
			}
			defer a.Release()
			compareVariants(t, a, want)
		})
	}
}

func compareVariants(t *testing.T, a arrow.Array, want []string) {
	t.Helper()
	if !arrow.TypeEqual(a.DataType(), VariantType()) || a.Len() != len(want) {
		t.Fatalf("%d values of %s", a.Len(), a.DataType())
	}
	s := a.(*array.Struct)
	for i, w := range want {
		if s.IsNull(i) != (w == "") {
			t.Errorf("value %d: null is %v", i, s.IsNull(i))
		}
		if s.IsNull(i) {
			continue
		}
		v, err := variant.New(s.Field(0).(*array.Binary).Value(i), s.Field(1).(*array.Binary).Value(i))
		if err != nil {
			t.Fatalf("value %d: %v", i, err)
		}
		if got := asText(t, v); got != w {
			t.Errorf("value %d is %s, want %s", i, got, w)
		}
	}
}

// TestShreddedScalarsAndLists reads every type that may be shredded, alone and in a list of lists.
func TestShreddedScalarsAndLists(t *testing.T) {
	metadata := base64.StdEncoding.EncodeToString([]byte{1, 0, 0})
	untyped := base64.StdEncoding.EncodeToString([]byte{codeInt8 << 2, 42})
	for _, c := range []struct {
		typ        arrow.DataType
		json, want string
	}{
		{arrow.FixedWidthTypes.Boolean, "false", "false"},
		{arrow.PrimitiveTypes.Int8, "-7", "-7"},
		{arrow.PrimitiveTypes.Int16, "-700", "-700"},
		{arrow.PrimitiveTypes.Int32, "-70000", "-70000"},
		{arrow.PrimitiveTypes.Int64, "1099511627776", "1099511627776"},
		{arrow.PrimitiveTypes.Float32, "0.5", "0.5"},
		{arrow.PrimitiveTypes.Float64, "-1.25", "-1.25"},
		{&arrow.Decimal128Type{Precision: 9, Scale: 2}, `"-12.34"`, "-12.34"},
		{&arrow.Decimal128Type{Precision: 38, Scale: 5}, `"123456789012345678901234567890.12345"`, "123456789012345678901234567890.12345"},
		{arrow.FixedWidthTypes.Date32, `"1969-12-31"`, `"1969-12-31"`},
		{arrow.FixedWidthTypes.Time64us, `"10:11:12.000013"`, `"10:11:12.000013Z"`},
		{&arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}, `"2020-01-02 03:04:05.000006Z"`, `"2020-01-02 03:04:05.000006Z"`},
		{&arrow.TimestampType{Unit: arrow.Microsecond}, `"2020-01-02 03:04:05.000006"`, `"2020-01-02 03:04:05.000006Z"`},
		{&arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "UTC"}, `"2020-01-02 03:04:05.000000006Z"`, `"2020-01-02 03:04:05.000000006Z"`},
		{arrow.BinaryTypes.String, `"short"`, `"short"`},
		{arrow.BinaryTypes.String, `"` + strings.Repeat("long", 20) + `"`, `"` + strings.Repeat("long", 20) + `"`},
		{arrow.BinaryTypes.Binary, `"AAEC"`, `"AAEC"`},
		{extensions.NewUUIDType(), `"00010203-0405-0607-0809-0a0b0c0d0e0f"`, `"00010203-0405-0607-0809-0a0b0c0d0e0f"`},
	} {
		t.Run(c.typ.String(), func(t *testing.T) {
			element := shreddedAs(c.typ)
			outer := shreddedAs(arrow.ListOf(shreddedAs(arrow.ListOf(element)))).(*arrow.StructType)
			typ := arrow.StructOf(append([]arrow.Field{{Name: "metadata", Type: arrow.BinaryTypes.Binary}}, outer.Fields()...)...)
			inner := fmt.Sprintf(`[{"typed_value": %s}, {"value": "%s"}, {}]`, c.json, untyped)
			text := fmt.Sprintf(`[null, {"metadata": "%[1]s", "value": "%[2]s"}, {"metadata": "%[1]s"}, {"metadata": "%[1]s", "typed_value": [{"typed_value": %[3]s}, {"typed_value": []}, {"value": "%[2]s"}]}]`,
				metadata, untyped, inner)
			a, _, err := array.FromJSON(memory.DefaultAllocator, typ, strings.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			defer a.Release()
			got, err := readVariants(t, writeColumn(t, a), memory.DefaultAllocator)
			if err != nil {
				t.Fatal(err)
			}
			defer got.Release()
			compareVariants(t, got, []string{"", "42", "null", fmt.Sprintf("[[%s,42,null],[],42]", c.want)})
		})
	}
}

func TestVariantsThatBreakTheFormat(t *testing.T) {
	object := appendObject(nil, []part{{"b", 1, variantNull}, {"a", 0, []byte{codeTrue << 2}}})
	if got, err := objectParts(object, []string{"a", "b"}); err != nil || !reflect.DeepEqual(got, []part{{"a", 0, []byte{codeTrue << 2}}, {"b", 1, variantNull}}) {
		t.Errorf("taken apart: %v, %v", got, err)
	}
	for cut := range object {
		if _, err := objectParts(object[:cut], []string{"a", "b"}); !fault.Is(err, fault.Corrupt) {
			t.Errorf("%d of %d bytes: %v", cut, len(object), err)
		}
	}
	if _, err := objectParts(object, []string{"a"}); !fault.Is(err, fault.Corrupt) {
		t.Errorf("a field without a name: %v", err)
	}
	for _, metadata := range [][]byte{nil, {1}, {2, 0, 0}, {1, 9, 0}, {1, 1, 0, 5}, {1, 1, 4, 0, 'a'}} {
		if _, err := ours.Names(metadata); !fault.Is(err, fault.Corrupt) {
			t.Errorf("metadata %v: %v", metadata, err)
		}
	}
}

func FuzzVariantParts(f *testing.F) {
	f.Add(appendObject(nil, []part{{"b", 1, variantNull}, {"a", 0, []byte{codeTrue << 2}}}), []byte{1, 2, 0, 1, 2, 'a', 'b'})
	f.Fuzz(func(t *testing.T, value, metadata []byte) {
		n, err := ours.Names(metadata)
		if err != nil {
			return
		}
		parts, err := objectParts(value, n)
		if err != nil {
			return
		}
		_ = appendObject(nil, parts)
	})
}
