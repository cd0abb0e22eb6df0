package shell

import (
	"bufio"
	"encoding/base64"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// jsonOutput writes one object a line. Integers of any width and floating-point values are numbers (NaN and the infinities strings), decimals strings of
// their exact text, binary values base64, dates and times text.
type jsonOutput struct {
	w     *bufio.Writer
	names []string
	line  []byte
}

func (j *jsonOutput) start(schema *arrow.Schema) error {
	for _, f := range schema.Fields() {
		j.names = append(j.names, string(appendString(nil, f.Name)))
	}
	return nil
}

func (j *jsonOutput) batch(b arrow.RecordBatch, _ *progress) error {
	for row := range int(b.NumRows()) {
		j.line = append(j.line[:0], '{')
		for i, column := range b.Columns() {
			if i > 0 {
				j.line = append(j.line, ',')
			}
			j.line = append(append(j.line, j.names[i]...), ':')
			j.line = appendJSON(j.line, column, row)
		}
		if _, err := j.w.Write(append(j.line, '}', '\n')); err != nil {
			return err
		}
	}
	return j.w.Flush()
}

func (j *jsonOutput) end() error { return j.w.Flush() }

func (j *jsonOutput) done(int64) error { return nil }

// appendJSON appends a value. A map is a list of objects with key and value, since its keys need not be text.
func appendJSON(to []byte, column arrow.Array, row int) []byte {
	if isNull(column, row) {
		return append(to, "null"...)
	}
	switch c := column.(type) {
	case *array.Boolean:
		return strconv.AppendBool(to, c.Value(row))
	case *array.Float32:
		return appendFloat(to, float64(c.Value(row)), 32)
	case *array.Float64:
		return appendFloat(to, c.Value(row), 64)
	case bytesArray:
		return appendString(to, base64.StdEncoding.EncodeToString(c.Value(row)))
	case *array.Dictionary:
		return appendJSON(to, c.Dictionary(), c.GetValueIndex(row))
	case *array.RunEndEncoded:
		return appendJSON(to, c.Values(), c.GetPhysicalIndex(row))
	case *array.Struct:
		return appendObject(to, c, row)
	case array.ListLike:
		return appendList(to, c, row)
	case array.Union:
		return appendUnion(to, c, row)
	}
	if arrow.IsInteger(column.DataType().ID()) {
		return append(to, column.ValueStr(row)...)
	}
	return appendString(to, valueText(column, row))
}

func appendFloat(to []byte, value float64, bits int) []byte {
	switch {
	case math.IsNaN(value):
		return append(to, `"NaN"`...)
	case math.IsInf(value, 1):
		return append(to, `"Infinity"`...)
	case math.IsInf(value, -1):
		return append(to, `"-Infinity"`...)
	}
	return strconv.AppendFloat(to, value, 'g', -1, bits)
}

func appendObject(to []byte, c *array.Struct, row int) []byte {
	to = append(to, '{')
	for i, f := range c.DataType().(*arrow.StructType).Fields() {
		if i > 0 {
			to = append(to, ',')
		}
		to = appendJSON(append(appendString(to, f.Name), ':'), c.Field(i), row)
	}
	return append(to, '}')
}

func appendList(to []byte, c array.ListLike, row int) []byte {
	to = append(to, '[')
	start, end := c.ValueOffsets(row)
	for i := start; i < end; i++ {
		if i > start {
			to = append(to, ',')
		}
		to = appendJSON(to, c.ListValues(), int(i))
	}
	return append(to, ']')
}

func appendUnion(to []byte, c array.Union, row int) []byte {
	child := c.ChildID(row)
	if dense, ok := c.(*array.DenseUnion); ok {
		row = int(dense.ValueOffset(row))
	}
	return appendJSON(to, c.Field(child), row)
}

// appendString appends a JSON string with nothing escaped but what must be; bytes that are no UTF-8 become U+FFFD.
func appendString(to []byte, text string) []byte {
	const hexadecimal = "0123456789abcdef"
	to = append(to, '"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			to = append(to, '\\', byte(r))
		case r == '\n':
			to = append(to, `\n`...)
		case r == '\r':
			to = append(to, `\r`...)
		case r == '\t':
			to = append(to, `\t`...)
		case r < ' ':
			to = append(to, '\\', 'u', '0', '0', hexadecimal[r>>4], hexadecimal[r&15])
		default:
			to = utf8.AppendRune(to, r)
		}
	}
	return append(to, '"')
}
