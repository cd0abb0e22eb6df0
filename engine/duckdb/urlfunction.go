//go:build cgo

package duckdb

import (
	"regexp"

	"github.com/skua-data/skua/engine/sparktext"
	"github.com/skua-data/skua/fault"
)

// urlFunctions take URLs apart.
var urlFunctions = []scalar{
	rowFunction("skua_parse_url", []int{typeVarchar, typeVarchar, typeBoolean}, typeVarchar, func(r *row) error {
		part, err := r.partOfURL(r.truth(2))
		if part != nil {
			r.give(*part)
		}
		return err
	}),
	rowFunction("skua_parse_url", []int{typeVarchar, typeVarchar, typeVarchar, typeBoolean}, typeVarchar, func(r *row) error {
		part, err := r.partOfURL(r.truth(3))
		if part == nil || err != nil || r.text(1) != "QUERY" {
			return err
		}
		key, err := of(r, r.text(2), parameterPattern)
		if err != nil {
			return err
		}
		if found := key.FindStringSubmatch(*part); found != nil {
			r.give(found[len(found)-1])
		}
		return nil
	}),
}

// partOfURL gives what the first two arguments ask for; nil: there is none.
func (r *row) partOfURL(try bool) (*string, error) {
	u, ok := sparktext.ParseURL(r.text(0))
	switch {
	case ok:
		return u.Part(r.text(1)), nil
	case try:
		return nil, nil
	}
	return nil, fault.New(fault.Invalid, "The url is invalid: %s. Use `try_parse_url` to tolerate invalid URL and return NULL instead.", r.text(0)).With("INVALID_URL", "22P02")
}

// parameterPattern finds the value of a parameter, whose name is a regular expression.
func parameterPattern(key string) (*regexp.Regexp, error) {
	p, err := regexp.Compile("(?:&|^)" + key + "=([^&]*)")
	if err != nil || p.NumSubexp() != 1 {
		return nil, fault.New(fault.Unsupported, "parse_url does not take %q as the name of a parameter: it is a regular expression with groups, or none", key)
	}
	return p, nil
}
