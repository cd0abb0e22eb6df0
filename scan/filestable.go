package scan

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/scan/parquet"
)

// plainFiles is what a table of plain files has in place of metadata: where its partitions are to be found. Its schema and its one partition spec, by identity, are
// laid out as metadata, so that it is planned and read as Iceberg's tables are.
type plainFiles struct {
	*catalogs.Files
	format     string
	partitions listPartitions // nil: the folders tell
	pinned     string         // the listing that a plan must have; empty: any
}

// filesTable makes a table of plain files.
func (s *Scanner) filesTable(t *catalogs.Table) (*Table, error) {
	out := &Table{scanner: s, catalog: t.Catalog, identifier: t.Identifier, store: s.store(t),
		files: &plainFiles{Files: t.Files, format: t.Format, partitions: t.ListPartitions(), pinned: t.MetadataLocation}}
	if t.Format != "parquet" {
		return nil, fault.New(fault.Unsupported, "reading %s is not supported: it is a table of plain files in the format %s", out.Name(), t.Format)
	}
	if t.Files.Listed && out.files.partitions == nil {
		return nil, fault.New(fault.Unsupported, "reading %s is not supported: nobody lists its partitions", out.Name())
	}
	for _, typ := range t.Files.Types {
		if n, ok := charLength(typ); ok && n > maxChar {
			return nil, fault.New(fault.Unsupported, "reading %s is not supported: it has a column of type %s, and char of more than %d characters is not supported", out.Name(), typ, maxChar)
		}
	}
	var err error
	if out.metadata, err = metadataOfFiles(t.Files); err != nil {
		return nil, fault.Wrap(fault.As(fault.Corrupt, err), "load table %s", out.Name())
	}
	return out, nil
}

// firstPartitionID is the id of the first field of a partition spec, by Iceberg's convention.
const firstPartitionID = 1000

// metadataOfFiles lays a schema and partitions out as a table's metadata without snapshots.
func metadataOfFiles(f *catalogs.Files) (m table.Metadata, err error) {
	defer fault.Recover(&err, fault.Corrupt, "read the schema")
	if f.Schema == nil {
		return nil, fault.New(fault.Corrupt, "the catalog gave no schema")
	}
	fields := []map[string]any{}
	for i, name := range f.Partitions {
		column, ok := f.Schema.FindFieldByName(name)
		if !ok {
			return nil, fault.New(fault.Corrupt, "it is partitioned by %s, which is no column", name)
		}
		fields = append(fields, map[string]any{"source-id": column.ID, "field-id": firstPartitionID + i, "name": name, "transform": "identity"})
	}
	raw, err := json.Marshal(map[string]any{"format-version": 3, "table-uuid": "00000000-0000-4000-8000-000000000000", "location": f.Location, "last-sequence-number": 0,
		"next-row-id": 0, "last-updated-ms": 0, "last-column-id": f.Schema.HighestFieldID(), "current-schema-id": f.Schema.ID, "schemas": []any{f.Schema}, "default-spec-id": 0,
		"partition-specs":   []any{map[string]any{"spec-id": 0, "fields": fields}},
		"last-partition-id": firstPartitionID + len(fields), "default-sort-order-id": 0, "sort-orders": []any{map[string]any{"order-id": 0, "fields": []any{}}},
		"properties": map[string]string{}, "snapshots": []any{}, "refs": map[string]any{}, "current-snapshot-id": nil})
	if err != nil {
		return nil, err
	}
	return table.ParseMetadataBytes(raw)
}

// partitionColumn reports whether values of a top-level column come from the partition, whatever the files hold.
func (p *plainFiles) partitionColumn(name string) bool {
	return p != nil && slices.ContainsFunc(p.Partitions, func(n string) bool { return strings.EqualFold(n, name) })
}

// refuseReference refuses to read a table of plain files as it was at another time.
func (t *Table) refuseReference(r Reference) error {
	if t.files == nil || r.Kind == RefCurrent {
		return nil
	}
	return fault.New(fault.Unsupported, "%s is a table of plain %s files: it has no snapshots, branches and tags, so %s is not supported", t.Name(), t.files.format, r).In(t.Name())
}

// refuseMetadata refuses the metadata tables that a table of plain files does not have.
func (t *Table) refuseMetadata(name string) error {
	if t.files == nil {
		return nil
	}
	return fault.New(fault.Unsupported, "%s is a table of plain %s files: it has no metadata table %s", t.Name(), t.files.format, name).In(t.Name())
}

// fileColumnsOf are the metadata columns of a table of plain files.
func fileColumnsOf(all []iceberg.NestedField) []iceberg.NestedField {
	return slices.DeleteFunc(all, func(f iceberg.NestedField) bool { return f.ID != idFile && f.ID != idPos })
}

// describeFiles tells what DESCRIBE and its like show of a table of plain files.
func (t *Table) describeFiles() Description {
	schema := t.metadata.CurrentSchema()
	out := Description{Provider: t.files.format, Columns: t.files.exactColumns(columnInfos(schema.Fields())), Location: t.files.Location, Comment: t.files.Comment,
		MetadataColumns: columnInfos(t.metadataFields()), Reserved: map[string]string{}, Records: -1}
	out.Partitioning, out.IdentityOnly = t.partitioning(schema)
	if out.Comment != "" {
		out.Reserved["comment"] = out.Comment
	}
	for _, k := range slices.Sorted(maps.Keys(t.files.Properties)) {
		switch {
		case strings.EqualFold(k, "external"):
			out.Reserved["external"] = t.files.Properties[k]
		case !slices.Contains(reserved, k):
			out.Properties = append(out.Properties, Property{k, t.files.Properties[k]})
		}
	}
	return out
}

// fields finds wanted columns in the file: by Iceberg's rules, or in a file of no table format by their names. Values of columns that the table is partitioned by
// come from the partition, whatever such a file holds.
func (f *openFile) fields(want []arrow.Field) ([]parquet.Match, error) {
	files, names := f.plan.source.table.files, f.plan.source.names
	file, ok := f.file.(parquetFile)
	if files == nil || !ok {
		return f.file.Match(want, names)
	}
	f.calendar = calendarOf(file.File, f.plan.options)
	var inFile []arrow.Field
	for _, w := range want {
		if !files.partitionColumn(w.Name) && !isMetadataColumn(w) {
			inFile = append(inFile, w)
		}
	}
	found, err := file.MatchNames(inFile)
	if err != nil {
		return nil, err
	}
	out := make([]parquet.Match, len(want))
	for i, w := range want {
		if len(inFile) > 0 && FieldID(w) == FieldID(inFile[0]) {
			out[i], found, inFile = found[0], found[1:], inFile[1:]
		}
	}
	return out, nil
}

// stepsOf gives what is done to the values of a leaf of a plain file: old dates and times are brought into the Gregorian calendar, texts of a char(n) padded.
func (f *openFile) stepsOf(n *kernels.Node) (out []leafStep) {
	file, ok := f.file.(parquetFile)
	if f.plan.source.table.files == nil || !ok || n.Kind != kernels.Leaf {
		return nil
	}
	if step := f.calendar.step(file.File, n); step != nil {
		out = append(out, step)
	}
	if length, ok := CharLength(n.Field); ok {
		out = append(out, padding(length))
	}
	return out
}
