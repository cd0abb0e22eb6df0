package scan

import (
	"math/big"
	"time"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/iceberg-go"
)

// transformed gives a partition transform's value of v, a non-null value of source's type. False: the transform is not known well enough to
// prune by it. Temporal ones count in UTC and round down, also before 1970.
func transformed(t iceberg.Transform, v any, source arrow.DataType) (any, bool) {
	switch t := t.(type) {
	case iceberg.IdentityTransform:
		return v, true
	case iceberg.BucketTransform:
		return bucketed(t, v, source)
	case iceberg.TruncateTransform:
		return truncated(t.Width, v)
	case iceberg.HourTransform:
		ts, ok := source.(*arrow.TimestampType)
		n, isInt := v.(int64)
		if !ok || !isInt {
			return nil, false
		}
		return floorDiv(n, perDay(ts)/24), true
	case iceberg.DayTransform, iceberg.MonthTransform, iceberg.YearTransform:
		days, ok := daysOf(v, source)
		if !ok {
			return nil, false
		}
		return calendar(t, days), true
	}
	return nil, false
}

func daysOf(v any, source arrow.DataType) (int64, bool) {
	n, ok := v.(int64)
	if !ok {
		return 0, false
	}
	switch t := source.(type) {
	case *arrow.Date32Type:
		return n, true
	case *arrow.TimestampType:
		return floorDiv(n, perDay(t)), true
	}
	return 0, false
}

func calendar(t iceberg.Transform, days int64) int64 {
	if _, ok := t.(iceberg.DayTransform); ok {
		return days
	}
	date := time.Unix(days*86400, 0).UTC()
	years := int64(date.Year() - 1970)
	if _, ok := t.(iceberg.YearTransform); ok {
		return years
	}
	return years*12 + int64(date.Month()) - 1
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// bucketed hashes as the specification says: every integer as a long, timestamps in microseconds, decimals by their unscaled bytes.
func bucketed(t iceberg.BucketTransform, v any, source arrow.DataType) (any, bool) {
	var lit iceberg.Literal
	switch x := v.(type) {
	case int64:
		if ts, ok := source.(*arrow.TimestampType); ok && ts.Unit == arrow.Nanosecond {
			x = floorDiv(x, 1000)
		}
		lit = iceberg.Int64Literal(x)
	case decimal128.Num:
		lit = iceberg.DecimalLiteral{Val: x, Scale: int(source.(*arrow.Decimal128Type).Scale)}
	case string:
		lit = iceberg.StringLiteral(x)
	case []byte:
		lit = iceberg.BinaryLiteral(x)
	default:
		return nil, false
	}
	out := t.Apply(iceberg.Optional[iceberg.Literal]{Val: lit, Valid: true})
	n, ok := out.Val.(iceberg.Int32Literal)
	return int64(n), ok && out.Valid
}

func truncated(width int, v any) (any, bool) {
	if width <= 0 {
		return nil, false
	}
	switch x := v.(type) {
	case int64:
		out := floorDiv(x, int64(width)) * int64(width)
		return out, out <= x // it wraps around at the very smallest values
	case decimal128.Num:
		unscaled := x.BigInt()
		// Mod is Euclidean: the remainder is never negative.
		return decimal128.FromBigInt(unscaled.Sub(unscaled, new(big.Int).Mod(unscaled, big.NewInt(int64(width))))), true
	case string:
		end := 0
		for i := 0; i < width && end < len(x); i++ {
			_, size := utf8.DecodeRuneInString(x[end:])
			end += size
		}
		return x[:end], true
	case []byte:
		return x[:min(width, len(x))], true
	}
	return nil, false
}

// preservesOrder says that a <= b gives t(a) <= t(b).
func preservesOrder(t iceberg.Transform) bool {
	switch t.(type) {
	case iceberg.IdentityTransform, iceberg.TruncateTransform, iceberg.HourTransform, iceberg.DayTransform, iceberg.MonthTransform,
		iceberg.YearTransform:
		return true
	}
	return false
}

// isTemporal says that t counts hours, days, months or years. Old writers rounded such values towards zero before 1970.
func isTemporal(t iceberg.Transform) bool {
	switch t.(type) {
	case iceberg.HourTransform, iceberg.DayTransform, iceberg.MonthTransform, iceberg.YearTransform:
		return true
	}
	return false
}
