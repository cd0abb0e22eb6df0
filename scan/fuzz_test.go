package scan

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"
	"github.com/apache/iceberg-go/table/dv"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/scan/parquet"
)

// blame fails on errors that say the fault is ours: bytes from outside are corrupt, ask for too much, or for what is not built.
func blame(t *testing.T, err error) {
	t.Helper()
	switch fault.KindOf(err) {
	case fault.Corrupt, fault.Unsupported, fault.Exhausted, fault.Invalid, fault.NotFound:
	default:
		if err != nil {
			t.Fatalf("kind %s: %v", fault.KindOf(err), err)
		}
	}
}

// seedFiles adds the files of the tables with known answers whose names match.
func seedFiles(f *testing.F, pattern string, add func(raw []byte)) {
	f.Helper()
	paths, err := filepath.Glob("testdata/oracle/warehouse/*/*/*/" + pattern)
	if err != nil || len(paths) == 0 {
		f.Fatal(paths, err)
	}
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		if len(raw) < 32<<10 {
			add(raw)
		}
	}
}

const plainMetadata = `{"format-version":%VERSION,"table-uuid":"00000000-0000-0000-0000-000000000001","location":"mem:t","last-sequence-number":9,"last-updated-ms":1,
	"last-column-id":1,"current-schema-id":0,"schemas":[{"type":"struct","schema-id":0,"fields":[{"id":1,"name":"id","type":"long","required":false}]}],
	"default-spec-id":0,"partition-specs":[{"spec-id":0,"fields":[]}],"last-partition-id":999,"default-sort-order-id":0,"sort-orders":[{"order-id":0,"fields":[]}],
	"next-row-id":0,"current-snapshot-id":1,"snapshots":[{"snapshot-id":1,"sequence-number":9,"timestamp-ms":1,"manifest-list":"mem:list","schema-id":0,
	"summary":{"operation":"append"},"first-row-id":0,"added-rows":0}]}`

