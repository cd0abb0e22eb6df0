package sparkjson

import "testing"

// TestFind: what get_json_object finds, as Spark 4.1 does.
func TestFind(t *testing.T) {
	for _, c := range []struct{ text, path, want string }{
		{`{"a":{"b":[1,2,{"c":"x"}]}}`, "$.a.b[2].c", "x"}, {`{"a":[1,2,3]}`, "$.a[*]", "[1,2,3]"}, {`{"a":[1]}`, "$.a[*]", "1"}, {`{"a":"x\"y"}`, "$.a", `x"y`},
		{`{"a":1e3}`, "$.a", "1000.0"}, {`{"a":1.50}`, "$.a", "1.5"}, {`{"a": {"b" : 1}}`, "$.a", `{"b":1}`}, {`{"a b":1}`, "$['a b']", "1"}, {`[{"a":1},{"a":2}]`, "$[*].a", "[1,2]"},
		{`[{"a":1},{"b":2}]`, "$[*].a", "1"}, {`[[1,2],[3]]`, "$[*][0]", "[1,3]"}, {`[[1,2],[3]]`, "$[*][*]", "[1,2,3]"}, {`{"a":1}x`, "$.a", "1"}, {`{'a':1}`, "$.a", "1"},
		{`{"a":1,"a":2}`, "$.a", "1"}, {`{"a":["x","y"]}`, "$.a[*]", `["x","y"]`}, {`{"a":[{"b":"x"}]}`, "$.a[*].b", `"x"`}, {`{"a":"\u00e4\ud83d\ude00"}`, "$.a", "ä😀"},
		{`{"a":123456789012345678901234567890}`, "$.a", "123456789012345678901234567890"}, {`{"a":null}`, "$.a", ""}, {`{"a":1`, "$.a", ""}, {`{"a":1}`, "$.b", ""}, {`{"a":1}`, "a", ""},
		{`{"a":1}`, "$.", ""}, {`{"a":01}`, "$.a", ""}, {`{"a":NaN}`, "$.a", ""}, {`{"a":1,}`, "$.a", ""}, {"", "$", ""}, {`"x"`, "$", "x"},
	} {
		got := ""
		if v, err := Parse(c.text, false); err == nil {
			if path, ok := ParsePath(c.path); ok {
				got, _ = path.Find(v)
			}
		}
		if got != c.want {
			t.Errorf("%s in %s: %q, want %q", c.path, c.text, got, c.want)
		}
	}
}

// TestSchema: what schema_of_json gives.
func TestSchema(t *testing.T) {
	for text, want := range map[string]string{
		`{"b":1,"a":"x"}`: "STRUCT<a: STRING, b: BIGINT>", `[{"a":1.5},{"a":null}]`: "ARRAY<STRUCT<a: DOUBLE>>", `[1,"a"]`: "ARRAY<STRING>", `[]`: "ARRAY<STRING>",
		`{"a":12345678901234567890}`: "STRUCT<a: DECIMAL(20,0)>", `{"a":[1,2.5],"b":{"c":true}}`: "STRUCT<a: ARRAY<DOUBLE>, b: STRUCT<c: BOOLEAN>>",
	} {
		v, err := Parse(text, true)
		if err != nil || v.Schema() != want {
			t.Errorf("%s: %v %v", text, v, err)
		}
	}
}

// TestDepth: what lies too deep is malformed, and ends no process.
func TestDepth(t *testing.T) {
	deep := make([]byte, 1_000_000)
	for i := range deep {
		deep[i] = '['
	}
	if _, err := Parse(string(deep), false); err == nil {
		t.Error("read")
	}
}
