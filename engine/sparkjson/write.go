package sparkjson

import (
	"strconv"
	"strings"

	"github.com/skua-data/skua/engine/sparktext"
)

// Append writes a value without spaces.
func (v *Value) Append(b []byte) []byte {
	switch v.Kind {
	case Null:
		return append(b, "null"...)
	case Text:
		return AppendText(b, v.Text)
	case Array, Object:
		return v.appendParts(b)
	}
	return append(b, v.Word()...)
}

func (v *Value) appendParts(b []byte) []byte {
	marks := "[]"
	if v.Kind == Object {
		marks = "{}"
	}
	b = append(b, marks[0])
	for i, inner := range v.Values {
		if i > 0 {
			b = append(b, ',')
		}
		if v.Kind == Object {
			b = append(AppendText(b, v.Names[i]), ':')
		}
		b = inner.Append(b)
	}
	return append(b, marks[1])
}

// String gives a value as JSON.
func (v *Value) String() string { return string(v.Append(nil)) }

// Word gives a number or a truth value as Spark writes it: those with a point or an exponent are doubles.
func (v *Value) Word() string {
	if v.Kind != Float {
		return v.Text
	}
	f, err := strconv.ParseFloat(v.Text, 64)
	if err != nil && f == 0 {
		return v.Text
	}
	return sparktext.Float(f, 64)
}

// AppendText writes a text in quotes.
func AppendText(b []byte, s string) []byte {
	b = append(b, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c >= ' ':
			b = append(b, c)
		case strings.IndexByte("\b\f\n\r\t", c) >= 0:
			b = append(b, '\\', "bfnrt"[strings.IndexByte("\b\f\n\r\t", c)])
		default:
			b = append(b, "\\u00"...)
			b = append(b, "0123456789ABCDEF"[c>>4], "0123456789ABCDEF"[c&15])
		}
	}
	return append(b, '"')
}