func plainTable(t testing.TB, s *memoryStore, version string) *Table {
	t.Helper()
	scanner := NewScanner(Config{Stores: s.mux(), Decoder: parquet.NewFallback(), MetadataCache: 1})
	raw := bytes.ReplaceAll([]byte(plainMetadata), []byte("%VERSION"), []byte(version))
	if version != "3" {
		raw = bytes.Replace(raw, []byte(`"next-row-id":0,`), nil, 1)
		raw = bytes.Replace(raw, []byte(`,"first-row-id":0,"added-rows":0`), nil, 1)
	}
	out, err := scanner.Table(t.Context(), &catalogs.Table{Catalog: "c", Identifier: []string{"t"}, MetadataLocation: "mem:v1.json", Metadata: raw})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// FuzzManifest reads damaged manifests as planning does and as metadata tables do.
func FuzzManifest(f *testing.F) {
	seedFiles(f, "*-m0.avro", func(raw []byte) { f.Add(raw, uint8(2)) })
	s := newMemoryStore()
	old, latest := plainTable(f, s, "2"), plainTable(f, s, "3")
	f.Fuzz(func(t *testing.T, raw []byte, version uint8) {
		v := 1 + int(version)%3
		s.put("mem:m", raw)
		of := old
		if v == 3 {
			of = latest
		}
		for _, content := range []iceberg.ManifestContent{iceberg.ManifestContentData, iceberg.ManifestContentDeletes} {
			m := iceberg.NewManifestFile(v, "mem:m", int64(len(raw)), 0, 1).Content(content).SequenceNum(3, 3).Build()
			_, err := of.planned(t.Context(), m, []int{1})
			blame(t, err)
			_, err = of.entries(t.Context(), m)
			blame(t, err)
		}
	})
}

// FuzzManifestList plans a scan behind a damaged manifest list.
func FuzzManifestList(f *testing.F) {
	seedFiles(f, "snap-*.avro", func(raw []byte) { f.Add(raw) })
	s := newMemoryStore()
	of := plainTable(f, s, "2")
	f.Fuzz(func(t *testing.T, raw []byte) {
		s.put("mem:list", raw)
		source, err := of.Source(t.Context(), Reference{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = source.Plan(t.Context(), Request{Fields: []int{1}, Limit: -1})
		blame(t, err)
	})
}

// FuzzDeletionVector reads a vector whose envelope is right and whose bitmap is damaged.
func FuzzDeletionVector(f *testing.F) {
	for _, positions := range [][]uint64{{}, {0}, {1, 5, 70_000}, {1 << 32, 1<<33 + 7}} {
		b := dv.NewRoaringPositionBitmap()
		for _, p := range positions {
			b.Set(p)
		}
		raw, err := dv.SerializeDV(b)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw[8:len(raw)-4], int64(len(positions)))
	}
	b := dv.NewRoaringPositionBitmap()
	b.SetRange(10, 200_000)
	raw, err := dv.SerializeDV(b)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw[8:len(raw)-4], int64(199_990))
	s := newMemoryStore()
	of := plainTable(f, s, "3")
	f.Fuzz(func(t *testing.T, bitmap []byte, records int64) {
		s.put("mem:v", envelope(bitmap))
		d := &deleteFile{Path: "mem:v", Bytes: int64(len(bitmap)) + 12, Records: records, Target: "mem:d", kind: deletionVector}
		out, err := of.readDeletes(t.Context(), nil, d, 1<<20)
		blame(t, err)
		if n := len(out["mem:d"]); n > 1<<17 {
			t.Fatalf("%d positions of a limit of 1 MiB", n)
		}
	})
}

// envelope puts length, magic and checksum around a bitmap.
func envelope(bitmap []byte) []byte {
	inner := append(binary.LittleEndian.AppendUint32(nil, dv.DVMagicNumber), bitmap...)
	out := append(binary.BigEndian.AppendUint32(nil, uint32(len(inner))), inner...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(inner))
}

// FuzzPuffin reads a range of a damaged Puffin file as a deletion vector.
func FuzzPuffin(f *testing.F) {
	seedFiles(f, "*.puffin", func(raw []byte) {
		f.Add(raw, int64(4), int64(len(raw)-8), int64(1))
		f.Add(raw, int64(4), int64(50), int64(2))
	})
	s := newMemoryStore()
	of := plainTable(f, s, "3")
	f.Fuzz(func(t *testing.T, raw []byte, offset, size, records int64) {
		s.put("mem:p.puffin", raw)
		x := newDeleteIndex()
		target := "mem:d"
		e := &fileEntry{Path: "mem:p.puffin", Format: iceberg.PuffinFile, Sequence: 2, Records: records, deletes: &deleteEntry{target: &target, offset: &offset, size: &size}}
		if err := x.add(candidate{fileEntry: e, spec: &spec{}}); err != nil {
			blame(t, err)
			return
		}
		_, err := of.readDeletes(t.Context(), nil, x.only(), 1<<20)
		blame(t, err)
	})
}

// FuzzNameMapping parses a mapping and matches a file without ids by it.
func FuzzNameMapping(f *testing.F) {
	for _, text := range []string{`[]`, `[{"field-id":1,"names":["a","b"]}]`, `[{"names":["a"],"fields":[{"field-id":2,"names":["element"]}]}]`,
		`[{"field-id":1,"names":["id"]},{"field-id":2,"names":["m"],"fields":[{"field-id":3,"names":["key"]},{"field-id":4,"names":["value"]}]}]`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		names, err := parquet.ParseNameMapping(text)
		if err != nil {
			blame(t, err)
			return
		}
		for range 3 {
			_, _, names = names.Child("element")
		}
	})
}

// FuzzMetadata loads damaged metadata and asks of it what describing and planning ask.
func FuzzMetadata(f *testing.F) {
	seedFiles(f, "v*.metadata.json", func(raw []byte) { f.Add(raw) })
	s := newMemoryStore()
	scanner := NewScanner(Config{Stores: s.mux(), Decoder: parquet.NewFallback(), MetadataCache: 1})
	f.Fuzz(func(t *testing.T, raw []byte) {
		of, err := scanner.Table(t.Context(), &catalogs.Table{Catalog: "c", Identifier: table.Identifier{"t"}, MetadataLocation: "mem:v1.json", Metadata: raw})
		if err != nil {
			blame(t, err)
			return
		}
		of.Branches()
		source, err := of.Source(t.Context(), Reference{})
		if err != nil {
			blame(t, err)
			return
		}
		_, err = source.Plan(t.Context(), Request{Fields: fieldIDs(source.Schema()), Limit: math.MaxInt64})
		blame(t, err)
	})
}
