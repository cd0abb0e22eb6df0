package engine

import (
	"regexp"
	"strings"
)

// matcher says whether a name matches a pattern.
type matcher func(name string) bool

func everything(string) bool { return true }

// showPattern is the LIKE of SHOW: see showNames.
func showPattern(pattern string) matcher { return showNames(pattern).MatchString }

// noName matches nothing.
var noName = regexp.MustCompile(`[^\x00-\x{10FFFF}]`)

// showNames gives the expression of SHOW's LIKE: alternatives between |, any case, * for any text, and the rest a regular expression. What is no regular
// expression matches nothing, as in Spark.
func showNames(pattern string) *regexp.Regexp {
	var alternatives []string
	for _, part := range strings.Split(strings.TrimSpace(pattern), "|") {
		part = strings.ReplaceAll(strings.TrimSpace(part), "*", ".*")
		if _, err := regexp.Compile("(?:" + part + ")"); err == nil {
			alternatives = append(alternatives, "(?:"+part+")")
		}
	}
	if alternatives == nil {
		return noName
	}
	names, err := regexp.Compile("(?is)^(?:" + strings.Join(alternatives, "|") + ")$")
	if err != nil { // together they are too large
		return noName
	}
	return names
}

// likePattern is SQL's LIKE as the metadata calls of Flight SQL use it: see likeNames. A nil pattern matches everything.
func likePattern(pattern *string) matcher { return matching(likeNames(pattern)) }

// matching says whether an expression matches; nil matches everything.
func matching(names *regexp.Regexp) matcher {
	if names == nil {
		return everything
	}
	return names.MatchString
}

// maxLike bounds what a LIKE pattern asks of names, in characters: no catalog has longer ones, and matching takes the product of both.
const maxLike = 4096

// likeNames gives the expression of a LIKE pattern: % for any text, _ for one character, \ before a character that stands for itself. It is nil for a pattern
// that everything matches.
func likeNames(pattern *string) *regexp.Regexp {
	if pattern == nil || *pattern == "%" {
		return nil
	}
	var b strings.Builder
	escaped, wanted, last := false, 0, rune(0)
	for _, r := range *pattern {
		wild := !escaped && r == '%'
		if wild && last == '%' {
			continue
		}
		if last = 0; wild {
			last = r
		}
		if wanted++; wanted > maxLike {
			return noName
		}
		switch {
		case escaped:
			b.WriteString(regexp.QuoteMeta(string(r)))
			escaped = false
		case r == '\\':
			escaped = true
		case wild:
			b.WriteString(".*")
		case r == '_':
			b.WriteString(".")
		default:
			b.WriteString(regexp.QuoteMeta(string(r)))
		}
	}
	if escaped {
		b.WriteString(`\\`)
	}
	return regexp.MustCompile("(?s)^" + b.String() + "$")
}

// likeBelow is true of a text that some longer one begins with that the pattern matches: where it is false of a namespace's spelling, there is nothing to
// look for below that.
func likeBelow(pattern *string) matcher {
	if pattern == nil {
		return everything
	}
	type part struct {
		text rune
		one  bool // any character
		any  bool // any text
	}
	var parts []part
	escaped := false
	for _, r := range *pattern {
		if !escaped && r == '\\' {
			escaped = true
			continue
		}
		parts = append(parts, part{text: r, one: !escaped && r == '_', any: !escaped && r == '%'})
		escaped = false
	}
	if escaped {
		parts = append(parts, part{text: '\\'})
	}
	return func(begin string) bool {
		at := map[int]bool{0: true} // where in parts a match may be
		for _, r := range begin {
			next := map[int]bool{}
			for i := range at {
				for ; i < len(parts) && parts[i].any; i++ {
					next[i] = true
				}
				if i < len(parts) && (parts[i].one || parts[i].text == r) {
					next[i+1] = true
				}
			}
			at = next
		}
		for i := range at {
			if i < len(parts) {
				return true
			}
		}
		return false
	}
}
