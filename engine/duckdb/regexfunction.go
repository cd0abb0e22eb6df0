//go:build cgo

package duckdb

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/skua-data/skua/fault"
)

// regexFunctions are Spark's functions of regular expressions: their patterns are Java's, as far as they are what Go's are, too. Others are refused.
var regexFunctions = []scalar{
	rowFunction("skua_regexp_count", []int{typeVarchar, typeVarchar}, typeInteger, onPattern(func(r *row, p *regexp.Regexp) error {
		r.give(int64(len(p.FindAllStringIndex(r.text(0), -1))))
		return nil
	})),
	rowFunction("skua_regexp_instr", []int{typeVarchar, typeVarchar}, typeInteger, onPattern(func(r *row, p *regexp.Regexp) error {
		at := p.FindStringIndex(r.text(0))
		if at == nil {
			r.give(int64(0))
			return nil
		}
		r.give(int64(utf8.RuneCountInString(r.text(0)[:at[0]])) + 1)
		return nil
	})),
	rowFunction("skua_regexp_substr", []int{typeVarchar, typeVarchar}, typeVarchar, onPattern(func(r *row, p *regexp.Regexp) error {
		if at := p.FindStringIndex(r.text(0)); at != nil {
			r.give(r.text(0)[at[0]:at[1]])
		}
		return nil
	})),
	rowFunction("skua_regexp_extract", []int{typeVarchar, typeVarchar, typeBigint}, typeVarchar, onPattern(func(r *row, p *regexp.Regexp) error {
		group, err := groupOf(r, p, "regexp_extract")
		if err != nil {
			return err
		}
		at := p.FindStringSubmatchIndex(r.text(0))
		if at == nil || at[2*group] < 0 {
			r.give("")
			return nil
		}
		r.give(r.text(0)[at[2*group]:at[2*group+1]])
		return nil
	})),
	rowFunction("skua_regexp_replace", []int{typeVarchar, typeVarchar, typeVarchar, typeBigint}, typeVarchar, onPattern(regexpReplaceRow)),
}

// onPattern makes the second argument a regular expression.
func onPattern(of func(r *row, p *regexp.Regexp) error) func(r *row) error {
	return func(r *row) error {
		p, err := patternOf(r, r.text(1))
		if err != nil {
			return err
		}
		return of(r, p)
	}
}

// javaOnly finds what Java's regular expressions have and Go's have not.
var javaOnly = regexp.MustCompile(`\(\?<?[=!]|\(\?>|\\[1-9]|\\k<|[*+?}]\+|&&|\\[GRXhHN]`)

func patternOf(r *row, text string) (*regexp.Regexp, error) {
	return of(r, text, func(text string) (*regexp.Regexp, error) {
		p, err := regexp.Compile(text)
		switch {
		case err == nil:
			return p, nil
		case javaOnly.MatchString(text):
			return nil, fault.New(fault.Unsupported, "the regular expression %q is not supported: it looks around, or back at a group", text)
		}
		return nil, fault.New(fault.Invalid, "The value of parameter(s) `regexp` in the function is invalid: '%s'.", text).With("INVALID_PARAMETER_VALUE.PATTERN", "22023")
	})
}

// groupOf gives the number of the group that is asked for.
func groupOf(r *row, p *regexp.Regexp, name string) (int, error) {
	group := r.whole(2)
	if group < 0 || group > int64(p.NumSubexp()) {
		return 0, fault.New(fault.Invalid, "The value of parameter(s) `idx` in `%s` is invalid: Expects group index between 0 and %d, but got %d.", name, p.NumSubexp(), group).
			With("INVALID_PARAMETER_VALUE.REGEX_GROUP_INDEX", "22023")
	}
	return int(group), nil
}

// regexpReplaceRow replaces every match from a character on. $1 and ${name} are groups, a backslash makes what follows a text.
func regexpReplaceRow(r *row, p *regexp.Regexp) error {
	s, position := r.text(0), r.whole(3)
	from := 0
	for ; position > 1 && from < len(s); position-- {
		_, size := utf8.DecodeRuneInString(s[from:])
		from += size
	}
	if position > 1 {
		r.give(s)
		return nil
	}
	var b strings.Builder
	last := 0
	for _, at := range p.FindAllStringSubmatchIndex(s, -1) {
		if at[0] < from {
			continue
		}
		b.WriteString(s[last:at[0]])
		if err := expand(&b, r.text(2), s, at, p); err != nil {
			return err
		}
		last = at[1]
		if int64(b.Len()) > most[madeReplaced].value {
			return fault.New(fault.Invalid, most[madeReplaced].what, most[madeReplaced].value)
		}
	}
	b.WriteString(s[last:])
	r.give(b.String())
	return nil
}

// expand writes a replacement.
func expand(b *strings.Builder, replacement, s string, at []int, p *regexp.Regexp) error {
	bad := func() error {
		return fault.New(fault.Invalid, "Could not perform regexp_replace for source = %q, pattern = %q, replacement = %q.", s, p.String(), replacement).With("INVALID_REGEXP_REPLACE", "22023")
	}
	for i := 0; i < len(replacement); i++ {
		c := replacement[i]
		switch {
		case c == '\\' && i+1 < len(replacement):
			i++
			b.WriteByte(replacement[i])
		case c == '\\':
			return bad()
		case c == '$':
			group, next := groupNamed(replacement, i+1, p)
			if group < 0 {
				return bad()
			}
			if at[2*group] >= 0 {
				b.WriteString(s[at[2*group]:at[2*group+1]])
			}
			i = next - 1
		default:
			b.WriteByte(c)
		}
	}
	return nil
}

// groupNamed reads the number or the name of a group behind $; below 0: there is none.
func groupNamed(text string, from int, p *regexp.Regexp) (group, next int) {
	if from < len(text) && text[from] == '{' {
		name, _, ok := strings.Cut(text[from+1:], "}")
		if !ok {
			return -1, from
		}
		return p.SubexpIndex(name), from + len(name) + 2
	}
	end := from
	for end < len(text) && text[end] >= '0' && text[end] <= '9' {
		n, _ := strconv.Atoi(text[from : end+1])
		if n > p.NumSubexp() {
			break
		}
		end++
	}
	if end == from {
		return -1, from
	}
	group, _ = strconv.Atoi(text[from:end])
	return group, end
}
