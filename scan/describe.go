package scan

import (
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/scan/metatable"
)

// reserved are the property keys that Spark shows elsewhere.
var reserved = []string{"comment", "external", "is_managed_location", "location", "owner", "provider"}

// Describe tells what DESCRIBE, SHOW COLUMNS and SHOW TBLPROPERTIES show of the table or, under a name that is not empty, of one of its
// metadata tables.
func (t *Table) Describe(metadataTable string) (Description, error) {
	if t.files != nil && metadataTable == "" {
		return t.describeFiles(), nil
	}
	where, err := t.resolve(Reference{})
	if err != nil {
		return Description{}, err
	}
	if metadataTable != "" {
		if err := t.refuseMetadata(metadataTable); err != nil {
			return Description{}, err
		}
		return t.describeMetadata(where, metadataTable)
	}
	schema, properties := t.metadata.CurrentSchema(), t.metadata.Properties()
	out := Description{Columns: columnInfos(schema.Fields()), Location: t.metadata.Location(), FormatVersion: t.metadata.Version(),
		Comment: properties["comment"], SortOrder: sortOrder(t.metadata.SortOrder(), schema), MetadataColumns: columnInfos(t.metadataFields()),
		Reserved: map[string]string{}, Records: -1}
	for _, k := range reserved {
		if v, ok := properties[k]; ok {
			out.Reserved[k] = v
		}
	}
	if where.snapshot != nil {
		out.Snapshot, out.Records = where.snapshot.SnapshotID, totalRecords(where.snapshot)
	}
	out.Partitioning, out.IdentityOnly = t.partitioning(schema)
	for _, id := range schema.IdentifierFieldIDs {
		if name, ok := schema.FindColumnName(id); ok {
			out.Identifier = append(out.Identifier, name)
		}
	}
	out.Properties = shownProperties(properties, out)
	return out, nil
}

// describeMetadata has the two properties that Spark shows of a metadata table.
func (t *Table) describeMetadata(where at, name string) (Description, error) {
	if strings.EqualFold(name, changesName) {
		fields := append(slices.Clone(where.schema.Fields()), changeFields()...)
		return Description{Columns: columnInfos(fields), Location: t.metadata.Location(), FormatVersion: t.metadata.Version(), Records: -1}, nil
	}
	rows, ok, err := metatable.Open(t.metaInput(where, false), name)
	if err != nil {
		return Description{}, fault.Wrap(err, "table %s", t.Name())
	}
	if !ok {
		return Description{}, fault.New(fault.NotFound, "table %s has no metadata table %s", t.Name(), name)
	}
	out := Description{Columns: columnInfos(rows.Fields), Location: t.metadata.Location(), FormatVersion: t.metadata.Version(), Records: -1,
		MetadataColumns: columnInfos(plainMetadataFields(t.metadataFields()))}
	if where.snapshot != nil {
		out.Snapshot = where.snapshot.SnapshotID
	}
	out.Properties = []Property{{"current-snapshot-id", snapshotText(out.Snapshot)}, {"format", "iceberg/parquet"}}
	return out, nil
}

// totalRecords reads a snapshot's summary; -1 where it does not count.
func totalRecords(s *table.Snapshot) int64 {
	if s.Summary == nil {
		return -1
	}
	n, err := strconv.ParseInt(s.Summary.Properties["total-records"], 10, 64)
	if err != nil {
		return -1
	}
	return n
}

// plainMetadataFields gives the metadata columns of a table without partitions and row lineage, as metadata tables are.
func plainMetadataFields(fields []iceberg.NestedField) []iceberg.NestedField {
	out := slices.DeleteFunc(slices.Clone(fields), func(f iceberg.NestedField) bool { return f.ID == idRowID || f.ID == idLastUpdated })
	for i, f := range out {
		if f.ID == idPartition {
			out[i].Type = &iceberg.StructType{}
		}
	}
	return out
}

func columnInfos(fields []iceberg.NestedField) []ColumnInfo {
	out := make([]ColumnInfo, len(fields))
	for i, f := range fields {
		out[i] = ColumnInfo{Name: f.Name, Type: sparkType(f.Type), Comment: f.Doc, Nullable: !f.Required, Field: f, Default: writeDefault(f)}
	}
	return out
}

