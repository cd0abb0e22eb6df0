package conformance

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
)

// Clients that give texts and no types lose what types say. canonicalCell spells a value so that what is lost does not count: the precision of floats
// beyond 32 bits, whether a timestamp has a zone, how maps are written, whether a number is quoted, and fields of structs that are null.
func canonicalCell(text string) string {
	switch {
	case text == "":
		return text
	case text[0] == '{' || text[0] == '[':
		var v any
		if json.Unmarshal([]byte(unescaper.Replace(text)), &v) != nil {
			return text
		}
		out, err := json.Marshal(canonicalValue(v))
		if err != nil {
			return text
		}
		return string(out)
	case zoned.MatchString(text):
		return strings.TrimSuffix(text, "Z")
	}
	if strings.ContainsAny(text, ".e") || text == "-0" {
		if f, err := strconv.ParseFloat(text, 64); err == nil {
			return strconv.FormatFloat(float64(float32(f)), 'g', -1, 32)
		}
	}
	return text
}

var zoned = regexp.MustCompile(`^-?\d{4,}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?Z?$`)

func canonicalValue(v any) any {
	switch v := v.(type) {
	case float64:
		return strconv.FormatFloat(float64(float32(v)), 'g', -1, 32)
	case string:
		return canonicalCell(v)
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			if e != nil {
				out[k] = canonicalValue(e)
			}
		}
		if len(out) == 0 {
			return []any{} // an empty map is spelled as an empty list elsewhere
		}
		return out
	case []any:
		if m, ok := entries(v); ok {
			return m
		}
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = canonicalValue(e)
		}
		return out
	}
	return v
}

// entries gives a map that is spelled as a list of keys with values.
func entries(list []any) (map[string]any, bool) {
	out := map[string]any{}
	for _, e := range list {
		entry, ok := e.(map[string]any)
		key, keyed := entry["key"]
		value, valued := entry["value"]
		if !ok || !keyed || len(entry) > 2 || len(entry) == 2 && !valued {
			return nil, false
		}
		text, isText := key.(string)
		if !isText {
			data, err := json.Marshal(key)
			if err != nil {
				return nil, false
			}
			text = string(data)
		}
		if value != nil {
			out[text] = canonicalValue(value)
		}
	}
	return out, len(list) > 0
}

// canonicalLine does it for a row.
func canonicalLine(line string) string {
	cells := strings.Split(line, "\t")
	for i, c := range cells {
		cells[i] = canonicalCell(c)
	}
	return strings.Join(cells, "\t")
}
