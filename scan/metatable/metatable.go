// Package metatable holds the metadata tables of an Iceberg table (t.snapshots, t.files, …): their columns in Spark's order, and their
// rows. It knows nothing of Arrow, filters or projection: package scan turns what it gives into a Source. Values are nil, bool, int64,
// float64, decimal128.Num, string, []byte, and for nested columns Struct, List and Map.
package metatable

import (
	"context"
	"strings"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/fault"
)

// Struct is a struct's values in field order.
type Struct []any

// List is a list's elements.
type List []any

// Map is a map's entries, keys first.
type Map [][2]any

// Entry is a line of a manifest with what it inherits filled in.
type Entry struct {
	Status   iceberg.ManifestEntryStatus
	Snapshot int64  // that added or deleted the file
	Sequence int64  // of the data; -1: unknown
	FileSeq  *int64 // of the file
	File     iceberg.DataFile
}

// Input is a table as the metadata tables need it.
type Input struct {
	Metadata  table.Metadata
	Location  string          // of the metadata file
	Size      int64           // of that file, in bytes; 0: unknown
	Snapshot  *table.Snapshot // nil: none
	Travelled bool            // somebody chose the snapshot
	Reader    Reader
}

// Reader gives what lies in files, and values in their normal form.
type Reader interface {
	Manifests(ctx context.Context, s *table.Snapshot) ([]iceberg.ManifestFile, error)
	Entries(ctx context.Context, m iceberg.ManifestFile) ([]Entry, error)
	// PartitionType has the fields of all partition specs; none: the table never was partitioned.
	PartitionType() []iceberg.NestedField
	// Partition is a file's partition as a struct of that type.
	Partition(f iceberg.DataFile) (Struct, error)
	// SpecField gives field i of a spec: its transform and the type of its values.
	SpecField(spec, i int) (iceberg.Transform, iceberg.Type, bool)
	// Bound reads a bound written by a manifest; nil where it cannot.
	Bound(raw []byte, t iceberg.Type) any
	// Deleted gives what a position delete file, as far as it lies in a byte range, or a deletion vector deletes.
	Deleted(ctx context.Context, e Entry, start, length int64) ([]Deleted, error)
	// FileSize asks the store.
	FileSize(ctx context.Context, path string) (int64, error)
}

// Deleted is a deleted row of a data file.
type Deleted struct {
	Path     string
	Position int64
	Row      any // a Struct by the table's current schema, where the delete file keeps it; nil: it does not
}

// Table is one metadata table.
type Table struct {
	Name   string
	Fields []iceberg.NestedField
	// Tasks lists the pieces that are read on their own; their rows in order are the table's.
	Tasks func(ctx context.Context) ([]Task, error)

	rows rows // of tables that are one piece
}

// rows hands every row to emit, which keeps it. An error of emit ends it.
type rows func(ctx context.Context, emit func(row []any) error) error

// Task is a piece of a metadata table, as Iceberg plans it.
type Task struct {
	Path      string // of the file that its rows come from
	Size      int64  // bytes that it counts for
	Divisible bool   // byte ranges of it can be read on their own
	Offsets   []int64
	Records   int64
	// Rows hands every row of a byte range to emit, which keeps it; what is not divisible is asked for whole.
	Rows func(ctx context.Context, start, length int64, emit func(row []any) error) error
}

// manifestListSize is what Iceberg takes a manifest list to weigh, rather than ask.
const manifestListSize = 8192

// task makes one of something that is read whole.
func task(path string, size, records int64, r rows) Task {
	return Task{Path: path, Size: size, Records: records, Rows: func(ctx context.Context, _, _ int64, emit func([]any) error) error { return r(ctx, emit) }}
}

// whole makes a table's rows its one task.
func (in Input) whole(r rows) func(context.Context) ([]Task, error) {
	return func(context.Context) ([]Task, error) { return []Task{task(in.Location, in.Size, 0, r)}, nil }
}

// perManifest makes a task of each manifest; visit gives the rows of an entry.
func (in Input) perManifest(list func(ctx context.Context) ([]iceberg.ManifestFile, error), visit func(e Entry, emit func([]any) error) error) func(context.Context) ([]Task, error) {
	return func(ctx context.Context) ([]Task, error) {
		manifests, err := list(ctx)
		if err != nil {
			return nil, err
		}
		out := make([]Task, len(manifests))
		for i, m := range manifests {
			records := int64(max(m.AddedDataFiles(), 0)) + int64(max(m.ExistingDataFiles(), 0)) + int64(max(m.DeletedDataFiles(), 0))
			out[i] = task(m.FilePath(), m.Length(), records, func(ctx context.Context, emit func([]any) error) error {
				return in.each(ctx, manifests[i:i+1], func(_ iceberg.ManifestFile, e Entry) error { return visit(e, emit) })
			})
		}
		return out, nil
	}
}

