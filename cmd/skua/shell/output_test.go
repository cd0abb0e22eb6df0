package shell

import (
	"bytes"
	"encoding/json"
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
		{Name: "z", Type: arrow.Null, Nullable: true},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	b.Field(0).(*array.Int64Builder).AppendValues([]int64{1, 9007199254740993, 0}, []bool{true, true, false})
	b.Field(1).(*array.StringBuilder).AppendValues([]string{"a,\"b\"", "", "x<\ny\x1b"}, nil)
	for _, v := range []int64{242000, 5, -1} {
		b.Field(2).(*array.Decimal128Builder).Append(decimal128.FromI64(v))
		b.Field(4).AppendNull()
	}
	b.Field(3).(*array.BinaryBuilder).AppendValues([][]byte{{1, 255}, nil, {}}, []bool{true, false, true})
	return b.NewRecordBatch()
}

// texts is a batch of text columns, of one row for each n-th of the values.
func texts(names []string, values ...string) arrow.RecordBatch {
	fields := make([]arrow.Field, len(names))
	for i, name := range names {
		fields[i] = arrow.Field{Name: name, Type: arrow.BinaryTypes.String}
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
	defer b.Release()
	for i, value := range values {
		b.Field(i % len(names)).(*array.StringBuilder).Append(value)
	}
	return b.NewRecordBatch()
}

func write(t *testing.T, o output, batches ...arrow.RecordBatch) {
	t.Helper()
	errs := []error{o.start(batches[0].Schema())}
	for _, b := range batches {
		errs = append(errs, o.batch(b, newProgress(nil, time.Time{})))
	}
	for _, err := range append(errs, o.end()) {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// in makes an output of a format by name.
func in(format string, out *bytes.Buffer) output {
	s := &shell{config: Config{Format: format, Out: out}}
	return s.newOutput()
}

func TestFormats(t *testing.T) {
	batch := sample()
	defer batch.Release()
	for format, want := range map[string]string{
		"table": "" +
			"               n | s     |       d | b    | z\n" +
			"-----------------+-------+---------+------+-----\n" +
			"               1 | a,\"b\" | 2420.00 | 01ff | NULL\n" +
			"9007199254740993 |       |    0.05 | NULL | NULL\n" +
			"            NULL | x<    |   -0.01 |      | NULL\n" +
			"                 | y     |         |      | \n" +
			"(3 rows)\n",
		"csv": "n,s,d,b,z\r\n1,\"a,\"\"b\"\"\",2420.00,01ff,\r\n9007199254740993,\"\",0.05,,\r\n,\"x<\ny\x1b\",-0.01,\"\",\r\n",
		"json": `{"n":1,"s":"a,\"b\"","d":"2420.00","b":"Af8=","z":null}` + "\n" +
			`{"n":9007199254740993,"s":"","d":"0.05","b":null,"z":null}` + "\n" +
			`{"n":null,"s":"x<\ny\u001b","d":"-0.01","b":"","z":null}` + "\n",
	} {
		var out bytes.Buffer
		write(t, in(format, &out), batch)
		if got := out.String(); got != want {
			t.Errorf("%s:\n%swant\n%s", format, got, want)
		}
	}
}

func TestJSONOfNestedValues(t *testing.T) {
	kind := arrow.StructOf(
		arrow.Field{Name: "l", Type: arrow.ListOf(&arrow.Decimal128Type{Precision: 5, Scale: 1}), Nullable: true},
		arrow.Field{Name: "m", Type: arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Float64), Nullable: true},
		arrow.Field{Name: "t", Type: arrow.FixedWidthTypes.Date32, Nullable: true},
	)
	schema := arrow.NewSchema([]arrow.Field{{Name: "v", Type: kind, Nullable: true}}, nil)
	batch, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, strings.NewReader(
		`[{"v": {"l": ["1.5", null], "m": [{"key": "a&b", "value": 0.25}], "t": "2025-06-01"}}, {"v": {"l": []}}]`))
	if err != nil {
		t.Fatal(err)
	}
	defer batch.Release()
	const first = `{"l":["1.5",null],"m":[{"key":"a&b","value":0.25}],"t":"2025-06-01"}`
	var out bytes.Buffer
	write(t, in("json", &out), batch)
	if got, want := out.String(), `{"v":`+first+"}\n"+`{"v":{"l":[],"m":null,"t":null}}`+"\n"; got != want {
		t.Errorf("%swant\n%s", got, want)
	}
	if got := valueText(batch.Column(0), 0); got != first {
		t.Errorf("as text: %s", got)
	}
}

func TestJSONStringsReadBack(t *testing.T) {
	for _, text := range []string{"", `\"/`, "\x00\x1f\x7f\t\r\n", "<a href=\"x\">&", "日本 \u2028 😀"} {
		var back string
		if err := json.Unmarshal(appendString(nil, text), &back); err != nil || back != text {
			t.Errorf("%q came back as %q: %v", text, back, err)
		}
	}
	if got := string(appendString(nil, "a\xffb")); got != "\"a\ufffdb\"" {
		t.Errorf("broken UTF-8: %s", got)
	}
}

func TestSingleTextStandsAsItIs(t *testing.T) {
	plan := strings.Repeat("x", 300) + "\n\tScan\x1b[31m\n"
	one := texts([]string{"plan"}, plan)
	defer one.Release()
	for _, width := range []int{0, 40} {
		var out bytes.Buffer
		write(t, newTable(&out, width), one)
		if got, want := out.String(), strings.Repeat("x", 300)+"\n    Scan [31m\n"; got != want {
			t.Errorf("width %d:\n%s", width, got)
		}
	}
	two := texts([]string{"plan"}, "a", "b")
	defer two.Release()
	var out bytes.Buffer
	write(t, newTable(&out, 0), two)
	if got := out.String(); got != "plan\n----\na\nb\n(2 rows)\n" {
		t.Errorf("two rows:\n%s", got)
	}
}

func TestTablesKeepToTheTerminal(t *testing.T) {
	batch := texts([]string{"key", "value", "doc"}, "k", strings.Repeat("v", 5000), "日本"+strings.Repeat("語", 50), "k2", "short", "a\nb")
	defer batch.Release()
	for _, width := range []int{10, 30, 80, 200} {
		var out bytes.Buffer
		write(t, newTable(&out, width), batch)
		for line := range strings.Lines(out.String()) {
			if n := displayWidth(strings.TrimSuffix(line, "\n")); n > width {
				t.Errorf("width %d: a line of %d: %s", width, n, line)
			}
		}
		if !strings.Contains(out.String(), "…") {
			t.Errorf("width %d: nothing tells of the cut", width)
		}
	}
	var out bytes.Buffer
	write(t, newTable(&out, 0), batch)
	if strings.Contains(out.String(), "…") || !strings.Contains(out.String(), strings.Repeat("v", 5000)) {
		t.Error("values are cut although there is no terminal")
	}
}

func TestExpanded(t *testing.T) {
	batch := texts([]string{"key", "a"}, "k", "one\ntwo", "k2", strings.Repeat("v", 100))
	defer batch.Release()
	var out bytes.Buffer
	write(t, newExpanded(&out, 20), batch)
	want := "-[ 1 ]---\nkey | k\na   | one\n    | two\n-[ 2 ]--------------\nkey | k2\na   | " + strings.Repeat("v", 100) + "\n(2 rows)\n"
	if out.String() != want {
		t.Errorf("%swant\n%s", out.String(), want)
	}
}

func TestEffectsAreOKForPeopleAndNothingForMachines(t *testing.T) {
	for _, format := range formats {
		for affected, want := range map[int64]string{0: "OK\n", 1: "OK, 1 row affected\n"} {
			if format != "table" {
				want = ""
			}
			var out bytes.Buffer
			if err := in(format, &out).done(affected); err != nil || out.String() != want {
				t.Errorf("%s: %q, %v", format, out.String(), err)
			}
		}
	}
}

func TestArrowReadsBackAndHoldsOneResult(t *testing.T) {
	batch := sample()
	defer batch.Release()
	var out bytes.Buffer
	s := &shell{config: Config{Format: "arrow", Out: &out}}
	if err := s.newOutput().done(0); err != nil {
		t.Fatal(err)
	}
	write(t, s.newOutput(), batch)
	before := out.Len()
	if err := s.newOutput().start(batch.Schema()); err == nil || !strings.Contains(err.Error(), "holds one result") || out.Len() != before {
		t.Errorf("a second result: %v, %d bytes more", err, out.Len()-before)
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
