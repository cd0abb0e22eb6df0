package syntax

import (
	"math/big"
	"regexp"
	"strconv"
	"strings"
)

// Interval is the value of an interval literal: months, or microseconds.
type Interval struct {
	Months   bool
	Value    int64  // how many
	From, To string // the largest and the smallest unit that it is spelled in: YEAR, MONTH, or DAY, HOUR, MINUTE, SECOND
}

// The microseconds of units.
const (
	microsPerSecond = 1_000_000
	microsPerMinute = 60 * microsPerSecond
	microsPerHour   = 60 * microsPerMinute
	microsPerDay    = 24 * microsPerHour
)

// intervalUnits are the units of amounts: how much one is, of months or microseconds, and the field that it counts to. A larger rank is a smaller field.
var intervalUnits = map[string]struct {
	months bool
	factor int64
	field  string
}{
	"YEAR": {true, 12, "YEAR"}, "MONTH": {true, 1, "MONTH"}, "WEEK": {false, 7 * microsPerDay, "DAY"}, "DAY": {false, microsPerDay, "DAY"}, "HOUR": {false, microsPerHour, "HOUR"},
	"MINUTE": {false, microsPerMinute, "MINUTE"}, "SECOND": {false, microsPerSecond, "SECOND"}, "MILLISECOND": {false, 1000, "SECOND"}, "MICROSECOND": {false, 1, "SECOND"},
}

// intervalFields are the fields, the largest first.
var intervalFields = []string{"YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND"}

func fieldRank(field string) int {
	for i, f := range intervalFields {
		if f == field {
			return i
		}
	}
	return -1
}

// ReadInterval reads the interval literal that tokens begin with, and tells how many of them it takes; none: it is something else, such as a column of that name or a
// computed amount. An error says what is wrong with the literal.
func ReadInterval(tokens []Token) (Interval, int, error) {
	i, at := Interval{}, 1
	amounts := []string{}
	for {
		start := at
		minus := tokens[at].Is("-")
		if minus || tokens[at].Is("+") {
			at++
		}
		t := tokens[at]
		if t.Kind != Number && t.Kind != Text {
			at = start
			break
		}
		value := t.Text
		if at++; t.Kind == Text {
			for value = decode(t.Text); tokens[at].Kind == Text; at++ {
				value += decode(tokens[at].Text)
			}
		}
		if minus {
			value = negated(value)
		}
		unit := tokens[at]
		name := strings.TrimSuffix(upper(unit.Text), "S")
		_, known := intervalUnits[name]
		switch {
		case unit.Kind != Word || !known && name != "NANOSECOND":
			if t.Kind == Text && len(amounts) == 0 && t.Pos == tokens[start].Pos {
				i, err := intervalOfText(value, t.Pos)
				return i, at, err
			}
			at = start
		case len(amounts) == 0 && tokens[at+1].Is("TO") && tokens[at+2].Kind == Word:
			i, err := intervalOfFields(value, name, strings.TrimSuffix(upper(tokens[at+2].Text), "S"), t)
			return i, at + 3, err
		default:
			amounts = append(amounts, strings.TrimSpace(value)+" "+name)
			at++
			continue
		}
		break
	}
	if len(amounts) == 0 {
		return i, 0, nil
	}
	i, err := intervalOfAmounts(strings.Join(amounts, " "), tokens[0].Pos)
	return i, at, err
}

// negated takes away the sign of an amount, or gives it one.
func negated(value string) string {
	value = strings.TrimSpace(value)
	if rest, ok := strings.CutPrefix(value, "-"); ok {
		return rest
	}
	return "-" + strings.TrimPrefix(value, "+")
}

// amount is a number with a unit behind it.
var amount = regexp.MustCompile(`(?i)^\s*([+-]?)\s*(\d*)(\.\d*)?\s+([a-z]+)`)

