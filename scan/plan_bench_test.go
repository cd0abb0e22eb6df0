package scan

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/predicate"
	"github.com/skua-data/skua/resource"
	"github.com/skua-data/skua/scan/parquet"
	"github.com/skua-data/skua/storage"
	"github.com/skua-data/skua/storage/local"
)

// wideMetadata writes the metadata of a table of many files, which do not exist: 16 columns with all statistics, 100 partitions.
func wideMetadata(t testing.TB, files, manifests int) string {
	t.Helper()
	dir := t.TempDir()
	var fields []iceberg.NestedField
	for i := range 16 {
		fields = append(fields, iceberg.NestedField{ID: i + 1, Name: fmt.Sprintf("c%d", i+1), Type: iceberg.PrimitiveTypes.Int64})
	}
	schema := iceberg.NewSchema(0, fields...)
	spec := iceberg.NewPartitionSpecID(0, iceberg.PartitionField{SourceIDs: []int{1}, FieldID: 1000, Name: "p", Transform: iceberg.IdentityTransform{}})
	var list []iceberg.ManifestFile
	for m := range manifests {
		list = append(list, wideManifest(t, dir, schema, spec, m, files/manifests))
	}
	one := int64(1)
	var raw bytes.Buffer
	if err := iceberg.WriteManifestList(2, &raw, 100, nil, &one, 0, list); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "snap.avro"), raw.Bytes())
	text, err := json.Marshal(schema)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := json.Marshal(map[string]any{"format-version": 2, "table-uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1", "location": dir, "last-sequence-number": 1,
		"last-updated-ms": 1000, "last-column-id": 16, "current-schema-id": 0, "schemas": []json.RawMessage{text}, "default-spec-id": 0, "partition-specs": []any{spec},
		"last-partition-id": 1000, "default-sort-order-id": 0, "sort-orders": []any{map[string]any{"order-id": 0, "fields": []any{}}}, "current-snapshot-id": 100,
		"snapshots": []any{map[string]any{"snapshot-id": 100, "sequence-number": 1, "timestamp-ms": 1000, "manifest-list": filepath.Join(dir, "snap.avro"), "schema-id": 0,
			"summary": map[string]string{"operation": "append"}}}})
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "v1.metadata.json"), tree)
	return filepath.Join(dir, "v1.metadata.json")
}

func wideManifest(t testing.TB, dir string, schema *iceberg.Schema, spec iceberg.PartitionSpec, m, files int) iceberg.ManifestFile {
	var raw bytes.Buffer
	w, err := iceberg.NewManifestWriter(2, &raw, spec, schema, 100)
	if err != nil {
		t.Fatal(err)
	}
	id := int64(100)
	for i := range files {
		n := m*files + i
		// Manifests hold a range of partitions each, as those of tables written by time do.
		p := int64(m*10 + i%10)
		path := fmt.Sprintf("s3://bucket/warehouse/db/events/data/p=%d/00000-%d-0b4e2b6a-7d1c-4a52-9f6f-9f1d5c1f0d0e-00001.parquet", p, n)
		b, err := iceberg.NewDataFileBuilder(spec, iceberg.EntryContentData, path, iceberg.ParquetFile, map[int]any{1000: p}, nil, nil, 100_000, 100<<20+int64(n))
		if err != nil {
			t.Fatal(err)
		}
		counts, nulls, lower, upper := map[int]int64{}, map[int]int64{}, map[int][]byte{}, map[int][]byte{}
		for c := 1; c <= 16; c++ {
			counts[c], nulls[c] = 100_000, 0
			lower[c] = binary.LittleEndian.AppendUint64(nil, uint64(n*c))
			upper[c] = binary.LittleEndian.AppendUint64(nil, uint64(n*c+1000))
		}
		lower[1], upper[1] = binary.LittleEndian.AppendUint64(nil, uint64(p)), binary.LittleEndian.AppendUint64(nil, uint64(p))
		f := b.ColumnSizes(counts).ValueCounts(counts).NullValueCounts(nulls).LowerBoundValues(lower).UpperBoundValues(upper).SplitOffsets([]int64{4, 50 << 20}).Build()
		if err := w.Add(iceberg.NewManifestEntry(iceberg.EntryStatusADDED, &id, nil, nil, f)); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(dir, fmt.Sprintf("m%d.avro", m))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	out, err := w.ToManifestFile(path, int64(raw.Len()))
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, raw.Bytes())
	return out
}

func wideSource(t testing.TB, location string, cache int64) Source {
	t.Helper()
	locations, err := storage.NewMap(nil)
	if err != nil {
		t.Fatal(err)
	}
	s := NewScanner(Config{Stores: storage.NewMux([]storage.Kind{local.Kind}, locations), Decoder: parquet.NewFallback(), MetadataCache: cache})
	tbl, err := s.Table(t.Context(), &catalogs.Table{Catalog: "c", Identifier: table.Identifier{"n", "t"}, MetadataLocation: location})
	if err != nil {
		t.Fatal(err)
	}
	source, err := tbl.Source(t.Context(), Reference{})
	if err != nil {
		t.Fatal(err)
	}
	return source
}

