//go:build cgo

package duckdb

import (
	"encoding/base64"
	"math"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/engine/sparkjson"
	"github.com/skua-data/skua/engine/sparktext"
	"github.com/skua-data/skua/fault"
)

// valueWriter writes values as to_json and to_csv do.
type valueWriter struct {
	zone            *sparktext.Zone
	date, time, ntz *sparktext.Pattern
	nulls           bool // fields without a value are written, too
}

// Patterns that times are written by where no option says others.
const (
	datePattern = "yyyy-MM-dd"
	timePattern = "yyyy-MM-dd'T'HH:mm:ss.SSSXXXXX"
	wallPattern = "yyyy-MM-dd'T'HH:mm:ss.SSS"
)

// newValueWriter makes a writer for a session's zone and the options of a call.
func newValueWriter(zone string, options map[string]string) (w *valueWriter, err error) {
	location, ok := sparktext.ParseZone(orElse(options["timezone"], zone))
	if !ok {
		return nil, fault.New(fault.Invalid, "The timezone: %s is invalid.", options["timezone"]).With("INVALID_TIMEZONE", "22009")
	}
	w = &valueWriter{zone: sparktext.ZoneOf(location), nulls: strings.EqualFold(options["ignorenullfields"], "false")}
	for _, p := range []struct {
		to   **sparktext.Pattern
		text string
	}{{&w.date, orElse(options["dateformat"], datePattern)}, {&w.time, orElse(options["timestampformat"], timePattern)}, {&w.ntz, orElse(options["timestampntzformat"], wallPattern)}} {
		if *p.to, err = sparktext.ParsePattern(p.text); err != nil {
			return nil, err
		}
	}
	return w, nil
}

func orElse(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// writtenJSON writes lists, maps and structs. Its other arguments are the session's zone and the call's options.
func writtenJSON(arguments []arrow.Array, rows int) (arrow.Array, error) {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	values := arguments[0]
	switch values.DataType().ID() {
	case arrow.LIST, arrow.LARGE_LIST, arrow.MAP, arrow.STRUCT, arrow.NULL:
	default:
		return nil, fault.New(fault.Invalid, "Cannot resolve \"to_json\" due to data type mismatch: Input schema must be a struct, an array, a map or a variant.").
			With("DATATYPE_MISMATCH.INVALID_JSON_SCHEMA", "42K09")
	}
	var w *valueWriter
	var text []byte
	for i := range rows {
		if noValue(values, i) {
			b.AppendNull()
			continue
		}
		if w == nil {
			options, err := callOptions(arguments[2].(*array.String).Value(0))
			if err != nil {
				return nil, err
			}
			if w, err = newValueWriter(arguments[1].(*array.String).Value(0), options); err != nil {
				return nil, err
			}
		}
		text = w.json(text[:0], values, i)
		b.Append(string(text))
	}
	return b.NewArray(), nil
}

// json appends a value as JSON.
func (w *valueWriter) json(b []byte, a arrow.Array, i int) []byte {
	if noValue(a, i) {
		return append(b, "null"...)
	}
	switch v := a.(type) {
	case *array.Map:
		b = append(b, '{')
		from, to := v.ValueOffsets(i)
		for n := from; n < to; n++ {
			if n > from {
				b = append(b, ',')
			}
			b = append(sparkjson.AppendText(b, w.key(v.Keys(), int(n))), ':')
			b = w.json(b, v.Items(), int(n))
		}
		return append(b, '}')
	case array.ListLike:
		b = append(b, '[')
		from, to := v.ValueOffsets(i)
		for n := from; n < to; n++ {
			if n > from {
				b = append(b, ',')
			}
			b = w.json(b, v.ListValues(), int(n))
		}
		return append(b, ']')
	case *array.Struct:
		return w.fields(b, v, i)
	case *array.Float32:
		return number(b, float64(v.Value(i)), 32)
	case *array.Float64:
		return number(b, v.Value(i), 64)
	case *array.Boolean, *array.Int8, *array.Int16, *array.Int32, *array.Int64, *array.Decimal128:
		return append(b, w.text(a, i)...)
	}
	return sparkjson.AppendText(b, w.text(a, i))
}

func (w *valueWriter) fields(b []byte, v *array.Struct, i int) []byte {
	b = append(b, '{')
	some := false
	for f := range v.NumField() {
		if noValue(v.Field(f), i) && !w.nulls {
			continue
		}
		if some {
			b = append(b, ',')
		}
		some = true
		b = append(sparkjson.AppendText(b, v.DataType().(*arrow.StructType).Field(f).Name), ':')
		b = w.json(b, v.Field(f), i)
	}
	return append(b, '}')
}

// noValue reports whether there is no value; a column of none has no bits that say so.
func noValue(a arrow.Array, i int) bool { return a.DataType().ID() == arrow.NULL || a.IsNull(i) }

func number(b []byte, f float64, bits int) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return sparkjson.AppendText(b, sparktext.Float(f, bits))
	}
	return sparktext.AppendFloat(b, f, bits)
}

