//go:build cgo

package duckdb

import (
	"regexp"
	"strings"

	"github.com/skua-data/skua/fault"
)

// collectionFunctions are those of Spark's functions of collections that are written here: the places of elements, from 1 on, and the names of types.
var collectionFunctions = []scalar{
	rowFunction("skua_element", []int{typeBigint, typeBigint}, typeBigint, elementCall(false)),
	rowFunction("skua_try_element", []int{typeBigint, typeBigint}, typeBigint, elementCall(true)),
	rowFunction("skua_subscript", []int{typeBigint, typeBigint}, typeBigint, subscriptCall),
	{name: "skua_weight", parameters: []int{typeAny}, result: typeBigint, call: weightCall},
	rowFunction("skua_type_name", []int{typeVarchar}, typeVarchar, func(r *row) error {
		r.give(sparkTypeName(r.text(0)))
		return nil
	}),
}

// elementCall finds the place of element_at: from 1 on, or from the end back.
func elementCall(try bool) func(r *row) error {
	return func(r *row) error {
		n, size := r.whole(0), r.whole(1)
		switch {
		case n == 0:
			return fault.New(fault.Invalid, "The index 0 is invalid. An index shall be either < 0 or > 0 (the first element has index 1).").With("INVALID_INDEX_OF_ZERO", "22003")
		case n >= -size && n <= size:
			r.give(n)
		case !try:
			return fault.New(fault.Invalid, "The index %d is out of bounds. The array has %d elements. Use `try_element_at` to tolerate accessing element at invalid index and return NULL instead.", n, size).
				With("INVALID_ARRAY_INDEX_IN_ELEMENT_AT", "22003")
		}
		return nil
	}
}

// subscriptCall finds the place of a subscript, which counts from 0.
func subscriptCall(r *row) error {
	n, size := r.whole(0), r.whole(1)
	if n < 0 || n >= size {
		return fault.New(fault.Invalid, "The index %d is out of bounds. The array has %d elements. Use the SQL function `get()` to tolerate accessing element at invalid index and return NULL instead.", n, size).
			With("INVALID_ARRAY_INDEX", "22003")
	}
	r.give(n + 1)
	return nil
}

// sparkTypeNames are Spark's names of the engine's types.
var sparkTypeNames = map[string]string{"INTEGER": "int", "VARCHAR": "string", "BLOB": "binary", "TIMESTAMP WITH TIME ZONE": "timestamp", "TIMESTAMP": "timestamp_ntz", "HUGEINT": "bigint",
	"JSON": "string", "UUID": "string", `"NULL"`: "void"}

var typeWord = regexp.MustCompile(`^[A-Z_]+( WITH TIME ZONE)?(\([0-9]+,[0-9]+\))?`)

// sparkTypeName spells a type of the engine as typeof does.
func sparkTypeName(text string) string {
	name, _ := readTypeName(text)
	return name
}

// readTypeName reads a type, and gives what is behind it.
func readTypeName(text string) (name, rest string) {
	switch {
	case strings.HasPrefix(text, "STRUCT("):
		name, rest = readFields(text[len("STRUCT("):])
	case strings.HasPrefix(text, "MAP("):
		key, behind := readTypeName(text[len("MAP("):])
		value, behind := readTypeName(strings.TrimPrefix(behind, ", "))
		name, rest = "map<"+key+","+value+">", strings.TrimPrefix(behind, ")")
	default:
		word := typeWord.FindString(text)
		if strings.HasPrefix(text, `"NULL"`) {
			word = `"NULL"`
		}
		if word == "" {
			return strings.ToLower(text), ""
		}
		name, rest = sparkTypeNames[word], text[len(word):]
		if name == "" {
			name = strings.ToLower(word)
		}
	}
	for strings.HasPrefix(rest, "[]") {
		name, rest = "array<"+name+">", rest[2:]
	}
	return name, rest
}

// readFields reads the fields of a struct.
func readFields(text string) (name, rest string) {
	var fields []string
	for {
		field, behind, _ := strings.Cut(text, " ")
		if strings.HasPrefix(text, `"`) {
			end := 1
			for end < len(text) && (text[end] != '"' || strings.HasPrefix(text[end+1:], `"`)) {
				if text[end] == '"' {
					end++
				}
				end++
			}
			field, behind = strings.ReplaceAll(text[1:min(end, len(text))], `""`, `"`), strings.TrimPrefix(text[min(end+1, len(text)):], " ")
		}
		of, more := readTypeName(behind)
		fields = append(fields, field+":"+of)
		next, ok := strings.CutPrefix(more, ", ")
		if !ok || len(next) >= len(text) {
			return "struct<" + strings.Join(fields, ",") + ">", strings.TrimPrefix(more, ")")
		}
		text = next
	}
}
