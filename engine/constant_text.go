package engine

import (
	"encoding/hex"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
)

// trimmed drops white space and control characters at both ends, as Spark does before it casts a string.
func trimmed(s string) string { return strings.Trim(s, controls) }

const controls = "\x00\x01\x02\x03\x04\x05\x06\x07\x08\t\n\v\f\r\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f \x7f"

var floatPattern = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?[dDfF]?$`)

// parseFloat reads a number as Java does, to the nearest value of the size; what is too large is infinite.
func parseFloat(s string, bits int) (float64, bool) {
	switch strings.ToLower(s) {
	case "inf", "+inf", "infinity", "+infinity":
		return math.Inf(1), true
	case "-inf", "-infinity":
		return math.Inf(-1), true
	case "nan":
		return math.NaN(), true
	}
	if len(s) > maxDigits || !floatPattern.MatchString(s) {
		return 0, false
	}
	f, _ := strconv.ParseFloat(strings.TrimRight(s, "dDfF"), bits)
	return f, true
}

func parseBoolean(s string) (value, ok bool) {
	switch strings.ToLower(s) {
	case "t", "true", "y", "yes", "1":
		return true, true
	case "f", "false", "n", "no", "0":
		return false, true
	}
	return false, false
}

// shortest spells a float with the fewest digits that give it back.
func shortest(f float64, t arrow.DataType) string {
	bits := 64
	if t.ID() == arrow.FLOAT32 {
		bits = 32
	}
	return strconv.FormatFloat(f, 'e', -1, bits)
}

func doubleText(f float64) string { return floatText(f, 64) }

// floatText spells a float as Java does: 1.0, 1.0E10, NaN, Infinity.
func floatText(f float64, bits int) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	if a := math.Abs(f); f == 0 || a >= 1e-3 && a < 1e7 {
		s := strconv.FormatFloat(f, 'f', -1, bits)
		if !strings.Contains(s, ".") {
			s += ".0"
		}
		return s
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(f, 'E', -1, bits), "E")
	if !strings.Contains(mantissa, ".") { // Java writes two digits at least, the nearest ones
		mantissa, exponent, _ = strings.Cut(strconv.FormatFloat(f, 'E', 1, bits), "E")
	}
	n, _ := strconv.Atoi(exponent)
	return mantissa + "E" + strconv.Itoa(n)
}

// text is what a cast to string gives; c is not NULL.
func (b *binder) text(c constant) string {
	switch v := c.value.(type) {
	case string:
		return v
	case []byte:
		return string(v)
	case bool:
		return strconv.FormatBool(v)
	case float64:
		if c.typ.ID() == arrow.FLOAT32 {
			return floatText(v, 32)
		}
		return floatText(v, 64)
	case decimal128.Num:
		_, scale, _ := decimalOf(c.typ)
		return plainDecimal(v.BigInt(), scale)
	case int64:
		return timeText(c.typ, v, b.zone)
	}
	return "NULL"
}

// sql spells the value as Spark's errors do: 1L, 1.5D, 'x'.
func (c constant) sql() string {
	if c.null() {
		return "NULL"
	}
	switch v := c.value.(type) {
	case string:
		return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(v) + "'"
	case []byte:
		return "X'" + strings.ToUpper(hex.EncodeToString(v)) + "'"
	case int64:
		switch c.typ.ID() {
		case arrow.INT8:
			return c.plain() + "Y"
		case arrow.INT16:
			return c.plain() + "S"
		case arrow.INT64:
			return c.plain() + "L"
		case arrow.DATE32:
			return "DATE '" + c.plain() + "'"
		case arrow.TIMESTAMP:
			return strings.ToUpper(catalogName(c.typ)) + " '" + c.plain() + "'"
		}
	case float64:
		if c.typ.ID() == arrow.FLOAT64 && !math.IsNaN(v) && !math.IsInf(v, 0) {
			return c.plain() + "D"
		}
	case decimal128.Num:
		return c.plain() + "BD"
	}
	return c.plain()
}

// plain spells the value without quotes and suffixes, instants in UTC.
func (c constant) plain() string {
	if c.null() {
		return "NULL"
	}
	return (&binder{zone: utc}).text(c)
}
