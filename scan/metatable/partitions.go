package metatable

import (
	"context"
	"fmt"

	"github.com/apache/iceberg-go"
)

// partition sums up the live files of one partition.
type partition struct {
	key                        Struct
	spec                       int64
	records, files, bytes      int64
	positionRecords, positions int64
	equalityRecords, equality  int64
	updated, snapshot          any
}

func partitions(in Input) Table {
	var fields []iceberg.NestedField
	partitioned := len(in.Reader.PartitionType()) > 0
	if partitioned {
		fields = append(fields, required("partition", &iceberg.StructType{FieldList: in.Reader.PartitionType()}), required("spec_id", integer))
	}
	fields = append(fields, requiredDoc("record_count", long, "Count of records in data files"), requiredDoc("file_count", integer, "Count of data files"),
		requiredDoc("total_data_file_size_in_bytes", long, "Total size in bytes of data files"),
		requiredDoc("position_delete_record_count", long, "Count of records in position delete files"),
		requiredDoc("position_delete_file_count", integer, "Count of position delete files"),
		requiredDoc("equality_delete_record_count", long, "Count of records in equality delete files"),
		requiredDoc("equality_delete_file_count", integer, "Count of equality delete files"),
		optionalDoc("last_updated_at", timestampTZ, "Commit time of snapshot that last updated this partition"),
		optionalDoc("last_updated_snapshot_id", long, "Id of snapshot that last updated this partition"))
	return Table{Fields: fields, rows: func(ctx context.Context, emit func([]any) error) error {
		all, err := sumPartitions(ctx, in)
		if err != nil {
			return err
		}
		if len(all) == 0 && !partitioned {
			all = append(all, &partition{})
		}
		for _, p := range all {
			var row []any
			if partitioned {
				row = append(row, p.key, p.spec)
			}
			row = append(row, p.records, p.files, p.bytes, p.positionRecords, p.positions, p.equalityRecords, p.equality, p.updated, p.snapshot)
			if err := emit(row); err != nil {
				return err
			}
		}
		return nil
	}}
}

// sumPartitions gives the partitions in the order in which their first file comes.
func sumPartitions(ctx context.Context, in Input) ([]*partition, error) {
	list, err := in.Reader.Manifests(ctx, in.Snapshot)
	if err != nil {
		return nil, err
	}
	var out []*partition
	index := map[string]*partition{}
	err = in.each(ctx, list, func(_ iceberg.ManifestFile, e Entry) error {
		if e.Status == iceberg.EntryStatusDELETED {
			return nil
		}
		key, err := in.Reader.Partition(e.File)
		if err != nil {
			return err
		}
		name := fmt.Sprintf("%#v", key)
		p, ok := index[name]
		if !ok {
			p = &partition{key: key}
			index[name], out = p, append(out, p)
		}
		p.add(in, e)
		return nil
	})
	return out, err
}

func (p *partition) add(in Input, e Entry) {
	if s := in.Metadata.SnapshotByID(e.Snapshot); s != nil {
		if at := micros(s.TimestampMs); p.updated == nil || at.(int64) > p.updated.(int64) {
			p.spec, p.updated, p.snapshot = int64(e.File.SpecID()), at, s.SnapshotID
		}
	}
	switch e.File.ContentType() {
	case iceberg.EntryContentData:
		p.records, p.files, p.bytes = p.records+e.File.Count(), p.files+1, p.bytes+e.File.FileSizeBytes()
	case iceberg.EntryContentPosDeletes:
		p.positionRecords, p.positions = p.positionRecords+e.File.Count(), p.positions+1
	case iceberg.EntryContentEqDeletes:
		p.equalityRecords, p.equality = p.equalityRecords+e.File.Count(), p.equality+1
	}
}
