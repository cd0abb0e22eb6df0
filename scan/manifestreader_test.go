package scan

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/iceberg-go"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/scan/manifest"
)

// TestManifestsAsTheLibraryReadsThem compares every live entry of the manifests of the tables with known answers, and of generated ones, with what
// iceberg-go's reader makes of it. SKUA_MANIFESTS is a folder of more tables.
func TestManifestsAsTheLibraryReadsThem(t *testing.T) {
	paths, err := filepath.Glob("testdata/oracle/warehouse/*/*/metadata/*-m*.avro")
	if err != nil || len(paths) < 20 {
		t.Fatal(paths, err)
	}
	if more := os.Getenv("SKUA_MANIFESTS"); more != "" {
		err := filepath.WalkDir(more, func(path string, _ os.DirEntry, err error) error {
			if ok, _ := filepath.Match("*-m*.avro", filepath.Base(path)); ok {
				paths = append(paths, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	entries := 0
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		entries += compareReaders(t, path, raw)
	}
	for seed := range uint64(60) {
		raw := generatedManifest(t, seed)
		entries += compareReaders(t, fmt.Sprintf("seed %d", seed), raw)
	}
	if entries < 500 {
		t.Errorf("only %d entries were compared", entries)
	}
	t.Logf("%d entries of %d files", entries, len(paths))
}

// compareReaders reads a manifest with both readers, as a list of each format version that may have it says, and gives the number of entries.
func compareReaders(t *testing.T, name string, raw []byte) int {
	t.Helper()
	entries := 0
	for version := 1; version <= 3; version++ {
		for _, content := range []iceberg.ManifestContent{iceberg.ManifestContentData, iceberg.ManifestContentDeletes} {
			m := iceberg.NewManifestFile(version, "mem:m", int64(len(raw)), 0, 42).Content(content).SequenceNum(7, 7).Build()
			if version == 3 && content == iceberg.ManifestContentData {
				m = numbered{m}
			}
			want, err := readByLibrary(m, raw)
			got, gotErr := decodeBytes(t, m, raw, want)
			if (err != nil) != (gotErr != nil) {
				t.Errorf("%s, version %d, %s: %v, iceberg-go: %v", name, version, content, gotErr, err)
				continue
			}
			if err != nil {
				continue
			}
			if len(got.entries) != len(want) {
				t.Errorf("%s: %d entries, iceberg-go has %d", name, len(got.entries), len(want))
				continue
			}
			for i, e := range want {
				entries++
				compareEntry(t, fmt.Sprintf("%s, version %d, entry %d", name, version, i), &got.entries[i], fileStats{got.stats, i}, e)
			}
		}
	}
	return entries
}

// readByLibrary reads live entries with iceberg-go, which panics on some files.
func readByLibrary(m iceberg.ManifestFile, raw []byte) (out []iceberg.ManifestEntry, err error) {
	defer fault.Recover(&err, fault.Corrupt, "read")
	return iceberg.ReadManifest(m, bytes.NewReader(raw), true)
}

// numbered is a manifest with a first row id.
type numbered struct{ iceberg.ManifestFile }

func (numbered) FirstRowID() *int64 {
	first := int64(1000)
	return &first
}

// decodeBytes reads a manifest with the statistics of every column that the wanted entries have.
func decodeBytes(t *testing.T, m iceberg.ManifestFile, raw []byte, want []iceberg.ManifestEntry) (planned, error) {
	t.Helper()
	s := newMemoryStore()
	s.put("mem:m", raw)
	of := plainTable(t, s, "3")
	file, _, err := of.openManifest(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	ids := map[int]bool{}
	for _, e := range want {
		f := e.DataFile()
		for _, counts := range []map[int]int64{f.ValueCounts(), f.NullValueCounts(), f.NaNValueCounts()} {
			for id := range counts {
				ids[id] = true
			}
		}
		for id := range f.LowerBoundValues() {
			ids[id] = true
		}
	}
	var columns []int
	for id := range ids {
		columns = append(columns, id)
	}
	slices.Sort(columns)
	return of.decode(t.Context(), file, m, columns, true, false)
}

func compareEntry(t *testing.T, name string, got *fileEntry, stats fileStats, want iceberg.ManifestEntry) {
	t.Helper()
	f := want.DataFile()
	check := func(what string, a, b any) {
		if !reflect.DeepEqual(a, b) {
			t.Errorf("%s: %s is %v, iceberg-go has %v", name, what, a, b)
		}
	}
	check("path", got.Path, f.FilePath())
	check("format", strings.ToUpper(string(got.Format)), strings.ToUpper(string(f.FileFormat())))
	check("size", got.Size, f.FileSizeBytes())
	check("records", got.Records, f.Count())
	check("offsets", append([]int64{}, got.Offsets...), append([]int64{}, f.SplitOffsets()...))
	check("sequence", got.Sequence, want.SequenceNum())
	check("file sequence", got.FileSeq, want.FileSequenceNum())
	check("first row", got.FirstRow, f.FirstRowID())
	check("encrypted", got.encrypted, len(f.KeyMetadata()) > 0)
	check("partition fields", len(got.Partition), len(f.Partition()))
	for id, v := range f.Partition() {
		compareValue(t, fmt.Sprintf("%s: partition field %d", name, id), got.Partition[id], v)
	}
	if f.ContentType() == iceberg.EntryContentData {
		compareStatistics(t, name, stats, f)
		check("deletes", got.deletes == nil, true)
		return
	}
	check("target", got.deletes.target, f.ReferencedDataFile())
	check("offset", got.deletes.offset, f.ContentOffset())
	check("content size", got.deletes.size, f.ContentSizeInBytes())
	if got.deletes.equality {
		keys := slices.Clone(f.EqualityFieldIDs())
		slices.Sort(keys)
		check("keys", got.deletes.keys, slices.Compact(keys))
	}
}

// compareValue compares partition values, whose Go types differ, in every type that both fit.
func compareValue(t *testing.T, name string, got, want any) {
	t.Helper()
	if (got == nil) != (want == nil) {
		t.Errorf("%s: %v, iceberg-go has %v", name, got, want)
		return
	}
	fits := 0
	for _, typ := range partitionTypes() {
		a, okA := normalize(got, typ)
		b, okB := normalize(want, typ)
		if d, isDecimal := got.(manifest.Decimal); isDecimal && !strings.Contains(typ.String(), fmt.Sprintf(", %d)", d.Scale)) {
			continue // raw bytes fit other types too
		}
		if okA && okB {
			fits++
			if c, ok := compare(a, b); got != nil && (!ok || c != 0) {
				t.Errorf("%s as %s: %v, iceberg-go has %v", name, typ, a, b)
			}
		}
	}
	if fits == 0 {
		t.Errorf("%s: %T %v and iceberg-go's %T %v fit no type", name, got, got, want, want)
	}
}

func compareStatistics(t *testing.T, name string, stats fileStats, f iceberg.DataFile) {
	t.Helper()
	for i, id := range stats.all.ids {
		c := stats.all.columns[i]
		for m, counts := range map[manifest.Metric]map[int]int64{manifest.ValueCounts: f.ValueCounts(), manifest.NullCounts: f.NullValueCounts(), manifest.NaNCounts: f.NaNValueCounts()} {
			want, ok := counts[id]
			if !ok {
				want = -1
			}
			if got := c.count(m, stats.row); got != want {
				t.Errorf("%s: count %d of column %d is %d, iceberg-go has %d", name, m, id, got, want)
			}
		}
		for at, bound := range map[int][]byte{0: c.lower.at(stats.row), 1: c.upper.at(stats.row)} {
			want, ok := []map[int][]byte{f.LowerBoundValues(), f.UpperBoundValues()}[at][id]
			if (bound != nil) != ok || !bytes.Equal(bound, want) {
				t.Errorf("%s: bound %d of column %d is %q, iceberg-go has %q", name, at, id, bound, want)
			}
		}
	}
}

// generatedManifest writes a manifest with iceberg-go: a few entries of every status, with what may be missing missing at random.
func generatedManifest(t *testing.T, seed uint64) []byte {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	version := 1 + int(seed%3)
	schema := iceberg.NewSchema(0, iceberg.NestedField{ID: 1, Name: "a", Type: iceberg.PrimitiveTypes.Int64}, iceberg.NestedField{ID: 2, Name: "b", Type: iceberg.PrimitiveTypes.String},
		iceberg.NestedField{ID: 3, Name: "c", Type: iceberg.PrimitiveTypes.Date})
	spec := iceberg.NewPartitionSpecID(0, iceberg.PartitionField{SourceIDs: []int{1}, FieldID: 1000, Name: "a_b", Transform: iceberg.IdentityTransform{}},
		iceberg.PartitionField{SourceIDs: []int{2}, FieldID: 1001, Name: "b_trunc", Transform: iceberg.TruncateTransform{Width: 3}},
		iceberg.PartitionField{SourceIDs: []int{3}, FieldID: 1002, Name: "c_day", Transform: iceberg.DayTransform{}})
	var raw bytes.Buffer
	options := []iceberg.ManifestWriterOption{}
	content := iceberg.EntryContentData
	if version > 1 && seed%5 == 0 {
		content = iceberg.EntryContentPosDeletes
		options = append(options, iceberg.WithManifestWriterContent(iceberg.ManifestContentDeletes))
	}
	w, err := iceberg.NewManifestWriter(version, &raw, spec, schema, 42, options...)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 1 + r.IntN(40) {
		e := generatedEntry(t, r, version, spec, content, i)
		put := map[iceberg.ManifestEntryStatus]func(iceberg.ManifestEntry) error{iceberg.EntryStatusADDED: w.Add, iceberg.EntryStatusEXISTING: w.Existing, iceberg.EntryStatusDELETED: w.Delete}
		if err := put[e.Status()](e); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return raw.Bytes()
}

func generatedEntry(t *testing.T, r *rand.Rand, version int, spec iceberg.PartitionSpec, content iceberg.ManifestEntryContent, i int) iceberg.ManifestEntry {
	t.Helper()
	partition := map[int]any{1000: int64(r.IntN(5)), 1001: "abc"[:r.IntN(4)], 1002: iceberg.Date(r.IntN(40_000) - 10_000)}
	for id := range partition {
		if r.IntN(4) == 0 {
			partition[id] = nil
		}
	}
	if content == iceberg.EntryContentPosDeletes && r.IntN(2) == 0 {
		content = iceberg.EntryContentEqDeletes
	}
	b, err := iceberg.NewDataFileBuilder(spec, content, fmt.Sprintf("s3://b/t/%d-%x.parquet", i, r.Uint64()), iceberg.ParquetFile, partition, nil, nil, int64(r.IntN(1000)), int64(r.IntN(1<<30)+1))
	if err != nil {
		t.Fatal(err)
	}
	counts := func() map[int]int64 {
		out := map[int]int64{}
		for id := 1; id <= 3; id++ {
			if r.IntN(3) > 0 {
				out[id] = int64(r.IntN(100_000))
			}
		}
		return out
	}
	bound := func() map[int][]byte {
		out := map[int][]byte{}
		for id := 1; id <= 3; id++ {
			if r.IntN(3) > 0 {
				out[id] = []byte(strings.Repeat("xyz", r.IntN(4)))
			}
		}
		return out
	}
	if r.IntN(5) > 0 {
		b = b.ColumnSizes(counts()).ValueCounts(counts()).NullValueCounts(counts()).NaNValueCounts(counts()).LowerBoundValues(bound()).UpperBoundValues(bound())
	}
	if r.IntN(2) > 0 {
		b = b.SplitOffsets([]int64{4, int64(5 + r.IntN(1000))})
	}
	if r.IntN(9) == 0 {
		b = b.KeyMetadata([]byte("key"))
	}
	if content == iceberg.EntryContentEqDeletes {
		b = b.EqualityFieldIDs([]int{3, 1, 3}[:1+r.IntN(3)])
	}
	if version == 3 && content == iceberg.EntryContentData && r.IntN(2) == 0 {
		b = b.FirstRowID(int64(r.IntN(1 << 40)))
	}
	snapshot, sequence := int64(42), int64(r.IntN(7))
	if r.IntN(3) == 0 {
		other := int64(41)
		return iceberg.NewManifestEntry(iceberg.EntryStatusEXISTING, &other, &sequence, &sequence, b.Build())
	}
	if r.IntN(4) == 0 {
		return iceberg.NewManifestEntry(iceberg.EntryStatusDELETED, &snapshot, &sequence, &sequence, b.Build())
	}
	return iceberg.NewManifestEntry(iceberg.EntryStatusADDED, &snapshot, nil, nil, b.Build())
}

// partitionTypes are the Arrow types of partition values.
func partitionTypes() []arrow.DataType {
	out := []arrow.DataType{arrow.FixedWidthTypes.Boolean, arrow.PrimitiveTypes.Int64, arrow.FixedWidthTypes.Timestamp_us, arrow.PrimitiveTypes.Float64,
		arrow.BinaryTypes.String, arrow.BinaryTypes.Binary, &arrow.FixedSizeBinaryType{ByteWidth: 16}}
	for scale := range int32(39) {
		out = append(out, &arrow.Decimal128Type{Precision: 38, Scale: scale})
	}
	return out
}
