package metatable

import (
	"context"
	"strings"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"
)

func summaryType(nanRequired bool) *iceberg.ListType {
	return &iceberg.ListType{ElementRequired: true, Element: &iceberg.StructType{FieldList: []iceberg.NestedField{
		required("contains_null", boolean), {Name: "contains_nan", Type: boolean, Required: nanRequired}, optional("lower_bound", text), optional("upper_bound", text)}}}
}

func manifests(in Input) Table {
	return Table{
		Fields: []iceberg.NestedField{required("content", integer), required("path", text), required("length", long),
			required("partition_spec_id", integer), required("added_snapshot_id", long), required("added_data_files_count", integer),
			required("existing_data_files_count", integer), required("deleted_data_files_count", integer), required("added_delete_files_count", integer),
			required("existing_delete_files_count", integer), required("deleted_delete_files_count", integer),
			required("partition_summaries", summaryType(false))},
		Tasks: func(ctx context.Context) ([]Task, error) {
			out := task(in.Location, in.Size, 0, func(ctx context.Context, emit func([]any) error) error { return currentManifests(ctx, in, emit) })
			if in.Snapshot == nil || in.Snapshot.ManifestList == "" {
				return []Task{out}, nil
			}
			var err error
			out.Path = in.Snapshot.ManifestList
			out.Size, err = in.Reader.FileSize(ctx, out.Path)
			return []Task{out}, err
		},
	}
}

func currentManifests(ctx context.Context, in Input, emit func([]any) error) error {
	list, err := in.Reader.Manifests(ctx, in.Snapshot)
	if err != nil {
		return err
	}
	for _, m := range list {
		if err := emit(manifestRow(in, m)); err != nil {
			return err
		}
	}
	return nil
}

func allManifests(in Input) Table {
	return Table{
		Fields: []iceberg.NestedField{required("content", integer), required("path", text), required("length", long),
			optional("partition_spec_id", integer), optional("added_snapshot_id", long), optional("added_data_files_count", integer),
			optional("existing_data_files_count", integer), optional("deleted_data_files_count", integer), required("added_delete_files_count", integer),
			required("existing_delete_files_count", integer), required("deleted_delete_files_count", integer),
			optional("partition_summaries", summaryType(true)), required("reference_snapshot_id", long), optional("key_metadata", binary)},
		Tasks: func(context.Context) ([]Task, error) {
			var out []Task
			for _, s := range in.Metadata.Snapshots() {
				out = append(out, task(s.ManifestList, manifestListSize, 1, func(ctx context.Context, emit func([]any) error) error {
					return snapshotManifests(ctx, in, &s, emit)
				}))
			}
			return out, nil
		},
	}
}

func snapshotManifests(ctx context.Context, in Input, s *table.Snapshot, emit func([]any) error) error {
	list, err := in.Reader.Manifests(ctx, s)
	if err != nil {
		return err
	}
	for _, m := range list {
		var key any
		if raw := m.KeyMetadata(); raw != nil {
			key = raw
		}
		if err := emit(append(manifestRow(in, m), s.SnapshotID, key)); err != nil {
			return err
		}
	}
	return nil
}

func manifestRow(in Input, m iceberg.ManifestFile) []any {
	zero := func(n int32) any { return int64(max(n, 0)) } // old lists do not count
	data := []any{zero(m.AddedDataFiles()), zero(m.ExistingDataFiles()), zero(m.DeletedDataFiles())}
	deletes := []any{int64(0), int64(0), int64(0)}
	kind := int64(0)
	if m.ManifestContent() == iceberg.ManifestContentDeletes {
		data, deletes, kind = deletes, data, 1
	}
	out := append([]any{kind, m.FilePath(), m.Length(), int64(m.PartitionSpecID()), m.SnapshotID()}, append(data, deletes...)...)
	return append(out, summaries(in, m))
}

func summaries(in Input, m iceberg.ManifestFile) List {
	out := List{}
	for i, s := range m.Partitions() {
		transform, typ, ok := in.Reader.SpecField(int(m.PartitionSpecID()), i)
		row := Struct{s.ContainsNull, nil, nil, nil}
		if s.ContainsNaN != nil {
			row[1] = *s.ContainsNaN
		}
		if ok {
			row[2], row[3] = humanBound(in, s.LowerBound, transform, typ), humanBound(in, s.UpperBound, transform, typ)
		}
		out = append(out, row)
	}
	return out
}

func humanBound(in Input, raw *[]byte, transform iceberg.Transform, typ iceberg.Type) any {
	if raw == nil {
		return "null"
	}
	return human(in.Reader.Bound(*raw, typ), transform, typ)
}

// formatName is a file's format in Spark's spelling.
func formatName(f iceberg.DataFile) string { return strings.ToUpper(string(f.FileFormat())) }
