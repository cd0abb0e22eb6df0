package oracle

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/conformance"
)

const lines = `{"kind": "table", "table": "o.t"}
{"kind": "generics", "schema": "table {\n  1: t: optional time\n}", "rows": [["10:15"], [null]]}
{"kind": "query", "id": "rows", "sql": "SELECT * FROM o.t", "ordered": false, "schema": "struct<a:int,b:bigint>", "columns": [["a", "int", true], ["b", "bigint", false]], "rows": [[1, "2"], [null, "-3"]]}
{"kind": "query", "id": "ordered", "sql": "SELECT * FROM o.t", "ordered": true, "schema": "struct<a:int,b:bigint>", "columns": [["a", "int", true], ["b", "bigint", false]], "rows": [[1, "2"], [null, "-3"]]}
{"kind": "query", "id": "corrected", "sql": "SELECT * FROM o.t", "schema": "struct<a:int,b:bigint>", "columns": [["a", "int", true], ["b", "bigint", false]], "rows": [[1, "2"]]}
{"kind": "query", "id": "decided", "sql": "SELECT * FROM o.t", "schema": "struct<a:int>", "columns": [["a", "int", true]], "rows": [[1]]}
{"kind": "query", "id": "error", "sql": "SELECT nope", "error": {"condition": "UNRESOLVED", "message": "no nope"}}
{"kind": "query", "id": "limit", "sql": "SELECT t", "error": {"message": "Spark does not support time"}}
{"kind": "query", "id": "whole", "sql": "SELECT * FROM o.t", "error": {"message": "x"}, "reference_defect": "y"}
{"kind": "query", "id": "about", "sql": "SELECT * FROM o.t.files", "error": {"message": "x"}, "reference_defect": "y"}
{"kind": "query", "id": "nothing", "sql": "RESET", "schema": "struct<>", "columns": [], "rows": []}
{"kind": "query", "id": "set", "sql": "SET k=v", "schema": "struct<key:string>", "columns": [["key", "string", false]], "rows": [["k"]]}
{"id": "option", "options": {"b": "it's", "a": 1}, "table": "o.t", "keep": "x > 1", "schema": "struct<a:int>", "columns": [["a", "int", true]], "rows": [[1]]}
`

func sampleSuite(t *testing.T) *Suite {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"expected/o.t.jsonl": lines,
		"corrections.jsonl":  `{"id": "corrected", "rows": [[1, "2"], [null, "-3"]], "why": "rows were lost"}`,
		"deviations.jsonl":   `{"id": "decided", "why": "as we please"}`,
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// answerOf makes an answer of one batch from columns and Arrow's JSON.
func answerOf(t *testing.T, json string, fields ...arrow.Field) *conformance.Answer {
	t.Helper()
	schema := arrow.NewSchema(fields, nil)
	b, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, strings.NewReader(json))
	if err != nil {
		t.Fatal(err)
	}
	a := &conformance.Answer{Schema: schema, Batches: []arrow.RecordBatch{b}}
	t.Cleanup(a.Release)
	return a
}