// key gives a map's key: days and instants are numbers there.
func (w *valueWriter) key(a arrow.Array, i int) string {
	switch v := a.(type) {
	case *array.Date32:
		return strconv.Itoa(int(v.Value(i)))
	case *array.Timestamp:
		return strconv.FormatInt(int64(v.Value(i)), 10)
	case array.ListLike, *array.Struct:
		return string(w.json(nil, a, i))
	}
	return w.text(a, i)
}

// text gives a value without parts.
func (w *valueWriter) text(a arrow.Array, i int) string {
	switch v := a.(type) {
	case *array.String:
		return v.Value(i)
	case *array.Binary:
		return base64.StdEncoding.EncodeToString(v.Value(i))
	case *array.Decimal128:
		return plainOrScientific(v.Value(i).BigInt().String(), int(v.DataType().(*arrow.Decimal128Type).Scale))
	case *array.Float32:
		return sparktext.Float(float64(v.Value(i)), 32)
	case *array.Float64:
		return sparktext.Float(v.Value(i), 64)
	case *array.Date32:
		return w.date.Format(int64(v.Value(i))*sparktext.MicrosPerDay, 0, w.zone)
	case *array.Timestamp:
		wall := int64(v.Value(i))
		if v.DataType().(*arrow.TimestampType).TimeZone == "" {
			return w.ntz.Format(wall, 0, w.zone)
		}
		offset := w.zone.Offset(sparktext.FloorDiv(wall, 1_000_000))
		return w.time.Format(wall+offset*1_000_000, offset, w.zone)
	}
	return a.ValueStr(i)
}

// plainOrScientific writes a decimal as Java does: with an exponent where there are many zeros behind the point.
func plainOrScientific(digits string, scale int) string {
	digits, negative := strings.CutPrefix(digits, "-")
	exponent := len(digits) - 1 - scale
	out := ""
	switch {
	case scale == 0:
		out = digits
	case exponent >= -6 && len(digits) > scale:
		out = digits[:len(digits)-scale] + "." + digits[len(digits)-scale:]
	case exponent >= -6:
		out = "0." + strings.Repeat("0", scale-len(digits)) + digits
	default:
		out = digits[:1]
		if len(digits) > 1 {
			out += "." + digits[1:]
		}
		out += "E" + strconv.Itoa(exponent)
	}
	if negative {
		return "-" + out
	}
	return out
}

// callOptions reads the options of a call: names and values, one a line each.
func callOptions(text string) (map[string]string, error) {
	out := map[string]string{}
	parts := strings.Split(text, "\x01")
	for i := 0; i+1 < len(parts); i += 2 {
		name := strings.ToLower(parts[i])
		if !knownOptions[name] {
			return nil, fault.New(fault.Unsupported, "the option %s of functions of JSON and CSV is not supported", parts[i]).With("UNSUPPORTED_FEATURE", "0A000")
		}
		out[name] = parts[i+1]
	}
	return out, nil
}

// knownOptions are those that are followed, in lower case.
var knownOptions = words("ignorenullfields dateformat timestampformat timestampntzformat timezone mode sep delimiter")