// BenchmarkPacking packs files of two row groups each: time for a file must not grow with their number.
func BenchmarkPacking(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		files := make([]extent, n)
		for i := range files {
			size := int64(i%97)<<20 + 1000
			files[i] = extent{Size: size, Offsets: []int64{4, size / 2}, Divisible: true, Deletes: i % 3, DeleteBytes: int64(i%3) << 16}
		}
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := planSplits(files, readOptions{Target: defaultTarget, Lookback: defaultLookback, OpenCost: defaultOpenCost}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/file")
		})
	}
}

// BenchmarkPlan plans scans of many files: cold, with nothing in the cache; again, with the entries there; and by filters.
func BenchmarkPlan(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		location := wideMetadata(b, n, 10)
		for _, c := range []struct {
			name   string
			warm   bool
			filter predicate.Expr
		}{{"cold", false, nil}, {"again", true, nil}, {"partition-cold", false, equals("c1", 1, 5)}, {"statistics-cold", false, equals("c2", 2, 1000)}, {"statistics-again", true, equals("c2", 2, 1000)}} {
			b.Run(fmt.Sprintf("%d/%s", n, c.name), func(b *testing.B) {
				b.ReportAllocs()
				source := wideSource(b, location, 1<<30)
				if c.warm {
					planWide(b, source, c.filter)
				}
				for first := true; b.Loop(); first = false {
					if !c.warm && !first {
						b.StopTimer()
						source = wideSource(b, location, 1<<30)
						b.StartTimer()
					}
					planWide(b, source, c.filter)
				}
			})
		}
	}
}

func equals(name string, id int, v int64) predicate.Expr {
	typ := arrow.PrimitiveTypes.Int64
	return predicate.Comparison{Op: predicate.Eq, Field: predicate.Field{ID: id, Path: []string{name}, Type: typ}, Value: predicate.Literal{Type: typ, Value: v}}
}

func planWide(t testing.TB, source Source, filter predicate.Expr) *tablePlan {
	t.Helper()
	ctx := resource.With(t.Context(), resource.NewPool(resource.Config{Cores: runtime.GOMAXPROCS(0)}).NewStatement("s"))
	p, err := source.Plan(ctx, Request{Fields: []int{1, 2}, Filter: filter, Limit: -1})
	if err != nil {
		t.Fatal(err)
	}
	return p.(*tablePlan)
}

// TestPackingIsASmallPartOfPlanning: of a plan that finds its entries in the cache, which is when packing weighs most, it takes a part; of a plan that
// has to read them, hardly any.
func TestPackingIsASmallPartOfPlanning(t *testing.T) {
	if testing.Short() {
		t.Skip("plans ten thousand files")
	}
	location := wideMetadata(t, 10_000, 10)
	began := time.Now()
	p := planWide(t, wideSource(t, location, 1<<30), nil)
	whole := time.Since(began)
	best := whole
	files := make([]extent, 0, 10_000)
	for _, s := range p.splits {
		for _, task := range s.Tasks {
			files = append(files, task.File.extent())
		}
	}
	for rounds := 0; rounds < 5 || rounds < 200 && best > whole/10; rounds++ { // a busy machine may disturb many of them
		began = time.Now()
		if _, err := planSplits(files, p.options); err != nil {
			t.Fatal(err)
		}
		best = min(best, time.Since(began))
	}
	t.Logf("packing %d files took %v of %v", len(files), best, whole)
	if best > whole/10 { // twice what it should take
		t.Errorf("packing took %v of %v", best, whole)
	}
}

// TestPlanOfManyFiles plans two hundred thousand files, first and again, where SKUA_LARGE is set, and tells time and memory.
func TestPlanOfManyFiles(t *testing.T) {
	if os.Getenv("SKUA_LARGE") == "" {
		t.Skip("SKUA_LARGE is not set")
	}
	location := wideMetadata(t, 200_000, 40)
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	for _, c := range []struct {
		name   string
		filter predicate.Expr
	}{{"no filter", nil}, {"one partition", equals("c1", 1, 5)}, {"one value of a column", equals("c2", 2, 1000)}} {
		source := wideSource(t, location, 1<<30)
		before := heap()
		began := time.Now()
		p := planWide(t, source, c.filter)
		first := time.Since(began)
		held := heap() - before
		began = time.Now()
		p = planWide(t, source, c.filter)
		again := time.Since(began)
		t.Logf("%s: first %v, again %v, %d MB held, %d splits, %v", c.name, first.Round(time.Millisecond), again.Round(time.Millisecond), held>>20, len(p.splits), p.found)
		runtime.KeepAlive(source)
	}
}
