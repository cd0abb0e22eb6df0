package variant

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"
)

// Target is a type that values are brought into.
type Target struct {
	Name             string // as SQL spells it, in lower case, without parameters
	Precision, Scale int    // of a decimal
}

// targets are the types of numbers, with their bits.
var wholeBits = map[string]uint{"tinyint": 8, "byte": 8, "smallint": 16, "short": 16, "int": 32, "integer": 32, "bigint": 64, "long": 64}

// Known reports whether values are brought into the type.
func (t Target) Known() bool {
	switch t.Name {
	case "string", "boolean", "float", "real", "double", "decimal", "dec", "numeric", "date", "timestamp", "timestamp_ntz", "timestamp_ltz":
		return true
	}
	return wholeBits[t.Name] > 0
}

// Cast gives the value in a type, as a text from which the type reads it; null: it is a variant's null; false: it has no value in the type.
func (v Value) Cast(t Target, zone *time.Location) (text string, null, ok bool, err error) {
	k, err := v.Kind()
	if err != nil || k == Null {
		return "", true, true, err
	}
	if text, err = v.Text(zone); err != nil {
		return "", false, false, err
	}
	switch t.Name {
	case "string":
		return text, false, true, nil
	case "boolean":
		text, ok = asBoolean(k, text)
	case "date":
		text, ok = asDate(k, text)
	case "timestamp", "timestamp_ltz", "timestamp_ntz":
		if k == Timestamp || k == TimestampNanos {
			text, err = v.instant(k, zone, "-07:00")
			if t.Name == "timestamp_ntz" {
				text, err = v.instant(k, zone, "")
			}
		}
		ok = k.dated() || k == String && isDate(text)
	default:
		text, ok = v.number(k, text, t)
	}
	return text, false, ok, err
}

func (k Kind) dated() bool {
	return k == Date || k == Timestamp || k == TimestampNTZ || k == TimestampNanos || k == TimestampNanosNTZ
}

func asBoolean(k Kind, text string) (string, bool) {
	switch k {
	case Boolean:
		return text, true
	case Long, Decimal, Float, Double:
		r, ok := new(big.Rat).SetString(text)
		if !ok {
			return "true", true // not a number, or infinite: not zero
		}
		return strconv.FormatBool(r.Sign() != 0), true
	case String:
		switch strings.ToLower(strings.TrimSpace(text)) {
		case "t", "true", "y", "yes", "1":
			return "true", true
		case "f", "false", "n", "no", "0":
			return "false", true
		}
	}
	return "", false
}

func asDate(k Kind, text string) (string, bool) {
	text = strings.TrimSpace(text)
	if !k.dated() && k != String || !isDate(text) {
		return "", false
	}
	return text[:10], true
}

// isDate reports whether a text begins with a day.
func isDate(text string) bool {
	if text = strings.TrimSpace(text); len(text) < 10 {
		return false
	}
	_, err := time.Parse("2006-01-02", text[:10])
	return err == nil
}

// number gives the value as a number of a type.
func (v Value) number(k Kind, text string, t Target) (string, bool) {
	switch k {
	case Boolean:
		text = map[string]string{"true": "1", "false": "0"}[text]
	case Long, Decimal, Float, Double:
	case String:
		text = strings.TrimSpace(text)
	case Timestamp:
		n, err := v.whole()
		if err != nil || wholeBits[t.Name] != 64 {
			return "", false
		}
		seconds := n / 1e6
		if n%1e6 < 0 {
			seconds--
		}
		text = strconv.FormatInt(seconds, 10)
	default:
		return "", false
	}
	if t.Name == "float" || t.Name == "real" || t.Name == "double" {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil && !math.IsInf(f, 0) || strings.ContainsAny(text, "xX_") {
			return "", false
		}
		return strconv.FormatFloat(f, 'g', -1, 64), true
	}
	if len(text) > 400 || exponent(text) > 400 {
		return "", false
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok || strings.ContainsAny(text, "/xX_") {
		return "", false
	}
	if n := wholeBits[t.Name]; n > 0 {
		return whole(r, n, k == String)
	}
	return rounded(r, t)
}

// exponent gives the size of a number's exponent.
func exponent(text string) int {
	_, e, _ := strings.Cut(strings.ToLower(text), "e")
	n, err := strconv.Atoi(e)
	if e != "" && err != nil {
		return math.MaxInt
	}
	return max(n, -n)
}

// whole cuts the digits behind the point; a text may have none.
func whole(r *big.Rat, bits uint, text bool) (string, bool) {
	if text && !r.IsInt() {
		return "", false
	}
	n := new(big.Int).Quo(r.Num(), r.Denom())
	limit := new(big.Int).Lsh(big.NewInt(1), bits-1)
	if n.Cmp(limit) >= 0 || n.Cmp(new(big.Int).Neg(limit)) < 0 {
		return "", false
	}
	return n.String(), true
}

// rounded rounds half up to the digits of a decimal type.
func rounded(r *big.Rat, t Target) (string, bool) {
	text := r.FloatString(t.Scale)
	digits := strings.TrimLeft(strings.Replace(strings.TrimPrefix(text, "-"), ".", "", 1), "0")
	return text, len(digits) <= t.Precision
}
