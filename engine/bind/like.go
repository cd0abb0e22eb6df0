package bind

import (
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/engine/sparktype"
	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/predicate"
)

// bindLike binds LIKE with a pattern that is a prefix or has no wildcard.
func (b *Binder) bindLike(e *syntax.Like) (predicate.Expr, error) {
	switch {
	case e.Regex:
		return nil, fault.New(fault.Unsupported, "RLIKE is not supported yet%s", readable(operand{}))
	case e.CaseInsensitive:
		return nil, fault.New(fault.Unsupported, "ILIKE is not supported yet%s", readable(operand{}))
	}
	p, err := b.like(e)
	if err != nil {
		return nil, err
	}
	if e.Not {
		return predicate.Negate(p), nil
	}
	return p, nil
}

func (b *Binder) like(e *syntax.Like) (predicate.Expr, error) {
	value, err := b.operand(e.Expr)
	if err != nil {
		return nil, err
	}
	pattern, err := b.valueFor(value, e.Pattern)
	switch {
	case err != nil:
		return nil, err
	case pattern.column:
		return nil, fault.New(fault.Unsupported, "LIKE with a column as the pattern is not supported yet")
	case value.column && value.typ().ID() != arrow.STRING:
		return nil, fault.New(fault.Unsupported, "LIKE on a %s column is not supported yet", sparktype.SQLName(value.typ()))
	case pattern.value.Null():
		return predicate.Null, nil
	}
	escape := `\`
	if e.Escape != nil {
		escape = e.Escape.Value
	}
	prefix, open, err := likePrefix(b.Text(pattern.value), escape)
	if err != nil {
		if fault.Is(err, fault.Unsupported) {
			return nil, fault.Hint(err, readable(value))
		}
		return nil, err
	}
	if open {
		return b.begins(value, sparktype.TextValue(prefix))
	}
	return b.compare(e, predicate.Eq, value, operand{value: sparktype.TextValue(prefix)})
}

// likePrefix gives the text that a pattern asks for, and whether anything may follow it.
func likePrefix(pattern, escape string) (prefix string, open bool, err error) {
	var out strings.Builder
	runes := []rune(pattern)
	for i := 0; i < len(runes); i++ {
		r := runes[i]
		switch {
		case string(r) == escape:
			if i++; i == len(runes) {
				return "", false, badPattern(pattern, "ESC_AT_THE_END", "The escape character is not allowed to end with.")
			}
			if next := runes[i]; next != '%' && next != '_' && string(next) != escape {
				return "", false, badPattern(pattern, "ESC_IN_THE_MIDDLE", "The escape character is not allowed to precede '"+string(next)+"'.")
			}
			out.WriteRune(runes[i])
		case r == '%' && strings.Trim(string(runes[i:]), "%") == "":
			return out.String(), true, nil
		case r == '%' || r == '_':
			return "", false, fault.New(fault.Unsupported, "LIKE with a pattern other than a prefix is not supported yet")
		default:
			out.WriteRune(r)
		}
	}
	return out.String(), false, nil
}

func badPattern(pattern, condition, why string) error {
	return fault.New(fault.Invalid, "The format is invalid: '%s'. %s", pattern, why).With("INVALID_FORMAT."+condition, "42601")
}
