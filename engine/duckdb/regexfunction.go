//go:build cgo

package duckdb

import (
	"encoding/json"
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
		at := p.FindStringSubmatchIndex(r.text(0))
		if at == nil { // the group is not looked for
			r.give("")
			return nil
		}
		group, err := groupOf(r, p, "regexp_extract")
		if err != nil {
			return err
		}
		r.give(groupIn(r.text(0), at, group))
		return nil
	})),
	rowFunction("skua_regexp_all", []int{typeVarchar, typeVarchar, typeBigint}, typeVarchar, onPattern(func(r *row, p *regexp.Regexp) error {
		found := []string{}
		for i, at := range p.FindAllStringSubmatchIndex(r.text(0), -1) {
			group, err := groupOf(r, p, "regexp_extract_all")
			if err != nil {
				return err
			}
			if i >= int(most[madeList].value) {
				return fault.New(fault.Invalid, most[madeList].what, most[madeList].value)
			}
			found = append(found, groupIn(r.text(0), at, group))
		}
		return r.giveTexts(found)
	})),
	rowFunction("skua_split", []int{typeVarchar, typeVarchar, typeBigint}, typeVarchar, onPattern(func(r *row, p *regexp.Regexp) error {
		return r.giveTexts(splitAt(p, r.text(0), r.whole(2)))
	})),
	rowFunction("skua_regexp_replace", []int{typeVarchar, typeVarchar, typeVarchar, typeBigint}, typeVarchar, onPattern(regexpReplaceRow)),
}

// groupIn gives the text of a group of a match; one that has no part in it is empty.
func groupIn(s string, at []int, group int) string {
	if at[2*group] < 0 {
		return ""
	}
	return s[at[2*group]:at[2*group+1]]
}

// giveTexts gives a list of texts as JSON.
func (r *row) giveTexts(list []string) error {
	b, err := json.Marshal(list)
	r.give(string(b))
	return err
}

// splitAt parts a text as Java does: into at most so many parts where the limit is positive. A match of nothing at the start parts nothing off.
func splitAt(p *regexp.Regexp, s string, limit int64) []string {
	out, from := []string{}, 0
	for _, at := range p.FindAllStringIndex(s, -1) {
		if limit > 0 && int64(len(out)) >= limit-1 {
			break
		}
		if at[1] == 0 || p.String() == "" && at[0] == len(s) {
			continue
		}
		out = append(out, s[from:at[0]])
		from = at[1]
	}
	return append(out, s[from:])
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

// unsupportedPattern says which part of a regular expression Java alone has.
func unsupportedPattern(part string) *fault.Error {
	what := "possessive quantifiers"
	switch {
	case strings.HasPrefix(part, "(?>"):
		what = "atomic groups"
	case strings.HasPrefix(part, "(?"):
		what = "looking ahead or behind"
	case part == "&&":
		what = "intersections of classes"
	case strings.HasPrefix(part, `\k`), len(part) == 2 && part[0] == '\\' && part[1] >= '1' && part[1] <= '9':
		what = "references back to groups"
	case strings.HasPrefix(part, `\`):
		what = "some of Java's classes of characters"
	}
	return fault.New(fault.Unsupported, "The feature is not supported: regular expressions with %s (%s).", what, part).With("UNSUPPORTED_FEATURE", "0A000")
}

func invalidPattern(text string) *fault.Error {
	return fault.New(fault.Invalid, "The value of parameter(s) `regexp` in the function is invalid: '%s'.", text).With("INVALID_PARAMETER_VALUE.PATTERN", "22023")
}

// refusedPattern reads what the engine says of a regular expression that it does not take; nil: it says something else.
func refusedPattern(message string) *fault.Error {
	m := enginePattern.FindStringSubmatch(message)
	switch {
	case m == nil:
		return nil
	case javaOnly.MatchString(m[2]):
		return unsupportedPattern(javaOnly.FindString(m[2]))
	}
	return invalidPattern(strings.TrimPrefix(m[2], "(?s:.*)(?:"))
}

// enginePattern are the engine's words for them.
var enginePattern = regexp.MustCompile(`(?i)^(invalid perl operator|invalid escape sequence|missing \]|missing \)|unexpected \)|missing argument to repetition operator|no argument for repetition operator|bad repetition operator|invalid character class|invalid character class range|invalid character range|trailing \\(?: at end of regexp)?|invalid named capture group|invalid group name): (.*)$`)

func patternOf(r *row, text string) (*regexp.Regexp, error) {
	return of(r, text, func(text string) (*regexp.Regexp, error) {
		p, err := regexp.Compile(text)
		switch {
		case err == nil:
			return p, nil
		case javaOnly.MatchString(text):
			return nil, unsupportedPattern(javaOnly.FindString(text))
		}
		return nil, invalidPattern(text)
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
