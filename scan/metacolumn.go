package scan

import (
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/iceberg-go"
)

// Field ids of the metadata columns, reserved by Iceberg.
const (
	idFile        = math.MaxInt32 - 1
	idPos         = math.MaxInt32 - 2
	idDeleted     = math.MaxInt32 - 3
	idSpec        = math.MaxInt32 - 4
	idPartition   = math.MaxInt32 - 5
	idDeletePath  = math.MaxInt32 - 101 // file_path of a position delete file
	idDeletePos   = math.MaxInt32 - 102 // its pos
	idDeleteRow   = math.MaxInt32 - 103 // its row
	idRowID       = math.MaxInt32 - 107
	idLastUpdated = math.MaxInt32 - 108

	// Fields inside _partition keep their partition field id, moved out of the way of the table's columns, which may use the same numbers.
	partitionIDBase = math.MaxInt32 - 100_000_000
)

// metadataFields are the metadata columns in Spark's order; format version 3 adds the columns of row lineage.
func (t *Table) metadataFields() []iceberg.NestedField {
	partition := unionPartition(specs(t.metadata))
	for i := range partition {
		partition[i].ID += partitionIDBase
	}
	out := []iceberg.NestedField{
		{ID: idSpec, Name: "_spec_id", Type: iceberg.PrimitiveTypes.Int32},
		{ID: idPartition, Name: "_partition", Type: &iceberg.StructType{FieldList: partition}},
		{ID: idFile, Name: "_file", Type: iceberg.PrimitiveTypes.String, Required: true},
		{ID: idPos, Name: "_pos", Type: iceberg.PrimitiveTypes.Int64, Required: true},
		{ID: idDeleted, Name: "_deleted", Type: iceberg.PrimitiveTypes.Bool, Required: true},
	}
	if t.files != nil {
		return fileColumnsOf(out)
	}
	if t.metadata.Version() >= 3 {
		out = append(out, iceberg.NestedField{ID: idRowID, Name: "_row_id", Type: iceberg.PrimitiveTypes.Int64},
			iceberg.NestedField{ID: idLastUpdated, Name: "_last_updated_sequence_number", Type: iceberg.PrimitiveTypes.Int64})
	}
	return out
}

func isMetadataColumn(f arrow.Field) bool { return FieldID(f) > partitionIDBase }