func TestJudge(t *testing.T) {
	s := sampleSuite(t)
	ids := map[string]*Recorded{}
	for i := range s.Files[0].Answers {
		ids[s.Files[0].Answers[i].ID] = &s.Files[0].Answers[i]
	}
	a, b := arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int32, Nullable: true}, arrow.Field{Name: "b", Type: arrow.PrimitiveTypes.Int64}
	long := arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int64, Nullable: true}
	clock := arrow.Field{Name: "t", Type: arrow.FixedWidthTypes.Time64us, Nullable: true}
	const right, turned, less = `[{"a":1,"b":2},{"b":-3}]`, `[{"b":-3},{"a":1,"b":2}]`, `[{"a":1,"b":2}]`
	for name, c := range map[string]struct {
		id   string
		got  *conformance.Answer
		err  error
		want Class
	}{
		"the same":             {"rows", answerOf(t, right, a, b), nil, Equal},
		"another order":        {"rows", answerOf(t, turned, a, b), nil, Equal},
		"order matters":        {"ordered", answerOf(t, turned, a, b), nil, Wrong},
		"fewer rows":           {"rows", answerOf(t, less, a, b), nil, Wrong},
		"a row twice":          {"rows", answerOf(t, `[{"a":1,"b":2},{"a":1,"b":2},{"b":-3}]`, a, b), nil, Wrong},
		"another type":         {"rows", answerOf(t, right, long, b), nil, Wrong},
		"another column":       {"rows", answerOf(t, `[{"b":2}]`, b), nil, Wrong},
		"unsupported":          {"rows", nil, errors.New("windows are not supported"), Refused},
		"another error":        {"rows", nil, errors.New("file gone"), Failed},
		"taken for an update":  {"rows", &conformance.Answer{Update: true}, nil, Wrong},
		"corrected":            {"corrected", answerOf(t, right, a, b), nil, Equal},
		"the reference's rows": {"corrected", answerOf(t, less, a, b), nil, Wrong},
		"decided":              {"decided", answerOf(t, `[{"a":2}]`, a), nil, Decided},
		"error as due":         {"error", nil, errors.New("whatever"), ErrorOK},
		"rows for an error":    {"error", answerOf(t, right, a, b), nil, Wrong},
		"beyond":               {"limit", answerOf(t, right, a, b), nil, Beyond},
		"generic rows":         {"whole", answerOf(t, `[{"t":"10:15:00"},{}]`, clock), nil, Equal},
		"other generic rows":   {"whole", answerOf(t, `[{"t":"10:15:01"},{}]`, clock), nil, Wrong},
		"a table about it":     {"about", answerOf(t, `[{"t":"10:15:01"}]`, clock), nil, Beyond},
		"no columns":           {"nothing", answerOf(t, `[{"b":0}]`, b), nil, Equal},
		"rows for nothing":     {"nothing", answerOf(t, right, a, b), nil, Wrong},
		"an effect":            {"nothing", &conformance.Answer{Update: true}, nil, Equal},
		"an effect with echo":  {"set", &conformance.Answer{Update: true}, nil, Equal},
		"an effect, error due": {"error", &conformance.Answer{Update: true}, nil, Wrong},
	} {
		t.Run(name, func(t *testing.T) {
			if class, notes := s.judge(&s.Files[0], ids[c.id], c.got, c.err, conformance.Renames{}); class != c.want {
				t.Errorf("%s, expected %s: %s", class, c.want, strings.Join(notes, "; "))
			}
		})
	}
	if sql, _ := ids["option"].statement(); sql != "SELECT * FROM o.t WITH (`a` = '1', `b` = 'it\\'s') WHERE x > 1" {
		t.Error(sql)
	}
}

func TestTypes(t *testing.T) {
	list := func(e arrow.DataType) arrow.DataType { return arrow.ListOf(e) }
	field := func(name string, t arrow.DataType) arrow.Field {
		return arrow.Field{Name: name, Type: t, Nullable: true}
	}
	i32, text, utc := arrow.PrimitiveTypes.Int32, arrow.BinaryTypes.String, arrow.FixedWidthTypes.Timestamp_us
	naive := &arrow.TimestampType{Unit: arrow.Microsecond}
	for _, c := range []struct {
		text string
		typ  arrow.DataType
		fits bool
	}{
		{"int", i32, true},
		{"int", arrow.PrimitiveTypes.Int64, false},
		{"string", &arrow.DictionaryType{IndexType: i32, ValueType: text}, true},
		{"timestamp", utc, true}, {"timestamp", naive, false}, {"timestamp_ntz", naive, true}, {"timestamp_ntz", utc, false},
		{"timestamp", arrow.FixedWidthTypes.Timestamp_ns, false},
		{"decimal(9,2)", &arrow.Decimal128Type{Precision: 9, Scale: 2}, true},
		{"decimal(9,2)", &arrow.Decimal128Type{Precision: 10, Scale: 2}, false},
		{"array<int>", list(i32), true}, {"array<int>", list(text), false},
		{"map<string,int>", arrow.MapOf(text, i32), true}, {"map<string,int>", arrow.MapOf(text, text), false},
		{"struct<a:int,b:array<string>>", arrow.StructOf(field("a", i32), field("b", list(text))), true},
		{"struct<a:int,b:int>", arrow.StructOf(field("b", i32), field("a", i32)), false},
		{"struct<a,b:x:int,c>d:string>", arrow.StructOf(field("a,b:x", i32), field("c>d", text)), true},
		{"struct<`a:b`:int>", arrow.StructOf(field("a:b", i32)), true},
		{"struct<>", arrow.StructOf(), true},
		{"geography", text, false},
	} {
		if d := parseType(c.text).differs(c.typ); (d == "") != c.fits {
			t.Errorf("%s as %s: %q", c.text, c.typ, d)
		}
	}
}

