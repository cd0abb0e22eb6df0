package metatable

import (
	"encoding/base64"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/iceberg-go"
	"github.com/google/uuid"
)

// Human writes a partition value, in the form that rows have it, as Iceberg's partition summaries do.
func Human(v any, transform iceberg.Transform, typ iceberg.Type) string {
	return human(v, transform, typ)
}

// human writes a partition value as Iceberg's partition summaries do.
func human(v any, transform iceberg.Transform, typ iceberg.Type) string {
	if v == nil {
		return "null"
	}
	if n, ok := v.(int64); ok {
		switch transform.(type) {
		case iceberg.YearTransform:
			return fmt.Sprintf("%04d", 1970+n)
		case iceberg.MonthTransform:
			return time.Date(1970, time.Month(1+n), 1, 0, 0, 0, 0, time.UTC).Format("2006-01")
		case iceberg.HourTransform:
			return time.Unix(n*3600, 0).UTC().Format("2006-01-02-15")
		}
		return humanInteger(n, typ)
	}
	switch x := v.(type) {
	case float64:
		if _, ok := typ.(iceberg.Float32Type); ok {
			return javaFloat(x, 32)
		}
		return javaFloat(x, 64)
	case decimal128.Num:
		return x.ToString(int32(typ.(iceberg.DecimalType).Scale()))
	case []byte:
		if _, ok := typ.(iceberg.UUIDType); ok && len(x) == 16 {
			return uuid.UUID(x).String()
		}
		return base64.StdEncoding.EncodeToString(x)
	}
	return fmt.Sprint(v)
}

func humanInteger(n int64, typ iceberg.Type) string {
	switch typ.(type) {
	case iceberg.DateType:
		return time.Unix(n*86400, 0).UTC().Format("2006-01-02")
	case iceberg.TimeType:
		return time.UnixMicro(n).UTC().Format("15:04:05.999999")
	case iceberg.TimestampType:
		return time.UnixMicro(n).UTC().Format("2006-01-02T15:04:05.999999")
	case iceberg.TimestampTzType:
		return time.UnixMicro(n).UTC().Format("2006-01-02T15:04:05.999999") + "+00:00"
	case iceberg.TimestampNsType:
		return time.Unix(0, n).UTC().Format("2006-01-02T15:04:05.999999999")
	case iceberg.TimestampTzNsType:
		return time.Unix(0, n).UTC().Format("2006-01-02T15:04:05.999999999") + "+00:00"
	}
	return strconv.FormatInt(n, 10)
}

// javaFloat writes a number as Java does: plain between a thousandth and ten million, else with an exponent, always with a fraction.
func javaFloat(f float64, bits int) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 0):
		return strings.Replace(strconv.FormatFloat(f, 'g', -1, bits), "Inf", "Infinity", 1)[boolIndex(f > 0):]
	}
	if a := math.Abs(f); a == 0 || a >= 1e-3 && a < 1e7 {
		out := strconv.FormatFloat(f, 'f', -1, bits)
		if !strings.Contains(out, ".") {
			out += ".0"
		}
		return out
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(f, 'e', -1, bits), "e")
	if !strings.Contains(mantissa, ".") {
		mantissa += ".0"
	}
	n, _ := strconv.Atoi(exponent)
	return mantissa + "E" + strconv.Itoa(n)
}

// boolIndex skips the plus sign that Go puts before positive infinity.
func boolIndex(b bool) int {
	if b {
		return 1
	}
	return 0
}
