//go:build cgo

package duckdb

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/skua-data/skua/engine/sparktext"
	"github.com/skua-data/skua/fault"
)

// formatFunctions write numbers and texts by patterns, as Java does.
var formatFunctions = []scalar{
	rowFunctionOfMany("skua_format", []int{typeVarchar}, typeVarchar, formatRow),
	rowFunction("skua_grouped", []int{typeVarchar, typeBigint}, typeVarchar, func(r *row) error {
		n, ok := new(big.Rat).SetString(r.text(0))
		if digits := r.whole(1); ok && digits >= 0 && digits <= maxDigits {
			text := roundedEven(n, int(digits))
			if strings.HasPrefix(r.text(0), "-") && n.Sign() != 0 {
				text = "-" + strings.TrimPrefix(text, "-")
			}
			r.give(grouped(text))
		}
		return nil
	}),
	rowFunction("skua_patterned", []int{typeVarchar, typeVarchar}, typeVarchar, func(r *row) error {
		n, ok := new(big.Rat).SetString(r.text(0))
		if !ok {
			return nil
		}
		return r.patterned(n, n.Sign() < 0)
	}),
	rowFunction("skua_patterned_float", []int{typeDouble, typeVarchar}, typeVarchar, func(r *row) error {
		x := r.float(0)
		switch {
		case math.IsNaN(x):
			r.give("NaN")
			return nil
		case math.IsInf(x, 0):
			r.give(map[bool]string{true: "∞", false: "-∞"}[x > 0])
			return nil
		}
		return r.patterned(new(big.Rat).SetFloat64(x), math.Signbit(x))
	}),
	rowFunction("skua_grouped_float", []int{typeDouble, typeBigint}, typeVarchar, func(r *row) error {
		x, digits := r.float(0), r.whole(1)
		switch {
		case digits < 0 || digits > maxDigits:
		case math.IsNaN(x):
			r.give("NaN")
		case math.IsInf(x, 0):
			r.give(map[bool]string{true: "∞", false: "-∞"}[x > 0])
		default:
			// Java writes the shortest digits that give the number back, and nothing but zeros behind them.
			short, _ := new(big.Rat).SetString(strconv.FormatFloat(x, 'g', -1, 64))
			text := roundedEven(short, int(digits))
			if math.Abs(x) < 1e15 {
				text = strconv.FormatFloat(x, 'f', int(digits), 64)
			}
			if math.Signbit(x) {
				text = "-" + strings.TrimPrefix(text, "-")
			}
			r.give(grouped(text))
		}
		return nil
	}),
}

// specifier is a part of a pattern that stands for an argument.
type specifier struct {
	argument, width, precision int // from 1; below 0: none
	flags                      string
	verb                       byte
	text                       string // what is written as it is, in place of all
}

// formatRow writes format_string.
func formatRow(r *row) error {
	if r.columns[0].IsNull(r.at) {
		return nil
	}
	parts, err := of(r, r.text(0), specifiers)
	if err != nil {
		return err
	}
	var b strings.Builder
	next := 1
	for _, s := range parts {
		if s.verb == 0 {
			b.WriteString(s.text)
			continue
		}
		at := s.argument
		if at < 0 {
			at = next
			next++
		}
		if at >= len(r.columns) {
			return fault.New(fault.Invalid, "Format specifier '%s': there is no argument for it", s.text).With("", "22023")
		}
		text, err := s.format(r.columns[at], r.at)
		if err != nil {
			return err
		}
		b.WriteString(s.padded(text))
	}
	r.give(b.String())
	return nil
}

