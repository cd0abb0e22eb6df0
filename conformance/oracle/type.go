package oracle

import (
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
)

// typ is a type as Spark's texts spell it.
type typ struct {
	kind             string // Spark's word, or struct, array, map
	names            []string
	children         []*typ // a struct's fields, an array's element, a map's key and value
	precision, scale int32  // of a decimal
}

var (
	simpleName = regexp.MustCompile(`(?i)^(decimal\(\d+,\s*-?\d+\)|decimal|fixed\[\d+\]|timestamptz_ns|timestamp_ns|timestamp_ntz|timestamp_ltz|timestamptz|timestamp|` +
		`tinyint|smallint|bigint|integer|int|boolean|float|double|string|binary|date|time|uuid|variant|void|unknown|long|short|byte)`)
	quotedName = regexp.MustCompile("^`((?:[^`]|``)*)`:")
	digits     = regexp.MustCompile(`-?\d+`)
)

// synonyms are words for one and the same in recorded texts.
var synonyms = map[string]string{"integer": "int", "long": "bigint", "short": "smallint", "byte": "tinyint", "timestamp_ltz": "timestamp", "timestamptz": "timestamp",
	"uuid": "string", "unknown": "void"}

// parseType reads a type's text. Field names in it are not quoted and may hold any of < > , : so that a text can be read in several ways; the first
// that takes all of it counts. A text that cannot be read is a kind of its own.
func parseType(text string) *typ {
	text = strings.TrimSpace(text)
	for end, t := range typesAt(text, 0) {
		if end == len(text) {
			return t
		}
	}
	return &typ{kind: strings.ToLower(text)}
}

// typesAt gives every type that begins at i, with where it ends, likeliest first.
func typesAt(s string, i int) iter.Seq2[int, *typ] {
	return func(yield func(int, *typ) bool) {
		rest := s[i:]
		switch head := strings.ToLower(rest[:min(len(rest), 7)]); {
		case strings.HasPrefix(head, "struct<"):
			structsAt(s, i+7, yield)
		case strings.HasPrefix(head, "array<"):
			for end, t := range typesAt(s, i+6) {
				if at(s, end) == '>' && !yield(end+1, &typ{kind: "array", children: []*typ{t}}) {
					return
				}
			}
		case strings.HasPrefix(head, "map<"):
			mapsAt(s, i+4, yield)
		default:
			if word := simpleName.FindString(rest); word != "" {
				yield(i+len(word), simple(strings.ToLower(word)))
			}
		}
	}
}

func structsAt(s string, i int, yield func(int, *typ) bool) {
	if at(s, i) == '>' && !yield(i+1, &typ{kind: "struct"}) {
		return
	}
	for end, t := range fieldsAt(s, i) {
		if !yield(end, t) {
			return
		}
	}
}

func mapsAt(s string, i int, yield func(int, *typ) bool) {
	for comma, key := range typesAt(s, i) {
		if at(s, comma) != ',' {
			continue
		}
		for end, value := range typesAt(s, comma+1) {
			if at(s, end) == '>' && !yield(end+1, &typ{kind: "map", children: []*typ{key, value}}) {
				return
			}
		}
	}
}

// fieldsAt gives every way to read name:type,name:type> at i, as a struct.
func fieldsAt(s string, i int) iter.Seq2[int, *typ] {
	return func(yield func(int, *typ) bool) {
		for start, name := range namesAt(s, i) {
			for end, t := range typesAt(s, start) {
				first := &typ{kind: "struct", names: []string{name}, children: []*typ{t}}
				if at(s, end) == '>' && !yield(end+1, first) {
					return
				}
				if at(s, end) != ',' {
					continue
				}
				for last, more := range fieldsAt(s, end+1) {
					whole := &typ{kind: "struct", names: append(slices.Clone(first.names), more.names...), children: append(slices.Clone(first.children), more.children...)}
					if !yield(last, whole) {
						return
					}
				}
			}
		}
	}
}

// namesAt gives every name that begins at i and ends with a colon, with where the type after it begins.
func namesAt(s string, i int) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		if m := quotedName.FindStringSubmatch(s[i:]); m != nil {
			yield(i+len(m[0]), strings.ReplaceAll(m[1], "``", "`"))
			return
		}
		for colon := i; colon < len(s); colon++ {
			if s[colon] == ':' && !yield(colon+1, s[i:colon]) {
				return
			}
		}
	}
}

func at(s string, i int) byte {
	if i < len(s) {
		return s[i]
	}
	return 0
}

