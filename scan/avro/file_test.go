package avro

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/resource"
	"github.com/skua-data/skua/scan/avrofile"
	"github.com/skua-data/skua/scan/parquet"
)

var codecNames = []string{"null", "deflate", "snappy", "zstandard", "bzip2"}

// content is bytes as a storage.File.
type content struct{ *strings.Reader }

func (content) Close() error  { return nil }
func (content) Key() string   { return "" }
func (c content) Size() int64 { return c.Reader.Size() }

func open(t testing.TB, raw []byte) (*File, error) {
	t.Helper()
	f := content{strings.NewReader(string(raw))}
	x, err := ReadIndex(t.Context(), f, "test.avro")
	if err != nil {
		return nil, err
	}
	return Open(x, f, "test.avro"), nil
}

func stored(t testing.TB, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

var recordIDs = map[string]int{"b": 1, "i": 2, "l": 3, "f": 4, "d": 5, "day": 6, "clock": 7, "ts": 8, "millis": 9, "s": 10, "bin": 11, "fix": 12, "u": 13, "dec": 14,
	"big": 15, "list": 16, "list.item": 17, "map": 18, "pairs": 21, "st": 24, "st.x": 25, "st.inner": 26, "st.inner.y": 27, "st.inner.dates": 28, "st.later": 95, "color": 30}

// withIDs gives fields the ids of the file, by name.
func withIDs(fields []arrow.Field, prefix string) []arrow.Field {
	out := make([]arrow.Field, len(fields))
	for i, f := range fields {
		name := prefix + f.Name
		f.Metadata = idOf(recordIDs[name])
		switch t := f.Type.(type) {
		case *arrow.StructType:
			f.Type = arrow.StructOf(withIDs(t.Fields(), name+".")...)
		case *arrow.ListType:
			f.Type = arrow.ListOfField(withIDs([]arrow.Field{t.ElemField()}, name+".")[0])
		}
		out[i] = f
	}
	return out
}

func idOf(id int) arrow.Metadata {
	return arrow.NewMetadata([]string{"PARQUET:field_id"}, []string{fmt.Sprint(id)})
}

// expected gives the rows that pyarrow has, with wanted fields whose ids are the file's.
func expected(t testing.TB) ([]arrow.Field, arrow.RecordBatch) {
	t.Helper()
	r, err := ipc.NewFileReader(strings.NewReader(string(stored(t, "records.arrow"))))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	batch, err := r.RecordBatchAt(0)
	if err != nil || r.NumRecords() != 1 {
		t.Fatal(err)
	}
	return withIDs(r.Schema().Fields(), ""), batch
}

func upTo(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// compare checks rows of a batch against rows of the expected one.
func compare(t *testing.T, got, want arrow.RecordBatch, ordinals []int64) {
	t.Helper()
	if got.NumRows() != int64(len(ordinals)) {
		t.Fatalf("%d rows, want %d", got.NumRows(), len(ordinals))
	}
	for c := range int(got.NumCols()) {
		for i, row := range ordinals {
			a, b := array.NewSlice(got.Column(c), int64(i), int64(i+1)), array.NewSlice(want.Column(c), row, row+1)
			if a.String() != b.String() || a.IsNull(0) != b.IsNull(0) {
				t.Errorf("row %d of %s is %s, want %s", row, want.ColumnName(c), a, b)
			}
			a.Release()
			b.Release()
		}
	}
}

func TestEveryTypeAndCodec(t *testing.T) {
	fields, want := expected(t)
	for _, codec := range codecNames {
		t.Run(codec, func(t *testing.T) {
			f, err := open(t, stored(t, "records-"+codec+".avro"))
			if err != nil {
				t.Fatal(err)
			}
			if len(f.index.blocks) < 3 {
				t.Fatalf("only %d blocks", len(f.index.blocks))
			}
			checked := memory.NewCheckedAllocator(memory.DefaultAllocator)
			defer checked.AssertSize(t, 0)
			ctx := resource.With(t.Context(), resource.NewPool(resource.Config{Allocator: checked}).NewStatement(""))
			matches, err := f.Match(fields, nil)
			if err != nil {
				t.Fatal(err)
			}
			var columns []kernels.Column
			for i, m := range matches {
				if !m.Present {
					t.Fatalf("%s is not found", fields[i].Name)
				}
				columns = append(columns, m.Column)
			}
			rnd := rand.New(rand.NewPCG(1, 2))
			for range 6 {
				readRandomly(ctx, t, f, columns, want, rnd)
			}
		})
	}
}

// readRandomly reads a random selection of a file's rows, range by range and step by step.
func readRandomly(ctx context.Context, t *testing.T, f *File, columns []kernels.Column, want arrow.RecordBatch, rnd *rand.Rand) {
	t.Helper()
	size, next := f.file.Size(), int64(0)
	for start := int64(0); start < size; {
		length := 1 + rnd.Int64N(size/3)
		for _, g := range f.RowGroups(start, length, nil, nil) {
			if g.FirstRow != next {
				t.Fatalf("a range begins at row %d, want %d", g.FirstRow, next)
			}
			next += g.Rows
			var gone []int64
			for row := int64(0); row < g.Rows; row++ {
				if rnd.IntN(3) == 0 {
					gone = append(gone, row)
				}
			}
			readGroup(ctx, t, f, g, columns, want, kernels.All(g.Rows).Without(gone), 1+rnd.Int64N(90))
		}
		start += length
	}
	if next != want.NumRows() {
		t.Fatalf("the ranges hold %d rows of %d", next, want.NumRows())
	}
}

func readGroup(ctx context.Context, t *testing.T, f *File, g parquet.Group, columns []kernels.Column, want arrow.RecordBatch, sel *kernels.Selection, step int64) {
	t.Helper()
	r, err := f.Read(ctx, g, columns)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for from := int64(0); from < sel.Count(); from += step {
		n := min(step, sel.Count()-from)
		batch, err := r.Read(ctx, upTo(len(columns)), sel, from, n)
		if err != nil {
			t.Fatal(err)
		}
		var ordinals []int64
		for _, run := range sel.Slice(from, n).Runs() {
			for row := run.From; row < run.To; row++ {
				ordinals = append(ordinals, g.FirstRow+row)
			}
		}
		compare(t, batch, want, ordinals)
		batch.Release()
	}
}

// readWhatThereIs reads as many of the fields as a file has, in full.
func readWhatThereIs(t testing.TB, raw []byte, fields []arrow.Field) error {
	f, err := open(t, raw)
	if err != nil {
		return err
	}
	matches, err := f.Match(fields, nil)
	if err != nil {
		return err
	}
	var columns []kernels.Column
	for _, m := range matches {
		if m.Present {
			columns = append(columns, m.Column)
		}
	}
	for _, g := range f.RowGroups(0, 1<<60, nil, nil) {
		r, err := f.Read(t.Context(), g, columns)
		if err != nil {
			return err
		}
		batch, err := r.Read(t.Context(), upTo(len(columns)), kernels.All(g.Rows), 0, min(g.Rows, 1<<10))
		if err == nil {
			batch.Release()
		}
		if r.Close(); err != nil {
			return err
		}
	}
	return nil
}

func TestDamagedFilesAreErrors(t *testing.T) {
	fields, _ := expected(t)
	raw := stored(t, "records-snappy.avro")
	for cut := 0; cut < len(raw); cut += 1 + len(raw)/300 {
		if err := readWhatThereIs(t, raw[:cut], fields); err != nil && !fault.Is(err, fault.Corrupt) && !fault.Is(err, fault.Unsupported) {
			t.Errorf("cut at %d: %v", cut, err)
		}
	}
	rnd := rand.New(rand.NewPCG(3, 4))
	failed := 0
	for range 400 {
		spoilt := append([]byte(nil), raw...)
		for range 1 + rnd.IntN(3) {
			spoilt[rnd.IntN(len(spoilt))] ^= byte(1 + rnd.IntN(255))
		}
		if err := readWhatThereIs(t, spoilt, fields); err != nil {
			failed++
			if !strings.Contains(err.Error(), "test.avro") {
				t.Errorf("the file is not named: %v", err)
			}
		}
	}
	if failed < 300 {
		t.Errorf("only %d of 400 spoilt files were noticed", failed)
	}
}

func schemaFile(t *testing.T, text string) *File {
	t.Helper()
	s, err := avrofile.ParseSchema([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return &File{index: &Index{schema: s}, name: "x.avro"}
}

func TestTypesThatDoNotGoTogetherAreRefused(t *testing.T) {
	f := schemaFile(t, `{"type":"record","name":"t","fields":[{"name":"u","field-id":1,"type":["null","int","string"]},{"name":"i","field-id":2,"type":"int"}]}`)
	refused := func(field arrow.Field) {
		_, err := f.Match([]arrow.Field{field}, nil)
		if !fault.Is(err, fault.Unsupported) || !strings.Contains(err.Error(), "not supported") || !strings.Contains(err.Error(), "x.avro") {
			t.Errorf("%s: %v", field, err)
		}
	}
	refused(arrow.Field{Name: "u", Type: arrow.PrimitiveTypes.Int32, Metadata: idOf(1)})
	refused(arrow.Field{Name: "i", Type: arrow.BinaryTypes.String, Metadata: idOf(2)})
	refused(arrow.Field{Name: "i", Type: arrow.StructOf(), Metadata: idOf(2)})
	if _, err := f.Match([]arrow.Field{{Name: "i", Type: arrow.PrimitiveTypes.Int64, Metadata: idOf(2)}}, nil); err != nil {
		t.Errorf("beside a union: %v", err)
	}
}

func TestFilesWithoutIDsAreMatchedByName(t *testing.T) {
	f := schemaFile(t, `{"type":"record","name":"t","fields":[{"name":"a","type":"int"},{"name":"b","type":{"type":"array","items":"int"}}]}`)
	want := []arrow.Field{{Name: "b", Type: arrow.ListOf(arrow.PrimitiveTypes.Int32), Metadata: idOf(1)}, {Name: "c", Type: arrow.PrimitiveTypes.Int32, Metadata: idOf(2)}}
	m, err := f.Match(want, nil)
	if err != nil || !m[0].Present || m[0].Column.Root != 1 || m[1].Present {
		t.Errorf("by the wanted names: %+v, %v", m, err)
	}
	names, err := parquet.ParseNameMapping(`[{"field-id": 2, "names": ["a", "x"]}]`)
	if err != nil {
		t.Fatal(err)
	}
	m, err = f.Match(want, names)
	if err != nil || m[0].Present || !m[1].Present || m[1].Column.Root != 0 {
		t.Errorf("by a mapping: %+v, %v", m, err)
	}
}

func FuzzFile(f *testing.F) {
	for _, codec := range codecNames {
		f.Add(stored(f, "records-"+codec+".avro"))
	}
	fields, _ := expected(f)
	f.Fuzz(func(t *testing.T, raw []byte) { _ = readWhatThereIs(t, raw, fields) })
}
