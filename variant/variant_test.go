package variant

import (
	"math/rand/v2"
	"testing"
	"time"
)

// object is {"a":1,"b":[2.5,"x",null]}.
var object = []byte{2, 2, 0, 1, 0, 2, 17, 0x0c, 1, 3, 3, 0, 6, 8, 9, 0x20, 1, 0x19, 0, 0, 0, 5, 'x', 0}

var objectNames = []byte{1, 2, 0, 1, 2, 'a', 'b'}

func parse(t *testing.T, value []byte) Value {
	v, err := Parse(objectNames, value)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestJSON(t *testing.T) {
	for want, value := range map[string][]byte{
		`{"a":1,"b":[2.5,"x",null]}`: object, "null": {0}, "true": {4}, "false": {8}, "-2": {0x0c, 0xfe}, "300": {0x10, 0x2c, 1},
		`"1970-01-02"`: {0x2c, 1, 0, 0, 0}, "1.0E300": {0x1c, 0x9c, 0x75, 0, 0x88, 0x3c, 0xe4, 0x37, 0x7e}, "-0.05": {0x20, 3, 0xce, 0xff, 0xff, 0xff}, `"q\"<"`: {0x0d, 'q', '"', '<'},
		`"AQI="`: {0x3c, 2, 0, 0, 0, 1, 2}, "[]": {3, 0, 0}, "{}": {2, 0, 0}, `"NaN"`: {0x38, 0, 0, 0xc0, 0x7f},
	} {
		if got, err := parse(t, value).JSON(time.UTC); err != nil || got != want {
			t.Errorf("%x: %s %v, want %s", value, got, err, want)
		}
	}
}

func TestCast(t *testing.T) {
	for _, c := range []struct {
		value      []byte
		target     Target
		text       string
		null, fine bool
	}{
		{object, Target{Name: "string"}, `{"a":1,"b":[2.5,"x",null]}`, false, true}, {object, Target{Name: "int"}, "", false, false}, {[]byte{0}, Target{Name: "int"}, "", true, true},
		{[]byte{0x10, 0x2c, 1}, Target{Name: "tinyint"}, "", false, false}, {[]byte{0x10, 0x2c, 1}, Target{Name: "smallint"}, "300", false, true},
		{[]byte{0x20, 1, 0x1d, 0, 0, 0}, Target{Name: "int"}, "2", false, true}, {[]byte{0x20, 2, 0x1d, 1, 0, 0}, Target{Name: "decimal", Precision: 3, Scale: 1}, "2.9", false, true},
		{[]byte{0x09, '1', '2'}, Target{Name: "bigint"}, "12", false, true}, {[]byte{0x0d, '1', '.', '5'}, Target{Name: "bigint"}, "", false, false},
		{[]byte{0x15, '1', 'e', '9', '9', '9'}, Target{Name: "bigint"}, "", false, false}, {[]byte{4}, Target{Name: "double"}, "1", false, true}, {[]byte{0x05, 't'}, Target{Name: "boolean"}, "true", false, true},
		{[]byte{0x2c, 1, 0, 0, 0}, Target{Name: "timestamp"}, "1970-01-02", false, true},
	} {
		text, null, fine, err := parse(t, c.value).Cast(c.target, time.UTC)
		if err != nil || null != c.null || fine != c.fine || fine && text != c.text {
			t.Errorf("%x as %v: %q %v %v %v", c.value, c.target, text, null, fine, err)
		}
	}
}

func TestPath(t *testing.T) {
	for path, want := range map[string]string{"$": `{"a":1,"b":[2.5,"x",null]}`, "$.a": "1", "$.b[1]": `"x"`, "$['b'][0]": "2.5", `$["a"]`: "1", "$.b[3]": "", "$.c": "", "$[0]": "", "$.a.b": ""} {
		steps, err := ParsePath(path)
		if err != nil {
			t.Fatal(path, err)
		}
		v, found, err := parse(t, object).Get(steps)
		got := ""
		if found {
			got, err = v.JSON(time.UTC)
		}
		if err != nil || got != want {
			t.Errorf("%s: %s %v, want %s", path, got, err, want)
		}
	}
	for _, path := range []string{"", "a", "$a", "$.", "$[", "$[a]", "$['a", "$[-1]", "$..a", "$x'a']"} {
		if _, err := ParsePath(path); err == nil {
			t.Errorf("%q is a path", path)
		}
	}
}

func TestSchema(t *testing.T) {
	for want, value := range map[string][]byte{"OBJECT<a: BIGINT, b: ARRAY<VARIANT>>": object, "ARRAY<VOID>": {3, 0, 0}, "DECIMAL(2,2)": {0x20, 3, 0xce, 0xff, 0xff, 0xff},
		"ARRAY<DECIMAL(21,1)>": {3, 2, 0, 6, 8, 0x20, 1, 0x19, 0, 0, 0, 0x0c, 1}, "VOID": {0}} {
		if got, err := parse(t, value).Schema(); err != nil || got != want {
			t.Errorf("%x: %s %v, want %s", value, got, err, want)
		}
	}
}

// TestBrokenValues cuts and changes bytes: whatever comes out, reading ends, with a value or an error.
func TestBrokenValues(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		value := append([]byte{}, object[:1+r.IntN(len(object))]...)
		for range r.IntN(4) {
			value[r.IntN(len(value))] = byte(r.Uint32())
		}
		v, err := Parse(objectNames, value)
		if err != nil {
			continue
		}
		_, _ = v.JSON(time.UTC)
		_, _ = v.Schema()
		_, _, _, _ = v.Cast(Target{Name: "decimal", Precision: 9}, time.UTC)
	}
	shared := []byte{0} // each level has the next one twice
	for range 60 {
		size := byte(len(shared))
		shared = append([]byte{3, 2, 0, 0, size}, shared...)
		if len(shared) > 240 {
			break
		}
	}
	if _, err := parse(t, shared).JSON(time.UTC); err == nil {
		t.Error("parts that are shared are read")
	}
	if _, err := parse(t, shared).Schema(); err == nil {
		t.Error("parts that are shared have a type")
	}
	if _, err := Parse([]byte{2, 0, 0}, []byte{0}); err == nil {
		t.Error("metadata of another version is read")
	}
}
