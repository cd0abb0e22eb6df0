package metatable

import (
	"context"
	"sort"
	"strings"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"
)

// Types that occur all over.
var (
	long        = iceberg.PrimitiveTypes.Int64
	integer     = iceberg.PrimitiveTypes.Int32
	text        = iceberg.PrimitiveTypes.String
	boolean     = iceberg.PrimitiveTypes.Bool
	binary      = iceberg.PrimitiveTypes.Binary
	timestampTZ = iceberg.PrimitiveTypes.TimestampTz
)

func micros(millis int64) any { return millis * 1000 }

func history(in Input) Table {
	return Table{
		Fields: []iceberg.NestedField{required("made_current_at", timestampTZ), required("snapshot_id", long), optional("parent_id", long),
			required("is_current_ancestor", boolean)},
		rows: func(_ context.Context, emit func([]any) error) error {
			ancestors := map[int64]bool{}
			for s := in.Metadata.CurrentSnapshot(); s != nil && !ancestors[s.SnapshotID]; {
				ancestors[s.SnapshotID] = true
				if s.ParentSnapshotID == nil {
					break
				}
				s = in.Metadata.SnapshotByID(*s.ParentSnapshotID)
			}
			for e := range in.Metadata.SnapshotLogs() {
				var parent any
				if s := in.Metadata.SnapshotByID(e.SnapshotID); s != nil {
					parent = pointer(s.ParentSnapshotID)
				}
				if err := emit([]any{micros(e.TimestampMs), e.SnapshotID, parent, ancestors[e.SnapshotID]}); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func snapshots(in Input) Table {
	return Table{
		Fields: []iceberg.NestedField{required("committed_at", timestampTZ), required("snapshot_id", long), optional("parent_id", long),
			optional("operation", text), optional("manifest_list", text),
			optional("summary", &iceberg.MapType{KeyType: text, ValueType: text})},
		rows: func(_ context.Context, emit func([]any) error) error {
			for _, s := range in.Metadata.Snapshots() {
				var operation, list, summary any
				if s.ManifestList != "" {
					list = s.ManifestList
				}
				if s.Summary != nil {
					operation, summary = string(s.Summary.Operation), sortedMap(s.Summary.Properties)
				}
				if err := emit([]any{micros(s.TimestampMs), s.SnapshotID, pointer(s.ParentSnapshotID), operation, list, summary}); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func sortedMap(m map[string]string) Map {
	out := Map{}
	for k, v := range m {
		out = append(out, [2]any{k, v})
	}
	sort.Slice(out, func(i, j int) bool { return out[i][0].(string) < out[j][0].(string) })
	return out
}

func refs(in Input) Table {
	return Table{
		Fields: []iceberg.NestedField{required("name", text), required("type", text), required("snapshot_id", long),
			optional("max_reference_age_in_ms", long), optional("min_snapshots_to_keep", integer), optional("max_snapshot_age_in_ms", long)},
		rows: func(_ context.Context, emit func([]any) error) error {
			all := map[string]table.SnapshotRef{}
			var names []string
			for name, ref := range in.Metadata.Refs() {
				all[name], names = ref, append(names, name)
			}
			sort.Strings(names)
			for _, name := range names {
				r := all[name]
				row := []any{name, strings.ToUpper(string(r.SnapshotRefType)), r.SnapshotID, pointer(r.MaxRefAgeMs), pointer(r.MinSnapshotsToKeep),
					pointer(r.MaxSnapshotAgeMs)}
				if err := emit(row); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func metadataLog(in Input) Table {
	return Table{
		Fields: []iceberg.NestedField{required("timestamp", timestampTZ), required("file", text), optional("latest_snapshot_id", long),
			optional("latest_schema_id", integer), optional("latest_sequence_number", long)},
		rows: func(_ context.Context, emit func([]any) error) error {
			var log []table.MetadataLogEntry
			for e := range in.Metadata.PreviousFiles() {
				log = append(log, e)
			}
			log = append(log, table.MetadataLogEntry{MetadataFile: in.Location, TimestampMs: in.Metadata.LastUpdatedMillis()})
			for _, e := range log {
				row := []any{micros(e.TimestampMs), e.MetadataFile, nil, nil, nil}
				if id, ok := currentAt(in.Metadata, e.TimestampMs); ok {
					row[2] = id
					if s := in.Metadata.SnapshotByID(id); s != nil {
						row[3], row[4] = pointer(s.SchemaID), s.SequenceNumber
					}
				}
				if err := emit(row); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// currentAt is the snapshot that the history log had current at a time.
func currentAt(m table.Metadata, millis int64) (id int64, found bool) {
	for e := range m.SnapshotLogs() {
		if e.TimestampMs <= millis {
			id, found = e.SnapshotID, true
		}
	}
	return id, found
}
