package engine

import (
	"encoding/hex"
	"math"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"github.com/skua-data/skua/engine/sparktext"
)

func doubleText(f float64) string { return sparktext.Float(f, 64) }

// text is what a cast to string gives; c is not NULL.
func (b *binder) text(c constant) string {
	switch v := c.value.(type) {
	case string:
		return v
	case []byte:
		return string(sparktext.AppendValid(nil, string(v)))
	case bool:
		return strconv.FormatBool(v)
	case float64:
		if c.typ.ID() == arrow.FLOAT32 {
			return sparktext.Float(v, 32)
		}
		return sparktext.Float(v, 64)
	case decimal128.Num:
		_, scale, _ := decimalOf(c.typ)
		return sparktext.Decimal(v.BigInt(), scale)
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