// specifiers reads a pattern.
func specifiers(pattern string) (out []specifier, err error) {
	for pattern != "" {
		text, rest, found := strings.Cut(pattern, "%")
		out = append(out, specifier{text: text})
		if !found {
			break
		}
		s := specifier{argument: -1, width: -1, precision: -1}
		i := 0
		number := func() int {
			from := i
			for i < len(rest) && rest[i] >= '0' && rest[i] <= '9' {
				i++
			}
			n, numErr := strconv.Atoi(rest[from:i])
			if numErr != nil {
				return -1
			}
			return n
		}
		if n := number(); n > 0 && i < len(rest) && rest[i] == '$' {
			s.argument = n
			i++
		} else {
			i = 0
		}
		for i < len(rest) && strings.IndexByte("-#+ 0,(", rest[i]) >= 0 {
			s.flags += rest[i : i+1]
			i++
		}
		s.width = number()
		if i < len(rest) && rest[i] == '.' {
			i++
			s.precision = number()
		}
		if i >= len(rest) || s.width > 999 || s.precision > 999 {
			return nil, fault.New(fault.Invalid, "Format specifier '%%%s' is none", rest).With("", "22023")
		}
		s.verb, s.text, pattern = rest[i], "%"+rest[:i+1], rest[i+1:]
		switch s.verb {
		case '%', 'n':
			s.text, s.verb = map[byte]string{'%': "%", 'n': "\n"}[s.verb], 0
		}
		out = append(out, s)
	}
	return out, nil
}

func (s specifier) has(flag string) bool { return strings.Contains(s.flags, flag) }

// padded fills a text up to the width.
func (s specifier) padded(text string) string {
	missing := s.width - len([]rune(text))
	switch {
	case missing <= 0:
		return text
	case s.has("-"):
		return text + strings.Repeat(" ", missing)
	}
	return strings.Repeat(" ", missing) + text
}

// format writes an argument.
func (s specifier) format(a arrow.Array, i int) (string, error) {
	wrong := func() (string, error) {
		return "", fault.New(fault.Invalid, "Format specifier '%s' does not take an argument of the type %s", s.text, a.DataType()).With("", "22023")
	}
	if isNull(a, i) {
		text := "null"
		if s.precision >= 0 {
			text = text[:min(s.precision, 4)]
		}
		if s.verb >= 'A' && s.verb <= 'Z' {
			text = strings.ToUpper(text)
		}
		return text, nil
	}
	switch s.verb {
	case 's', 'S':
		text := plainText(a, i)
		if s.precision >= 0 {
			text = string([]rune(text)[:min(s.precision, len([]rune(text)))])
		}
		if s.verb == 'S' {
			text = strings.ToUpper(text)
		}
		return text, nil
	case 'd', 'x', 'X', 'o', 'c':
		n, bits, ok := wholeNumber(a, i)
		if !ok {
			return wrong()
		}
		return s.whole(n, bits), nil
	case 'f', 'e', 'E', 'g', 'G':
		x, ok := floatOf(a, i)
		if !ok {
			return wrong()
		}
		return s.float(x, a, i), nil
	case 'b', 'B':
		v, ok := a.(*array.Boolean)
		return strconv.FormatBool(!ok || v.Value(i)), nil
	}
	return wrong()
}

// plainText writes an argument of %s.
func plainText(a arrow.Array, i int) string {
	switch a := a.(type) {
	case *array.Float64:
		return sparktext.Float(a.Value(i), 64)
	case *array.Float32:
		return sparktext.Float(float64(a.Value(i)), 32)
	case *array.String:
		return a.Value(i)
	case *array.Decimal128:
		return sparktext.Decimal(a.Value(i).BigInt(), int(a.DataType().(*arrow.Decimal128Type).Scale))
	}
	return a.ValueStr(i)
}

func wholeNumber(a arrow.Array, i int) (n int64, bits int, ok bool) {
	switch a := a.(type) {
	case *array.Int8:
		return int64(a.Value(i)), 8, true
	case *array.Int16:
		return int64(a.Value(i)), 16, true
	case *array.Int32:
		return int64(a.Value(i)), 32, true
	case *array.Int64:
		return a.Value(i), 64, true
	}
	return 0, 0, false
}

func floatOf(a arrow.Array, i int) (float64, bool) {
	switch a := a.(type) {
	case *array.Float64:
		return a.Value(i), true
	case *array.Float32:
		return float64(a.Value(i)), true
	case *array.Decimal128:
		return a.Value(i).ToFloat64(a.DataType().(*arrow.Decimal128Type).Scale), true
	}
	return 0, false
}
