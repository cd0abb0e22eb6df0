package scan

import (
	"cmp"
	"context"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/resource"
	"github.com/skua-data/skua/scan/metatable"
	"github.com/skua-data/skua/scan/parquet"
)

// keptRows reads a file of position deletes, or the part of it that is asked for, with the deleted rows where it keeps them: in the order of
// files and positions.
func (t *Table) keptRows(ctx context.Context, d *deleteFile) (out []metatable.Deleted, err error) {
	defer fault.Recover(&err, fault.Corrupt, "delete file %s", d.Path)
	file, err := t.openDeletes(ctx, t.scanner.config.Decoder, d)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	row := arrow.StructOf(arrowSchema(t.metadata.CurrentSchema().Fields()).Fields()...)
	want := append(positionFields(), arrow.Field{Name: "row", Type: row, Nullable: true, Metadata: idMetadata(idDeleteRow)})
	matches, err := file.Match(want, nil)
	if err != nil {
		return nil, err
	}
	if !matches[2].Present {
		positions, err := readPositions(ctx, file, d, t.scanner.config.DeleteMemory)
		return listDeleted(positions), err
	}
	if !matches[0].Present || !matches[1].Present {
		return nil, fault.New(fault.Corrupt, "delete file %s lacks file_path or pos", d.Path).In(d.Path)
	}
	if err := t.readableRows(d, row, matches[2]); err != nil {
		return nil, err
	}
	start, length := d.part()
	columns := []kernels.Column{matches[0].Column, matches[1].Column, matches[2].Column}
	err = eachBatch(ctx, file, start, length, columns, func(batch arrow.RecordBatch) error {
		if err := resource.From(ctx).Err(); err != nil {
			return err
		}
		return collectRows(batch, d.Path, &out)
	})
	slices.SortFunc(out, func(a, b metatable.Deleted) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Position, b.Position))
	})
	return out, err
}

// readableRows refuses what kept rows would come wrong with.
func (t *Table) readableRows(d *deleteFile, row *arrow.StructType, m parquet.Match) error {
	for _, f := range row.Fields() {
		if err := readable(f); err != nil {
			return fault.Wrap(err, "rows kept in %s", d.Path)
		}
	}
	if len(m.Variants) > 0 || len(t.defaults) > 0 && lacksAny(&m.Column.Node) {
		return fault.New(fault.Unsupported, "deleted rows with defaults or shredded variants, kept in position deletes, are not supported: %s", d.Path).In(d.Path)
	}
	return nil
}

func collectRows(batch arrow.RecordBatch, name string, out *[]metatable.Deleted) error {
	paths, ok := batch.Column(0).(*array.String)
	positions, isInt := batch.Column(1).(*array.Int64)
	if !ok || !isInt {
		return fault.New(fault.Internal, "delete file %s was read as %s", name, batch.Schema())
	}
	if paths.NullN() > 0 || positions.NullN() > 0 {
		return fault.New(fault.Corrupt, "delete file %s holds a row without file_path or pos", name).In(name)
	}
	for i := range paths.Len() {
		*out = append(*out, metatable.Deleted{Path: string([]byte(paths.Value(i))), Position: positions.Value(i), Row: valueAt(batch.Column(2), i)})
	}
	return nil
}

// listDeleted lists positions in the order of files.
func listDeleted(positions map[string][]int64) []metatable.Deleted {
	var names []string
	for name := range positions {
		names = append(names, name)
	}
	slices.Sort(names)
	var out []metatable.Deleted
	for _, name := range names {
		for _, p := range positions[name] {
			out = append(out, metatable.Deleted{Path: name, Position: p})
		}
	}
	return out
}

// valueAt copies a value out of an array, in the form that appendNested takes.
func valueAt(a arrow.Array, i int) any {
	if a.IsNull(i) {
		return nil
	}
	switch a := a.(type) {
	case array.ExtensionArray:
		return valueAt(a.Storage(), i)
	case *array.Struct:
		out := make(metatable.Struct, a.NumField())
		for f := range out {
			out[f] = valueAt(a.Field(f), i)
		}
		return out
	case *array.Map:
		from, to := a.ValueOffsets(i)
		out := metatable.Map{}
		for j := from; j < to; j++ {
			out = append(out, [2]any{valueAt(a.Keys(), int(j)), valueAt(a.Items(), int(j))})
		}
		return out
	case *array.List:
		from, to := a.ValueOffsets(i)
		out := metatable.List{}
		for j := from; j < to; j++ {
			out = append(out, valueAt(a.ListValues(), int(j)))
		}
		return out
	}
	return primitiveAt(a, i)
}

func primitiveAt(a arrow.Array, i int) any {
	switch a := a.(type) {
	case *array.Boolean:
		return a.Value(i)
	case *array.Int32:
		return int64(a.Value(i))
	case *array.Int64:
		return a.Value(i)
	case *array.Date32:
		return int64(a.Value(i))
	case *array.Time64:
		return int64(a.Value(i))
	case *array.Timestamp:
		return int64(a.Value(i))
	case *array.Float32:
		return float64(a.Value(i))
	case *array.Float64:
		return a.Value(i)
	case *array.Decimal128:
		return a.Value(i)
	case *array.String:
		return string([]byte(a.Value(i)))
	case *array.Binary:
		return slices.Clone(a.Value(i))
	case *array.FixedSizeBinary:
		return slices.Clone(a.Value(i))
	}
	return nil
}
