package scan

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/iceberg-go"
	"github.com/google/uuid"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/scan/metatable"
)

// defaults are the initial defaults of a table's columns as its metadata spells them, numbers unrounded, by schema and field.
type defaults map[int]map[int]any

// readDefaults finds the initial defaults in a metadata file. Metadata without any costs a search for the word.
func readDefaults(raw []byte) (defaults, error) {
	if !bytes.Contains(raw, []byte(`"initial-default"`)) {
		return nil, nil
	}
	var file struct {
		Schemas []json.RawMessage `json:"schemas"`
		Schema  json.RawMessage   `json:"schema"`
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		return nil, err
	}
	out := defaults{}
	for _, s := range append(file.Schemas, file.Schema) {
		if len(s) == 0 {
			continue
		}
		d := json.NewDecoder(bytes.NewReader(s))
		d.UseNumber()
		var schema map[string]any
		if err := d.Decode(&schema); err != nil {
			return nil, err
		}
		id, _ := jsonInt(schema["schema-id"])
		found := map[int]any{}
		collectDefaults(schema, found)
		if out[id] == nil || len(found) > 0 {
			out[id] = found
		}
	}
	return out, nil
}

func jsonInt(v any) (int, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	i, err := strconv.Atoi(string(n))
	return i, err == nil
}

// collectDefaults walks a type of the metadata: structs have fields, lists an element, maps a key and a value.
func collectDefaults(typ any, out map[int]any) {
	t, ok := typ.(map[string]any)
	if !ok {
		return
	}
	fields, _ := t["fields"].([]any)
	for _, f := range fields {
		field, ok := f.(map[string]any)
		if !ok {
			continue
		}
		if v, ok := field["initial-default"]; ok && v != nil {
			if id, ok := jsonInt(field["id"]); ok {
				out[id] = v
			}
		}
		collectDefaults(field["type"], out)
	}
	for _, inner := range []string{"element", "key", "value"} {
		collectDefaults(t[inner], out)
	}
}

// defaultOf gives the initial default of a field as its schema spells it; false: it has none.
func (s *tableSource) defaultOf(id int) (any, bool) {
	if v, ok := s.table.defaults[s.at.schema.ID][id]; ok {
		return v, true
	}
	if _, own := s.at.schema.FindFieldByID(id); own {
		return nil, false
	}
	for _, schema := range s.table.defaults { // a column of other schemas; its initial default never changes
		if v, ok := schema[id]; ok {
			return v, true
		}
	}
	return nil, false
}

// initialDefault gives the value that rows have which were written before the field was added, in the form of package metatable; nil: null.
func (s *tableSource) initialDefault(f arrow.Field) (any, error) {
	raw, ok := s.defaultOf(FieldID(f))
	if !ok {
		return nil, nil
	}
	v, ok := s.defaultValue(raw, f)
	if !ok {
		return nil, fault.New(fault.Corrupt, "column %s: %v is no default for the type %s", f.Name, raw, s.fields[FieldID(f)].Type)
	}
	return v, nil
}

// defaultValue reads a default in the form of Iceberg's single values: a struct by field ids, a list, a map as keys and values. A struct's
// fields that are not spelled out have defaults of their own.
func (s *tableSource) defaultValue(raw any, f arrow.Field) (any, bool) {
	if raw == nil {
		return nil, f.Nullable
	}
	switch t := f.Type.(type) {
	case *arrow.StructType:
		object, ok := raw.(map[string]any)
		out := make(metatable.Struct, t.NumFields())
		for i, c := range t.Fields() {
			own, spelled := object[strconv.Itoa(FieldID(c))]
			if !spelled {
				own, spelled = s.defaultOf(FieldID(c))
			}
			var fits bool
			out[i], fits = s.defaultValue(own, c)
			ok = ok && fits
		}
		return out, ok
	case *arrow.ListType:
		list, ok := raw.([]any)
		out := make(metatable.List, len(list))
		for i, e := range list {
			var fits bool
			out[i], fits = s.defaultValue(e, t.ElemField())
			ok = ok && fits
		}
		return out, ok
	case *arrow.MapType:
		return s.defaultMap(raw, t)
	}
	return parseDefault(raw, storageType(f.Type), s.fields[FieldID(f)].Type)
}

func (s *tableSource) defaultMap(raw any, t *arrow.MapType) (any, bool) {
	object, _ := raw.(map[string]any)
	keys, ok := object["keys"].([]any)
	values, isList := object["values"].([]any)
	if !ok || !isList || len(keys) != len(values) {
		return nil, false
	}
	out := make(metatable.Map, len(keys))
	for i := range keys {
		key, keyFits := s.defaultValue(keys[i], t.KeyField())
		value, fits := s.defaultValue(values[i], t.ItemField())
		out[i], ok = [2]any{key, value}, ok && keyFits && fits
	}
	return out, ok
}

// parseDefault reads a default of a primitive type, in its normal form (see value.go).
func parseDefault(raw any, typ arrow.DataType, written iceberg.Type) (any, bool) {
	switch v := raw.(type) {
	case bool:
		return v, typ.ID() == arrow.BOOL
	case json.Number:
		return parseDefaultNumber(string(v), typ)
	case float64:
		if typ.ID() == arrow.INT64 && math.Abs(v) >= 1<<53 {
			return nil, false // it may have been rounded
		}
		return parseDefaultNumber(strconv.FormatFloat(v, 'f', -1, 64), typ)
	case string:
		return parseDefaultText(v, typ, written)
	}
	return nil, false
}

