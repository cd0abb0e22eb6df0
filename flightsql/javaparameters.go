package flightsql

import (
	"math"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
)

// exactDigits is how many digits a double keeps.
const exactDigits = 15

// javaParameter gives the type under which Arrow's JDBC driver binds a parameter as it should: it writes milliseconds into a time, whatever its unit, and
// takes for a decimal nothing but a BigDecimal of the very scale, while a double takes every number.
func javaParameter(t arrow.DataType) arrow.DataType {
	switch {
	case t.ID() == arrow.TIME32, t.ID() == arrow.TIME64:
		return arrow.FixedWidthTypes.Time32ms
	case keptByDoubles(t):
		return arrow.PrimitiveTypes.Float64
	}
	return t
}

// keptByDoubles reports whether a double stands for every value of a decimal type.
func keptByDoubles(t arrow.DataType) bool {
	d, ok := t.(arrow.DecimalType)
	return ok && d.GetPrecision() <= exactDigits && d.GetScale() >= 0 && d.GetScale() <= d.GetPrecision()
}

// withDecimals gives bound values where doubles that javaParameter asked for are decimals again; a column with a value that is none stays. The caller releases.
func (s *Server) withDecimals(parameters *arrow.Schema, args arrow.RecordBatch) arrow.RecordBatch {
	columns, fields := make([]arrow.Array, args.NumCols()), args.Schema().Fields()
	for i := range columns {
		columns[i] = args.Column(i)
		columns[i].Retain()
		doubles, ok := columns[i].(*array.Float64)
		if !ok || !keptByDoubles(parameters.Field(i).Type) {
			continue
		}
		if decimals := s.decimals(doubles, parameters.Field(i).Type.(arrow.DecimalType)); decimals != nil {
			columns[i].Release()
			columns[i], fields[i].Type = decimals, decimals.DataType()
		}
	}
	defer func() {
		for _, c := range columns {
			c.Release()
		}
	}()
	return array.NewRecordBatch(arrow.NewSchema(fields, nil), columns, args.NumRows())
}

// decimals is nil where a value is no decimal of the type.
func (s *Server) decimals(doubles *array.Float64, t arrow.DecimalType) arrow.Array {
	b := array.NewDecimal128Builder(s.mem, &arrow.Decimal128Type{Precision: t.GetPrecision(), Scale: t.GetScale()})
	defer b.Release()
	for i := range doubles.Len() {
		if doubles.IsNull(i) {
			b.AppendNull()
			continue
		}
		n, ok := decimalOf(doubles.Value(i), t)
		if !ok {
			return nil
		}
		b.Append(n)
	}
	return b.NewArray()
}

// decimalOf gives the decimal that a double is written as, if the type has it.
func decimalOf(v float64, t arrow.DecimalType) (decimal128.Num, bool) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return decimal128.Num{}, false
	}
	text := strconv.FormatFloat(v, 'f', -1, 64)
	_, fraction, _ := strings.Cut(text, ".")
	if len(fraction) > int(t.GetScale()) {
		return decimal128.Num{}, false
	}
	n, err := decimal128.FromString(text, t.GetPrecision(), t.GetScale())
	return n, err == nil
}
