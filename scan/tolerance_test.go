package scan

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/iceberg-go"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/fault"
)

// TestMetadataWithoutOptionalKeys takes the keys of metadata away, one by one, that the format lets writers leave out or that writers of old did
// not know: the rows stay the same.
func TestMetadataWithoutOptionalKeys(t *testing.T) {
	for _, name := range []string{"types/all_v1", "deletes/pos_v2", "deletes/dv_v3", "deletes/lineage_v3", "history/branches_tags"} {
		folder := filepath.Join("testdata/oracle/warehouse", name, "metadata")
		hint, err := os.ReadFile(filepath.Join(folder, "version-hint.text"))
		if err != nil {
			t.Fatal(err)
		}
		raw, err := os.ReadFile(filepath.Join(folder, fmt.Sprintf("v%s.metadata.json", strings.TrimSpace(string(hint)))))
		if err != nil {
			t.Fatal(err)
		}
		rows := func(raw []byte) ([]string, error) {
			of, err := oracleScanner(t, "testdata/oracle").Table(t.Context(), &catalogs.Table{Catalog: "c", Identifier: []string{"t"}, MetadataLocation: "file:/x.json", Metadata: raw})
			if err != nil {
				return nil, err
			}
			source, err := of.Source(t.Context(), Reference{})
			if err != nil {
				return nil, err
			}
			batch, err := readAll(t.Context(), source, Request{Fields: fieldIDs(source.Schema()), Limit: -1})
			if err != nil {
				return nil, err
			}
			defer batch.Release()
			return rowsOf(batch), nil
		}
		want, err := rows(raw)
		if err != nil || len(want) == 0 {
			t.Fatal(len(want), err)
		}
		for _, key := range []string{"snapshot-log", "metadata-log", "properties", "refs", "statistics", "partition-statistics", "snapshots/parent-snapshot-id",
			"snapshots/summary/operation", "snapshots/summary", "snapshots/schema-id", "snapshots/summary/total-records"} {
			var m map[string]any
			if err := json.Unmarshal(raw, &m); err != nil {
				t.Fatal(err)
			}
			leaveOut(m, strings.Split(key, "/"))
			changed, err := json.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := rows(changed); err != nil || !slices.Equal(got, want) {
				t.Errorf("%s without %s: %d rows, want %d, %v", name, key, len(got), len(want), err)
			}
		}
	}
}

// leaveOut takes a key away; a list stands for each of its items.
func leaveOut(m map[string]any, path []string) {
	if len(path) == 1 {
		delete(m, path[0])
		return
	}
	switch inner := m[path[0]].(type) {
	case map[string]any:
		leaveOut(inner, path[1:])
	case []any:
		for _, e := range inner {
			if object, ok := e.(map[string]any); ok {
				leaveOut(object, path[1:])
			}
		}
	}
}

// TestVectorsThatDoNotFitTheirFileOrManifest tells a vector whose count is wrong, and one that deletes rows which the file does not have.
func TestVectorsThatDoNotFitTheirFileOrManifest(t *testing.T) {
	s := newMemoryStore()
	of := plainTable(t, s, "3")
	one := envelope([]byte{1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x3a, 0x30, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 16, 0, 0, 0, 7, 0})
	s.put("mem:bare", one) // without a Puffin file around, as an early writer had it
	read := func(records, offset, size int64) (map[string][]int64, error) {
		return of.readDeletes(t.Context(), nil, &deleteFile{Path: "mem:bare", Offset: offset, Bytes: size, Records: records, Target: "mem:d", kind: deletionVector}, 1<<20)
	}
	got, err := read(1, 0, int64(len(one)))
	if err != nil || !slices.Equal(got["mem:d"], []int64{7}) {
		t.Errorf("a bare vector: %v, %v", got, err)
	}
	for name, c := range map[string][3]int64{"a wrong count": {2, 0, int64(len(one))}, "past the end": {1, 4, int64(len(one))}, "far past the end": {1, 1 << 62, 1 << 62},
		"a negative size": {1, 0, -1}, "too short": {1, 0, int64(len(one)) - 1}} {
		if _, err := read(c[0], c[1], c[2]); !fault.Is(err, fault.Corrupt) || !strings.Contains(err.Error(), "mem:bare") {
			t.Errorf("%s: %v", name, err)
		}
	}
	d := &dataFile{fileEntry: &fileEntry{Path: "mem:d"}, Deletes: []*deleteFile{{Path: "mem:bare", kind: deletionVector}}}
	if err := d.checkVector([]int64{3, 7}, 8); err != nil {
		t.Error(err)
	}
	if err := d.checkVector([]int64{3, 7}, 7); !fault.Is(err, fault.Corrupt) || !strings.Contains(err.Error(), "mem:d") {
		t.Errorf("a row too many: %v", err)
	}
}

