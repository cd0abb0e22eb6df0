package metatable

import (
	"context"
	"slices"

	"github.com/apache/iceberg-go"
)

// positionDeletes lists deleted rows by file and position, with the row itself where the writer kept it.
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
	return Table{Fields: fields, Tasks: func(ctx context.Context) ([]Task, error) {
		list, err := in.chosen(ctx, deleteContent, false)
		if err != nil {
			return nil, err
		}
		var out []Task
		err = in.each(ctx, list, func(_ iceberg.ManifestFile, e Entry) error {
			if e.Status != iceberg.EntryStatusDELETED && e.File.ContentType() == iceberg.EntryContentPosDeletes {
				out = append(out, positionTask(in, e, partitioned, vectors))
			}
			return nil
		})
		return out, err
	}}
}

// positionTask is a delete file, which can be cut like a data file, or a deletion vector.
func positionTask(in Input, e Entry, partitioned, vectors bool) Task {
	out := Task{Path: e.File.FilePath(), Size: e.File.FileSizeBytes(), Divisible: e.File.FileFormat() != iceberg.PuffinFile, Offsets: e.File.SplitOffsets(),
		Records: e.File.Count()}
	if size := e.File.ContentSizeInBytes(); size != nil && !out.Divisible {
		out.Size = *size
	}
	out.Rows = func(ctx context.Context, start, length int64, emit func([]any) error) error {
		return positionRows(ctx, in, e, start, length, func(row []any) error {
			if !partitioned {
				row = slices.Delete(row, 3, 4)
			}
			if vectors {
				row = append(row, pointer(e.File.ContentOffset()), pointer(e.File.ContentSizeInBytes()))
			}
			return emit(row)
		})
	}
	return out
}

func positionRows(ctx context.Context, in Input, e Entry, start, length int64, emit func([]any) error) error {
	key, err := in.Reader.Partition(e.File)
	if err != nil {
		return err
	}
	deleted, err := in.Reader.Deleted(ctx, e, start, length)
	if err != nil {
		return err
	}
	for _, d := range deleted {
		if err := emit([]any{d.Path, d.Position, d.Row, key, int64(e.File.SpecID()), e.File.FilePath()}); err != nil {
			return err
		}
	}
	return nil
}
