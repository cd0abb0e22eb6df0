package scan

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/resource"
)

// damagedCopy copies the tables with known answers and hands the copy to damage.
func damagedCopy(t *testing.T, folder string, damage func(path string) bool) string {
	t.Helper()
	root := t.TempDir()
	if err := os.CopyFS(filepath.Join(root, "warehouse", folder), os.DirFS(filepath.Join("testdata/oracle/warehouse", folder))); err != nil {
		t.Fatal(err)
	}
	hit := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && damage(path) {
			hit++
		}
		return err
	})
	if err != nil || hit == 0 {
		t.Fatalf("%d files damaged, %v", hit, err)
	}
	return root
}

func matches(pattern string) func(string) bool {
	return func(path string) bool {
		ok, _ := filepath.Match(pattern, filepath.Base(path))
		return ok
	}
}

// TestDamagedFilesFailTheScanAndAreNamed takes away or spoils each kind of file that a scan reads.
func TestDamagedFilesFailTheScanAndAreNamed(t *testing.T) {
	remove := func(path string) error { return os.Remove(path) }
	empty := func(path string) error { return os.Truncate(path, 0) }
	spoil := func(path string) error {
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for i := 16; i < len(raw); i++ {
			raw[i] ^= 0x5a
		}
		return os.WriteFile(path, raw, 0o600)
	}
	for _, c := range []struct {
		name, pattern, folder string
		how                   func(string) error
		kinds                 []fault.Kind
	}{
		{"missing data file", "*-0-00001.parquet", "deletes/pos_v2", remove, []fault.Kind{fault.Corrupt}},
		{"empty data file", "*-0-00001.parquet", "deletes/pos_v2", empty, []fault.Kind{fault.Corrupt}},
		{"spoilt data file", "*-0-00001.parquet", "deletes/pos_v2", spoil, []fault.Kind{fault.Corrupt}},
		{"missing delete file", "*-deletes.parquet", "deletes/pos_v2", remove, []fault.Kind{fault.Corrupt}},
		{"spoilt delete file", "*-deletes.parquet", "deletes/pos_v2", spoil, []fault.Kind{fault.Corrupt}},
		{"missing deletion vector", "*.puffin", "deletes/dv_v3", remove, []fault.Kind{fault.Corrupt}},
		{"spoilt deletion vector", "*.puffin", "deletes/dv_v3", spoil, []fault.Kind{fault.Corrupt}},
		{"missing manifest", "*-m*.avro", "deletes/pos_v2", remove, []fault.Kind{fault.Corrupt}},
		{"spoilt manifest", "*-m*.avro", "deletes/pos_v2", spoil, []fault.Kind{fault.Corrupt}},
		{"missing manifest list", "snap-*.avro", "deletes/pos_v2", remove, []fault.Kind{fault.Corrupt}},
		{"spoilt manifest list", "snap-*.avro", "deletes/pos_v2", spoil, []fault.Kind{fault.Corrupt}},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := damagedCopy(t, c.folder, func(path string) bool {
				return matches(c.pattern)(path) && c.how(path) == nil
			})
			parts := strings.Split(c.folder, "/")
			source, err := oracleTable(t, oracleScanner(t, root), root, parts[:1], parts[1]).Source(t.Context(), Reference{})
			if err != nil {
				t.Fatal(err)
			}
			checked := memory.NewCheckedAllocator(memory.DefaultAllocator)
			defer checked.AssertSize(t, 0)
			ctx := resource.With(t.Context(), resource.NewPool(resource.Config{Cores: 3, Allocator: checked}).NewStatement("t"))
			_, err = readAll(ctx, source, Request{Fields: fieldIDs(source.Schema()), Limit: -1})
			if err == nil || !slices.Contains(c.kinds, fault.KindOf(err)) || !strings.Contains(err.Error(), "file:/skua-oracle/warehouse/"+c.folder) {
				t.Fatalf("%s: %v", fault.KindOf(err), err)
			}
		})
	}
}

func TestSpoiltMetadataIsCorrupt(t *testing.T) {
	root := damagedCopy(t, "deletes/pos_v2", func(path string) bool {
		return strings.HasSuffix(path, ".metadata.json") && os.WriteFile(path, []byte(`{"format-version": 2, "nope"`), 0o600) == nil
	})
	s := oracleScanner(t, root)
	hint, _ := os.ReadFile(filepath.Join(root, "warehouse/deletes/pos_v2/metadata/version-hint.text"))
	at := fmt.Sprintf("file:/skua-oracle/warehouse/deletes/pos_v2/metadata/v%s.metadata.json", strings.TrimSpace(string(hint)))
	_, err := s.Table(t.Context(), tableAt(at))
	if !fault.Is(err, fault.Corrupt) || !strings.Contains(err.Error(), at) {
		t.Errorf("%v", err)
	}
	if _, err := s.Table(t.Context(), tableAt("file:/skua-oracle/nowhere.metadata.json")); !fault.Is(err, fault.Corrupt) {
		t.Errorf("a missing metadata file: %v", err)
	}
}

