package scan

import (
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/iceberg-go"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/scan/parquet"
	"github.com/skua-data/skua/storage"
	"github.com/skua-data/skua/storage/local"
)

// TestKeysThatASnapshotMayLack reads a table whose snapshot lacks what younger formats or careful writers have.
func TestKeysThatASnapshotMayLack(t *testing.T) {
	for _, c := range []struct {
		name, from, to string
	}{
		{"sequence number, after an upgrade", `"sequence-number":1,`, ``},
		{"operation", `"summary":{"operation":"append"}`, `"summary":{"added-records":"1"}`},
		{"summary", `,"summary":{"operation":"append"}`, ``},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := makeTable(t, `{"id":1,"name":"id","type":"long","required":false}`)
			m.commit(madeFile{fields: []arrow.Field{withID(1, "id", arrow.PrimitiveTypes.Int64)}, rows: `[{"id": 1}]`})
			text := m.metadataText()
			if !strings.Contains(text, c.from) {
				t.Fatalf("the metadata has no %s", c.from)
			}
			text = strings.Replace(text, c.from, c.to, 1)
			s := NewScanner(Config{Stores: storage.NewMux([]storage.Kind{local.Kind}, storage.Map{}), Decoder: parquet.NewFallback()})
			table, err := s.Table(t.Context(), &catalogs.Table{Catalog: "made", Identifier: []string{"t"}, MetadataLocation: m.location("v1.metadata.json"), Metadata: []byte(text)})
			if err != nil {
				t.Fatal(err)
			}
			source, err := table.Source(t.Context(), Reference{})
			if err != nil {
				t.Fatal(err)
			}
			batch, err := readAll(t.Context(), source, Request{Fields: []int{1}, Limit: -1})
			if err != nil || batch.NumRows() != 1 {
				t.Fatalf("%v, %v", batch, err)
			}
			batch.Release()
		})
	}
}

// TestManifestsOfOlderSpecsAreReadByThem: partition values are read, and pruned by, in the spec of their manifest, whichever is the table's now.
func TestManifestsOfOlderSpecsAreReadByThem(t *testing.T) {
	m := makeTable(t, `{"id":1,"name":"a","type":"long","required":false},{"id":2,"name":"b","type":"string","required":false}`)
	m.specs = []string{`{"name":"a","transform":"identity","source-id":1,"field-id":1000}`,
		`{"name":"b","transform":"identity","source-id":2,"field-id":1001}`,
		`{"name":"a_bucket","transform":"bucket[4]","source-id":1,"field-id":1002},{"name":"b2","transform":"truncate[1]","source-id":2,"field-id":1003}`}
	fields := []arrow.Field{withID(1, "a", arrow.PrimitiveTypes.Int64), withID(2, "b", arrow.BinaryTypes.String)}
	bucket, ok := bucketed(iceberg.BucketTransform{NumBuckets: 4}, int64(3), arrow.PrimitiveTypes.Int64)
	if !ok {
		t.Fatal("3 has no bucket")
	}
	for spec, partition := range []map[int]any{{1000: int64(1)}, {1001: "y"}, {1002: int32(bucket.(int64)), 1003: "z"}} {
		m.commit(madeFile{fields: fields, rows: []string{`[{"a": 1, "b": "x"}]`, `[{"a": 2, "b": "y"}]`, `[{"a": 3, "b": "zz"}]`}[spec], spec: spec, partition: partition})
	}
	source, err := m.open().Source(t.Context(), Reference{})
	if err != nil {
		t.Fatal(err)
	}
	for a := int64(1); a <= 3; a++ {
		p, err := source.Plan(t.Context(), Request{Fields: []int{1, 2}, Filter: equals("a", 1, a), Limit: -1})
		if err != nil {
			t.Fatal(err)
		}
		batch, err := readAll(t.Context(), source, Request{Fields: []int{1, 2}, Filter: equals("a", 1, a), Limit: -1})
		if err != nil || batch.NumRows() != 1 {
			t.Fatalf("a = %d: %v, %v", a, batch, err)
		}
		batch.Release()
		if pruned := p.Explain().Files.Pruned[byPartition]; pruned == 0 {
			t.Errorf("a = %d leaves nothing out by partition: %v", a, p.Explain().Files)
		}
	}
	m.want("a,b,_spec_id", `["1","x",0]`, `["2","y",1]`, `["3","zz",2]`)
}
