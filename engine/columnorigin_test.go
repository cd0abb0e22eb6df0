package engine

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
)

// TestWhoseColumnItIsMakesNoOtherColumn: one plan of a statement may tell it, and another not.
func TestWhoseColumnItIsMakesNoOtherColumn(t *testing.T) {
	plain := arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int64}
	told, other := plain, plain
	told.Metadata = OriginMetadata([]string{"lake", "db", "t"})
	other.Type = arrow.PrimitiveTypes.Int32
	schema := func(f arrow.Field) *arrow.Schema { return arrow.NewSchema([]arrow.Field{f}, nil) }
	if !sameColumns(schema(plain), schema(told)) || sameColumns(schema(told), schema(other)) {
		t.Error("columns are compared by more or less than readers see")
	}
	if OriginMetadata([]string{"view"}).Len() != 0 {
		t.Error("a temporary view has a catalog")
	}
}