func posDeletes(t *testing.T) Source {
	t.Helper()
	source, err := oracleTable(t, oracleScanner(t, "testdata/oracle"), "testdata/oracle", []string{"deletes"}, "pos_v2").Source(t.Context(), Reference{})
	if err != nil {
		t.Fatal(err)
	}
	return source
}

func TestAnySplitsGiveTheSameRows(t *testing.T) {
	source := posDeletes(t)
	var want []string
	for i, size := range []string{"", "1", "100", "1000", "100000"} {
		var options []Option
		if size != "" {
			options = append(options, Option{Name: "split-size", Value: size, Scope: "session", Key: "k"}, Option{Name: "file-open-cost", Value: "0"})
		}
		req := Request{Fields: append(fieldIDs(source.Schema()), idPos, idFile), Options: options, Limit: -1}
		got, err := readAll(t.Context(), source, req)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			want = rowsOf(got)
		} else if !slices.Equal(rowsOf(got), want) {
			t.Errorf("split size %s: %v, want %v", size, rowsOf(got), want)
		}
		got.Release()
		sum := 0
		p, err := source.Plan(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		for s := range p.Splits() { // each part on its own, twice
			for range 2 {
				r, err := p.Open(t.Context(), s, s+1)
				if err != nil {
					t.Fatal(err)
				}
				for r.Next() {
					sum += int(r.RecordBatch().NumRows())
				}
				if r.Err() != nil {
					t.Fatal(r.Err())
				}
				r.Release()
			}
		}
		if sum != 2*len(want) {
			t.Errorf("split size %s: the parts give %d rows, want %d", size, sum/2, len(want))
		}
	}
}

func TestNoFieldsGiveRowsOnly(t *testing.T) {
	source := posDeletes(t)
	got, err := readAll(t.Context(), source, Request{Limit: -1})
	if err != nil {
		t.Fatal(err)
	}
	all, err := readAll(t.Context(), source, Request{Fields: fieldIDs(source.Schema()), Limit: -1})
	if err != nil {
		t.Fatal(err)
	}
	if got.NumCols() != 0 || got.NumRows() != all.NumRows() || got.NumRows() == 0 {
		t.Errorf("%d columns and %d rows, want none and %d", got.NumCols(), got.NumRows(), all.NumRows())
	}
}

func TestRowsAreKnownWithoutReadingOnlyWhereNothingIsDeleted(t *testing.T) {
	root := "testdata/oracle"
	s := oracleScanner(t, root)
	for _, c := range []struct {
		name  string
		known bool
	}{{"deletes/pos_v2", false}, {"types/floats", true}, {"history/no_snapshot", true}} {
		parts := strings.Split(c.name, "/")
		source, err := oracleTable(t, s, root, parts[:1], parts[1]).Source(t.Context(), Reference{})
		if err != nil {
			t.Fatal(err)
		}
		p, err := source.Plan(t.Context(), Request{Limit: -1})
		if err != nil {
			t.Fatal(err)
		}
		n, known := p.Rows()
		all, err := readAll(t.Context(), source, Request{Limit: -1})
		if err != nil || known != c.known || known && n != all.NumRows() {
			t.Errorf("%s: %d rows, known %v, %v; it has %d", c.name, n, known, err, all.NumRows())
		}
	}
}

// endless is a stream of parts that never end.
func endless(ctx context.Context, mem memory.Allocator, parts int, made chan<- int) *stream {
	schema := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}}, nil)
	return newStream(ctx, schema, parts, 0, -1, func(ctx context.Context, i int, emit func(arrow.RecordBatch) error) error {
		for {
			b := array.NewInt64Builder(mem)
			b.Append(int64(i))
			a := b.NewArray()
			b.Release()
			batch := array.NewRecordBatch(schema, []arrow.Array{a}, 1)
			a.Release()
			select {
			case made <- i:
			default:
			}
			if err := emit(batch); err != nil {
				return err
			}
		}
	})
}

func TestStreamStopsAndFreesEverything(t *testing.T) {
	before := runtime.NumGoroutine()
	checked := memory.NewCheckedAllocator(memory.DefaultAllocator)
	for _, end := range []string{"release", "cancel", "never read"} {
		made := make(chan int, 1000)
		ctx, cancel := context.WithCancel(t.Context())
		ctx = resource.With(ctx, resource.NewPool(resource.Config{Cores: 4, Allocator: checked}).NewStatement("t"))
		s := endless(ctx, checked, 8, made)
		switch end {
		case "release":
			s.Next()
		case "cancel":
			s.Next()
			cancel()
			for s.Next() {
			}
			if !errors.Is(s.Err(), context.Canceled) {
				t.Errorf("after cancel: %v", s.Err())
			}
		}
		s.Release()
		cancel()
		if n := len(made); n > 4*3+2 {
			t.Errorf("%s: %d batches were made ahead of a reader that took one", end, n)
		}
	}
	checked.AssertSize(t, 0)
	for deadline := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > before && time.Now().Before(deadline); {
		runtime.Gosched()
	}
	if n := runtime.NumGoroutine(); n > before {
		t.Errorf("%d goroutines, %d before", n, before)
	}
}