// definition is a row of the table of tables.
type definition struct {
	name   string
	travel travel
	open   func(in Input) Table
}

// travel says what a metadata table makes of time travel.
type travel uint8

const (
	honours travel = iota
	ignores
	refuses
)

func definitions() []definition {
	return []definition{
		{"history", ignores, history},
		{"metadata_log_entries", ignores, metadataLog},
		{"snapshots", ignores, snapshots},
		{"refs", ignores, refs},
		{"entries", honours, func(in Input) Table { return entries(in, false) }},
		{"all_entries", refuses, func(in Input) Table { return entries(in, true) }},
		{"files", honours, func(in Input) Table { return files(in, anyContent, false) }},
		{"data_files", honours, func(in Input) Table { return files(in, dataContent, false) }},
		{"delete_files", honours, func(in Input) Table { return files(in, deleteContent, false) }},
		{"all_files", refuses, func(in Input) Table { return files(in, anyContent, true) }},
		{"all_data_files", refuses, func(in Input) Table { return files(in, dataContent, true) }},
		{"all_delete_files", refuses, func(in Input) Table { return files(in, deleteContent, true) }},
		{"manifests", honours, manifests},
		{"all_manifests", refuses, allManifests},
		{"partitions", honours, partitions},
		{"position_deletes", honours, positionDeletes},
		{"changes", honours, nil},
	}
}

// Known says whether a name, in any case, is a metadata table's.
func Known(name string) bool {
	for _, d := range definitions() {
		if strings.EqualFold(d.name, name) {
			return true
		}
	}
	return false
}

// Open gives the metadata table of a name, in any case; false: there is none. It reads nothing.
func Open(in Input, name string) (Table, bool, error) {
	for _, d := range definitions() {
		if !strings.EqualFold(d.name, name) {
			continue
		}
		if d.open == nil {
			return Table{}, true, fault.New(fault.Unsupported, "metadata table %s is not supported yet", d.name)
		}
		if in.Travelled && d.travel == refuses {
			return Table{}, true, fault.New(fault.Invalid, "Cannot select snapshot in table: %s", strings.ToUpper(d.name))
		}
		t := d.open(in)
		if t.Tasks == nil {
			t.Tasks = in.whole(t.rows)
		}
		t.Name = d.name
		t.Fields = renumbered(t.Fields, new(int))
		return t, true, nil
	}
	return Table{}, false, nil
}

// renumbered gives every field an id of its own, since a partition's and a column's may clash.
func renumbered(fields []iceberg.NestedField, last *int) []iceberg.NestedField {
	out := make([]iceberg.NestedField, len(fields))
	for i, f := range fields {
		*last++
		f.ID = *last
		f.Type = renumberedType(f.Type, last)
		f.InitialDefault, f.WriteDefault = nil, nil
		out[i] = f
	}
	return out
}

func renumberedType(t iceberg.Type, last *int) iceberg.Type {
	switch t := t.(type) {
	case *iceberg.StructType:
		return &iceberg.StructType{FieldList: renumbered(t.FieldList, last)}
	case *iceberg.ListType:
		*last++
		out := &iceberg.ListType{ElementID: *last, ElementRequired: t.ElementRequired}
		out.Element = renumberedType(t.Element, last)
		return out
	case *iceberg.MapType:
		*last += 2
		out := &iceberg.MapType{KeyID: *last - 1, ValueID: *last, ValueRequired: t.ValueRequired}
		out.KeyType, out.ValueType = renumberedType(t.KeyType, last), renumberedType(t.ValueType, last)
		return out
	}
	return t
}

func required(name string, t iceberg.Type) iceberg.NestedField {
	return iceberg.NestedField{Name: name, Type: t, Required: true}
}

func optional(name string, t iceberg.Type) iceberg.NestedField {
	return iceberg.NestedField{Name: name, Type: t}
}

// each calls visit for the entries of manifests in order.
func (in Input) each(ctx context.Context, list []iceberg.ManifestFile, visit func(m iceberg.ManifestFile, e Entry) error) error {
	for _, m := range list {
		entries, err := in.Reader.Entries(ctx, m)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if err := visit(m, e); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// manifests lists the snapshot's manifests, or with all those of every snapshot, each once.
func (in Input) manifests(ctx context.Context, all bool) ([]iceberg.ManifestFile, error) {
	if !all {
		return in.Reader.Manifests(ctx, in.Snapshot)
	}
	var out []iceberg.ManifestFile
	seen := map[string]bool{}
	for _, s := range in.Metadata.Snapshots() {
		list, err := in.Reader.Manifests(ctx, &s)
		if err != nil {
			return nil, err
		}
		for _, m := range list {
			if !seen[m.FilePath()] {
				out = append(out, m)
			}
			seen[m.FilePath()] = true
		}
	}
	return out, nil
}

func pointer[T int | int64](p *T) any {
	if p == nil {
		return nil
	}
	return int64(*p)
}