// writeDefault gives a column's default for new rows; one that cannot be understood comes as its text.
func writeDefault(f iceberg.NestedField) any {
	if f.WriteDefault == nil {
		return nil
	}
	typ, _ := arrowType(f.Type)
	if v, ok := parseDefault(f.WriteDefault, storageType(typ), f.Type); ok {
		return v
	}
	return fmt.Sprint(f.WriteDefault)
}

func shownProperties(own iceberg.Properties, d Description) []Property {
	all := map[string]string{}
	for k, v := range own {
		all[k] = v
	}
	for _, k := range reserved {
		delete(all, k)
	}
	format := own["write.format.default"]
	if format == "" {
		format = "parquet"
	}
	all["format"] = "iceberg/" + format
	all["current-snapshot-id"] = snapshotText(d.Snapshot)
	all["format-version"] = strconv.Itoa(d.FormatVersion)
	if d.SortOrder != "" {
		all["sort-order"] = d.SortOrder
	}
	if len(d.Identifier) > 0 {
		all["identifier-fields"] = "[" + strings.Join(d.Identifier, ",") + "]"
	}
	var out []Property
	for k, v := range all {
		out = append(out, Property{k, v})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Key < out[j].Key })
	return out
}

func snapshotText(id int64) string {
	if id == 0 {
		return "none"
	}
	return strconv.FormatInt(id, 10)
}

// partitioning spells the current spec's transforms; those that dropped fields left behind are not shown.
func (t *Table) partitioning(schema *iceberg.Schema) (out []string, identityOnly bool) {
	current := t.metadata.PartitionSpec()
	identityOnly = true
	for _, f := range current.Fields() {
		if _, void := f.Transform.(iceberg.VoidTransform); void {
			continue
		}
		out = append(out, transformText(f.Transform, f.SourceIDs, schema))
		if _, ok := f.Transform.(iceberg.IdentityTransform); !ok {
			identityOnly = false
		}
	}
	return out, identityOnly && len(out) > 0
}

// transformText spells a transform as Spark does: bucket(4, id), days(ts).
func transformText(t iceberg.Transform, sources []int, schema *iceberg.Schema) string {
	var names []string
	for _, id := range sources {
		names = append(names, columnText(id, schema))
	}
	name := strings.Join(names, ", ")
	switch t := t.(type) {
	case iceberg.IdentityTransform:
		return name
	case iceberg.BucketTransform:
		return fmt.Sprintf("bucket(%d, %s)", t.NumBuckets, name)
	case iceberg.TruncateTransform:
		return fmt.Sprintf("truncate(%d, %s)", t.Width, name)
	case iceberg.YearTransform:
		return "years(" + name + ")"
	case iceberg.MonthTransform:
		return "months(" + name + ")"
	case iceberg.DayTransform:
		return "days(" + name + ")"
	case iceberg.HourTransform:
		return "hours(" + name + ")"
	}
	return fmt.Sprintf("%s(%s)", t, name)
}

var plainName = regexp.MustCompile(`^[a-zA-Z0-9_]*[a-zA-Z_][a-zA-Z0-9_]*$`)

// columnText is a column's path, each name quoted where Spark quotes it.
func columnText(id int, schema *iceberg.Schema) string {
	parts, ok := pathOf(id, schema.Fields())
	if !ok {
		return strconv.Itoa(id) // the column is gone from the schema
	}
	for i, p := range parts {
		if !plainName.MatchString(p) {
			parts[i] = "`" + strings.ReplaceAll(p, "`", "``") + "`"
		}
	}
	return strings.Join(parts, ".")
}

func pathOf(id int, fields []iceberg.NestedField) ([]string, bool) {
	for _, f := range fields {
		if f.ID == id {
			return []string{f.Name}, true
		}
		if n, ok := f.Type.(iceberg.NestedType); ok {
			if rest, found := pathOf(id, n.Fields()); found {
				return append([]string{f.Name}, rest...), true
			}
		}
	}
	return nil, false
}

// sortOrder is Spark's text of a sort order: id ASC NULLS FIRST, …
func sortOrder(o table.SortOrder, schema *iceberg.Schema) string {
	if o.IsUnsorted() {
		return ""
	}
	var out []string
	for _, f := range o.Fields() {
		direction, nulls := "ASC", "NULLS FIRST"
		if f.Direction == table.SortDESC {
			direction = "DESC"
		}
		if f.NullOrder == table.NullsLast {
			nulls = "NULLS LAST"
		}
		out = append(out, transformText(f.Transform, f.SourceIDs, schema)+" "+direction+" "+nulls)
	}
	return strings.Join(out, ", ")
}
