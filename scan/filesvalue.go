package scan

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/iceberg-go"
)

// partitionText reads the value of a partition of plain files from its text as Spark casts it, into what a manifest would give; false: it is none of the type. Times are
// taken to be in UTC.
func partitionText(text string, typ arrow.DataType) (any, bool) {
	if typ.ID() != arrow.STRING && typ.ID() != arrow.BINARY {
		text = strings.TrimSpace(text)
	}
	switch t := storageType(typ).(type) {
	case *arrow.StringType:
		return text, true
	case *arrow.BinaryType:
		return []byte(text), true
	case *arrow.BooleanType:
		return booleanText(text)
	case *arrow.Int32Type:
		n, err := strconv.ParseInt(text, 10, 32)
		return n, err == nil
	case *arrow.Int64Type:
		n, err := strconv.ParseInt(text, 10, 64)
		return n, err == nil
	case *arrow.Float32Type:
		f, ok := floatText(text, 32)
		return f, ok
	case *arrow.Float64Type:
		f, ok := floatText(text, 64)
		return f, ok
	case *arrow.Decimal128Type:
		d, err := decimal128.FromString(text, t.Precision, t.Scale)
		return iceberg.Decimal{Val: d, Scale: int(t.Scale)}, err == nil && d.FitsInPrecision(t.Precision)
	case *arrow.Date32Type:
		day, ok := timeText(text)
		return day.Unix() / secondsPerDay, ok && day.Unix()%secondsPerDay == 0
	case *arrow.TimestampType:
		at, ok := timeText(text)
		return at.UnixMicro(), ok
	}
	return nil, false
}

// exactValue is partitionText for a column whose type may be one that a schema has no like of; empty: it is not.
func exactValue(text, exact string, typ arrow.DataType) (any, bool) {
	switch {
	case exact == "tinyint":
		n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 8)
		return n, err == nil
	case exact == "smallint":
		n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 16)
		return n, err == nil
	}
	v, ok := partitionText(text, typ)
	if n, isChar := charLength(exact); ok && isChar {
		return padded(text, n), true
	}
	return v, ok
}

const secondsPerDay = 86400

func booleanText(text string) (any, bool) {
	switch strings.ToLower(text) {
	case "true", "t", "yes", "y", "1":
		return true, true
	case "false", "f", "no", "n", "0":
		return false, true
	}
	return nil, false
}

func floatText(text string, bits int) (float64, bool) {
	f, err := strconv.ParseFloat(text, bits)
	return f, err == nil || math.IsInf(f, 0) // too large is infinite
}

// timeText reads a date, or a date and a time.
func timeText(text string) (time.Time, bool) {
	for _, layout := range []string{"2006-1-2", "2006-1-2 15:4:5", "2006-1-2T15:4:5", "2006-1-2T15:4:5Z07:00", "2006-1-2 15:4:5Z07:00", "2006-1-2 15:4", "2006-1-2T15:4", "2006-1", "2006"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), true
		}
	}
	return time.Time{}, false
}
