package parquet

import (
	"bytes"
	"encoding/binary"
	"reflect"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// TestLogicalTypesThatNobodyKnows turns a column's logical type into one of a number that the format has not given out, and into none at all. The
// column is read as it is stored, and so are the others.
func TestLogicalTypesThatNobodyKnows(t *testing.T) {
	json := schema.MustPrimitive(schema.NewPrimitiveNodeLogical("odd", parquet.Repetitions.Required, schema.JSONLogicalType{}, parquet.Types.ByteArray, -1, -1))
	root := schema.MustGroup(schema.NewGroupNode("table", parquet.Repetitions.Required, schema.FieldList{json, leafNode("plain", parquet.Repetitions.Required)}, -1))
	var out bytes.Buffer
	w := file.NewParquetWriter(&out, root)
	group := w.AppendRowGroup()
	for _, write := range []func(file.ColumnChunkWriter) error{
		func(c file.ColumnChunkWriter) error {
			_, err := c.(*file.ByteArrayColumnChunkWriter).WriteBatch([]parquet.ByteArray{[]byte("{}"), []byte("[]")}, nil, nil)
			return err
		},
		func(c file.ColumnChunkWriter) error {
			_, err := c.(*file.Int32ColumnChunkWriter).WriteBatch([]int32{1, 2}, nil, nil)
			return err
		},
	} {
		c, err := group.NextColumn()
		if err == nil {
			err = write(c)
		}
		if err == nil {
			err = c.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := group.Close(); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	whole := out.Bytes()
	length := int(binary.LittleEndian.Uint32(whole[len(whole)-8:]))
	body, footer := whole[:len(whole)-8-length], whole[len(whole)-8-length:len(whole)-8]
	known := []byte{12<<4 | thriftStruct, 0, 0} // member 12 of the union, a structure without fields, and the end of the union
	if bytes.Count(footer, known) != 1 {
		t.Fatalf("the footer has JSON %d times", bytes.Count(footer, known))
	}
	for name, member := range map[string][]byte{"reserved": {9<<4 | thriftStruct, 0, 0}, "of the future": {thriftStruct, 200, 1, 0, 0}, "none": {0}} {
		changed := bytes.Replace(footer, known, member, 1)
		file := append(append(bytes.Clone(body), changed...), binary.LittleEndian.AppendUint32(nil, uint32(len(changed)))...)
		f := openBytes(t, append(file, "PAR1"...))
		got := readRows(t, f, []arrow.Field{field(1, "odd", arrow.BinaryTypes.Binary, false), field(2, "plain", i32, false)}, nil)
		if want := []string{`["7b7d",1]`, `["5b5d",2]`}; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