func TestValues(t *testing.T) {
	for _, c := range []struct {
		text, json, want string
		typ              arrow.DataType
	}{
		{"double", `[{"x":-0.0}]`, `"-0x0p+00"`, arrow.PrimitiveTypes.Float64},
		{"float", `[{"x":1.5}]`, `"0x1.8p+00"`, arrow.PrimitiveTypes.Float32},
		{"decimal(9,2)", `[{"x":"-0.05"}]`, `"-0.05"`, &arrow.Decimal128Type{Precision: 9, Scale: 2}},
		{"bigint", `[{"x":9007199254740993}]`, `"9007199254740993"`, arrow.PrimitiveTypes.Int64},
		{"binary", `[{"x":"AP8="}]`, `"AP8="`, arrow.BinaryTypes.Binary},
		{"timestamp", `[{"x":"1969-12-31T23:59:59.999999Z"}]`, `"-1"`, arrow.FixedWidthTypes.Timestamp_us},
		{"map<string,int>", `[{"x":[{"key":"b","value":1},{"key":"a","value":2}]}]`, `[["a",2],["b",1]]`, arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int32)},
		{"void", `[{"x":null}]`, `null`, arrow.Null},
		{"string", `[{"x":"00000000-0000-4000-8000-000000000001"}]`, `"00000000-0000-4000-8000-000000000001"`, extensions.NewUUIDType()},
		{"array<int>", `[{"x":[1,null]}]`, `[1,null]`, arrow.ListOf(arrow.PrimitiveTypes.Int32)},
	} {
		got := answerOf(t, c.json, arrow.Field{Name: "x", Type: c.typ, Nullable: true})
		v, err := parseType(c.text).valueOf(got.Batches[0].Column(0), 0)
		if err != nil || text(v) != c.want {
			t.Errorf("%s %s: %s, %v", c.text, c.json, text(v), err)
		}
	}
	for recorded, want := range map[string]string{"nan": `"nan"`, "0x1.8000000000000p+0": `"0x1.8p+00"`, "-0x0.0p+0": `"-0x0p+00"`, "-inf": `"-inf"`} {
		if got := text(parseType("double").normal(recorded)); got != want {
			t.Errorf("%s: %s", recorded, got)
		}
	}
	if !isClose([]any{"0x1.0000000000001p+00"}, []any{"0x1p+00"}) || isClose([]any{"0x1.1p+00"}, []any{"0x1p+00"}) {
		t.Error("floats are close in their last bits only")
	}
}

func TestRename(t *testing.T) {
	r := conformance.NewRenames([]conformance.Rename{{From: "o", To: "lake"}, {From: "o.a", To: "other.b"}}, []conformance.Rename{{From: "file:/x", To: "s3://y"}})
	for sql, want := range map[string]string{
		"SELECT o FROM o.t":        "SELECT lake FROM lake.t",
		"SELECT * FROM o.a":        "SELECT * FROM other.b",
		"SELECT * FROM o.a.b":      "SELECT * FROM other.b.b",
		"SELECT 'o.t', \"o\\\"o\"": "SELECT 'o.t', \"o\\\"o\"",
		"SELECT x.o, `o` FROM oo":  "SELECT x.o, `o` FROM oo",
		"SELECT 'it''s o' FROM o":  "SELECT 'it''s o' FROM lake",
		"SELECT 'open":             "SELECT 'open",
	} {
		if got := r.SQL(sql); got != want {
			t.Errorf("%s: %s", sql, got)
		}
	}
	if got := text(r.Value([]any{"file:/x/o/t", "o.t", "my-o", nil})); got != `["s3://y/o/t","lake.t","my-o",null]` {
		t.Error(got)
	}
}

func TestCounts(t *testing.T) {
	r := &Report{Verdicts: []Verdict{{File: "a", Class: Equal}, {File: "a", Class: Wrong}, {File: "b", Class: Equal}}}
	var out strings.Builder
	r.WriteCounts(&out)
	counts, err := ParseCounts("# comment\n" + out.String())
	if err != nil || counts["a"][Equal] != 1 || counts["a"][Wrong] != 1 || counts["all"][Equal] != 2 {
		t.Errorf("%v, %v", counts, err)
	}
	for _, bad := range []string{"a equal", "a equal=x", "a nonsense=1"} {
		if _, err := ParseCounts(bad); err == nil {
			t.Errorf("%q must not be read", bad)
		}
	}
}

func TestLoadRefuses(t *testing.T) {
	dir := t.TempDir()
	if _, err := Load(dir); err == nil {
		t.Error("an empty folder holds no answers")
	}
	if err := os.WriteFile(filepath.Join(dir, "x.jsonl"), []byte("{}\n{nonsense\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("got %v", err)
	}
}