// intervalOfText reads the text of INTERVAL '1 day 2 hours'.
func intervalOfText(text string, pos Pos) (Interval, error) {
	rest := strings.TrimSpace(text)
	if len(rest) > 8 && strings.EqualFold(rest[:8], "interval") && strings.TrimSpace(rest[8:9]) == "" {
		rest = rest[8:]
	}
	i, err := intervalOfAmounts(rest, pos)
	if e, ok := err.(*Error); ok && e.Condition != mixedUnits {
		return i, errorAt(pos, "INVALID_TYPED_LITERAL", "42604", "The value of the typed literal \"INTERVAL\" is invalid: '%s'.", shorten(text))
	}
	return i, err
}

// mixedUnits is the condition of months beside days.
const mixedUnits = "_LEGACY_ERROR_TEMP_0029"

// intervalOfAmounts adds up amounts with their units.
func intervalOfAmounts(text string, pos Pos) (Interval, error) {
	var months, micros big.Int
	var ofMonths, ofDays bool
	first, last := len(intervalFields), -1
	for rest := strings.TrimSpace(text); rest != "" || last < 0; rest = strings.TrimSpace(rest) {
		m := amount.FindStringSubmatch(rest)
		if m == nil || m[2] == "" && len(m[3]) < 2 {
			return Interval{}, intervalError(pos, "UNRECOGNIZED_NUMBER", text)
		}
		rest = rest[len(m[0]):]
		name := strings.TrimSuffix(upper(m[4]), "S")
		unit, known := intervalUnits[name]
		value, ok := new(big.Int).SetString("0"+m[2], 10)
		switch {
		case !known:
			return Interval{}, intervalError(pos, "INVALID_UNIT", text)
		case m[3] != "" && name != "SECOND":
			return Interval{}, intervalError(pos, "INVALID_FRACTION", text)
		case !ok || len(m[3]) > 10:
			return Interval{}, intervalError(pos, "INVALID_PRECISION", text)
		}
		value.Mul(value, big.NewInt(unit.factor))
		if m[3] != "" {
			value.Add(value, big.NewInt(fractionMicros(m[3][1:])))
		}
		if m[1] == "-" {
			value.Neg(value)
		}
		if unit.months {
			ofMonths = true
			months.Add(&months, value)
		} else {
			ofDays = true
			micros.Add(&micros, value)
		}
		first, last = min(first, fieldRank(unit.field)), max(last, fieldRank(unit.field))
	}
	switch {
	case ofMonths && ofDays:
		return Interval{}, errorAt(pos, mixedUnits, "42601", "Cannot mix year-month and day-time fields: %s.", shorten(text))
	case !micros.IsInt64() || !months.IsInt64() || months.Int64() != int64(int32(months.Int64())):
		return Interval{}, intervalError(pos, "ARITHMETIC_EXCEPTION", text)
	}
	return Interval{Months: ofMonths, Value: months.Int64() + micros.Int64(), From: intervalFields[first], To: intervalFields[last]}, nil
}

// fractionMicros gives the microseconds of the digits of a fraction of a second.
func fractionMicros(digits string) int64 {
	n, _ := strconv.ParseInt((digits + "000000")[:6], 10, 64)
	return n
}

// intervalPatterns are the texts of intervals that are spelled from a field to another one.
var intervalPatterns = map[string]*regexp.Regexp{
	"YEAR MONTH": regexp.MustCompile(`^([+-]?)(\d+)-(\d+)$`), "DAY HOUR": regexp.MustCompile(`^([+-]?)(\d+) (\d{1,2})$`), "DAY MINUTE": regexp.MustCompile(`^([+-]?)(\d+) (\d{1,2}):(\d{1,2})$`),
	"DAY SECOND": regexp.MustCompile(`^([+-]?)(\d+) (\d{1,2}):(\d{1,2}):(\d{1,2})(\.\d{1,9})?$`), "HOUR MINUTE": regexp.MustCompile(`^([+-]?)(\d+):(\d{1,2})$`),
	"HOUR SECOND": regexp.MustCompile(`^([+-]?)(\d+):(\d{1,2}):(\d{1,2})(\.\d{1,9})?$`), "MINUTE SECOND": regexp.MustCompile(`^([+-]?)(\d+):(\d{1,2})(\.\d{1,9})?$`),
}

