package sparktype

import (
	"encoding/hex"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"github.com/skua-data/skua/engine/sparktext"
)

// Text is what a cast to string gives; of NULL the word.
func (in Session) Text(c Value) string {
	switch v := c.Value.(type) {
	case string:
		return v
	case []byte:
		return string(sparktext.AppendValid(nil, string(v)))
	case bool:
		return strconv.FormatBool(v)
	case float64:
		if c.Type.ID() == arrow.FLOAT32 {
			return sparktext.Float(v, 32)
		}
		return sparktext.Float(v, 64)
	case decimal128.Num:
		_, scale, _ := DecimalOf(c.Type)
		return sparktext.Decimal(v.BigInt(), scale)
	case int64:
		return timeText(c.Type, v, in.Zone)
	}
	return "NULL"
}

// SQL spells the value as Spark's errors do: 1L, 1.5D, 'x'.
func (c Value) SQL() string {
	if c.Null() {
		return "NULL"
	}
	switch v := c.Value.(type) {
	case string:
		return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(v) + "'"
	case []byte:
		return "X'" + strings.ToUpper(hex.EncodeToString(v)) + "'"
	case int64:
		switch c.Type.ID() {
		case arrow.INT8:
			return c.Plain() + "Y"
		case arrow.INT16:
			return c.Plain() + "S"
		case arrow.INT64:
			return c.Plain() + "L"
		case arrow.DATE32:
			return "DATE '" + c.Plain() + "'"
		case arrow.TIMESTAMP:
			return strings.ToUpper(Name(c.Type)) + " '" + c.Plain() + "'"
		}
	case float64:
		if c.Type.ID() == arrow.FLOAT64 && !math.IsNaN(v) && !math.IsInf(v, 0) {
			return c.Plain() + "D"
		}
	case decimal128.Num:
		return c.Plain() + "BD"
	}
	return c.Plain()
}

// Plain spells the value without quotes and suffixes, instants in UTC.
func (c Value) Plain() string {
	if c.Null() {
		return "NULL"
	}
	return Session{Zone: time.UTC}.Text(c)
}
