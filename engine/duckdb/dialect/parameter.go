package dialect

import (
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
)

// parameter writes a question mark, or the value that is bound to it.
func (r *rewriter) parameter(t syntax.Token) {
	r.out.Parameters++
	if r.Arguments == nil {
		r.emitAt("$"+strconv.Itoa(r.out.Parameters), t.Pos)
		return
	}
	if r.out.Parameters > int(r.Arguments.NumCols()) {
		return // counted and refused by whoever knows what was bound
	}
	text, err := Literal(r.Arguments.Column(r.out.Parameters-1), 0)
	if err != nil && r.failed == nil {
		r.failed = fault.Wrap(err, "parameter %d", r.out.Parameters)
	}
	r.emitAt(text, t.Pos)
}

// zonedNanos is what the engine calls timestamps with nanoseconds and a zone.
const zonedNanos = "timestamptz_ns"

// typeOf gives the engine's name of an Arrow type; empty: values of it cannot be bound.
func typeOf(t arrow.DataType) string {
	switch t := t.(type) {
	case *arrow.BooleanType:
		return "BOOLEAN"
	case *arrow.Int8Type:
		return "TINYINT"
	case *arrow.Int16Type, *arrow.Uint8Type:
		return "SMALLINT"
	case *arrow.Int32Type, *arrow.Uint16Type:
		return "INTEGER"
	case *arrow.Int64Type, *arrow.Uint32Type:
		return "BIGINT"
	case *arrow.Uint64Type:
		return "UBIGINT"
	case *arrow.Float16Type, *arrow.Float32Type:
		return "FLOAT"
	case *arrow.Float64Type:
		return "DOUBLE"
	case arrow.DecimalType:
		return "DECIMAL(" + strconv.Itoa(int(t.GetPrecision())) + ", " + strconv.Itoa(int(t.GetScale())) + ")"
	case *arrow.StringType, *arrow.LargeStringType, *arrow.StringViewType:
		return "VARCHAR"
	case *arrow.BinaryType, *arrow.LargeBinaryType, *arrow.BinaryViewType, *arrow.FixedSizeBinaryType:
		return "BLOB"
	case *arrow.Date32Type, *arrow.Date64Type:
		return "DATE"
	case *arrow.Time32Type, *arrow.Time64Type:
		return "TIME"
	case *arrow.TimestampType:
		switch {
		case t.TimeZone != "" && t.Unit == arrow.Nanosecond:
			return zonedNanos
		case t.TimeZone != "":
			return "TIMESTAMPTZ"
		case t.Unit == arrow.Nanosecond:
			return "TIMESTAMP_NS"
		}
		return "TIMESTAMP"
	case *arrow.DurationType, *arrow.MonthIntervalType, *arrow.DayTimeIntervalType, *arrow.MonthDayNanoIntervalType:
		return "INTERVAL"
	}
	return nestedType(t)
}

// Literal spells one value of a column with its type.
func Literal(column arrow.Array, i int) (string, error) {
	switch a := column.(type) {
	case *array.Dictionary:
		if a.IsNull(i) {
			return "NULL", nil
		}
		return Literal(a.Dictionary(), a.GetValueIndex(i))
	case array.ExtensionArray:
		if a.ExtensionType().ExtensionName() == "arrow.uuid" {
			text := "NULL"
			if !a.IsNull(i) {
				text = QuoteText(a.ValueStr(i))
			}
			return "CAST(" + text + " AS UUID)", nil
		}
		return Literal(a.Storage(), i)
	case *array.Null:
		return "NULL", nil
	}
	typ := typeOf(column.DataType())
	switch {
	case typ == "":
		return "", fault.New(fault.Unsupported, "values of type %s cannot be bound", column.DataType())
	case column.IsNull(i):
		return "CAST(NULL AS " + typ + ")", nil
	case typ == "BLOB":
		value, err := blob(column, i)
		return "unhex('" + hex.EncodeToString(value) + "')", err
	case typ == "INTERVAL":
		return "CAST('" + span(column, i) + "' AS INTERVAL)", nil
	}
	if text, ok, err := nested(column, i); ok {
		return "CAST(" + text + " AS " + typ + ")", err
	}
	text := column.ValueStr(i)
	switch a := column.(type) {
	case *array.Timestamp:
		unit := a.DataType().(*arrow.TimestampType)
		text = a.Value(i).ToTime(unit.Unit).UTC().Format("2006-01-02 15:04:05.999999999")
		if unit.TimeZone != "" {
			text += "+00"
		}
	case *array.Date32:
		text = a.Value(i).ToTime().Format(time.DateOnly)
	case *array.Date64:
		text = a.Value(i).ToTime().Format(time.DateOnly)
	case *array.Time32:
		text = a.Value(i).ToTime(a.DataType().(*arrow.Time32Type).Unit).Format("15:04:05.999999")
	case *array.Time64:
		text = a.Value(i).ToTime(a.DataType().(*arrow.Time64Type).Unit).Format("15:04:05.999999")
	case *array.Decimal128:
		text = a.Value(i).ToString(a.DataType().(*arrow.Decimal128Type).Scale)
	case *array.Decimal256:
		text = a.Value(i).ToString(a.DataType().(*arrow.Decimal256Type).Scale)
	}
	if strings.ContainsRune(text, 0) {
		return "", fault.New(fault.Unsupported, "a text with a NUL character cannot be bound")
	}
	return "CAST(" + QuoteText(text) + " AS " + typ + ")", nil
}

// blob gives the bytes of one binary value.
func blob(column arrow.Array, i int) ([]byte, error) {
	switch a := column.(type) {
	case *array.Binary:
		return a.Value(i), nil
	case *array.LargeBinary:
		return a.Value(i), nil
	case *array.BinaryView:
		return a.Value(i), nil
	case *array.FixedSizeBinary:
		return a.Value(i), nil
	}
	return nil, fault.New(fault.Unsupported, "values of type %s cannot be bound", column.DataType())
}
