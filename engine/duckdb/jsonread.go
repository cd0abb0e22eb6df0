//go:build cgo

package duckdb

import (
	"math/big"
	"strconv"
	"strings"

	"github.com/skua-data/skua/engine/sparkjson"
	"github.com/skua-data/skua/engine/sparktext"
	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
)

// valueReader reads values as from_json and from_csv do, and gives them in a form of JSON that the engine reads as the same values of a type: what is not of the type has none.
type valueReader struct {
	of         syntax.TypeName
	zone       *sparktext.Zone
	date, time *sparktext.Pattern // nil: as casts read them
	strict     bool               // what is malformed is an error
	separator  string
}

// reader gives the reader of a call whose arguments are a text, a type, a zone and options.
func (r *row) reader() (*valueReader, error) {
	return of(r, r.text(1)+"\x00"+r.text(3), func(string) (*valueReader, error) {
		options, err := callOptions(r.text(3))
		if err != nil {
			return nil, err
		}
		t, err := syntax.NewParser(r.text(1)).TypeName()
		if err != nil {
			return nil, err
		}
		location, ok := sparktext.ParseZone(orElse(options["timezone"], r.text(2)))
		if !ok {
			return nil, fault.New(fault.Invalid, "The timezone: %s is invalid.", options["timezone"]).With("INVALID_TIMEZONE", "22009")
		}
		out := &valueReader{of: t, zone: sparktext.ZoneOf(location), separator: orElse(options["sep"], orElse(options["delimiter"], ","))}
		switch strings.ToUpper(options["mode"]) {
		case "", "PERMISSIVE":
		case "FAILFAST":
			out.strict = true
		default:
			return nil, fault.New(fault.Invalid, "The function doesn't support the %s mode. Acceptable modes are PERMISSIVE and FAILFAST.", options["mode"]).With("PARSE_MODE_UNSUPPORTED", "42601")
		}
		for to, name := range map[**sparktext.Pattern]string{&out.date: "dateformat", &out.time: "timestampformat"} {
			if options[name] == "" {
				continue
			}
			if *to, err = sparktext.ParseReading(options[name]); err != nil {
				return nil, err
			}
		}
		return out, nil
	})
}

func malformedJSON(text string) error {
	return fault.New(fault.Invalid, "Malformed records are detected in record parsing: %s. Parse Mode: FAILFAST. To process malformed records as null result, try setting the option 'mode' as 'PERMISSIVE'.", shortened(text)).
		With("MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION", "22023")
}

// readJSON reads a text as a value of a type.
func readJSON(r *row) error {
	c, err := r.reader()
	if err != nil {
		return err
	}
	text := r.text(0)
	if strings.Trim(text, " \t\r\n") == "" {
		return nil
	}
	none := &sparkjson.Value{}
	if c.of.Name == "struct" {
		none = &sparkjson.Value{Kind: sparkjson.Object}
	}
	v, err := sparkjson.Parse(text, true)
	bad := err != nil
	switch {
	case bad:
	case v.Kind == sparkjson.Null:
		v = none
	case c.of.Name == "array" && len(c.of.Args) == 1 && c.of.Args[0].Name == "struct" && v.Kind == sparkjson.Object:
		v = &sparkjson.Value{Kind: sparkjson.Array, Values: []*sparkjson.Value{v}}
		fallthrough
	default:
		v, bad = c.value(v, c.of)
	}
	switch {
	case bad && c.strict:
		return malformedJSON(text)
	case bad && v == nil:
		v = none
	}
	if v.Kind != sparkjson.Null {
		r.give(v.String())
	}
	return nil
}

// value gives a value as one of a type, and reports whether something in it is not. Of a struct and of a map what is right stays.
func (c *valueReader) value(v *sparkjson.Value, t syntax.TypeName) (out *sparkjson.Value, bad bool) {
	if v.Kind == sparkjson.Null {
		return v, false
	}
	switch t.Name {
	case "struct":
		if v.Kind != sparkjson.Object {
			return nil, true
		}
		out = &sparkjson.Value{Kind: sparkjson.Object}
		for _, f := range t.Fields {
			for i := len(v.Names) - 1; i >= 0; i-- {
				if v.Names[i] == f.Name.Text {
					inner, wrong := c.value(v.Values[i], f.Type)
					if bad = bad || wrong; inner != nil {
						out.Names, out.Values = append(out.Names, f.Name.Text), append(out.Values, inner)
					}
					break
				}
			}
		}
		return out, bad
	case "array", "map":
		if (t.Name == "array") != (v.Kind == sparkjson.Array) || t.Name == "map" && v.Kind != sparkjson.Object {
			return nil, true
		}
		out = &sparkjson.Value{Kind: v.Kind, Names: v.Names}
		for _, e := range v.Values {
			inner, wrong := c.value(e, t.Args[len(t.Args)-1])
			if wrong {
				return nil, true
			}
			out.Values = append(out.Values, inner)
		}
		return out, false
	}
	text, ok := c.plain(v, t)
	if !ok {
		return nil, true
	}
	kind := sparkjson.Text
	if t.Name == "boolean" {
		kind = sparkjson.Boolean
	}
	return &sparkjson.Value{Kind: kind, Text: text}, false
}

