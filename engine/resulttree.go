package engine

import (
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
)

// treeWords are the types that Spark's trees of a schema call otherwise than DESCRIBE does.
var treeWords = map[arrow.Type]string{arrow.INT8: "byte", arrow.INT16: "short", arrow.INT32: "integer", arrow.INT64: "long"}

// resultTree draws the columns of a result as schemaTree does those of a table.
func resultTree(schema *arrow.Schema) string {
	var b strings.Builder
	b.WriteString("root\n")
	for _, f := range schema.Fields() {
		resultField(&b, " |", control.Replace(f.Name), f.Type, fmt.Sprintf(" (nullable = %t)", f.Nullable))
	}
	return b.String()
}

func resultField(b *strings.Builder, prefix, name string, t arrow.DataType, note string) {
	word, ok := treeWords[t.ID()]
	if !ok {
		word, _, _ = strings.Cut(sparkType(t), "<") // what is in a nested type follows on lines of its own
	}
	b.WriteString(prefix + "-- " + name + ": " + word + note + "\n")
	inner := prefix + "    |"
	switch t := t.(type) {
	case *arrow.StructType:
		for _, f := range t.Fields() {
			resultField(b, inner, control.Replace(f.Name), f.Type, fmt.Sprintf(" (nullable = %t)", f.Nullable))
		}
	case *arrow.MapType:
		resultField(b, inner, "key", t.KeyType(), "")
		resultField(b, inner, "value", t.ItemType(), fmt.Sprintf(" (valueContainsNull = %t)", t.ItemField().Nullable))
	case arrow.ListLikeType:
		resultField(b, inner, "element", t.Elem(), fmt.Sprintf(" (containsNull = %t)", t.ElemField().Nullable))
	}
}
