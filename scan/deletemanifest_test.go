package scan

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/apache/iceberg-go"

	"github.com/skua-data/skua/resource"
)

// deletedMetadata writes the metadata of a table of data files, which do not exist, each in a partition and a manifest of its own and with a position
// delete file in another. Statistics of the deletes are wide.
func deletedMetadata(t testing.TB, files int) string {
	t.Helper()
	dir := t.TempDir()
	schema := iceberg.NewSchema(0, iceberg.NestedField{ID: 1, Name: "c1", Type: iceberg.PrimitiveTypes.Int64}, iceberg.NestedField{ID: 2, Name: "c2", Type: iceberg.PrimitiveTypes.Int64})
	spec := iceberg.NewPartitionSpecID(0, iceberg.PartitionField{SourceIDs: []int{1}, FieldID: 1000, Name: "p", Transform: iceberg.IdentityTransform{}})
	var list []iceberg.ManifestFile
	for i := range files {
		path := fmt.Sprintf("s3://bucket/table/data/p=%d/a-long-enough-name-of-a-data-file-%08d.parquet", i, i)
		data, err := iceberg.NewDataFileBuilder(spec, iceberg.EntryContentData, path, iceberg.ParquetFile, map[int]any{1000: int64(i)}, nil, nil, 100, 1000)
		if err != nil {
			t.Fatal(err)
		}
		deletes, err := iceberg.NewDataFileBuilder(spec, iceberg.EntryContentPosDeletes, path+".deletes", iceberg.ParquetFile, map[int]any{1000: int64(i)}, nil, nil, 10, 100)
		if err != nil {
			t.Fatal(err)
		}
		lower := map[int][]byte{idDeletePath: []byte(path), idDeletePos: binary.LittleEndian.AppendUint64(nil, 0)}
		for c := range 50 {
			lower[c+10] = bytes.Repeat([]byte{byte(c)}, 16)
		}
		deletes.LowerBoundValues(lower).UpperBoundValues(lower)
		list = append(list, oneFileManifest(t, dir, schema, spec, iceberg.ManifestContentData, i, data.Build()),
			oneFileManifest(t, dir, schema, spec, iceberg.ManifestContentDeletes, i, deletes.Build()))
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
		"last-updated-ms": 1000, "last-column-id": 2, "current-schema-id": 0, "schemas": []json.RawMessage{text}, "default-spec-id": 0, "partition-specs": []any{spec},
		"last-partition-id": 1000, "default-sort-order-id": 0, "sort-orders": []any{map[string]any{"order-id": 0, "fields": []any{}}}, "current-snapshot-id": 100,
		"snapshots": []any{map[string]any{"snapshot-id": 100, "sequence-number": 1, "timestamp-ms": 1000, "manifest-list": filepath.Join(dir, "snap.avro"), "schema-id": 0,
			"summary": map[string]string{"operation": "append"}}}})
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "v1.metadata.json"), tree)
	return filepath.Join(dir, "v1.metadata.json")
}

func oneFileManifest(t testing.TB, dir string, schema *iceberg.Schema, spec iceberg.PartitionSpec, content iceberg.ManifestContent, i int, f iceberg.DataFile) iceberg.ManifestFile {
	t.Helper()
	var raw bytes.Buffer
	w, err := iceberg.NewManifestWriter(2, &raw, spec, schema, 100, iceberg.WithManifestWriterContent(content))
	if err != nil {
		t.Fatal(err)
	}
	id := int64(100)
	if err := w.Add(iceberg.NewManifestEntry(iceberg.EntryStatusADDED, &id, nil, nil, f)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, fmt.Sprintf("%s-%d.avro", content, i))
	out, err := w.ToManifestFile(path, int64(raw.Len()))
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, raw.Bytes())
	return out
}

// TestOnlyDeleteManifestsThatCanMatterAreRead counts the manifests that a plan of one partition decodes.
func TestOnlyDeleteManifestsThatCanMatterAreRead(t *testing.T) {
	const files = 60
	location := deletedMetadata(t, files)
	for _, c := range []struct {
		name    string
		request Request
		decoded int64 // manifests of data and of deletes
		splits  int
	}{
		{"one partition", Request{Filter: equals("c1", 1, 7)}, 2, 1},
		{"no partition", Request{Filter: equals("c1", 1, 7_000)}, 0, 0},
		{"all", Request{}, 2 * files, files},
	} {
		t.Run(c.name, func(t *testing.T) {
			source := wideSource(t, location, 1<<30)
			statement := resource.NewPool(resource.Config{Cores: 2}).NewStatement("s")
			c.request.Limit = -1
			c.request.Options = []Option{{Name: "split-size", Value: "1000"}}
			p, err := source.Plan(resource.With(t.Context(), statement), c.request)
			if err != nil {
				t.Fatal(err)
			}
			// The manifest list is decoded as well.
			if got := statement.Counters.CacheMisses.Load() - 1; got != c.decoded || p.Splits() != c.splits {
				t.Errorf("%d manifests are decoded for %d splits, want %d for %d", got, p.Splits(), c.decoded, c.splits)
			}
		})
	}
}

// TestDeletesOfOneFileAreFoundByItsPath plans data files that have a delete file each: every one gets its own, no statistics of them stay, and twice the
// files take about twice the memory.
func TestDeletesOfOneFileAreFoundByItsPath(t *testing.T) {
	allocated := func(files int) uint64 {
		source := wideSource(t, deletedMetadata(t, files), 1<<30)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		p := planWide(t, source, nil)
		runtime.ReadMemStats(&after)
		n := 0
		for _, s := range p.splits {
			for _, task := range s.Tasks {
				n++
				if d := task.File.Deletes; len(d) != 1 || d[0].Path != task.File.Path+".deletes" {
					t.Fatalf("%s has the deletes %v", task.File.Path, d)
				}
				if d := task.File.Deletes[0]; d.stats.all != nil && len(d.stats.all.ids) > 0 {
					t.Fatalf("statistics of position deletes are kept: %v", d.stats.all.ids)
				}
			}
		}
		if n != files {
			t.Fatalf("%d files are planned of %d", n, files)
		}
		return after.TotalAlloc - before.TotalAlloc
	}
	if small, large := allocated(100), allocated(400); large > 8*small {
		t.Errorf("planning 100 files with deletes takes %d bytes, 400 take %d", small, large)
	}
}
