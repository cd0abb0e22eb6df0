package inprocess

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/catalog"
	"github.com/apache/iceberg-go/catalog/hadoop"
	"github.com/apache/iceberg-go/table"
)

// The table wide.db.t: files of some 2 MB each, far more than what is under way at once between a server and a client that does not read.
const (
	wideFiles       = 24
	wideRowsPerFile = 10_000
	wideRows        = wideFiles * wideRowsPerFile
	wideBytes       = wideRows * 200
)

// makeWide makes the table in a folder of its own and gives the configuration that serves it.
func makeWide(t *testing.T) map[string]string {
	t.Helper()
	dir := t.TempDir()
	ctx := t.Context()
	cat, err := hadoop.NewCatalog("wide", "file://"+dir, iceberg.Properties{})
	if err != nil {
		t.Fatal(err)
	}
	defer cat.Close()
	if err := cat.CreateNamespace(ctx, table.Identifier{"db"}, nil); err != nil {
		t.Fatal(err)
	}
	schema := iceberg.NewSchema(0, iceberg.NestedField{ID: 1, Name: "id", Type: iceberg.Int64Type{}, Required: true},
		iceberg.NestedField{ID: 2, Name: "text", Type: iceberg.StringType{}, Required: true})
	made, err := cat.CreateTable(ctx, table.Identifier{"db", "t"}, schema,
		catalog.WithProperties(iceberg.Properties{"read.split.target-size": "1", "read.split.open-file-cost": "1", "write.parquet.dict-size-bytes": "1"}))
	if err != nil {
		t.Fatal(err)
	}
	for i := range wideFiles {
		if made, err = made.Append(ctx, wideReader(t, i), nil); err != nil {
			t.Fatal(err)
		}
	}
	return map[string]string{
		"skua.plugin.folder":               pluginFolder(t),
		"spark.sql.catalog.wide":           "org.apache.iceberg.spark.SparkCatalog",
		"spark.sql.catalog.wide.type":      "hadoop",
		"spark.sql.catalog.wide.warehouse": "file://" + dir,
	}
}

// wideReader gives the rows of one file; their text does not compress well.
func wideReader(t *testing.T, file int) array.RecordReader {
	t.Helper()
	schema := arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int64}, {Name: "text", Type: arrow.BinaryTypes.String}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	random := rand.New(rand.NewPCG(uint64(file), 1))
	for i := range wideRowsPerFile {
		b.Field(0).(*array.Int64Builder).Append(int64(file*wideRowsPerFile + i))
		text := make([]byte, 0, 192)
		for len(text) < 192 {
			text = fmt.Appendf(text, "%016x", random.Uint64())
		}
		b.Field(1).(*array.StringBuilder).Append(string(text))
	}
	batch := b.NewRecordBatch()
	defer batch.Release()
	r, err := array.NewRecordReader(schema, []arrow.RecordBatch{batch})
	if err != nil {
		t.Fatal(err)
	}
	return r
}