// intervalOfFields reads the text of INTERVAL '1-2' YEAR TO MONTH.
func intervalOfFields(text, from, to string, t Token) (Interval, error) {
	pattern, known := intervalPatterns[from+" "+to]
	if !known {
		return Interval{}, errorAt(t.Pos, "INVALID_INTERVAL_FORMAT.UNSUPPORTED_FROM_TO_EXPRESSION", "22006", "Error parsing '%s' to interval: Cannot support (interval '%s' %s to %s) expression.",
			shorten(text), shorten(text), lower(from), lower(to))
	}
	if t.Kind != Text {
		return Interval{}, errorAt(t.Pos, "INVALID_FROM_TO_UNIT_VALUE", "42601", "The value of an interval from %s to %s must be a string.", from, to)
	}
	m := pattern.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return Interval{}, intervalError(t.Pos, "UNMATCHED_FORMAT_STRING_WITH_NOTICE", text)
	}
	i := Interval{Months: from == "YEAR", From: from, To: to}
	var total big.Int
	rank := fieldRank(from)
	for n, digits := range m[2:] {
		if strings.HasPrefix(digits, ".") {
			total.Add(&total, big.NewInt(fractionMicros(digits[1:])))
			continue
		}
		if digits == "" {
			continue
		}
		value, _ := new(big.Int).SetString(digits, 10)
		field := intervalFields[rank+n]
		if most := map[string]int64{"MONTH": 11, "HOUR": 23, "MINUTE": 59, "SECOND": 59}[field]; n > 0 && value.Cmp(big.NewInt(most)) > 0 {
			return Interval{}, intervalError(t.Pos, "INTERVAL_PARSING", text)
		}
		total.Add(&total, value.Mul(value, big.NewInt(intervalUnits[field].factor)))
	}
	if m[1] == "-" {
		total.Neg(&total)
	}
	if !total.IsInt64() || i.Months && total.Int64() != int64(int32(total.Int64())) {
		return Interval{}, intervalError(t.Pos, "INTERVAL_PARSING", text)
	}
	i.Value = total.Int64()
	return i, nil
}

func intervalError(pos Pos, condition, text string) error {
	return errorAt(pos, "INVALID_INTERVAL_FORMAT."+condition, "22006", "Error parsing '%s' to interval. Please ensure that the value provided is in a valid format for defining an interval.", shorten(text))
}

// Type is the name of the interval's type: interval year to month.
func (i Interval) Type() string {
	if i.From == i.To {
		return "interval " + lower(i.From)
	}
	return "interval " + lower(i.From) + " to " + lower(i.To)
}

// String spells the interval as Spark does: INTERVAL '1-2' YEAR TO MONTH.
func (i Interval) String() string {
	units := i.From
	if i.From != i.To {
		units += " TO " + i.To
	}
	return "INTERVAL '" + i.amount() + "' " + units
}

// Days splits an interval of microseconds into days and the rest.
func (i Interval) Days() (days, micros int64) { return i.Value / microsPerDay, i.Value % microsPerDay }

// Units is how many of its smallest unit the interval is, as far as they are whole.
func (i Interval) Units() int64 { return i.Value / intervalUnits[i.To].factor }

func (i Interval) amount() string {
	sign := ""
	value := new(big.Int).SetInt64(i.Value)
	if value.Sign() < 0 {
		sign = "-"
		value.Neg(value)
	}
	var b strings.Builder
	b.WriteString(sign)
	from, to := fieldRank(i.From), fieldRank(i.To)
	separators := map[string]string{"MONTH": "-", "HOUR": " ", "MINUTE": ":", "SECOND": ":"}
	for rank := from; rank <= to; rank++ {
		field := intervalFields[rank]
		n, rest := new(big.Int).QuoRem(value, big.NewInt(intervalUnits[field].factor), new(big.Int))
		value = rest
		digits := n.String()
		if rank > from {
			b.WriteString(separators[field])
		}
		if rank >= fieldRank("HOUR") && len(digits) < 2 {
			digits = "0" + digits
		}
		b.WriteString(digits)
	}
	if i.To == "SECOND" && value.Sign() > 0 {
		b.WriteString("." + strings.TrimRight(("000000" + value.String())[len(value.String()):], "0"))
	}
	return b.String()
}