// wholeBits are the types of whole numbers, with their bits.
var wholeBits = map[string]int{"tinyint": 8, "byte": 8, "smallint": 16, "short": 16, "int": 32, "integer": 32, "bigint": 64, "long": 64}

// plain gives the text of a value of a type without parts; false: it is none of the type.
func (c *valueReader) plain(v *sparkjson.Value, t syntax.TypeName) (string, bool) {
	number := v.Kind == sparkjson.Integer || v.Kind == sparkjson.Float
	switch t.Name {
	case "string", "varchar", "char":
		if v.Kind == sparkjson.Text {
			return v.Text, true
		}
		return v.String(), true
	case "boolean":
		return v.Text, v.Kind == sparkjson.Boolean
	case "float", "double", "real":
		return v.Text, number || v.Kind == sparkjson.Text && (v.Text == "NaN" || v.Text == "Infinity" || v.Text == "-Infinity")
	case "decimal", "dec", "numeric":
		return decimalOf(v.Text, t, number || v.Kind == sparkjson.Text)
	case "date", "timestamp", "timestamp_ltz", "timestamp_ntz":
		if v.Kind == sparkjson.Integer && t.Name == "timestamp" {
			seconds, err := strconv.ParseInt(v.Text, 10, 64)
			if err != nil || seconds > 1<<42 || seconds < -(1<<42) {
				return "", false
			}
			return momentText(seconds*1_000_000, t.Name), true
		}
		if v.Kind == sparkjson.Text {
			return c.moment(v.Text, t.Name)
		}
		return "", false
	}
	if bits := wholeBits[t.Name]; bits > 0 {
		_, err := strconv.ParseInt(v.Text, 10, bits)
		return v.Text, v.Kind == sparkjson.Integer && err == nil
	}
	return "", false
}

func decimalOf(text string, t syntax.TypeName, ok bool) (string, bool) {
	n, scale, read := sparktext.ParseDecimal(text)
	if !ok || !read {
		return "", false
	}
	width, places := 10, 0
	if len(t.Params) > 0 {
		width = t.Params[0]
	}
	if len(t.Params) > 1 {
		places = t.Params[1]
	}
	n = sparktext.Rescale(n, scale, places)
	return sparktext.Decimal(n, places), new(big.Int).Abs(n).Cmp(sparktext.Power10(width)) < 0
}

// moment reads a day or an instant.
func (c *valueReader) moment(text, kind string) (string, bool) {
	pattern, zone := c.time, c.zone
	if kind == "date" {
		pattern, zone = c.date, nil
	}
	if kind == "timestamp_ntz" {
		zone = nil
	}
	if pattern != nil {
		v, err := pattern.Parse(text, zone)
		return momentText(v, kind), err == nil
	}
	if kind == "date" {
		days, ok := sparktext.ParseDate(text)
		return momentText(days*sparktext.MicrosPerDay, kind), ok
	}
	m, ok := sparktext.ParseTimestamp(text)
	if !ok {
		return "", false
	}
	if zone == nil {
		zone = sparktext.UTC()
	}
	units, ok := m.Units(zone, 1_000_000)
	return momentText(units, kind), ok
}

// momentText writes an instant as the engine reads it.
func momentText(micros int64, kind string) string {
	switch kind {
	case "date":
		return string(sparktext.AppendDate(nil, sparktext.FloorDiv(micros, sparktext.MicrosPerDay)))
	case "timestamp_ntz":
		return string(sparktext.AppendTimestamp(nil, micros, 1_000_000))
	}
	return string(sparktext.AppendTimestamp(nil, micros, 1_000_000)) + "+00"
}
