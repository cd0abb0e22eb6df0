package cpu

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"math/rand"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/kernels/kernelstest"
	"github.com/skua-data/skua/resource"
	"github.com/skua-data/skua/scan/parquet"
)

// memoryFile is a storage.File of bytes.
type memoryFile struct{ *bytes.Reader }

func (memoryFile) Close() error { return nil }
func (memoryFile) Key() string  { return "memory" }

// groupsOf opens a file with those of its columns that can be read at all, in the types that their annotations say, and once more with
// timestamps of microseconds.
func groupsOf(data []byte) ([]*kernels.RowGroup, error) {
	f, err := parquet.Open(context.Background(), memoryFile{bytes.NewReader(data)}, "memory.parquet")
	if err != nil {
		return nil, err
	}
	schema, err := pqarrow.FromParquet(f.Metadata().Schema, nil, nil)
	if err != nil {
		return nil, err
	}
	var columns []kernels.Column
	for i, field := range schema.Fields() {
		if !f.HasFieldIDs() {
			field.Metadata = arrow.NewMetadata([]string{"PARQUET:field_id"}, []string{strconv.Itoa(i + 1)})
		}
		micros := field
		micros.Type = mapTypes(field.Type, func(t arrow.DataType) arrow.DataType {
			if stamp, ok := t.(*arrow.TimestampType); ok {
				return &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: stamp.TimeZone}
			}
			return t
		})
		for _, want := range []arrow.Field{field, micros} {
			if m, err := f.Match([]arrow.Field{want}, nil); err == nil && m[0].Present && (len(columns) == 0 || !want.Equal(columns[len(columns)-1].Field)) {
				columns = append(columns, m[0].Column)
			}
		}
	}
	var out []*kernels.RowGroup
	for _, g := range f.RowGroups(0, 1<<40, nil, nil) {
		out = append(out, f.RowGroup(g.Ordinal, columns))
	}
	return out, nil
}

// mapTypes replaces primitive types at every depth.
func mapTypes(t arrow.DataType, to func(arrow.DataType) arrow.DataType) arrow.DataType {
	field := func(f arrow.Field) arrow.Field {
		f.Type = mapTypes(f.Type, to)
		return f
	}
	switch t := t.(type) {
	case *arrow.StructType:
		fields := make([]arrow.Field, t.NumFields())
		for i, f := range t.Fields() {
			fields[i] = field(f)
		}
		return arrow.StructOf(fields...)
	case *arrow.ListType:
		return arrow.ListOfField(field(t.ElemField()))
	case *arrow.MapType:
		return arrow.MapOfFields(field(t.KeyField()), field(t.ItemField()))
	}
	return to(t)
}

// exact looks at floating point numbers as bits, so that arrays which are equal are so in all of them.
func exact(a arrow.Array) arrow.Array {
	d := exactData(a.Data())
	defer d.Release()
	return array.MakeFromData(d)
}

func exactData(d arrow.ArrayData) arrow.ArrayData {
	children := make([]arrow.ArrayData, len(d.Children()))
	for i, c := range d.Children() {
		children[i] = exactData(c)
		defer children[i].Release()
	}
	t := mapTypes(d.DataType(), func(t arrow.DataType) arrow.DataType {
		switch t.ID() {
		case arrow.FLOAT32:
			return arrow.PrimitiveTypes.Int32
		case arrow.FLOAT64:
			return arrow.PrimitiveTypes.Int64
		}
		return t
	})
	return array.NewData(t, d.Len(), d.Buffers(), children, d.NullN(), d.Offset())
}

// readColumn reads one column of the survivors of sel, in batches of n.
func readColumn(ctx context.Context, d kernels.Decoder, g *kernels.RowGroup, column int, sel *kernels.Selection, n int64) (out []arrow.Array, err error) {
	r, err := d.Open(ctx, g)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	for from := int64(0); from < sel.Count(); from += n {
		batch, err := r.Read(ctx, []int{column}, sel, from, n)
		if err != nil {
			for _, a := range out {
				a.Release()
			}
			return nil, err
		}
		batch.Column(0).Retain()
		out = append(out, batch.Column(0))
		batch.Release()
	}
	return out, nil
}