func TestStreamKeepsPartsInOrderAndReportsTheirErrorInTurn(t *testing.T) {
	schema := arrow.NewSchema(nil, nil)
	ctx := resource.With(t.Context(), resource.NewPool(resource.Config{Cores: 4}).NewStatement("t"))
	s := newStream(ctx, schema, 6, 0, -1, func(_ context.Context, i int, emit func(arrow.RecordBatch) error) error {
		if i == 3 {
			panic("three")
		}
		return emit(array.NewRecordBatch(schema, nil, int64(i+1)))
	})
	defer s.Release()
	var got []int64
	for s.Next() {
		got = append(got, s.RecordBatch().NumRows())
	}
	if !slices.Equal(got, []int64{1, 2, 3}) || s.Err() == nil || !strings.Contains(s.Err().Error(), "three") {
		t.Errorf("%v, %v", got, s.Err())
	}
}

func TestMemoryLimitEndsTheScan(t *testing.T) {
	source := posDeletes(t)
	ctx := resource.With(t.Context(), resource.NewPool(resource.Config{Cores: 2, StatementMemory: 64}).NewStatement("t"))
	_, err := readAll(ctx, source, Request{Fields: fieldIDs(source.Schema()), Limit: -1})
	if !fault.Is(err, fault.Exhausted) {
		t.Errorf("%v", err)
	}
}

func TestLineageOfRows(t *testing.T) {
	root := "testdata/oracle"
	s := oracleScanner(t, root)
	asked := 0
	for _, name := range []string{"lineage_v3", "dv_v3"} {
		tbl := oracleTable(t, s, root, []string{"deletes"}, name)
		for _, l := range oracleFile(t, filepath.Join(root, "expected", "deletes."+name+".jsonl")) {
			rest, ok := strings.CutPrefix(l.SQL, "SELECT id, v, _row_id, _last_updated_sequence_number FROM oracle.deletes."+name)
			columns := []string{"id", "v"}
			if !ok {
				rest, ok = strings.CutPrefix(l.SQL, "SELECT id, _row_id, _last_updated_sequence_number FROM oracle.deletes."+name)
				columns = columns[:1]
			}
			if !ok {
				continue
			}
			asked++
			ref := Reference{}
			if v, found := strings.CutPrefix(rest, " VERSION AS OF "); found {
				ref = Reference{Kind: RefName, Name: v}
			}
			source, err := tbl.Source(t.Context(), ref)
			if err != nil {
				t.Fatal(err)
			}
			var ids []int
			for _, c := range columns {
				f, _ := source.Schema().FieldsByName(c)
				ids = append(ids, FieldID(f[0]))
			}
			got, err := readAll(t.Context(), source, Request{Fields: append(ids, idRowID, idLastUpdated), Limit: -1})
			if err != nil {
				t.Fatal(err)
			}
			compareOracle(t, got, l)
		}
	}
	if asked < 5 {
		t.Errorf("only %d queries were asked", asked)
	}
}

func TestInlineManifests(t *testing.T) {
	tbl := oracleTable(t, oracleScanner(t, "testdata/oracle"), "testdata/oracle", []string{"types"}, "all_v1")
	s := *tbl.metadata.CurrentSnapshot()
	list, err := tbl.manifests(t.Context(), &s)
	if err != nil || len(list) == 0 {
		t.Fatal(list, err)
	}
	bare := table.Snapshot{SnapshotID: s.SnapshotID}
	for _, m := range list {
		bare.ManifestLocations = append(bare.ManifestLocations, m.FilePath())
	}
	inline, err := tbl.manifests(t.Context(), &bare)
	if err != nil || len(inline) != len(list) {
		t.Fatalf("%v, %v", inline, err)
	}
	for i, m := range inline {
		a, err := tbl.entries(t.Context(), m)
		if err != nil {
			t.Fatal(err)
		}
		b, err := tbl.entries(t.Context(), list[i])
		if err != nil || len(a) != len(b) || a[0].File.FilePath() != b[0].File.FilePath() || a[0].Sequence != 0 {
			t.Errorf("%v %v, %v", a, b, err)
		}
	}
}

func tableAt(location string) *catalogs.Table {
	return &catalogs.Table{Catalog: "oracle", Identifier: table.Identifier{"n", "t"}, MetadataLocation: location}
}
