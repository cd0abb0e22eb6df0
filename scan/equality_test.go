package scan

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/resource"
)

const idAndName = `{"id":1,"name":"id","required":false,"type":"int"},{"id":2,"name":"s","required":false,"type":"string"}`

var (
	int32Type, int64Type = arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64
	textType             = arrow.BinaryTypes.String
	idAndNameFields      = []arrow.Field{withID(1, "id", int32Type), withID(2, "s", textType)}
	idOnly, nameOnly     = idAndNameFields[:1], idAndNameFields[1:]
)

func TestEqualityDeletesTakeNullForNullOnly(t *testing.T) {
	m := makeTable(t, idAndName)
	m.commit(madeFile{fields: idAndNameFields, rows: `[{"id":1,"s":null},{"id":2,"s":"x"},{"id":3,"s":"y"}]`})
	m.commit(madeFile{fields: nameOnly, rows: `[{"s":"x"}]`, keys: []int{2}})
	m.want("id,s", `[1,null]`, `[3,"y"]`)
	m.commit(madeFile{fields: nameOnly, rows: `[{"s":null}]`, keys: []int{2}})
	m.want("id", `[3]`)
	m.want("id,_pos,_deleted", `[1,"0",true]`, `[2,"1",true]`, `[3,"2",false]`)
}

func TestEqualityDeletesAreForOlderDataOnly(t *testing.T) {
	m := makeTable(t, idAndName)
	m.commit(madeFile{fields: idAndNameFields, rows: `[{"id":1,"s":"old"}]`})
	m.commit(madeFile{fields: idAndNameFields, rows: `[{"id":1,"s":"same"}]`}, madeFile{fields: idOnly, rows: `[{"id":1}]`, keys: []int{1}})
	m.want("s", `["same"]`)
	m.commit(madeFile{fields: idAndNameFields, rows: `[{"id":1,"s":"new"}]`})
	m.want("s", `["new"]`, `["same"]`)
	m.commit(madeFile{fields: idOnly, rows: `[{"id":1}]`, keys: []int{1}})
	m.want("s")
}

func TestEqualityDeletesOfSeveralColumnsAndSets(t *testing.T) {
	m := makeTable(t, idAndName)
	m.commit(madeFile{fields: idAndNameFields, rows: `[{"id":1,"s":"a"},{"id":1,"s":"b"},{"id":2,"s":"a"},{"id":3,"s":null},{"id":null,"s":"c"},{"id":4,"s":"ab"}]`})
	m.commit(madeFile{fields: idAndNameFields, rows: `[{"id":1,"s":"a"},{"id":3,"s":null},{"id":2,"s":null}]`, keys: []int{2, 1}},
		madeFile{fields: idOnly, rows: `[{"id":4}]`, keys: []int{1}})
	m.want("id,s", `[1,"b"]`, `[2,"a"]`, `[null,"c"]`)
	m.want("s,id", `["b",1]`, `["a",2]`, `["c",null]`)
	m.want("s", `["b"]`, `["a"]`, `["c"]`)
}

func TestEqualityDeletesOutliveTheirColumns(t *testing.T) {
	dropped := `{"id":1,"name":"id","required":false,"type":"int"}`
	readded := dropped + `,{"id":3,"name":"s","required":false,"type":"string"}`
	renamed := `{"id":1,"name":"id","required":false,"type":"int"},{"id":2,"name":"other","required":false,"type":"string"}`
	for name, now := range map[string]string{"dropped": dropped, "dropped and added again": readded, "renamed": renamed} {
		t.Run(name, func(t *testing.T) {
			m := makeTable(t, idAndName, now)
			m.commit(madeFile{fields: idAndNameFields, rows: `[{"id":1,"s":"x"},{"id":2,"s":"y"}]`})
			m.commit(madeFile{fields: nameOnly, rows: `[{"s":"x"}]`, keys: []int{2}})
			m.want("id", `[2]`)
		})
	}
}

func TestEqualityDeletesFollowPromotions(t *testing.T) {
	long := strings.Replace(idAndName, `"int"`, `"long"`, 1)
	m := makeTable(t, idAndName, long)
	wide := []arrow.Field{withID(1, "id", int64Type), withID(2, "s", textType)}
	m.commit(madeFile{fields: idAndNameFields, rows: `[{"id":1,"s":"int"},{"id":2,"s":"int"},{"id":-3,"s":"int"}]`})
	m.commit(madeFile{fields: wide, rows: `[{"id":1,"s":"long"},{"id":4294967298,"s":"long"},{"id":3,"s":"long"}]`})
	m.commit(madeFile{fields: idOnly, rows: `[{"id":1}]`, keys: []int{1}}, madeFile{fields: wide[:1], rows: `[{"id":2},{"id":-3}]`, keys: []int{1}})
	m.want("id,s", `["3","long"]`, `["4294967298","long"]`)
}

