package scan

import (
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/apache/iceberg-go"

	"github.com/skua-data/skua/fault"
)

func TestTextThatIsNotUTF8FailsByName(t *testing.T) {
	m := makeTable(t, `{"id":1,"name":"id","required":true,"type":"int"},{"id":2,"name":"words","required":false,"type":"string"},{"id":3,"name":"bytes","required":false,"type":"binary"}`)
	m.commit(madeFile{raw: geometryFile(t, schema.StringLogicalType{}, schema.NoLogicalType{}), format: iceberg.ParquetFile, records: 3})
	_, err := m.read("id", "words")
	if !fault.Is(err, fault.Corrupt) || !strings.Contains(err.Error(), "words") || !strings.Contains(err.Error(), "00001.parquet") {
		t.Errorf("%v", err)
	}
	m.want("bytes", `["/w=="]`, `["AQE="]`, `[null]`)
}

// TestPartitionsThatAreNotUTF8FailByName has a file that leaves its column to the partition value.
func TestPartitionsThatAreNotUTF8FailByName(t *testing.T) {
	m := makeTable(t, idAndName)
	m.specs = []string{`{"name":"s","transform":"identity","source-id":2,"field-id":1000}`}
	m.commit(madeFile{fields: idOnly, rows: `[{"id":1}]`, partition: map[int]any{1000: "a\xff"}})
	if _, err := m.read("s"); !fault.Is(err, fault.Corrupt) || !strings.Contains(err.Error(), "00001.parquet") {
		t.Errorf("%v", err)
	}
	m.want("id", `[1]`)
}

func TestTextIsValid(t *testing.T) {
	long := strings.Repeat("plain ", 20)
	for _, c := range []struct {
		values []string
		valid  bool
	}{{nil, true}, {[]string{"", long}, true}, {[]string{"é", "日本語", long}, true}, {[]string{long, "\xff"}, false}, {[]string{"\xe6\x97", "\xa5"}, false}, {[]string{long + "\xc3"}, false}} {
		b := array.NewBinaryBuilder(memory.DefaultAllocator, arrow.BinaryTypes.String)
		for _, v := range c.values {
			b.Append([]byte(v))
		}
		data := b.NewArray().Data()
		a := array.NewStringData(data)
		if textIsValid(a) != c.valid {
			t.Errorf("%q", c.values)
		}
		field := arrow.Field{Name: "s", Type: arrow.BinaryTypes.String}
		for _, typ := range []arrow.DataType{arrow.StructOf(field), arrow.ListOfField(field)} {
			if len(c.values) == 0 {
				continue
			}
			n, buffers := len(c.values), []*memory.Buffer{nil}
			if _, ok := typ.(*arrow.ListType); ok {
				n, buffers = 1, append(buffers, memory.NewBufferBytes(arrow.Int32Traits.CastToBytes([]int32{0, int32(n)})))
			}
			outer := array.MakeFromData(array.NewData(typ, n, buffers, []arrow.ArrayData{data}, 0, 0))
			if textIsValid(outer) != c.valid {
				t.Errorf("%q in %s", c.values, typ)
			}
		}
	}
}
