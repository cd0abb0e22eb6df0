package variant

import (
	"strconv"
	"strings"

	"github.com/skua-data/skua/fault"
)

// Step is one step into a value: a name, or an index.
type Step struct {
	Name  string
	Index int // -1: the step is a name
}

// ParsePath reads a path such as $.a['b'][0].
func ParsePath(text string) ([]Step, error) {
	bad := fault.New(fault.Invalid, "%q is no path into a variant", text).With("INVALID_VARIANT_GET_PATH", "22023")
	rest, ok := strings.CutPrefix(text, "$")
	if !ok {
		return nil, bad
	}
	var out []Step
	for rest != "" {
		step := Step{Index: -1}
		switch {
		case rest[0] == '.':
			rest = rest[1:]
			end := strings.IndexAny(rest, ".[")
			if end < 0 {
				end = len(rest)
			}
			step.Name, rest = rest[:end], rest[end:]
			if step.Name == "" {
				return nil, bad
			}
		case len(rest) > 2 && (rest[1] == '\'' || rest[1] == '"'):
			end := strings.Index(rest[2:], rest[1:2]+"]")
			if rest[0] != '[' || end < 0 {
				return nil, bad
			}
			step.Name, rest = rest[2:2+end], rest[2+end+2:]
		default:
			end := strings.IndexByte(rest, ']')
			if rest[0] != '[' || end < 0 {
				return nil, bad
			}
			n, err := strconv.ParseUint(rest[1:end], 10, 31)
			if err != nil {
				return nil, bad
			}
			step.Index, rest = int(n), rest[end+1:]
		}
		out = append(out, step)
	}
	return out, nil
}

// Get follows a path; false: it leads nowhere.
func (v Value) Get(path []Step) (Value, bool, error) {
	for _, s := range path {
		k, err := v.Kind()
		if err != nil {
			return v, false, err
		}
		found := false
		switch {
		case s.Index < 0 && k == Object:
			fields, err := v.Fields()
			if err != nil {
				return v, false, err
			}
			for _, f := range fields {
				if f.Name == s.Name {
					v, found = f.Value, true
					break
				}
			}
		case s.Index >= 0 && k == Array:
			elements, err := v.Elements()
			if err != nil {
				return v, false, err
			}
			if s.Index < len(elements) {
				v, found = elements[s.Index], true
			}
		}
		if !found {
			return v, false, nil
		}
	}
	return v, true, nil
}
