package flightsql

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"math"
	"strconv"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// appendJSON appends a value as JSON: structs and maps as objects, binary as base64, uuids, dates and times as ISO text, NaN and the infinities as text,
// since JSON has no numbers for them.
func appendJSON(out []byte, a arrow.Array, i int) []byte {
	if a.IsNull(i) {
		return append(out, "null"...)
	}
	switch a := a.(type) {
	case *array.Struct:
		return appendObject(out, a, i)
	case *array.Map:
		return appendMap(out, a, i)
	case array.ListLike:
		return appendList(out, a, i)
	case array.ExtensionArray:
		if isUUID(a.DataType()) {
			return strconv.AppendQuote(out, uuidText(a.Storage().(*array.FixedSizeBinary).Value(i)))
		}
		return appendJSON(out, a.Storage(), i)
	case *array.Float32:
		return appendFloat(out, float64(a.Value(i)), 32)
	case *array.Float64:
		return appendFloat(out, a.Value(i), 64)
	case *array.Binary:
		return appendBase64(out, a.Value(i))
	case *array.LargeBinary:
		return appendBase64(out, a.Value(i))
	case *array.FixedSizeBinary:
		return appendBase64(out, a.Value(i))
	case *array.Boolean, *array.Int8, *array.Int16, *array.Int32, *array.Int64, *array.Uint8, *array.Uint16, *array.Uint32, *array.Uint64,
		*array.Decimal32, *array.Decimal64, *array.Decimal128, *array.Decimal256:
		return append(out, a.ValueStr(i)...)
	}
	return appendText(out, scalarText(a, i))
}

// scalarText writes a value that is text in JSON.
func scalarText(a arrow.Array, i int) string {
	switch a := a.(type) {
	case *array.Date32:
		return a.Value(i).ToTime().Format("2006-01-02")
	case *array.Date64:
		return a.Value(i).ToTime().Format("2006-01-02")
	case *array.Time32:
		return a.Value(i).ToTime(a.DataType().(*arrow.Time32Type).Unit).Format("15:04:05.999999999")
	case *array.Time64:
		return a.Value(i).ToTime(a.DataType().(*arrow.Time64Type).Unit).Format("15:04:05.999999999")
	case *array.Timestamp:
		t := a.DataType().(*arrow.TimestampType)
		layout := "2006-01-02T15:04:05.999999999"
		if t.TimeZone != "" {
			layout += "Z"
		}
		return a.Value(i).ToTime(t.Unit).In(time.UTC).Format(layout)
	case *array.String:
		return a.Value(i)
	case *array.LargeString:
		return a.Value(i)
	}
	return a.ValueStr(i)
}

func appendObject(out []byte, a *array.Struct, i int) []byte {
	out = append(out, '{')
	for f := range a.NumField() {
		if f > 0 {
			out = append(out, ',')
		}
		out = append(appendText(out, a.DataType().(*arrow.StructType).Field(f).Name), ':')
		out = appendJSON(out, a.Field(f), i)
	}
	return append(out, '}')
}

func appendMap(out []byte, a *array.Map, i int) []byte {
	out = append(out, '{')
	from, to := a.ValueOffsets(i)
	for at := int(from); at < int(to); at++ {
		if at > int(from) {
			out = append(out, ',')
		}
		if key := appendJSON(nil, a.Keys(), at); key[0] == '"' {
			out = append(out, key...)
		} else {
			out = appendText(out, string(key)) // only text can name a member
		}
		out = appendJSON(append(out, ':'), a.Items(), at)
	}
	return append(out, '}')
}

func appendList(out []byte, a array.ListLike, i int) []byte {
	out = append(out, '[')
	from, to := a.ValueOffsets(i)
	for at := from; at < to; at++ {
		if at > from {
			out = append(out, ',')
		}
		out = appendJSON(out, a.ListValues(), int(at))
	}
	return append(out, ']')
}

func appendFloat(out []byte, v float64, bits int) []byte {
	switch {
	case math.IsNaN(v):
		return append(out, `"NaN"`...)
	case math.IsInf(v, 1):
		return append(out, `"Infinity"`...)
	case math.IsInf(v, -1):
		return append(out, `"-Infinity"`...)
	}
	return strconv.AppendFloat(out, v, 'g', -1, bits)
}

func appendBase64(out, v []byte) []byte {
	return append(base64.StdEncoding.AppendEncode(append(out, '"'), v), '"')
}

func appendText(out []byte, text string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(text) != nil { // a string always has an encoding
		return append(out, "null"...)
	}
	return append(out, bytes.TrimRight(b.Bytes(), "\n")...)
}