func TestEqualityDeletesSeeDefaults(t *testing.T) {
	m := makeTable(t, `{"id":1,"name":"id","required":false,"type":"int"}`, idAndName[:len(idAndName)-1]+`,"initial-default":"was"}`)
	m.commit(madeFile{fields: idOnly, rows: `[{"id":1},{"id":2}]`})
	m.commit(madeFile{fields: idAndNameFields, rows: `[{"id":3,"s":"x"},{"id":4,"s":null}]`})
	m.want("id,s", `[1,"was"]`, `[2,"was"]`, `[3,"x"]`, `[4,null]`)
	m.commit(madeFile{fields: nameOnly, rows: `[{"s":"was"}]`, keys: []int{2}})
	m.want("id", `[3]`, `[4]`)
}

func TestEqualityDeletesByAFieldInAStruct(t *testing.T) {
	m := makeTable(t, `{"id":1,"name":"id","required":false,"type":"int"},{"id":2,"name":"st","required":false,"type":{"type":"struct","fields":[
		{"id":3,"name":"a","required":false,"type":"int"},{"id":4,"name":"b","required":false,"type":"string"}]}}`)
	whole := []arrow.Field{withID(1, "id", int32Type), withID(2, "st", arrow.StructOf(withID(3, "a", int32Type), withID(4, "b", textType)))}
	part := []arrow.Field{withID(2, "st", arrow.StructOf(withID(3, "a", int32Type)))}
	m.commit(madeFile{fields: whole, rows: `[{"id":1,"st":{"a":1,"b":"x"}},{"id":2,"st":{"a":2,"b":"y"}},{"id":3,"st":null},{"id":4,"st":{"a":null,"b":"z"}}]`})
	m.commit(madeFile{fields: part, rows: `[{"st":{"a":1}}]`, keys: []int{3}})
	m.want("id,st", `[2,[2,"y"]]`, `[3,null]`, `[4,[null,"z"]]`)
	m.want("st.b", `["y"]`, `["z"]`, `[null]`)
	m.commit(madeFile{fields: part, rows: `[{"st":{"a":null}}]`, keys: []int{3}})
	m.want("id", `[2]`)
}

func TestEqualityDeletesStayInTheirPartition(t *testing.T) {
	m := makeTable(t, idAndName)
	m.specs = []string{`{"source-id":2,"field-id":1000,"name":"s","transform":"identity"}`, ``, `{"source-id":2,"field-id":1000,"name":"s","transform":"identity"},{"source-id":1,"field-id":1001,"name":"v","transform":"void"}`}
	x, y := map[int]any{1000: "x"}, map[int]any{1000: "y"}
	m.commit(madeFile{fields: idAndNameFields, rows: `[{"id":1,"s":"x"},{"id":2,"s":"x"}]`, partition: x}, madeFile{fields: idAndNameFields, rows: `[{"id":1,"s":"y"},{"id":2,"s":"y"}]`, partition: y},
		madeFile{fields: idAndNameFields, rows: `[{"id":1,"s":"none"}]`, spec: 1}, madeFile{fields: idAndNameFields, rows: `[{"id":1,"s":"x"}]`, partition: x, spec: 2})
	m.commit(madeFile{fields: idOnly, rows: `[{"id":1}]`, keys: []int{1}, partition: x})
	m.want("id,s,_spec_id", `[1,"none",1]`, `[1,"x",2]`, `[1,"y",0]`, `[2,"x",0]`, `[2,"y",0]`)
	m.commit(madeFile{fields: idOnly, rows: `[{"id":2}]`, keys: []int{1}, spec: 1})
	m.want("id,s,_spec_id", `[1,"none",1]`, `[1,"x",2]`, `[1,"y",0]`)
}

func TestEqualityDeletesWithManyKeys(t *testing.T) {
	var rows, keys []string
	for i := range 30000 {
		rows = append(rows, fmt.Sprintf(`{"id":%d,"s":"row %d"}`, i, i))
		if i%3 != 0 {
			keys = append(keys, fmt.Sprintf(`{"s":"row %d"}`, i))
		}
	}
	m := makeTable(t, idAndName)
	m.commit(madeFile{fields: idAndNameFields, rows: "[" + strings.Join(rows, ",") + "]"})
	m.commit(madeFile{fields: nameOnly, rows: "[" + strings.Join(keys, ",") + "]", keys: []int{2}})
	got, err := m.read("id")
	if err != nil || len(got) != 10000 || !slices.Contains(got, "[29997]") || slices.Contains(got, "[29998]") {
		t.Errorf("%d rows are left, %v", len(got), err)
	}
}

