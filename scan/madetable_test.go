package scan

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	pq "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/apache/iceberg-go"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/kernels/kernelstest"
	"github.com/skua-data/skua/resource"
	"github.com/skua-data/skua/scan/parquet"
	"github.com/skua-data/skua/storage"
	"github.com/skua-data/skua/storage/local"
)

// madeTable is a table written by a test, file by file.
type madeTable struct {
	t         testing.TB
	dir       string
	schemas   []string // JSON of the fields; the last one is current
	specs     []string // JSON of the fields; files are of the last one unless they say otherwise
	version   int
	sequence  int64
	manifests []iceberg.ManifestFile
	files     int
	key       []byte // key metadata of the manifests to come
	more      string // of the metadata, as JSON with a comma behind
}

// madeFile is a file of a commit. A file with keys holds equality deletes.
type madeFile struct {
	fields    []arrow.Field
	rows      string // JSON list of objects
	keys      []int
	positions bool // it holds position deletes
	spec      int
	partition map[int]any
	raw       []byte
	format    iceberg.FileFormat
	group     int64 // rows of a row group; 0: one holds all
	size      int64 // that the manifest says; 0: the file's
	records   int64
	bounds    *[2]int64 // of the column 1, a long; nil: none
	nulls     int64     // of that column; counted where it has bounds
	key       []byte    // key metadata
}

func makeTable(t testing.TB, schemas ...string) *madeTable {
	t.Helper()
	return &madeTable{t: t, dir: t.TempDir(), schemas: schemas, specs: []string{""}, version: 2}
}

// withID is a field of a file.
func withID(id int, name string, typ arrow.DataType) arrow.Field {
	return arrow.Field{Name: name, Type: typ, Nullable: true, Metadata: idMetadata(id)}
}

func (m *madeTable) location(parts ...string) string {
	return "file:" + filepath.Join(append([]string{m.dir}, parts...)...)
}

// commit adds files in one snapshot.
func (m *madeTable) commit(files ...madeFile) {
	m.t.Helper()
	m.sequence++
	byContent := map[iceberg.ManifestContent]map[int][]iceberg.ManifestEntry{}
	for _, f := range files {
		content := iceberg.ManifestContentData
		if f.keys != nil || f.positions {
			content = iceberg.ManifestContentDeletes
		}
		if byContent[content] == nil {
			byContent[content] = map[int][]iceberg.ManifestEntry{}
		}
		byContent[content][f.spec] = append(byContent[content][f.spec], m.write(f))
	}
	for content, specs := range byContent {
		for spec, entries := range specs {
			m.manifest(content, spec, entries)
		}
	}
}

func (m *madeTable) write(f madeFile) iceberg.ManifestEntry {
	m.t.Helper()
	m.files++
	if f.format == "" {
		f.format = iceberg.ParquetFile
		f.raw, f.records = parquetBytes(m.t, f.fields, f.rows, f.group)
	}
	name := fmt.Sprintf("%05d.%s", m.files, strings.ToLower(string(f.format)))
	if err := os.WriteFile(filepath.Join(m.dir, name), f.raw, 0o600); err != nil {
		m.t.Fatal(err)
	}
	size := f.size
	if size == 0 {
		size = int64(len(f.raw))
	}
	content := iceberg.EntryContentData
	if f.keys != nil {
		content = iceberg.EntryContentEqDeletes
	}
	if f.positions {
		content = iceberg.EntryContentPosDeletes
	}
	b, err := iceberg.NewDataFileBuilder(m.spec(f.spec), content, m.location(name), f.format, f.partition, nil, nil, f.records, size)
	if err != nil {
		m.t.Fatal(err)
	}
	if f.bounds != nil {
		low, high := binary.LittleEndian.AppendUint64(nil, uint64(f.bounds[0])), binary.LittleEndian.AppendUint64(nil, uint64(f.bounds[1]))
		b.LowerBoundValues(map[int][]byte{1: low}).UpperBoundValues(map[int][]byte{1: high})
		b.NullValueCounts(map[int]int64{1: f.nulls}).ValueCounts(map[int]int64{1: f.records})
	}
	if f.keys != nil {
		b.EqualityFieldIDs(f.keys)
	}
	if f.key != nil {
		b.KeyMetadata(f.key)
	}
	snapshot, sequence := m.sequence, m.sequence
	return iceberg.NewManifestEntry(iceberg.EntryStatusADDED, &snapshot, &sequence, &sequence, b.Build())
}

func parquetBytes(t testing.TB, fields []arrow.Field, rows string, group int64) ([]byte, int64) {
	t.Helper()
	schema := arrow.NewSchema(fields, nil)
	batch, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, strings.NewReader(rows))
	if err != nil {
		t.Fatal(err)
	}
	defer batch.Release()
	var out bytes.Buffer
	var properties *pq.WriterProperties
	if group > 0 {
		properties = pq.NewWriterProperties(pq.WithMaxRowGroupLength(group))
	}
	w, err := pqarrow.NewFileWriter(schema, &out, properties, pqarrow.DefaultWriterProps())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(batch); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), batch.NumRows()
}

func (m *madeTable) schemaText(i int) string {
	return fmt.Sprintf(`{"type":"struct","schema-id":%d,"fields":[%s]}`, i, m.schemas[i])
}

func (m *madeTable) specText(i int) string {
	return fmt.Sprintf(`{"spec-id":%d,"fields":[%s]}`, i, m.specs[i])
}

