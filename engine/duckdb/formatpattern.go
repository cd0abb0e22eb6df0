//go:build cgo

package duckdb

import (
	"math/big"
	"strings"

	"github.com/skua-data/skua/fault"
)

// numberPattern is a pattern of Java's for numbers: #,##0.00.
type numberPattern struct {
	before, after                 string // of numbers that are not negative
	negativeBefore, negativeAfter string
	least                         int // digits in front of the point
	fewest, most                  int // digits behind it
	group                         int // digits between commas; 0: none
	times                         int64
}

// patterned writes a number by the pattern that the second argument is.
func (r *row) patterned(n *big.Rat, negative bool) error {
	p, err := of(r, r.text(1), parseNumberPattern)
	if err == nil {
		r.give(p.format(n, negative))
	}
	return err
}

// parseNumberPattern reads a pattern; the empty one groups digits, and has none behind the point.
func parseNumberPattern(text string) (*numberPattern, error) {
	if text == "" {
		text = "#,##0"
	}
	malformed := func(what string) (*numberPattern, error) {
		return nil, fault.New(fault.Invalid, "%s pattern %q", what, text)
	}
	positive, negative, two := strings.Cut(text, ";")
	before, digits, after := affixes(positive)
	p := &numberPattern{before: before, after: after, negativeBefore: "-" + before, negativeAfter: after, times: 1}
	if two {
		p.negativeBefore, _, p.negativeAfter = affixes(negative)
	}
	switch affix := before + after; {
	case strings.HasPrefix(after, "E"):
		return nil, fault.New(fault.Unsupported, "The feature is not supported: patterns of numbers with exponents (%s).", text).With("UNSUPPORTED_FEATURE", "0A000")
	case strings.Contains(affix, "%"):
		p.times = 100
	case strings.Contains(affix, "‰"):
		p.times = 1000
	}
	whole, fraction, point := strings.Cut(digits, ".")
	plain := strings.ReplaceAll(whole, ",", "")
	switch {
	case strings.Contains(fraction, "."):
		return malformed("Multiple decimal separators in")
	case strings.Contains(plain, "0#"), strings.Contains(fraction, "#0"), strings.HasSuffix(whole, ","), strings.Contains(fraction, ","), strings.Contains(whole, ",,"):
		return malformed("Malformed")
	}
	p.least, p.fewest, p.most = strings.Count(plain, "0"), strings.Count(fraction, "0"), len(fraction)
	if p.least+p.fewest == 0 && point && plain != "" {
		p.least = 1
	}
	if at := strings.LastIndex(whole, ","); at >= 0 {
		p.group = len(whole) - at - 1
	}
	return p, nil
}

// affixes parts a pattern into what is in front of its digits, these, and what is behind them. Quotes take away the meaning of what is in them.
func affixes(s string) (before, digits, after string) {
	quoted := false
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '\'' && i+1 < len(s) && s[i+1] == '\'':
			i++
		case c == '\'':
			quoted = !quoted
			continue
		case !quoted && after == "" && strings.IndexByte("#0,.", c) >= 0:
			digits += string(c)
			continue
		}
		if digits == "" {
			before += s[i : i+1]
		} else {
			after += s[i : i+1]
		}
	}
	return before, digits, after
}

func (p *numberPattern) format(n *big.Rat, negative bool) string {
	scaled := new(big.Rat).Mul(n, new(big.Rat).SetInt64(p.times))
	text := strings.TrimPrefix(roundedEven(scaled.Abs(scaled), p.most), "-")
	whole, fraction, _ := strings.Cut(text, ".")
	for len(fraction) > p.fewest && strings.HasSuffix(fraction, "0") {
		fraction = fraction[:len(fraction)-1]
	}
	whole = strings.TrimLeft(whole, "0")
	if whole == "" && fraction == "" && p.least == 0 {
		whole = "0"
	}
	whole = strings.Repeat("0", max(0, p.least-len(whole))) + whole
	for at := len(whole) - p.group; p.group > 0 && at > 0; at -= p.group {
		whole = whole[:at] + "," + whole[at:]
	}
	if fraction != "" {
		whole += "." + fraction
	}
	if negative {
		return p.negativeBefore + whole + p.negativeAfter
	}
	return p.before + whole + p.after
}
