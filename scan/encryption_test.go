package scan

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/kernels/kernelstest"
	"github.com/skua-data/skua/resource"
	"github.com/skua-data/skua/scan/parquet"
)

// TestWhatIsEncryptedIsRefusedByName: each sign of encryption alone is enough to refuse whatever would read what bears it: scans, counts that manifests
// could answer, changelogs and metadata tables. The files are not encrypted really, so that they would be read without the check.
func TestWhatIsEncryptedIsRefusedByName(t *testing.T) {
	rows := madeFile{fields: idAndNameFields, rows: `[{"id":1,"s":"x"},{"id":2,"s":"y"}]`}
	gone := madeFile{fields: nameOnly, rows: `[{"s":"x"}]`, keys: []int{2}}
	positions := madeFile{fields: []arrow.Field{withID(idDeletePath, "file_path", arrow.BinaryTypes.String), withID(idDeletePos, "pos", arrow.PrimitiveTypes.Int64)},
		rows: `[{"file_path":"nowhere","pos":0}]`, positions: true}
	with := func(f madeFile) madeFile {
		f.key = []byte("key")
		return f
	}
	seal := func(m *madeTable, name string) { // as Iceberg encrypts it, without any word elsewhere
		write(m.t, filepath.Join(m.dir, name), []byte("AGS1\x00\x00\x10\x00and what nobody can read"))
	}
	const table, data, deletes, manifest, metadata = "table encryption is not", "encrypted data files are not", "encrypted delete files are not",
		"encrypted manifests are not", "encrypted metadata files are not"
	for _, c := range []struct {
		name string
		make func(m *madeTable)
		scan string            // the error of a scan and of a count
		meta map[string]string // errors of metadata tables; "": none
	}{
		{"nothing", func(m *madeTable) { m.commit(rows); m.commit(gone); m.commit(positions) }, "", map[string]string{"files": "", "position_deletes": ""}},
		{"a property", func(m *madeTable) { m.commit(rows); m.more = `"properties":{"encryption.key-id":"k"},` }, table, map[string]string{"changes": table, "snapshots": ""}},
		{"a key of the table", func(m *madeTable) {
			m.version = 3
			m.commit(rows)
			m.more = `"encryption-keys":[{"key-id":"k","encrypted-key-metadata":"YWJj"}],`
		}, table, map[string]string{"changes": table, "snapshots": ""}},
		{"a data file", func(m *madeTable) { m.commit(rows, with(rows)) }, data, map[string]string{"changes": data, "files": ""}},
		{"an equality delete file", func(m *madeTable) { m.commit(rows); m.commit(with(gone)) }, deletes, map[string]string{"delete_files": ""}},
		{"a position delete file", func(m *madeTable) { m.commit(rows); m.commit(with(positions)) }, deletes, map[string]string{"position_deletes": deletes}},
		{"a manifest", func(m *madeTable) { m.key = []byte("key"); m.commit(rows) }, manifest, map[string]string{"changes": manifest, "files": manifest, "manifests": ""}},
		{"a manifest of deletes", func(m *madeTable) { m.commit(rows); m.key = []byte("key"); m.commit(gone) }, manifest, map[string]string{"delete_files": manifest, "data_files": ""}},
		{"a manifest, wholly", func(m *madeTable) { m.commit(rows); seal(m, "m00000.avro") }, metadata, map[string]string{"changes": metadata, "entries": metadata}},
		{"a manifest list, wholly", func(m *madeTable) { m.commit(rows) }, metadata, map[string]string{"changes": metadata, "files": metadata}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := makeTable(t, idAndName)
			c.make(m)
			opened := m.open()
			if strings.HasPrefix(c.name, "a manifest list") {
				seal(m, "list.avro")
			}
			check := func(what, want string, source Source, req Request, err error) {
				checked := kernelstest.NewSoiled()
				defer checked.AssertSize(t, 0)
				ctx := resource.With(t.Context(), resource.NewPool(resource.Config{Cores: 2, Allocator: checked}).NewStatement(""))
				if err == nil {
					var batch arrow.RecordBatch
					if batch, err = readAll(ctx, source, req); err == nil {
						batch.Release()
					}
				}
				if want == "" && err != nil || want != "" && (!fault.Is(err, fault.Unsupported) || !strings.Contains(err.Error(), want)) {
					t.Errorf("%s: %v, want %q", what, err, want)
				}
			}
			source, err := opened.Source(t.Context(), Reference{})
			check("a scan", c.scan, source, Request{Fields: []int{1}, Limit: -1}, err)
			check("a count", c.scan, source, Request{Limit: -1, Aggregates: []Aggregate{{Kind: CountRows}}}, err)
			for name, want := range c.meta {
				source, known, err := opened.MetadataSource(t.Context(), name, Reference{})
				if !known {
					t.Fatalf("no metadata table %s", name)
				}
				var ids []int
				if err == nil {
					ids = fieldIDs(source.Schema())
				}
				check(name, want, source, Request{Fields: ids, Limit: -1}, err)
			}
		})
	}
}

// TestMetadataThatIsEncryptedIsRefusedByName: the metadata file itself.
func TestMetadataThatIsEncryptedIsRefusedByName(t *testing.T) {
	s := newMemoryStore()
	s.put("mem:v1.metadata.json", []byte("AGS1\x00\x00\x10\x00and what nobody can read"))
	scanner := NewScanner(Config{Stores: s.mux(), Decoder: parquet.NewFallback()})
	_, err := scanner.Table(t.Context(), &catalogs.Table{Catalog: "made", Identifier: []string{"t"}, MetadataLocation: "mem:v1.metadata.json"})
	if !fault.Is(err, fault.Unsupported) || !strings.Contains(err.Error(), "mem:v1.metadata.json") {
		t.Error(err)
	}
}
