package parquet

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/kernels/kernelstest"
)

var (
	utf8   = arrow.BinaryTypes.String
	i32    = arrow.PrimitiveTypes.Int32
	i64    = arrow.PrimitiveTypes.Int64
	micros = &arrow.TimestampType{Unit: arrow.Microsecond}
	field  = kernelstest.Field
)

// fileOf writes JSON rows as a file.
func fileOf(t *testing.T, fields []arrow.Field, rows string) *File {
	t.Helper()
	batch, _, err := array.RecordFromJSON(memory.DefaultAllocator, arrow.NewSchema(fields, nil), strings.NewReader(rows))
	if err != nil {
		t.Fatal(err)
	}
	defer batch.Release()
	return openBytes(t, kernelstest.Write(t, batch, kernelstest.Layout{}))
}

// without takes the field ids off, at every depth.
func without(fields []arrow.Field) []arrow.Field {
	out := make([]arrow.Field, len(fields))
	for i, f := range fields {
		out[i] = arrow.Field{Name: f.Name, Type: f.Type, Nullable: f.Nullable}
		switch t := f.Type.(type) {
		case *arrow.StructType:
			out[i].Type = arrow.StructOf(without(t.Fields())...)
		case *arrow.ListType:
			out[i].Type = arrow.ListOfField(without([]arrow.Field{t.ElemField()})[0])
		case *arrow.MapType:
			pair := without([]arrow.Field{t.KeyField(), t.ItemField()})
			out[i].Type = arrow.MapOfFields(pair[0], pair[1])
		}
	}
	return out
}

func TestFieldsAreFoundByID(t *testing.T) {
	old := []arrow.Field{
		field(1, "id", i32, false),
		field(2, "s", arrow.StructOf(field(3, "a", i32, true), field(4, "b", utf8, true)), true),
		field(5, "l", arrow.ListOfField(field(6, "element", arrow.StructOf(field(7, "x", i32, true), field(8, "y", arrow.ListOfField(field(9, "element", i32, true)), true)), true)), true),
		field(10, "m", arrow.MapOfFields(field(11, "key", utf8, false), field(12, "value", arrow.StructOf(field(13, "v", arrow.PrimitiveTypes.Float32, true)), true)), true),
	}
	f := fileOf(t, old, `[
		{"id": 1, "s": {"a": 7, "b": "x"}, "l": [{"x": 1, "y": [1, null]}, null], "m": [{"key": "k", "value": {"v": 1.5}}]},
		{"id": 2, "s": null, "l": null, "m": null},
		{"id": 3, "s": {"a": null, "b": null}, "l": [], "m": []},
		{"id": 4, "s": {"a": 8, "b": "y"}, "l": [{"x": null, "y": null}], "m": [{"key": "n", "value": null}]}]`)
	for _, c := range []struct {
		name string
		want []arrow.Field
		rows []string
	}{
		{"renamed, reordered and promoted", []arrow.Field{
			field(2, "struct", arrow.StructOf(field(4, "bee", utf8, true), field(3, "ay", i64, true)), true), field(1, "key", i64, false)},
			[]string{`[["x",7],1]`, `[null,2]`, `[[null,null],3]`, `[["y",8],4]`}},
		{"a child that the file lacks", []arrow.Field{
			field(2, "s", arrow.StructOf(field(40, "c", arrow.ListOf(utf8), true), field(3, "a", i32, true)), true)},
			[]string{`[[null,7]]`, `[null]`, `[[null,null]]`, `[[null,8]]`}},
		{"only children that the file lacks", []arrow.Field{
			field(2, "s", arrow.StructOf(field(40, "c", utf8, true), field(41, "a", i32, true)), true)},
			[]string{`[[null,null]]`, `[null]`, `[[null,null]]`, `[[null,null]]`}},
		{"nothing wanted below a list but what is missing", []arrow.Field{
			field(5, "l", arrow.ListOfField(field(6, "element", arrow.StructOf(field(50, "new", i32, true)), true)), true)},
			[]string{`[[[null],null]]`, `[null]`, `[[]]`, `[[[null]]]`}},
		{"only a list inside the list's struct", []arrow.Field{
			field(5, "l", arrow.ListOfField(field(6, "element", arrow.StructOf(field(8, "y", arrow.ListOfField(field(9, "element", i64, true)), true)), true)), true)},
			[]string{`[[[[1,null]],null]]`, `[null]`, `[[]]`, `[[[null]]]`}},
		{"a map's value widened", []arrow.Field{
			field(10, "m", arrow.MapOfFields(field(11, "key", utf8, false), field(12, "value", arrow.StructOf(field(13, "v", arrow.PrimitiveTypes.Float64, true)), true)), true)},
			[]string{`[[["k",["1.5"]]]]`, `[null]`, `[[]]`, `[[["n",null]]]`}},
		{"a map's value of which nothing is left", []arrow.Field{
			field(10, "m", arrow.MapOfFields(field(11, "key", utf8, false), field(12, "value", arrow.StructOf(field(60, "w", utf8, true)), true)), true)},
			[]string{`[[["k",[null]]]]`, `[null]`, `[[]]`, `[[["n",null]]]`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := readRows(t, f, c.want, nil); !reflect.DeepEqual(got, c.rows) {
				t.Errorf("got %v\nwant %v", got, c.rows)
			}
		})
	}
	matches, err := f.Match([]arrow.Field{field(99, "id", i32, true)}, nil)
	if err != nil || matches[0].Present {
		t.Errorf("a dropped and added field of the same name is found: %v, %v", matches, err)
	}
}

