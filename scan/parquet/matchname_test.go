package parquet

import (
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/kernels"
)

func TestFieldsAreFoundByNameInAnyCase(t *testing.T) {
	// The file has ids, of other fields: they play no role.
	f := fileOf(t, []arrow.Field{field(2, "ID", i32, true), field(1, "other", utf8, true),
		field(3, "s", arrow.StructOf(field(4, "B", i32, true), field(5, "a", i32, true)), true), field(7, "x", i32, true), field(8, "X", i32, true)}, `[{"ID": 1}]`)
	want := []arrow.Field{field(1, "id", i64, true), field(3, "S", arrow.StructOf(field(9, "A", i64, true), field(10, "c", i32, true)), true), field(2, "gone", utf8, true)}
	got, err := f.MatchNames(want)
	if err != nil {
		t.Fatal(err)
	}
	if !got[0].Present || got[0].Column.Root != 0 || !got[1].Present || got[1].Column.Root != 2 || got[2].Present {
		t.Errorf("%+v", got)
	}
	inside := got[1].Column.Node.Children
	if len(inside) != 2 || inside[0].Kind != kernels.Leaf || inside[0].Leaf != 3 || inside[1].Kind != kernels.Missing {
		t.Errorf("%+v", inside)
	}
	if _, err := f.MatchNames([]arrow.Field{field(1, "x", i32, true)}); !fault.Is(err, fault.Unsupported) || !strings.Contains(err.Error(), "x and X") {
		t.Errorf("two fields of one name: %v", err)
	}
	if _, err := f.MatchNames([]arrow.Field{field(1, "id", utf8, true)}); !fault.Is(err, fault.Unsupported) || !strings.Contains(err.Error(), "column id") {
		t.Errorf("another type: %v", err)
	}
}

// TestOldLayoutsAreFoundByName: lists and maps as Hive, Avro and Thrift wrote them.
func TestOldLayoutsAreFoundByName(t *testing.T) {
	leaf := func(name string, r parquet.Repetition) schema.Node {
		n, err := schema.NewPrimitiveNode(name, r, parquet.Types.Int32, -1, -1)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	group := func(name string, r parquet.Repetition, converted schema.ConvertedType, fields ...schema.Node) schema.Node {
		n, err := schema.NewGroupNodeConverted(name, r, schema.FieldList(fields), converted, -1)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	optional, repeated, required := parquet.Repetitions.Optional, parquet.Repetitions.Repeated, parquet.Repetitions.Required
	none, list, keyed := schema.ConvertedTypes.None, schema.ConvertedTypes.List, schema.ConvertedTypes.Map
	root, err := buildTree(schema.NewSchema(group("root", required, none,
		group("HiveList", optional, list, group("bag", repeated, none, leaf("array_element", optional))),
		group("avrolist", optional, list, leaf("array", repeated)),
		group("thrift", optional, list, group("thrift_tuple", repeated, none, leaf("F", optional))),
		group("m", optional, keyed, group("map", repeated, none, leaf("key", required), group("value", optional, none, leaf("V", optional)))),
		leaf("Bare", repeated)).(*schema.GroupNode)))
	if err != nil {
		t.Fatal(err)
	}
	element := func(id int, typ arrow.DataType) arrow.DataType {
		return arrow.ListOfField(field(id, "element", typ, true))
	}
	want := []arrow.Field{field(1, "hivelist", element(11, i32), true), field(2, "AvroList", element(12, i32), true), field(3, "Thrift", element(13, arrow.StructOf(field(14, "f", i32, true))), true),
		field(4, "M", arrow.MapOfFields(field(15, "key", i32, false), field(16, "value", arrow.StructOf(field(17, "v", i32, true)), true)), true), field(5, "bare", element(18, i32), true)}
	named, err := byName(want, root)
	if err != nil {
		t.Fatal(err)
	}
	f := &File{footer: &footer{root: root}}
	got, err := f.match(matcher{root: named}, want)
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range got {
		if !m.Present || len(m.Column.Leaves) == 0 || m.Column.Root != i {
			t.Errorf("%s: %+v", want[i].Name, m)
		}
	}
	for column, id := range map[int]int{2: 14, 3: 17} {
		inside := got[column].Column.Node.Children
		value := inside[len(inside)-1]
		if len(value.Children) != 1 || value.Children[0].Kind != kernels.Leaf {
			t.Errorf("%s: field %d is not there: %+v", want[column].Name, id, value)
		}
	}
}
