package engine

import (
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
)

// withoutMetadata gives a type whose nested fields carry neither ids nor comments: drivers show comments as labels.
func withoutMetadata(t arrow.DataType) arrow.DataType {
	bare := func(f arrow.Field) arrow.Field {
		return arrow.Field{Name: f.Name, Type: withoutMetadata(f.Type), Nullable: f.Nullable}
	}
	switch t := t.(type) {
	case *arrow.StructType:
		fields := make([]arrow.Field, t.NumFields())
		for i, f := range t.Fields() {
			fields[i] = bare(f)
		}
		return arrow.StructOf(fields...)
	case *arrow.ListType:
		return arrow.ListOfField(bare(t.ElemField()))
	case *arrow.MapType:
		return arrow.MapOfFields(bare(t.KeyField()), bare(t.ItemField()))
	}
	return t
}

func itoa(n int) string     { return strconv.Itoa(n) }
func itoa64(n int64) string { return strconv.FormatInt(n, 10) }