func TestFilesWithoutIDsAreReadByMappingOrPosition(t *testing.T) {
	fields := []arrow.Field{
		field(1, "id", i32, false), field(2, "s", arrow.StructOf(field(3, "a", i32, true), field(4, "b", utf8, true)), true),
		field(5, "l", arrow.ListOfField(field(6, "element", arrow.StructOf(field(7, "x", i32, true)), true)), true),
	}
	f := fileOf(t, without(fields), `[{"id": 1, "s": {"a": 7, "b": "x"}, "l": [{"x": 3}]}, {"id": 2, "s": null, "l": null}]`)
	if f.HasFieldIDs() {
		t.Fatal("the file has ids")
	}
	mapping, err := ParseNameMapping(`[{"field-id": 9, "names": ["id", "key"]}, {"field-id": 8, "names": ["s"], "fields": [{"field-id": 7, "names": ["b"]}]},
		{"field-id": 6, "names": ["l"], "fields": [{"field-id": 5, "names": ["element"], "fields": [{"field-id": 4, "names": ["old", "x"]}]}]}]`)
	if err != nil {
		t.Fatal(err)
	}
	want := []arrow.Field{
		field(6, "l", arrow.ListOfField(field(5, "element", arrow.StructOf(field(4, "y", i64, true)), true)), true), field(9, "key", i32, true),
		field(8, "s", arrow.StructOf(field(7, "bee", utf8, true), field(3, "unmapped", i32, true)), true)}
	if got, rows := readRows(t, f, want, mapping), []string{`[[[3]],1,["x",null]]`, `[null,2,null]`}; !reflect.DeepEqual(got, rows) {
		t.Errorf("by mapping %v, want %v", got, rows)
	}
	want = []arrow.Field{
		field(2, "renamed", arrow.StructOf(field(30, "p", i64, true), field(31, "q", utf8, true)), true), field(1, "first", i64, true),
		field(3, "third", arrow.ListOfField(field(33, "element", arrow.StructOf(field(34, "new", utf8, true), field(35, "x", i32, true)), true)), true)}
	if got, rows := readRows(t, f, want, nil), []string{`[[7,"x"],1,[[null,3]]]`, `[null,2,null]`}; !reflect.DeepEqual(got, rows) {
		t.Errorf("by position %v, want %v", got, rows)
	}
	if matches, err := f.Match([]arrow.Field{field(4, "l", i32, true)}, nil); err != nil || matches[0].Present {
		t.Errorf("a field beyond the last column is found: %v, %v", matches, err)
	}
}

// TestColumnsWithoutIDsAreNamedInFilesThatHaveSome reads a file some of whose columns carry ids: the others are found by the mapping, unless a column
// has the id already.
func TestColumnsWithoutIDsAreNamedInFilesThatHaveSome(t *testing.T) {
	inner := arrow.Field{Name: "b", Type: utf8, Nullable: true}
	f := fileOf(t, []arrow.Field{field(1, "id", i32, false), field(2, "s", arrow.StructOf(inner), true), {Name: "bare", Type: i32, Nullable: true}, {Name: "taken", Type: i32, Nullable: true}},
		`[{"id": 1, "s": {"b": "x"}, "bare": 5, "taken": 6}]`)
	mapping, err := ParseNameMapping(`[{"field-id": 9, "names": ["id"]}, {"field-id": 2, "names": ["s"], "fields": [{"field-id": 3, "names": ["b"]}]},
		{"field-id": 4, "names": ["bare"]}, {"field-id": 1, "names": ["taken"]}]`)
	if err != nil {
		t.Fatal(err)
	}
	want := []arrow.Field{field(1, "id", i32, true), field(2, "s", arrow.StructOf(field(3, "b", utf8, true)), true), field(4, "bare", i32, true)}
	if got, rows := readRows(t, f, want, mapping), []string{`[1,["x"],5]`}; !reflect.DeepEqual(got, rows) {
		t.Errorf("%v, want %v", got, rows)
	}
	if matches, err := f.Match([]arrow.Field{field(9, "nobody", i32, true), field(4, "bare", i32, true)}, nil); err != nil || matches[0].Present || matches[1].Present {
		t.Errorf("columns are found without a mapping: %v, %v", matches, err)
	}
}