func TestEqualityDeletesThatCannotBeApplied(t *testing.T) {
	data := madeFile{fields: idAndNameFields, rows: `[{"id":1,"s":"x"}]`}
	bare := arrow.Field{Name: "s", Type: textType, Nullable: true}
	for name, c := range map[string]struct {
		deletes madeFile
		kind    fault.Kind
		text    string
	}{
		"a key that no schema has": {madeFile{fields: nameOnly, rows: `[{"s":"x"}]`, keys: []int{77}}, fault.Corrupt, "77"},
		"a key the file lacks":     {madeFile{fields: idOnly, rows: `[{"id":1}]`, keys: []int{2}}, fault.Corrupt, "lacks the column s"},
		"a file without ids":       {madeFile{fields: []arrow.Field{bare}, rows: `[{"s":"x"}]`, keys: []int{2}}, fault.Corrupt, "no field ids"},
		"no keys":                  {madeFile{fields: nameOnly, rows: `[{"s":"x"}]`, keys: []int{}}, fault.Corrupt, "which columns"},
	} {
		t.Run(name, func(t *testing.T) {
			m := makeTable(t, idAndName)
			m.commit(data)
			m.commit(c.deletes)
			if got, err := m.read("id"); !fault.Is(err, c.kind) || !strings.Contains(err.Error(), c.text) {
				t.Errorf("%s, %v", got, err)
			}
		})
	}
}

func TestEqualityDeletesThatAreGoneFailTheScan(t *testing.T) {
	m := makeTable(t, idAndName)
	m.commit(madeFile{fields: idAndNameFields, rows: `[{"id":1,"s":"x"}]`})
	m.commit(madeFile{fields: nameOnly, rows: `[{"s":"x"}]`, keys: []int{2}})
	if err := os.Remove(filepath.Join(m.dir, "00002.parquet")); err != nil {
		t.Fatal(err)
	}
	if got, err := m.read("id"); !fault.Is(err, fault.Corrupt) {
		t.Errorf("%s, %v", got, err)
	}
}

func TestDeletesAreBounded(t *testing.T) {
	m := makeTable(t, idAndName)
	m.commit(madeFile{fields: idAndNameFields, rows: `[{"id":1,"s":"x"}]`})
	m.commit(madeFile{fields: nameOnly, rows: `[{"s":"` + strings.Repeat("x", 4096) + `"}]`, keys: []int{2}})
	table := m.open()
	table.scanner.config.DeleteMemory = 2048
	source, err := table.Source(t.Context(), Reference{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = readAll(t.Context(), source, Request{Fields: []int{1}, Limit: -1}); !fault.Is(err, fault.Exhausted) {
		t.Errorf("4 KiB of keys in 2: %v", err)
	}
}

func TestOneEqualityDeleteFileIsReadOnce(t *testing.T) {
	m := makeTable(t, idAndName)
	for i := range 20 {
		m.commit(madeFile{fields: idAndNameFields, rows: fmt.Sprintf(`[{"id":%d,"s":"x"},{"id":%d,"s":"y"}]`, i, i)})
	}
	m.commit(madeFile{fields: nameOnly, rows: `[{"s":"x"}]`, keys: []int{2}})
	size, err := os.Stat(filepath.Join(m.dir, "00021.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	statement := resource.NewPool(resource.Config{Cores: 4}).NewStatement("")
	ctx := resource.With(t.Context(), statement)
	source, err := m.open().Source(ctx, Reference{})
	if err != nil {
		t.Fatal(err)
	}
	batch, err := readAll(ctx, source, Request{Fields: []int{1}, Limit: -1, Options: []Option{{Name: "split-size", Value: "1"}}})
	if err != nil {
		t.Fatal(err)
	}
	defer batch.Release()
	if read := statement.Counters.DeleteBytes.Load(); batch.NumRows() != 20 || read > 2*size.Size() {
		t.Errorf("%d rows; %d bytes of a delete file of %d were read", batch.NumRows(), read, size.Size())
	}
}

func TestKeysAreIcebergs(t *testing.T) {
	floats := func(values ...float64) arrow.Array {
		b := array.NewFloat64Builder(memory.DefaultAllocator)
		defer b.Release()
		b.AppendValues(values, nil)
		return b.NewArray()
	}
	otherNaN := math.Float64frombits(0xfff8000000000001)
	a := floats(math.NaN(), otherNaN, 0, math.Copysign(0, -1), math.Inf(1))
	defer a.Release()
	var keys []string
	for i := range a.Len() {
		key, err := appendKey(nil, a, i)
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, string(key))
	}
	if keys[0] != keys[1] {
		t.Error("one NaN is not another")
	}
	slices.Sort(keys)
	if got := len(slices.Compact(keys)); got != 4 {
		t.Errorf("%d distinct keys of NaN, 0.0, -0.0 and infinity", got)
	}
}

func TestKeySet(t *testing.T) {
	s := newKeySet()
	for i := range 10000 {
		s.add([]byte(fmt.Sprint(i)), int64(i%7))
		s.add([]byte(fmt.Sprint(i)), 3)
	}
	for i := range 10000 {
		if got, ok := s.sequence([]byte(fmt.Sprint(i))); !ok || got != int64(max(i%7, 3)) {
			t.Fatalf("key %d: %d, %v", i, got, ok)
		}
	}
	if _, ok := s.sequence([]byte("10000")); ok || s.keys != 10000 || s.size() > 10000*80 {
		t.Errorf("%v, %d keys in %d bytes", ok, s.keys, s.size())
	}
}
