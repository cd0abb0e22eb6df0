//go:build cgo

package duckdb

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
)

// TestFieldsOfRowsHaveNames: Java's clients cannot read a struct with two fields of one name, and rows have fields without any.
func TestFieldsOfRowsHaveNames(t *testing.T) {
	row := arrow.StructOf(arrow.Field{Type: arrow.PrimitiveTypes.Int32}, arrow.Field{Type: arrow.BinaryTypes.String})
	named := arrow.StructOf(arrow.Field{Name: "a", Type: row})
	for given, want := range map[arrow.DataType]string{
		row:               "struct<col1: int32 nullable, col2: utf8 nullable>",
		arrow.ListOf(row): "list<element: struct<col1: int32 nullable, col2: utf8 nullable>, nullable>",
		named:             "struct<a: struct<col1: int32 nullable, col2: utf8 nullable> nullable>",
	} {
		if got := outputType(given).String(); got != want {
			t.Errorf("%s: got %s, want %s", given, got, want)
		}
	}
}