// outcome is what two decoders made of the same column.
type outcome struct{ ours, theirs error }

// agree reads a column with both decoders and fails where both give values and these differ.
func agree(t testing.TB, ours, theirs kernels.Decoder, g *kernels.RowGroup, column int, sel *kernels.Selection, n int64) (out outcome) {
	t.Helper()
	mem := kernelstest.NewSoiled()
	defer mem.AssertSize(t, 0)
	ctx := resource.With(context.Background(), resource.NewPool(resource.Config{Allocator: mem}).NewStatement("test"))
	got, err := readColumn(ctx, ours, g, column, sel, n)
	out.ours = err
	defer releaseAll(got)
	want, err := readColumn(context.Background(), theirs, g, column, sel, n)
	out.theirs = err
	defer releaseAll(want)
	if out.ours != nil || out.theirs != nil {
		return out
	}
	for i := range want {
		a, b := exact(got[i]), exact(want[i])
		if !array.Equal(a, b) || a.NullN() != b.NullN() || !arrow.TypeEqual(got[i].DataType(), want[i].DataType(), arrow.CheckMetadata()) {
			t.Fatalf("%s of %s, batch %d of %d rows: %v\nwant %v", g.Columns[column].Field.Name, g.Name, i, n, got[i], want[i])
		}
		a.Release()
		b.Release()
	}
	return out
}

func releaseAll(arrays []arrow.Array) {
	for _, a := range arrays {
		a.Release()
	}
}

func TestDecoderAgreesWithTheFallbackOnFilesOfOtherWriters(t *testing.T) {
	var paths []string
	for _, root := range []string{"../../scan/parquet/testdata", "../../conformance/testdata/warehouse"} {
		err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
			if strings.HasSuffix(path, ".parquet") {
				paths = append(paths, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(paths) < 20 {
		t.Fatalf("only %d files", len(paths))
	}
	ours, theirs := New(), parquet.NewFallback()
	defer ours.Close()
	columns := 0
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		groups, err := groupsOf(data)
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range groups {
			g.Name = path
			for _, ours.near = range []int64{nearRead, 1} {
				columns += agreeOnAll(t, ours, theirs, g)
			}
		}
	}
	if columns < 1000 {
		t.Errorf("only %d columns gave values", columns)
	}
}

// agreeOnAll compares all columns under some selections and says how often both decoders gave values.
func agreeOnAll(t testing.TB, ours *Decoder, theirs kernels.Decoder, g *kernels.RowGroup) int {
	t.Helper()
	r, compared := rand.New(rand.NewSource(g.Rows)), 0
	for i, route := range ours.Route(g) {
		if !route.Taken {
			t.Errorf("%s: %s is not taken: %s", g.Name, g.Columns[i].Field.Name, route.Reason)
			continue
		}
		for range 3 {
			out := agree(t, ours, theirs, g, i, kernelstest.RandomSelection(r, g.Rows), 1+r.Int63n(g.Rows))
			if out.ours != nil && out.theirs == nil {
				t.Errorf("%s: %s: only we fail: %v", g.Name, g.Columns[i].Field.Name, out.ours)
			}
			if out == (outcome{}) {
				compared++
			}
		}
	}
	return compared
}

func TestDecoderAgreesWithTheFallbackOnLargerFiles(t *testing.T) {
	rows := 30_000
	if testing.Short() {
		rows = 3000
	}
	ours, theirs := New(), parquet.NewFallback()
	defer ours.Close()
	for i, l := range kernelstest.Layouts() {
		for _, fields := range [][]arrow.Field{kernelstest.Flat(true), kernelstest.Flat(false), kernelstest.Nested()} {
			batch := kernelstest.Random(fields, rows, 0.1, int64(i), memory.DefaultAllocator)
			data := kernelstest.Write(t, batch, l)
			batch.Release()
			groups, err := groupsOf(data)
			if err != nil {
				t.Fatal(err)
			}
			for _, g := range groups[:1] {
				g.Name = fmt.Sprint(l.Name)
				for _, ours.near = range []int64{nearRead, 1} {
					agreeOnAll(t, ours, theirs, g)
				}
			}
		}
	}
}
