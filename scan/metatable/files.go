package metatable

import (
	"context"
	"sort"

	"github.com/apache/iceberg-go"
)

// content chooses manifests.
type content uint8

const (
	anyContent content = iota
	dataContent
	deleteContent
)

func (c content) takes(m iceberg.ManifestFile) bool {
	deletes := m.ManifestContent() == iceberg.ManifestContentDeletes
	return c == anyContent || deletes == (c == deleteContent)
}

// fileFields are the columns of a data file; the partition is left out where the table never had one.
func fileFields(in Input) []iceberg.NestedField {
	counts := &iceberg.MapType{KeyType: integer, ValueType: long, ValueRequired: true}
	bounds := &iceberg.MapType{KeyType: integer, ValueType: binary, ValueRequired: true}
	out := []iceberg.NestedField{optionalDoc("content", integer, "Contents of the file: 0=data, 1=position deletes, 2=equality deletes"),
		requiredDoc("file_path", text, "Location URI with FS scheme"), requiredDoc("file_format", text, "File format name: avro, orc, or parquet"),
		optionalDoc("spec_id", integer, "Partition spec ID")}
	if p := in.Reader.PartitionType(); len(p) > 0 {
		out = append(out, requiredDoc("partition", &iceberg.StructType{FieldList: p}, "Partition data tuple, schema based on the partition spec"))
	}
	return append(out, requiredDoc("record_count", long, "Number of records in the file"),
		requiredDoc("file_size_in_bytes", long, "Total file size in bytes"),
		optionalDoc("column_sizes", counts, "Map of column id to total size on disk"),
		optionalDoc("value_counts", counts, "Map of column id to total count, including null and NaN"),
		optionalDoc("null_value_counts", counts, "Map of column id to null value count"),
		optionalDoc("nan_value_counts", counts, "Map of column id to number of NaN values in the column"),
		optionalDoc("lower_bounds", bounds, "Map of column id to lower bound"), optionalDoc("upper_bounds", bounds, "Map of column id to upper bound"),
		optionalDoc("key_metadata", binary, "Encryption key metadata blob"),
		optionalDoc("split_offsets", &iceberg.ListType{Element: long, ElementRequired: true}, "Splittable offsets"),
		optionalDoc("equality_ids", &iceberg.ListType{Element: integer, ElementRequired: true}, "Equality comparison field IDs"),
		optionalDoc("sort_order_id", integer, "Sort order ID"), optionalDoc("first_row_id", long, "The first row ID assigned to the first row in the data file"),
		optionalDoc("referenced_data_file", text, "Fully qualified location (URI with FS scheme) of a data file that all deletes reference"),
		optionalDoc("content_offset", long, "The offset in the file where the content starts"),
		optionalDoc("content_size_in_bytes", long, "The length of referenced content stored in the file"))
}

func requiredDoc(name string, t iceberg.Type, doc string) iceberg.NestedField {
	return iceberg.NestedField{Name: name, Type: t, Required: true, Doc: doc}
}

func optionalDoc(name string, t iceberg.Type, doc string) iceberg.NestedField {
	return iceberg.NestedField{Name: name, Type: t, Doc: doc}
}