func simple(word string) *typ {
	if strings.HasPrefix(word, "decimal") {
		t := &typ{kind: "decimal", precision: 10}
		if n := digits.FindAllString(word, 2); len(n) == 2 {
			precision, _ := strconv.Atoi(n[0]) // the pattern matched digits
			scale, _ := strconv.Atoi(n[1])
			t.precision, t.scale = int32(precision), int32(scale)
		}
		return t
	}
	if strings.HasPrefix(word, "fixed") {
		word = "binary"
	}
	if plain, ok := synonyms[word]; ok {
		word = plain
	}
	return &typ{kind: word}
}

// numbers are the Arrow types of Spark's plain words.
var plain = map[string][]arrow.Type{
	"boolean": {arrow.BOOL}, "tinyint": {arrow.INT8}, "smallint": {arrow.INT16}, "int": {arrow.INT32}, "bigint": {arrow.INT64},
	"float": {arrow.FLOAT32}, "double": {arrow.FLOAT64}, "date": {arrow.DATE32}, "time": {arrow.TIME64}, "void": {arrow.NULL},
	"string": {arrow.STRING, arrow.LARGE_STRING, arrow.STRING_VIEW},
	"binary": {arrow.BINARY, arrow.LARGE_BINARY, arrow.BINARY_VIEW, arrow.FIXED_SIZE_BINARY},
}

// differs says why an Arrow type does not stand for the recorded one, or "".
func (t *typ) differs(a arrow.DataType) string {
	a = storage(a, t)
	bad := a.String() + " for " + t.kind
	if ids, ok := plain[t.kind]; ok {
		if slices.Contains(ids, a.ID()) {
			return ""
		}
		return bad
	}
	switch t.kind {
	case "struct":
		return t.structDiffers(a)
	case "array":
		if l, ok := a.(arrow.ListLikeType); ok && a.ID() != arrow.MAP {
			return t.children[0].differs(l.Elem())
		}
		return bad
	case "map":
		m, ok := a.(*arrow.MapType)
		if !ok {
			return bad
		}
		if d := t.children[0].differs(m.KeyType()); d != "" {
			return d
		}
		return t.children[1].differs(m.ItemType())
	case "variant":
		if s, ok := a.(*arrow.StructType); ok && hasFields(s, "metadata", "value") {
			return ""
		}
		return bad
	case "decimal":
		if d, ok := a.(arrow.DecimalType); ok && d.GetPrecision() == t.precision && d.GetScale() == t.scale {
			return ""
		}
		return bad + "(" + strconv.Itoa(int(t.precision)) + "," + strconv.Itoa(int(t.scale)) + ")"
	}
	return t.timestampDiffers(a)
}

func hasFields(s *arrow.StructType, names ...string) bool {
	return !slices.ContainsFunc(names, func(n string) bool { _, ok := s.FieldByName(n); return !ok })
}

func (t *typ) structDiffers(a arrow.DataType) string {
	s, ok := a.(*arrow.StructType)
	if !ok {
		return a.String() + " for a struct"
	}
	names := make([]string, s.NumFields())
	for i, f := range s.Fields() {
		names[i] = f.Name
	}
	if !slices.Equal(names, t.names) {
		return "struct fields " + strings.Join(names, ", ") + ", expected " + strings.Join(t.names, ", ")
	}
	for i, f := range s.Fields() {
		if d := t.children[i].differs(f.Type); d != "" {
			return d
		}
	}
	return ""
}

func (t *typ) timestampDiffers(a arrow.DataType) string {
	stamp, ok := a.(*arrow.TimestampType)
	zoned, nanos := false, false
	switch t.kind {
	case "timestamp":
		zoned = true
	case "timestamp_ntz":
	case "timestamptz_ns":
		zoned, nanos = true, true
	case "timestamp_ns":
		nanos = true
	default:
		return "the recorded type " + t.kind + " is not known"
	}
	unit := arrow.Microsecond
	if nanos {
		unit = arrow.Nanosecond
	}
	if !ok || stamp.Unit != unit || (stamp.TimeZone != "") != zoned {
		return a.String() + " for " + t.kind
	}
	return ""
}

// storage takes off what only changes how values are laid out. An Arrow uuid is text to Spark.
func storage(a arrow.DataType, t *typ) arrow.DataType {
	switch x := a.(type) {
	case arrow.ExtensionType:
		if x.ExtensionName() == "arrow.uuid" && t.kind == "string" {
			return arrow.BinaryTypes.String
		}
		return storage(x.StorageType(), t)
	case *arrow.DictionaryType:
		return storage(x.ValueType, t)
	case *arrow.RunEndEncodedType:
		return storage(x.Encoded(), t)
	}
	return a
}
