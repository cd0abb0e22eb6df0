package engine

import (
	"encoding/hex"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/engine/sparktext"
	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
)

// parseTime reads a date, time or timestamp from text.
func (b *binder) parseTime(c constant, s string, to arrow.DataType) (any, error) {
	s = sparktext.Trim(s)
	if v, ok := b.specialTime(s, to); ok {
		return v, nil
	}
	switch to.ID() {
	case arrow.DATE32:
		if days, ok := sparktext.ParseDate(s); ok {
			return days, nil
		}
	case arrow.TIME64:
		if m, ok := sparktext.ParseTimestamp(s); ok && m.JustTime && m.Zone == nil {
			return m.Nanos / (int64(time.Second) / perSecond(to)), nil
		}
	default:
		if v, ok := b.parseInstant(s, to); ok {
			return v, nil
		}
	}
	return nil, invalidInput(c, to)
}

// parseInstant reads a timestamp; for a type without zone a zone in the text is checked and has no effect.
func (b *binder) parseInstant(s string, to arrow.DataType) (int64, bool) {
	m, ok := sparktext.ParseTimestamp(s)
	if !ok || m.JustTime && !zoned(to) {
		return 0, false
	}
	zone := sparktext.ZoneOf(b.zone)
	if m.JustTime {
		m = m.On(b.now.Unix(), zone)
	}
	if !zoned(to) {
		zone = nil
	}
	return m.Units(zone, perSecond(to))
}

// specialTime reads epoch, now, today, tomorrow and yesterday.
func (b *binder) specialTime(s string, to arrow.DataType) (int64, bool) {
	word := strings.ToLower(s)
	y, m, d := b.now.In(b.zone).Date()
	midnight := time.Date(y, m, d, 0, 0, 0, 0, utc)
	at := midnight
	switch word {
	case "epoch":
		at = time.Unix(0, 0).UTC()
	case "now":
		at = clockOf(b.now, b.zone)
	case "today":
	case "tomorrow":
		at = midnight.AddDate(0, 0, 1)
	case "yesterday":
		at = midnight.AddDate(0, 0, -1)
	default:
		return 0, false
	}
	switch {
	case to.ID() == arrow.TIME64:
		return 0, false
	case to.ID() == arrow.DATE32:
		return floorDiv(at.Unix(), secondsPerDay), true
	case zoned(to) && word == "now":
		at = b.now
	case zoned(to) && word != "epoch":
		at = local(at, b.zone)
	}
	return units(at.Unix(), int64(at.Nanosecond()), to)
}

// typedLiteral reads DATE '…' and its like.
func (b *binder) typedLiteral(e *syntax.Typed) (constant, error) {
	if e.Type == "X" {
		return hexLiteral(e)
	}
	to, ok := namedTypes[strings.ToLower(e.Type)]
	if !ok || !datetime(to) && to.ID() != arrow.TIME64 {
		return constant{}, unsupported("a literal of type %s is not supported", e.Type)
	}
	v, err := b.castValue(textConstant(e.Text), to)
	if err != nil {
		return constant{}, invalidTyped(e)
	}
	return constant{typ: to, value: v}, nil
}

func invalidTyped(e *syntax.Typed) error {
	return fault.New(fault.Invalid, "The value of the typed literal \"%s\" is invalid: %s.", e.Type, textConstant(e.Text).sql()).
		With("INVALID_TYPED_LITERAL", "42604")
}

// hexLiteral reads X'…'; an odd number of digits gets a zero in front.
func hexLiteral(e *syntax.Typed) (constant, error) {
	digits := e.Text
	if len(digits)%2 == 1 {
		digits = "0" + digits
	}
	raw, err := hex.DecodeString(digits)
	if err != nil {
		return constant{}, invalidTyped(e)
	}
	return constant{typ: typeBinary, value: raw}, nil
}
