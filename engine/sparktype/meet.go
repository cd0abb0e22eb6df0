package sparktype

import "github.com/apache/arrow-go/v18/arrow"

// Common gives the type in which Spark compares values of two types, the ANSI way. Both are logical types.
func Common(a, b arrow.DataType) (arrow.DataType, bool) {
	switch {
	case arrow.TypeEqual(a, b):
		return a, true
	case a.ID() == arrow.NULL:
		return b, true
	case b.ID() == arrow.NULL:
		return a, true
	case Numeric(a) && Numeric(b):
		return commonNumber(a, b), true
	case datetime(a) && datetime(b):
		return commonTime(a, b), true
	case a.ID() == arrow.STRING:
		return commonText(b)
	case b.ID() == arrow.STRING:
		return commonText(a)
	}
	return nil, false
}

func commonNumber(a, b arrow.DataType) arrow.DataType {
	p1, s1, ok1 := DecimalFor(a)
	p2, s2, ok2 := DecimalFor(b)
	_, _, d1 := DecimalOf(a)
	_, _, d2 := DecimalOf(b)
	switch {
	case (d1 || d2) && ok1 && ok2:
		return widerDecimal(p1, s1, p2, s2)
	case d1 || d2:
		return Double
	}
	wider := a
	if rank(b) > rank(a) {
		wider = b
	}
	if wider.ID() == arrow.FLOAT32 {
		return Double // an integer and a float
	}
	return wider
}

// commonTime prefers the instant, and the finer unit.
func commonTime(a, b arrow.DataType) arrow.DataType {
	unit := arrow.Microsecond
	for _, t := range []arrow.DataType{a, b} {
		if ts, ok := t.(*arrow.TimestampType); ok && ts.Unit == arrow.Nanosecond {
			unit = arrow.Nanosecond
		}
	}
	if Zoned(a) || Zoned(b) {
		return &arrow.TimestampType{Unit: unit, TimeZone: "UTC"}
	}
	return &arrow.TimestampType{Unit: unit}
}

// commonText gives what a string is cast to when it meets another type.
func commonText(other arrow.DataType) (arrow.DataType, bool) {
	switch {
	case Integral(other):
		return Bigint, true
	case Numeric(other):
		return Double, true
	case arrow.IsNested(other.ID()):
		return nil, false
	}
	return other, true
}

// widerDecimal gives the decimal type in which two of them meet. When 38 digits are too few, digits before the point win.
func widerDecimal(p1, s1, p2, s2 int) arrow.DataType {
	scale := max(s1, s2)
	precision := max(p1-s1, p2-s2) + scale
	if precision > MaxPrecision {
		return Decimal(MaxPrecision, max(0, scale-(precision-MaxPrecision)))
	}
	return Decimal(precision, scale)
}

// DecimalFor gives the decimal type that holds every value of an integral or decimal type.
func DecimalFor(t arrow.DataType) (precision, scale int, ok bool) {
	switch t.ID() {
	case arrow.INT8:
		return 3, 0, true
	case arrow.INT16:
		return 5, 0, true
	case arrow.INT32:
		return 10, 0, true
	case arrow.INT64:
		return 20, 0, true
	}
	return DecimalOf(t)
}
