package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/catalog"
	"github.com/apache/iceberg-go/catalog/hadoop"
	"github.com/apache/iceberg-go/table"
)

// generation is raised with every change of what tables hold: those of another one are not read.
const generation = 2

func (s *spec) identifier() table.Identifier { return table.Identifier{"db", s.name} }

// folder is where a table lies.
func (s *spec) folder(dir string) string { return filepath.Join(dir, "warehouse", "db", s.name) }

// make makes the table unless dir holds it with as many rows.
func (s *spec) make(ctx context.Context, dir string, rows int) (err error) {
	done := filepath.Join(dir, fmt.Sprintf("%s-%d-%d", s.name, rows, generation))
	if _, err := os.Stat(done); err == nil {
		return nil
	}
	if _, err := os.Stat(s.folder(dir)); err == nil {
		return fmt.Errorf("%s holds something else; remove it or give another -dir", s.folder(dir))
	}
	fmt.Fprintf(os.Stderr, "making %s of %d rows …\n", s.name, rows)
	lake, err := hadoop.NewCatalog("bench", filepath.Join(dir, "warehouse"), iceberg.Properties{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lake.Close()) }()
	if err := lake.CreateNamespace(ctx, table.Identifier{"db"}, nil); err != nil && !errors.Is(err, catalog.ErrNamespaceAlreadyExists) {
		return err
	}
	schema, err := table.ArrowSchemaToIcebergWithFreshIDs(s.schema(), false)
	if err != nil {
		return err
	}
	t, err := lake.CreateTable(ctx, s.identifier(), schema, catalog.WithProperties(iceberg.Properties{
		"format-version": "2", "write.parquet.compression-codec": s.codec, table.WriteDeleteModeKey: table.WriteModeMergeOnRead}))
	if err != nil {
		return err
	}
	if s.layout == goLayout {
		t, err = s.appendAll(ctx, t, rows)
	} else {
		t, err = s.addAll(ctx, t, dir, rows)
	}
	if err == nil && s.deletes {
		err = s.deleteSome(ctx, t, rows)
	}
	if err != nil {
		return fmt.Errorf("make %s: %w", s.name, err)
	}
	return os.WriteFile(done, nil, 0o644)
}

func (s *spec) schema() *arrow.Schema {
	fields := make([]arrow.Field, len(s.columns))
	for i, c := range s.columns {
		fields[i] = arrow.Field{Name: c.name, Type: c.typ, Nullable: c.name != keyName}
	}
	return arrow.NewSchema(fields, nil)
}

// batch makes the rows from..to.
func (s *spec) batch(schema *arrow.Schema, from, to int) arrow.RecordBatch {
	r := rand.New(rand.NewPCG(uint64(from), 1))
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for row := from; row < to; row++ {
		for i, c := range s.columns {
			c.fill(b.Field(i), row, r)
		}
	}
	return b.NewRecordBatch()
}

// appendAll lets iceberg-go write, one file for each append.
func (s *spec) appendAll(ctx context.Context, t *table.Table, rows int) (*table.Table, error) {
	schema, err := table.SchemaToArrowSchema(t.Schema(), nil, true, false)
	if err != nil {
		return nil, err
	}
	for i := range s.files {
		batch := s.batch(schema, rows*i/s.files, rows*(i+1)/s.files)
		reader, err := array.NewRecordReader(schema, []arrow.RecordBatch{batch})
		batch.Release()
		if err != nil {
			return nil, err
		}
		t, err = t.Append(ctx, reader, nil)
		reader.Release()
		if err != nil {
			return nil, err
		}
	}
	return t, nil
}

// addAll writes files in Java's layout and adds them with one commit.
func (s *spec) addAll(ctx context.Context, t *table.Table, dir string, rows int) (*table.Table, error) {
	schema, err := table.SchemaToArrowSchema(t.Schema(), nil, true, false)
	if err != nil {
		return nil, err
	}
	folder := filepath.Join(s.folder(dir), "data")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	var files []iceberg.DataFile
	for i := range s.files {
		f, err := s.writeFile(filepath.Join(folder, fmt.Sprintf("%05d.parquet", i)), schema, rows*i/s.files, rows*(i+1)/s.files)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	tx := t.NewTransaction()
	if err := tx.AddDataFiles(ctx, files, nil, table.WithoutDuplicateCheck()); err != nil {
		return nil, err
	}
	return tx.Commit(ctx)
}

// writeFile writes one file as parquet-mr would. Its key's bounds are in the manifest, as Iceberg's writers have them.
func (s *spec) writeFile(path string, schema *arrow.Schema, from, to int) (iceberg.DataFile, error) {
	codec := compress.Codecs.Snappy
	if strings.EqualFold(s.codec, "zstd") {
		codec = compress.Codecs.Zstd
	}
	file, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	w, err := pqarrow.NewFileWriter(schema, file, parquet.NewWriterProperties(parquet.WithCompression(codec), parquet.WithStoreDecimalAsInteger(true),
		parquet.WithDataPageVersion(parquet.DataPageV1), parquet.WithDataPageSize(1<<20), parquet.WithBatchSize(20_000), parquet.WithDictionaryPageSizeLimit(1<<20),
		parquet.WithPageIndexEnabled(true), parquet.WithMaxRowGroupLength(1<<20)), pqarrow.DefaultWriterProps())
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	batch := s.batch(schema, from, to)
	defer batch.Release()
	if err := errors.Join(w.Write(batch), w.Close()); err != nil { // closes the file, too
		return nil, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	b, err := iceberg.NewDataFileBuilder(*iceberg.UnpartitionedSpec, iceberg.EntryContentData, "file://"+path, iceberg.ParquetFile, nil, nil, nil, int64(to-from), info.Size())
	if err != nil {
		return nil, err
	}
	bounds := map[int][]byte{}
	for i, at := range []int{from, to - 1} {
		if bounds[i], err = iceberg.Int64Literal(at).MarshalBinary(); err != nil {
			return nil, err
		}
	}
	return b.LowerBoundValues(map[int][]byte{1: bounds[0]}).UpperBoundValues(map[int][]byte{1: bounds[1]}).Build(), nil
}

// deleteSome deletes one row in twenty by position, all over the table, and 1,000 keys by equality.
func (s *spec) deleteSome(ctx context.Context, t *table.Table, rows int) error {
	t, err := t.Delete(ctx, iceberg.LessThan(iceberg.Reference(chance), int32(5)), nil)
	if err != nil {
		return err
	}
	schema := arrow.NewSchema([]arrow.Field{{Name: keyName, Type: arrow.PrimitiveTypes.Int64}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for i := range 1000 {
		b.Field(0).(*array.Int64Builder).Append(int64(rows) * int64(i) / 1000)
	}
	batch := b.NewRecordBatch()
	defer batch.Release()
	id, ok := t.Schema().FindFieldByName(keyName)
	if !ok {
		return fmt.Errorf("no column %s", keyName)
	}
	tx := t.NewTransaction()
	err = tx.CommitEqualityDeletes(ctx, []int{id.ID}, func(yield func(arrow.RecordBatch, error) bool) {
		batch.Retain()
		yield(batch, nil)
	}, nil)
	if err != nil {
		return err
	}
	_, err = tx.Commit(ctx)
	return err
}