// fileRow gives the values of fileFields.
func fileRow(in Input, f iceberg.DataFile) ([]any, error) {
	out := []any{int64(f.ContentType()), f.FilePath(), formatName(f), int64(f.SpecID())}
	if len(in.Reader.PartitionType()) > 0 {
		p, err := in.Reader.Partition(f)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	var target, key any
	if f.ReferencedDataFile() != nil {
		target = *f.ReferencedDataFile()
	}
	if f.KeyMetadata() != nil {
		key = f.KeyMetadata()
	}
	return append(out, f.Count(), f.FileSizeBytes(), counts(f.ColumnSizes()), counts(f.ValueCounts()), counts(f.NullValueCounts()),
		counts(f.NaNValueCounts()), counts(f.LowerBoundValues()), counts(f.UpperBoundValues()), key, list(f.SplitOffsets()), list(f.EqualityFieldIDs()),
		pointer(f.SortOrderID()), pointer(f.FirstRowID()), target, pointer(f.ContentOffset()), pointer(f.ContentSizeInBytes())), nil
}

func counts[T int64 | []byte](m map[int]T) any {
	if m == nil {
		return nil
	}
	ids := make([]int, 0, len(m))
	for id := range m {
		ids = append(ids, id)
	}
	sort.Ints(ids)
	out := Map{}
	for _, id := range ids {
		out = append(out, [2]any{int64(id), any(m[id])})
	}
	return out
}

func list[T int | int64](l []T) any {
	if l == nil {
		return nil
	}
	out := List{}
	for _, v := range l {
		out = append(out, int64(v))
	}
	return out
}

func files(in Input, c content, all bool) Table {
	metrics := newMetrics(in)
	return Table{
		Fields: append(fileFields(in), optionalDoc("readable_metrics", metrics.typ, "Column metrics in readable form")),
		Tasks: in.perManifest(func(ctx context.Context) ([]iceberg.ManifestFile, error) { return in.chosen(ctx, c, all) },
			func(e Entry, emit func([]any) error) error {
				if e.Status == iceberg.EntryStatusDELETED {
					return nil
				}
				row, err := fileRow(in, e.File)
				if err != nil {
					return err
				}
				return emit(append(row, metrics.row(e.File)))
			}),
	}
}

func (in Input) chosen(ctx context.Context, c content, all bool) ([]iceberg.ManifestFile, error) {
	list, err := in.manifests(ctx, all)
	if err != nil {
		return nil, err
	}
	var out []iceberg.ManifestFile
	for _, m := range list {
		if c.takes(m) {
			out = append(out, m)
		}
	}
	return out, nil
}

func entries(in Input, all bool) Table {
	metrics := newMetrics(in)
	return Table{
		Fields: []iceberg.NestedField{required("status", integer), optional("snapshot_id", long), optional("sequence_number", long),
			optional("file_sequence_number", long), required("data_file", &iceberg.StructType{FieldList: fileFields(in)}),
			optionalDoc("readable_metrics", metrics.typ, "Column metrics in readable form")},
		Tasks: in.perManifest(func(ctx context.Context) ([]iceberg.ManifestFile, error) { return in.manifests(ctx, all) },
			func(e Entry, emit func([]any) error) error {
				file, err := fileRow(in, e.File)
				if err != nil {
					return err
				}
				var sequence any
				if e.Sequence >= 0 {
					sequence = e.Sequence
				}
				return emit([]any{int64(e.Status), e.Snapshot, sequence, pointer(e.FileSeq), Struct(file), metrics.row(e.File)})
			}),
	}
}

// metrics are the readable metrics: for every leaf column, by full name, its counts and bounds.
type metrics struct {
	in      Input
	typ     *iceberg.StructType
	columns []leaf
}

type leaf struct {
	id   int
	name string
	typ  iceberg.Type
}

func newMetrics(in Input) metrics {
	m := metrics{in: in, typ: &iceberg.StructType{}}
	collectLeaves("", in.Metadata.CurrentSchema().Fields(), &m.columns)
	sort.SliceStable(m.columns, func(i, j int) bool { return m.columns[i].name < m.columns[j].name })
	for _, c := range m.columns {
		m.typ.FieldList = append(m.typ.FieldList, optionalDoc(c.name, &iceberg.StructType{FieldList: []iceberg.NestedField{
			optionalDoc("column_size", long, "Total size on disk"), optionalDoc("value_count", long, "Total count, including null and NaN"),
			optionalDoc("null_value_count", long, "Null value count"), optionalDoc("nan_value_count", long, "NaN value count"),
			optionalDoc("lower_bound", c.typ, "Lower bound"), optionalDoc("upper_bound", c.typ, "Upper bound"),
		}}, "Metrics for column "+c.name))
	}
	return m
}

func collectLeaves(prefix string, fields []iceberg.NestedField, out *[]leaf) {
	for _, f := range fields {
		if n, ok := f.Type.(iceberg.NestedType); ok {
			collectLeaves(prefix+f.Name+".", n.Fields(), out)
			continue
		}
		if _, ok := f.Type.(iceberg.PrimitiveType); ok {
			*out = append(*out, leaf{f.ID, prefix + f.Name, f.Type})
		}
	}
}

func (m metrics) row(f iceberg.DataFile) Struct {
	sizes, values, nulls, nans := f.ColumnSizes(), f.ValueCounts(), f.NullValueCounts(), f.NaNValueCounts()
	lower, upper := f.LowerBoundValues(), f.UpperBoundValues()
	out := make(Struct, len(m.columns))
	for i, c := range m.columns {
		out[i] = Struct{count(sizes, c.id), count(values, c.id), count(nulls, c.id), count(nans, c.id), m.bound(lower, c), m.bound(upper, c)}
	}
	return out
}

func count(m map[int]int64, id int) any {
	if n, ok := m[id]; ok {
		return n
	}
	return nil
}

func (m metrics) bound(bounds map[int][]byte, c leaf) any {
	raw, ok := bounds[c.id]
	if !ok {
		return nil
	}
	return m.in.Reader.Bound(raw, c.typ)
}
