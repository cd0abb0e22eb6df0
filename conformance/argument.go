package conformance

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// parameterTypes are the types that arg lines name, beside decimal(p,s).
var parameterTypes = map[string]arrow.DataType{
	"boolean": arrow.FixedWidthTypes.Boolean, "int": arrow.PrimitiveTypes.Int32, "bigint": arrow.PrimitiveTypes.Int64,
	"float": arrow.PrimitiveTypes.Float32, "double": arrow.PrimitiveTypes.Float64, "string": arrow.BinaryTypes.String,
	"binary": arrow.BinaryTypes.Binary, "date": arrow.FixedWidthTypes.Date32, "timestamp": arrow.FixedWidthTypes.Timestamp_us,
	"timestamp_ntz": &arrow.TimestampType{Unit: arrow.Microsecond}, "void": arrow.Null,
}

// Bind makes the one row that arg lines stand for. Values are spelled as Arrow's text forms have them: binary in base64; NULL is null.
func Bind(lines []string) (arrow.RecordBatch, error) {
	fields := make([]arrow.Field, len(lines))
	columns := make([]arrow.Array, 0, len(lines))
	defer func() {
		for _, c := range columns {
			c.Release()
		}
	}()
	for i, line := range lines {
		word, text, _ := strings.Cut(line, " ")
		t, err := parameterType(word)
		if err != nil {
			return nil, err
		}
		column, err := single(t, text)
		if err != nil {
			return nil, fmt.Errorf("arg %s: %w", line, err)
		}
		fields[i] = arrow.Field{Name: "p" + strconv.Itoa(i), Type: t, Nullable: true}
		columns = append(columns, column)
	}
	return array.NewRecordBatch(arrow.NewSchema(fields, nil), columns, 1), nil
}

func parameterType(word string) (arrow.DataType, error) {
	if t, ok := parameterTypes[word]; ok {
		return t, nil
	}
	var precision, scale int32
	if n, err := fmt.Sscanf(word, "decimal(%d,%d)", &precision, &scale); err == nil && n == 2 {
		return &arrow.Decimal128Type{Precision: precision, Scale: scale}, nil
	}
	return nil, fmt.Errorf("arg: %q is no type of a parameter", word)
}

func single(t arrow.DataType, text string) (arrow.Array, error) {
	b := array.NewBuilder(memory.DefaultAllocator, t)
	defer b.Release()
	if text == "NULL" || t.ID() == arrow.NULL {
		b.AppendNull()
	} else if err := b.AppendValueFromString(text); err != nil {
		return nil, err
	}
	return b.NewArray(), nil
}