// TestAPlanStaysAtItsSnapshot commits rows and deletes between a plan and its reading.
func TestAPlanStaysAtItsSnapshot(t *testing.T) {
	m := makeTable(t, idAndName)
	m.commit(madeFile{fields: idAndNameFields, rows: `[{"id":1,"s":"a"},{"id":2,"s":"b"}]`})
	source, err := m.open().Source(t.Context(), Reference{})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := source.Plan(t.Context(), Request{Fields: []int{1}, Limit: -1})
	if err != nil {
		t.Fatal(err)
	}
	m.commit(madeFile{fields: idAndNameFields, rows: `[{"id":3,"s":"c"}]`}, madeFile{fields: idOnly, rows: `[{"id":1}]`, keys: []int{1}})
	m.want("id", `[2]`, `[3]`) // the list of manifests lies where the plan found it
	stream, err := plan.Open(t.Context(), 0, plan.Splits())
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Release()
	var got int64
	for stream.Next() {
		got += stream.RecordBatch().NumRows()
	}
	if stream.Err() != nil || got != 2 {
		t.Errorf("%d rows, %v", got, stream.Err())
	}
}

// TestPathsAreReadAsTheyAreSpelled has files whose names look escaped, and are not.
func TestPathsAreReadAsTheyAreSpelled(t *testing.T) {
	m := makeTable(t, idAndName)
	for i, name := range []string{"a%20b", "a%2Fb", "a b+c", "100%", "k=v=w", "é"} {
		folder := filepath.Join(m.dir, name)
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		raw, n := parquetBytes(t, idAndNameFields, fmt.Sprintf(`[{"id":%d,"s":"x"}]`, i), 0)
		if err := os.WriteFile(filepath.Join(folder, "f.parquet"), raw, 0o600); err != nil {
			t.Fatal(err)
		}
		m.sequence++
		b, err := iceberg.NewDataFileBuilder(m.spec(0), iceberg.EntryContentData, m.location(name, "f.parquet"), iceberg.ParquetFile, nil, nil, nil, n, int64(len(raw)))
		if err != nil {
			t.Fatal(err)
		}
		m.manifest(iceberg.ManifestContentData, 0, []iceberg.ManifestEntry{iceberg.NewManifestEntry(iceberg.EntryStatusADDED, &m.sequence, &m.sequence, &m.sequence, b.Build())})
	}
	m.want("id", `[0]`, `[1]`, `[2]`, `[3]`, `[4]`, `[5]`)
}

// TestTransformsKnowNoZone counts days and hours with the process in zones east and west.
func TestTransformsKnowNoZone(t *testing.T) {
	before := time.Local
	defer func() { time.Local = before }()
	const lastHour = -1_800_000_000 // half an hour before 1970, in microseconds
	for _, zone := range []*time.Location{time.UTC, time.FixedZone("east", 13*3600), time.FixedZone("west", -11*3600)} {
		time.Local = zone
		for _, c := range []struct {
			transform iceberg.Transform
			want      int64
		}{{iceberg.HourTransform{}, -1}, {iceberg.DayTransform{}, -1}, {iceberg.MonthTransform{}, -1}, {iceberg.YearTransform{}, -1}} {
			for unit, typ := range map[int64]arrow.DataType{1: timestampUTC, 1000: timestampNs} {
				if got, ok := transformed(c.transform, int64(lastHour)*unit, typ); !ok || got != c.want {
					t.Errorf("%s in %s of %s: %v", c.transform, zone, typ, got)
				}
			}
		}
	}
}