func (m *madeTable) spec(i int) iceberg.PartitionSpec {
	var out iceberg.PartitionSpec
	if err := json.Unmarshal([]byte(m.specText(i)), &out); err != nil {
		m.t.Fatal(err)
	}
	return out
}

func (m *madeTable) manifest(content iceberg.ManifestContent, spec int, entries []iceberg.ManifestEntry) {
	m.t.Helper()
	var schema iceberg.Schema
	if err := json.Unmarshal([]byte(m.schemaText(len(m.schemas)-1)), &schema); err != nil {
		m.t.Fatal(err)
	}
	var out bytes.Buffer
	w, err := iceberg.NewManifestWriter(m.version, &out, m.spec(spec), &schema, m.sequence, iceberg.WithManifestWriterContent(content))
	if err != nil {
		m.t.Fatal(err)
	}
	for _, e := range entries {
		add := w.Add
		if e.Status() == iceberg.EntryStatusEXISTING {
			add = w.Existing
		}
		if err := add(e); err != nil {
			m.t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		m.t.Fatal(err)
	}
	name := fmt.Sprintf("m%05d.avro", len(m.manifests))
	m.manifests = append(m.manifests, iceberg.NewManifestFile(m.version, m.location(name), int64(out.Len()), int32(spec), m.sequence).Content(content).SequenceNum(m.sequence, m.sequence).
		AddedFiles(int32(len(entries))).KeyMetadata(m.key).Build())
	if err := os.WriteFile(filepath.Join(m.dir, name), out.Bytes(), 0o600); err != nil {
		m.t.Fatal(err)
	}
}

// metadataText writes the manifest list and gives the table's metadata as it is now.
func (m *madeTable) metadataText() string {
	m.t.Helper()
	var list bytes.Buffer
	if err := iceberg.WriteManifestList(m.version, &list, m.sequence, nil, &m.sequence, 0, m.manifests); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(m.dir, "list.avro"), list.Bytes(), 0o600); err != nil {
		m.t.Fatal(err)
	}
	var schemas, specs []string
	for i := range m.schemas {
		schemas = append(schemas, m.schemaText(i))
	}
	for i := range m.specs {
		specs = append(specs, m.specText(i))
	}
	next, first := "", ""
	if m.version > 2 {
		next, first = `"next-row-id":0,`, `,"first-row-id":0,"added-rows":0`
	}
	return fmt.Sprintf(`{%s"format-version":%d,"table-uuid":"00000000-0000-0000-0000-000000000001","location":%q,"last-sequence-number":%d,"last-updated-ms":1,
		"last-column-id":1000,"current-schema-id":%d,"schemas":[%s],"default-spec-id":%d,"partition-specs":[%s],"last-partition-id":1100,
		"default-sort-order-id":0,"sort-orders":[{"order-id":0,"fields":[]}],%s"current-snapshot-id":1,"snapshots":[{"snapshot-id":1,
		"sequence-number":%d,"timestamp-ms":1,"manifest-list":%q,"summary":{"operation":"append"}%s}]}`, m.more, m.version, m.location(), m.sequence, len(m.schemas)-1, strings.Join(schemas, ","), len(m.specs)-1,
		strings.Join(specs, ","), next, m.sequence, m.location("list.avro"), first)
}

// open loads the table as it is now.
func (m *madeTable) open() *Table {
	m.t.Helper()
	s := NewScanner(Config{Stores: storage.NewMux([]storage.Kind{local.Kind}, storage.Map{}), Decoder: parquet.NewFallback()})
	out, err := s.Table(m.t.Context(), &catalogs.Table{Catalog: "made", Identifier: []string{"t"}, MetadataLocation: m.location("v1.metadata.json"), Metadata: []byte(m.metadataText())})
	if err != nil {
		m.t.Fatal(err)
	}
	return out
}

// read gives the rows of some columns, as JSON lists, sorted.
func (m *madeTable) read(names ...string) ([]string, error) {
	m.t.Helper()
	checked := kernelstest.NewSoiled()
	defer checked.AssertSize(m.t, 0)
	ctx := resource.With(m.t.Context(), resource.NewPool(resource.Config{Cores: 2, Allocator: checked}).NewStatement(""))
	source, err := m.open().Source(ctx, Reference{})
	if err != nil {
		return nil, err
	}
	var ids []int
	for _, name := range names {
		ids = append(ids, m.idOf(source, name))
	}
	batch, err := readAll(ctx, source, Request{Fields: ids, Limit: -1})
	if err != nil {
		return nil, err
	}
	defer batch.Release()
	return rowsOf(batch), nil
}

func (m *madeTable) idOf(source Source, name string) int {
	for _, s := range []*arrow.Schema{source.Schema(), source.MetadataColumns()} {
		for id, p := range paths(s.Fields()) {
			if strings.Join(p.Names, ".") == name {
				return id
			}
		}
	}
	m.t.Fatalf("no column %s", name)
	return 0
}

// want reads columns, in a list with commas, and compares the rows.
func (m *madeTable) want(columns string, rows ...string) {
	m.t.Helper()
	got, err := m.read(strings.Split(columns, ",")...)
	if err != nil {
		m.t.Error(err)
		return
	}
	slices.Sort(rows)
	if !slices.Equal(got, rows) {
		m.t.Errorf("%s: %s, want %s", columns, got, rows)
	}
}