func TestNameMappingsAreChecked(t *testing.T) {
	for _, text := range []string{`{`, `[{"field-id": "x"}]`, `[{"field-id": 1, "names": ["a"]}, {"field-id": 2, "names": ["b", "a"]}]`} {
		if _, err := ParseNameMapping(text); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// listFile writes lists of INT32 under a schema of its own: rows [1, 2], null or [], [3].
func listFile(t *testing.T, column schema.Node, def []int16) *File {
	t.Helper()
	root, err := schema.NewGroupNode("table", parquet.Repetitions.Required, schema.FieldList{column}, -1)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w := file.NewParquetWriter(&out, root)
	chunk, err := w.AppendRowGroup().NextColumn()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := chunk.(*file.Int32ColumnChunkWriter).WriteBatch([]int32{1, 2, 3}, def, []int16{0, 1, 0, 0}); err != nil {
		t.Fatal(err)
	}
	if err := chunk.Close(); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return openBytes(t, out.Bytes())
}

func group(name string, r parquet.Repetition, logical schema.LogicalType, fields ...schema.Node) schema.Node {
	return schema.MustGroup(schema.NewGroupNodeLogical(name, r, fields, logical, -1))
}

func leafNode(name string, r parquet.Repetition) schema.Node { return schema.NewInt32Node(name, r, -1) }

func TestListsOfEveryLayout(t *testing.T) {
	req, opt, rep := parquet.Repetitions.Required, parquet.Repetitions.Optional, parquet.Repetitions.Repeated
	list, none := schema.NewListLogicalType(), schema.LogicalType(nil)
	ints := arrow.ListOf(i32)
	points := arrow.ListOf(arrow.StructOf(arrow.Field{Name: "v", Type: i32, Nullable: true}))
	for _, c := range []struct {
		name string
		node schema.Node
		typ  arrow.DataType
		def  []int16 // of 1, 2, the row without entries, and 3
		rows []string
	}{
		{"three levels", group("l", opt, list, group("list", rep, none, leafNode("element", opt))), ints, []int16{3, 3, 0, 3}, []string{`[[1,2]]`, `[null]`, `[[3]]`}},
		{"three levels, empty", group("l", opt, list, group("list", rep, none, leafNode("item", opt))), ints, []int16{3, 3, 1, 3}, []string{`[[1,2]]`, `[[]]`, `[[3]]`}},
		{"three levels with a null element", group("l", opt, list, group("bag", rep, none, leafNode("array_element", opt))), ints, []int16{3, 3, 2, 3}, []string{`[[1,2]]`, `[[null]]`, `[[3]]`}},
		{"required list and element", group("l", req, list, group("list", rep, none, leafNode("element", req))), ints, []int16{1, 1, 0, 1}, []string{`[[1,2]]`, `[[]]`, `[[3]]`}},
		{"two levels", group("l", opt, list, leafNode("element", rep)), ints, []int16{2, 2, 0, 2}, []string{`[[1,2]]`, `[null]`, `[[3]]`}},
		{"bare repeated field", leafNode("l", rep), ints, []int16{1, 1, 0, 1}, []string{`[[1,2]]`, `[[]]`, `[[3]]`}},
		{"array is the element", group("l", opt, list, group("array", rep, none, leafNode("v", opt))), points, []int16{3, 3, 1, 3}, []string{`[[[1],[2]]]`, `[[]]`, `[[[3]]]`}},
		{"tuple is the element", group("l", opt, list, group("l_tuple", rep, none, leafNode("v", req))), points, []int16{2, 2, 0, 2}, []string{`[[[1],[2]]]`, `[null]`, `[[[3]]]`}},
		{"map without values", group("l", opt, schema.MapLogicalType{}, group("key_value", rep, none, leafNode("key", req))), ints, []int16{2, 2, 0, 2}, []string{`[[1,2]]`, `[null]`, `[[3]]`}},
		{"bare repeated group", group("l", rep, none, leafNode("v", opt)), points, []int16{2, 2, 0, 2}, []string{`[[[1],[2]]]`, `[[]]`, `[[[3]]]`}},
		{"struct element of three levels", group("l", opt, list, group("list", rep, none, group("element", opt, none, leafNode("v", opt)))), points,
			[]int16{4, 3, 2, 4}, []string{`[[[1],[null]]]`, `[[null]]`, `[[[2]]]`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := listFile(t, c.node, c.def)
			if got := readRows(t, f, []arrow.Field{field(1, "l", c.typ, true)}, nil); !reflect.DeepEqual(got, c.rows) {
				t.Errorf("got %v, want %v", got, c.rows)
			}
		})
	}
}

func TestPromotions(t *testing.T) {
	decimal := func(p, s int32) arrow.DataType { return &arrow.Decimal128Type{Precision: p, Scale: s} }
	for _, c := range []struct {
		name     string
		from, to arrow.DataType
		rows     string
		want     []string
	}{
		{"date to timestamp", arrow.FixedWidthTypes.Date32, micros, `[{"v": "1969-12-31"}, {"v": null}, {"v": "2020-01-01"}]`, []string{`[-86400000000]`, `[null]`, `[1577836800000000]`}},
		{"wider decimal", decimal(9, 2), decimal(20, 2), `[{"v": "-1.25"}, {"v": null}]`, []string{`["-125"]`, `[null]`}},
		{"narrower decimal whose values fit", decimal(20, 2), decimal(5, 2), `[{"v": "-123.45"}]`, []string{`["-12345"]`}},
		{"millis", &arrow.TimestampType{Unit: arrow.Millisecond}, micros, `[{"v": "1969-12-31 23:59:59.999"}]`, []string{`[-1000]`}},
		{"nanos round down", &arrow.TimestampType{Unit: arrow.Nanosecond}, micros, `[{"v": "1969-12-31 23:59:59.999999999"}]`, []string{`[-1]`}},
		{"micros to nanos", micros, &arrow.TimestampType{Unit: arrow.Nanosecond}, `[{"v": "1970-01-01 00:00:00.000001"}]`, []string{`[1000]`}},
		{"zone follows the table", &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}, micros, `[{"v": "1970-01-01 00:00:01Z"}]`, []string{`[1000000]`}},
		{"small integers", arrow.PrimitiveTypes.Int8, i32, `[{"v": -128}]`, []string{`[-128]`}},
		{"unsigned", arrow.PrimitiveTypes.Uint32, i64, `[{"v": 4294967295}]`, []string{`[4294967295]`}},
		{"text as binary", utf8, arrow.BinaryTypes.Binary, `[{"v": "a"}]`, []string{`["61"]`}},
		{"binary as text", arrow.BinaryTypes.Binary, utf8, `[{"v": "YQ=="}]`, []string{`["a"]`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := fileOf(t, []arrow.Field{field(1, "v", c.from, true)}, c.rows)
			if got := readRows(t, f, []arrow.Field{field(1, "v", c.to, true)}, nil); !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestImpossiblePromotionsNameColumnAndTypes(t *testing.T) {
	f := fileOf(t, []arrow.Field{field(1, "v", i64, true), field(2, "s", arrow.StructOf(field(3, "t", utf8, true)), true)}, `[{"v": 1, "s": {"t": "x"}}]`)
	for _, c := range []struct {
		want  arrow.Field
		parts []string
	}{
		{field(1, "v", i32, true), []string{"column v", "INT64", "int32", "not supported"}},
		{field(1, "v", arrow.ListOf(i64), true), []string{"column v", "list"}},
		{field(2, "s", utf8, true), []string{"column s", "group", "utf8"}},
		{field(2, "s", arrow.StructOf(field(3, "t", i32, true)), true), []string{"column s.t", "BYTE_ARRAY", "int32"}},
		{field(1, "v", &arrow.Decimal128Type{Precision: 18, Scale: 2}, true), []string{"decimal"}},
	} {
		_, err := f.Match([]arrow.Field{c.want}, nil)
		if !fault.Is(err, fault.Unsupported) {
			t.Fatalf("%s: %v", c.want, err)
		}
		for _, part := range append(c.parts, "memory.parquet") {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q lacks %q", err, part)
			}
		}
	}
}
