package shell

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

func sample() arrow.RecordBatch {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "n", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		{Name: "s", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "d", Type: &arrow.Decimal128Type{Precision: 9, Scale: 2}, Nullable: true},
		{Name: "b", Type: arrow.BinaryTypes.Binary, Nullable: true},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	b.Field(0).(*array.Int64Builder).AppendValues([]int64{1, 20, 0}, []bool{true, true, false})
	b.Field(1).(*array.StringBuilder).AppendValues([]string{"a,\"b\"", "", "x\ny\x1b"}, nil)
	for _, v := range []int64{242000, 5, -1} {
		b.Field(2).(*array.Decimal128Builder).Append(decimal128.FromI64(v))
	}
	b.Field(3).(*array.BinaryBuilder).AppendValues([][]byte{{1, 255}, nil, {}}, []bool{true, false, true})
	return b.NewRecordBatch()
}

func TestFormats(t *testing.T) {
	batch := sample()
	defer batch.Release()
	for format, parts := range map[string][]string{
		"table": {"2420.00 | 01ff", "   0.05 | NULL", "x⏎y ", "(3 rows)"},
		"csv":   {"n,s,d,b\r\n1,\"a,\"\"b\"\"\",2420.00,01ff\r\n20,\"\",0.05,\r\n,\"x\ny\x1b\",-0.01,\"\"\r\n"},
		"json":  {`"b":"Af8="`, `"s":"a,\"b\""`, `"n":null`},
	} {
		var out bytes.Buffer
		o := formats[format](&out)
		for _, err := range []error{o.start(batch.Schema()), o.batch(batch, newProgress(nil, time.Time{})), o.end()} {
			if err != nil {
				t.Fatal(err)
			}
		}
		for _, part := range parts {
			if !strings.Contains(out.String(), part) {
				t.Errorf("%s lacks %q:\n%s", format, part, out.String())
			}
		}
		if format == "table" && strings.ContainsRune(out.String(), '\x1b') {
			t.Error("an escape reaches the terminal")
		}
	}
}

func TestArrowReadsBack(t *testing.T) {
	batch := sample()
	defer batch.Release()
	var out bytes.Buffer
	o := formats["arrow"](&out)
	for _, err := range []error{o.start(batch.Schema()), o.batch(batch, nil), o.end()} {
		if err != nil {
			t.Fatal(err)
		}
	}
	r, err := ipc.NewReader(&out)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	if !r.Next() || !array.RecordEqual(r.RecordBatch(), batch) {
		t.Error("another batch came back")
	}
}
