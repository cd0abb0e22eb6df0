package sparkjson

import (
	"strconv"
	"strings"
)

// Path is a path of get_json_object.
type Path []step

// step is a name, a place in an array, or all of its places.
type step struct {
	name  string
	index int
	named bool
	all   bool
}

// ParsePath reads a path; false: it is none.
func ParsePath(text string) (Path, bool) {
	rest, ok := strings.CutPrefix(text, "$")
	path := Path{}
	for ok && rest != "" {
		s := step{}
		switch {
		case strings.HasPrefix(rest, ".*"), strings.HasPrefix(rest, "['*']"):
			return nil, false // it finds nothing
		case rest[0] == '.':
			end := strings.IndexAny(rest[1:], ".[")
			if end < 0 {
				end = len(rest) - 1
			}
			s.named, s.name, rest = true, rest[1:end+1], rest[end+1:]
			ok = s.name != ""
		case strings.HasPrefix(rest, "['"):
			s.named = true
			s.name, rest, ok = strings.Cut(rest[2:], "']")
			ok = ok && s.name != "" && !strings.ContainsAny(s.name, "'?")
		case rest[0] == '[':
			var inner string
			inner, rest, ok = strings.Cut(rest[1:], "]")
			n, err := strconv.ParseUint(inner, 10, 31)
			s.all, s.index = inner == "*", int(n)
			ok = ok && (s.all || err == nil)
		default:
			ok = false
		}
		path = append(path, s)
	}
	return path, ok
}

// style is how what a path finds is written.
type style uint8

const (
	raw style = iota
	quoted
	flat
)

// Find gives what a path finds in a value, as get_json_object writes it; false: nothing.
func (p Path) Find(v *Value) (string, bool) {
	w := &writer{}
	if !w.find(v, raw, p) {
		return "", false
	}
	return string(w.b), true
}

// writer writes values into arrays.
type writer struct {
	b     []byte
	array bool // values are parted by commas
	some  bool // one was written
}

func (w *writer) put(text []byte) {
	if w.array && w.some {
		w.b = append(w.b, ',')
	}
	w.b, w.some = append(w.b, text...), true
}

// find writes what a path finds, and reports whether that is something.
func (w *writer) find(v *Value, how style, path Path) bool {
	switch {
	case len(path) == 0 && v.Kind == Text && how == raw:
		w.put([]byte(v.Text))
		return true
	case len(path) == 0 && v.Kind == Array && how == flat:
		return w.each(v, flat, path) > 0
	case len(path) == 0:
		w.put(v.Append(nil))
		return true
	case v.Kind == Object && path[0].named:
		for i, name := range v.Names {
			if name == path[0].name && v.Values[i].Kind != Null && w.find(v.Values[i], how, path[1:]) {
				return true
			}
		}
		return false
	case v.Kind != Array || path[0].named:
		return false
	case path[0].all:
		return w.all(v, how, path[1:])
	case path[0].index >= len(v.Values):
		return false
	case len(path) > 1 && path[1].all:
		return w.find(v.Values[path[0].index], quoted, path[1:])
	}
	return w.find(v.Values[path[0].index], how, path[1:])
}

func (w *writer) each(v *Value, how style, path Path) (found int) {
	for _, inner := range v.Values {
		if w.find(inner, how, path) {
			found++
		}
	}
	return found
}

// all writes what a path finds in the elements of an array: one alone stands without brackets, but inside of others.
func (w *writer) all(v *Value, how style, path Path) bool {
	inner := &writer{array: true}
	found := 0
	switch {
	case len(path) > 0 && path[0].all:
		found = inner.each(v, flat, path[1:])
	case how == flat:
		found = inner.each(v, flat, path)
	default:
		found = inner.each(v, quoted, path)
	}
	if how != quoted && found == 1 && !(len(path) > 0 && path[0].all) {
		w.put(inner.b)
		return true
	}
	if found > 0 || how == quoted || len(path) > 0 && path[0].all {
		w.put([]byte("[" + string(inner.b) + "]"))
	}
	return found > 0
}