func parseDefaultNumber(text string, typ arrow.DataType) (any, bool) {
	switch typ.ID() {
	case arrow.INT32:
		v, err := strconv.ParseInt(text, 10, 32)
		return v, err == nil
	case arrow.INT64:
		v, err := strconv.ParseInt(text, 10, 64)
		return v, err == nil
	case arrow.FLOAT32:
		v, err := strconv.ParseFloat(text, 32)
		return v, err == nil
	case arrow.FLOAT64:
		v, err := strconv.ParseFloat(text, 64)
		return v, err == nil
	}
	return nil, false
}

func parseDefaultText(text string, typ arrow.DataType, written iceberg.Type) (any, bool) {
	switch t := typ.(type) {
	case *arrow.StringType:
		return text, true
	case *arrow.BinaryType:
		raw, err := hex.DecodeString(text)
		return raw, err == nil
	case *arrow.FixedSizeBinaryType:
		if _, ok := written.(iceberg.UUIDType); ok {
			id, err := uuid.Parse(text)
			return id[:], err == nil && len(text) == 36
		}
		raw, err := hex.DecodeString(text)
		return raw, err == nil && len(raw) == t.ByteWidth
	case *arrow.Float32Type, *arrow.Float64Type:
		v, ok := map[string]float64{"NaN": math.NaN(), "Infinity": math.Inf(1), "-Infinity": math.Inf(-1)}[text]
		return v, ok // JSON has no numbers for these
	case *arrow.Decimal128Type:
		return parseDefaultDecimal(text, t)
	case *arrow.Date32Type:
		day, ok := parseDay(text)
		return day, ok && day == int64(int32(day))
	case *arrow.Time64Type:
		nanos, ok := parseClock(text)
		return nanos / 1000, ok && nanos%1000 == 0
	case *arrow.TimestampType:
		return parseDefaultTime(text, t)
	}
	return nil, false
}

var decimalText = regexp.MustCompile(`^[+-]?[0-9]{1,60}(\.[0-9]{0,60})?([eE][+-]?[0-9]{1,2})?$`)

func parseDefaultDecimal(text string, t *arrow.Decimal128Type) (any, bool) {
	if !decimalText.MatchString(text) {
		return nil, false
	}
	v, ok := new(big.Rat).SetString(text)
	if !ok {
		return nil, false
	}
	d, ok := normalizeDecimal(v, t)
	return d, ok && d.(decimal128.Num).FitsInPrecision(t.Precision)
}

var dayText = regexp.MustCompile(`^([+-]?[0-9]{4,9})-([0-9]{2})-([0-9]{2})$`)

// parseDay gives the days since 1970 of an ISO date, whose year may have a sign.
func parseDay(text string) (int64, bool) {
	m := dayText.FindStringSubmatch(text)
	if m == nil {
		return 0, false
	}
	year, _ := strconv.Atoi(m[1])
	month, _ := strconv.Atoi(m[2])
	day, _ := strconv.Atoi(m[3])
	at := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	return floorDiv(at.Unix(), 86400), int(at.Month()) == month && at.Day() == day
}

var clockText = regexp.MustCompile(`^([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]{1,9}))?)?$`)

// parseClock gives the nanoseconds of a time of day.
func parseClock(text string) (int64, bool) {
	m := clockText.FindStringSubmatch(text)
	if m == nil {
		return 0, false
	}
	hour, _ := strconv.ParseInt(m[1], 10, 64)
	minute, _ := strconv.ParseInt(m[2], 10, 64)
	second, _ := strconv.ParseInt("0"+m[3], 10, 64)
	fraction, _ := strconv.ParseInt((m[4] + "000000000")[:9], 10, 64)
	return ((hour*60+minute)*60+second)*1e9 + fraction, hour < 24 && minute < 60 && second < 60
}

var zoneText = regexp.MustCompile(`(Z|[+-][0-9]{2}:[0-9]{2})$`)

func parseDefaultTime(text string, t *arrow.TimestampType) (any, bool) {
	day, rest, timed := strings.Cut(text, "T")
	days, ok := parseDay(day)
	if !timed { // a date, of a column that was promoted
		return days * perDay(t), ok && days == int64(int32(days))
	}
	zone := zoneText.FindString(rest)
	clock, fits := parseClock(strings.TrimSuffix(rest, zone))
	if !ok || !fits || (zone != "") != (t.TimeZone != "") || days != int64(int32(days)) {
		return nil, false
	}
	var shift int64
	if len(zone) == 6 {
		hours, _ := strconv.ParseInt(zone[1:3], 10, 64)
		minutes, _ := strconv.ParseInt(zone[4:], 10, 64)
		if shift = (hours*60 + minutes) * 60; zone[0] == '-' {
			shift = -shift
		}
	}
	if t.Unit == arrow.Nanosecond {
		nanos := new(big.Int).Add(new(big.Int).Mul(big.NewInt(days*86400-shift), big.NewInt(1e9)), big.NewInt(clock))
		return nanos.Int64(), nanos.IsInt64()
	}
	return (days*86400-shift)*1e6 + clock/1000, clock%1000 == 0
}
