package scan

import (
	"encoding/hex"
	"math"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/iceberg-go"
	"github.com/google/uuid"

	"github.com/skua-data/skua/fault"
)

// initialDefault gives the value that rows have which were written before the column was added, in its normal form. Defaults of nested
// types, and numbers that JSON reading has rounded, are refused.
func initialDefault(f iceberg.NestedField, typ arrow.DataType) (any, error) {
	v, ok := parseDefault(f.InitialDefault, storageType(typ), f.Type)
	if !ok {
		return nil, fault.New(fault.Unsupported, "initial defaults of this kind are not supported yet: column %s of type %s with the default %v", f.Name,
			f.Type, f.InitialDefault)
	}
	return v, nil
}

func parseDefault(raw any, typ arrow.DataType, written iceberg.Type) (any, bool) {
	switch v := raw.(type) {
	case bool:
		return v, typ.ID() == arrow.BOOL
	case float64:
		switch typ.ID() {
		case arrow.INT32, arrow.INT64:
			return int64(v), v == math.Trunc(v) && math.Abs(v) < 1<<53
		case arrow.FLOAT32:
			return float64(float32(v)), true
		case arrow.FLOAT64:
			return v, true
		}
	case string:
		return parseDefaultText(v, typ, written)
	}
	return nil, false
}

func parseDefaultText(text string, typ arrow.DataType, written iceberg.Type) (any, bool) {
	switch t := typ.(type) {
	case *arrow.StringType:
		return text, true
	case *arrow.BinaryType:
		raw, err := hex.DecodeString(text)
		return raw, err == nil
	case *arrow.FixedSizeBinaryType:
		if _, ok := written.(iceberg.UUIDType); ok {
			id, err := uuid.Parse(text)
			return id[:], err == nil
		}
		raw, err := hex.DecodeString(text)
		return raw, err == nil && len(raw) == t.ByteWidth
	case *arrow.Decimal128Type:
		d, err := decimal128.FromString(text, t.Precision, t.Scale)
		return d, err == nil
	case *arrow.Date32Type:
		day, err := time.Parse("2006-01-02", text)
		return floorDiv(day.Unix(), 86400), err == nil
	case *arrow.Time64Type:
		clock, err := time.Parse("15:04:05.999999", text)
		if err != nil {
			clock, err = time.Parse("15:04", text)
		}
		return clock.Sub(clock.Truncate(24 * time.Hour)).Microseconds(), err == nil
	case *arrow.TimestampType:
		return parseDefaultTime(text, t)
	}
	return nil, false
}

func parseDefaultTime(text string, t *arrow.TimestampType) (any, bool) {
	if t.TimeZone == "" {
		text = strings.TrimSuffix(text, "Z") + "Z"
	}
	var at time.Time
	var err error
	for _, layout := range []string{"2006-01-02T15:04:05.999999999Z07:00", "2006-01-02T15:04Z07:00"} {
		if at, err = time.Parse(layout, text); err == nil {
			break
		}
	}
	if err != nil {
		return nil, false
	}
	if t.Unit == arrow.Nanosecond {
		return at.UnixNano(), true
	}
	return at.Unix()*1e6 + int64(at.Nanosecond()/1000), true
}
