//go:build cgo

package duckdb

import (
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/engine/sparkjson"
	"github.com/skua-data/skua/engine/sparktext"
	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
)

// writtenCSV writes structs as lines. Its other arguments are the session's zone and the call's options.
func writtenCSV(arguments []arrow.Array, rows int) (arrow.Array, error) {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	values, ok := arguments[0].(*array.Struct)
	if !ok {
		return nil, fault.New(fault.Invalid, "Cannot resolve \"to_csv\" due to data type mismatch: it requires a \"STRUCT\".").With("DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE", "42K09")
	}
	var w *valueWriter
	separator := ""
	for i := range rows {
		if values.IsNull(i) || values.NumField() == 1 && noValue(values.Field(0), i) {
			b.AppendNull()
			continue
		}
		if w == nil {
			options, err := callOptions(arguments[2].(*array.String).Value(0))
			if err != nil {
				return nil, err
			}
			separator = orElse(options["sep"], orElse(options["delimiter"], ","))
			if w, err = newValueWriter(arguments[1].(*array.String).Value(0), options); err != nil {
				return nil, err
			}
		}
		fields := make([]string, values.NumField())
		for f := range fields {
			switch column := values.Field(f); column.DataType().ID() {
			case arrow.LIST, arrow.LARGE_LIST, arrow.MAP, arrow.STRUCT:
				return nil, fault.New(fault.Unsupported, "to_csv does not support lists, maps and structs in a struct").With("UNSUPPORTED_FEATURE", "0A000")
			default:
				if !noValue(column, i) {
					fields[f] = quotedField(w.plainText(column, i), separator)
				}
			}
		}
		b.Append(strings.Join(fields, separator))
	}
	return b.NewArray(), nil
}

// plainText is text, with decimals without an exponent.
func (w *valueWriter) plainText(a arrow.Array, i int) string {
	if v, ok := a.(*array.Decimal128); ok {
		return sparktext.Decimal(v.Value(i).BigInt(), int(v.DataType().(*arrow.Decimal128Type).Scale))
	}
	return w.text(a, i)
}

// quotedField writes a field without spaces around it, in quotes where it needs them.
func quotedField(text, separator string) string {
	text = strings.TrimFunc(text, func(r rune) bool { return r <= ' ' })
	if text == "" || strings.Contains(text, separator) || strings.ContainsAny(text, "\"\n\r") {
		return `"` + strings.ReplaceAll(text, `"`, `\"`) + `"`
	}
	return text
}

// csvField is a field of a line.
type csvField struct {
	text   string
	quoted bool
}

// fieldsOf reads the fields of a line.
func fieldsOf(line, separator string) (out []csvField) {
	for {
		f := csvField{}
		if strings.HasPrefix(line, `"`) {
			if text, rest, ok := quotedText(line[1:]); ok && (rest == "" || strings.HasPrefix(rest, separator)) {
				f, line = csvField{text, true}, rest
				out = append(out, f)
				if line == "" {
					return out
				}
				line = line[len(separator):]
				continue
			}
		}
		text, rest, more := strings.Cut(line, separator)
		out = append(out, csvField{text: text})
		if !more {
			return out
		}
		line = rest
	}
}

// quotedText reads a text up to the quote that ends it.
func quotedText(line string) (text, rest string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(line); i++ {
		switch {
		case line[i] == '\\' && i+1 < len(line) && (line[i+1] == '"' || line[i+1] == '\\'):
			i++
			b.WriteByte(line[i])
		case line[i] == '"':
			return b.String(), line[i+1:], true
		default:
			b.WriteByte(line[i])
		}
	}
	return "", "", false
}

// readCSV reads a line as a struct.
func readCSV(r *row) error {
	c, err := r.reader()
	if err != nil {
		return err
	}
	fields := fieldsOf(r.text(0), c.separator)
	out := &sparkjson.Value{Kind: sparkjson.Object}
	for i, f := range c.of.Fields {
		if i >= len(fields) || fields[i].text == "" && !fields[i].quoted {
			continue
		}
		text, ok := c.field(fields[i].text, f.Type)
		if !ok {
			if c.strict {
				return malformedJSON(r.text(0))
			}
			continue
		}
		kind := sparkjson.Text
		if f.Type.Name == "boolean" {
			kind = sparkjson.Boolean
		}
		out.Names, out.Values = append(out.Names, f.Name.Text), append(out.Values, &sparkjson.Value{Kind: kind, Text: text})
	}
	r.give(out.String())
	return nil
}

// field reads a field's text as a value of a type, as the engine reads it; false: it is none.
func (c *valueReader) field(text string, t syntax.TypeName) (string, bool) {
	switch t.Name {
	case "boolean":
		text = strings.ToLower(text)
		return text, text == "true" || text == "false"
	case "float", "double", "real":
		f, ok := sparktext.ParseFloat(text, 64)
		return sparktext.Float(f, 64), ok
	case "string", "varchar", "char":
		return text, true
	}
	if bits := wholeBits[t.Name]; bits > 0 {
		n, err := strconv.ParseInt(text, 10, bits)
		return strconv.FormatInt(n, 10), err == nil
	}
	return c.plain(&sparkjson.Value{Kind: sparkjson.Text, Text: text}, t)
}

// csvSchema gives the type of a line as schema_of_csv does.
func csvSchema(r *row) error {
	options, err := callOptions(r.text(1))
	if err != nil {
		return err
	}
	var out []string
	for i, f := range fieldsOf(r.text(0), orElse(options["sep"], orElse(options["delimiter"], ","))) {
		out = append(out, "_c"+strconv.Itoa(i)+": "+csvType(f.text))
	}
	r.give("STRUCT<" + strings.Join(out, ", ") + ">")
	return nil
}

func csvType(text string) string {
	if _, err := strconv.ParseInt(text, 10, 32); err == nil {
		return "INT"
	}
	if _, err := strconv.ParseInt(text, 10, 64); err == nil {
		return "BIGINT"
	}
	if _, ok := sparktext.ParseFloat(text, 64); ok {
		return "DOUBLE"
	}
	if _, ok := sparktext.ParseDate(text); ok && len(text) == len("2024-01-02") {
		return "DATE"
	}
	if m, ok := sparktext.ParseTimestamp(text); ok && len(text) > len("2024-01-02") {
		if _, ok := m.Units(sparktext.UTC(), 1_000_000); ok {
			return "TIMESTAMP"
		}
	}
	if lower := strings.ToLower(text); lower == "true" || lower == "false" {
		return "BOOLEAN"
	}
	return "STRING"
}
