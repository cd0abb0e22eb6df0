package metatable

import (
	"context"

	"github.com/apache/iceberg-go"
)

// positionDeletes lists deleted rows by file and position. The row itself is null: writers that kept it are refused by the reader.
func positionDeletes(in Input) Table {
	fields := []iceberg.NestedField{requiredDoc("file_path", text, "Path of a file in which a deleted row is stored"),
		requiredDoc("pos", long, "Ordinal position of a deleted row in the data file"),
		optionalDoc("row", &iceberg.StructType{FieldList: in.Metadata.CurrentSchema().Fields()}, "Deleted row values")}
	partitioned := len(in.Reader.PartitionType()) > 0
	if partitioned {
		fields = append(fields, requiredDoc("partition", &iceberg.StructType{FieldList: in.Reader.PartitionType()}, "Partition that position delete row belongs to"))
	}
	fields = append(fields, requiredDoc("spec_id", integer, "Spec ID used to track the file containing a row"),
		requiredDoc("delete_file_path", text, "Path of the delete file in which a row is stored"))
	vectors := in.Metadata.Version() >= 3
	if vectors {
		fields = append(fields, optionalDoc("content_offset", long, "The offset in the DV where the content starts"),
			optionalDoc("content_size_in_bytes", long, "The length in bytes of the DV blob"))
	}
	return Table{Fields: fields, Rows: func(ctx context.Context, emit func([]any) error) error {
		list, err := in.chosen(ctx, deleteContent, false)
		if err != nil {
			return err
		}
		return in.each(ctx, list, func(_ iceberg.ManifestFile, e Entry) error {
			if e.Status == iceberg.EntryStatusDELETED || e.File.ContentType() != iceberg.EntryContentPosDeletes {
				return nil
			}
			return positionRows(ctx, in, e, partitioned, vectors, emit)
		})
	}}
}

func positionRows(ctx context.Context, in Input, e Entry, partitioned, vectors bool, emit func([]any) error) error {
	key, err := in.Reader.Partition(e.File)
	if err != nil {
		return err
	}
	paths, positions, err := in.Reader.Deleted(ctx, e)
	if err != nil {
		return err
	}
	for i, path := range paths {
		row := []any{path, positions[i], nil}
		if partitioned {
			row = append(row, key)
		}
		row = append(row, int64(e.File.SpecID()), e.File.FilePath())
		if vectors {
			row = append(row, pointer(e.File.ContentOffset()), pointer(e.File.ContentSizeInBytes()))
		}
		if err := emit(row); err != nil {
			return err
		}
	}
	return nil
}
