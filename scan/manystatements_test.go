package scan

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	pq "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/apache/iceberg-go"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/kernels/cpu"
	"github.com/skua-data/skua/resource"
	"github.com/skua-data/skua/scan/parquet"
	"github.com/skua-data/skua/storage"
	"github.com/skua-data/skua/storage/local"
)

// wideFile has whole numbers in columns of one large page each, the first of which counts the rows.
func wideFile(t testing.TB, columns, first, rows int) madeFile {
	t.Helper()
	fields, arrays := make([]arrow.Field, columns), make([]arrow.Array, columns)
	for c := range columns {
		b := array.NewInt64Builder(memory.DefaultAllocator)
		for r := first; r < first+rows; r++ {
			b.Append(wideValue(r, c))
		}
		fields[c], arrays[c] = withID(c+1, fmt.Sprintf("c%d", c), arrow.PrimitiveTypes.Int64), b.NewArray()
		b.Release()
	}
	batch := array.NewRecordBatch(arrow.NewSchema(fields, nil), arrays, int64(rows))
	defer batch.Release()
	for _, a := range arrays {
		a.Release()
	}
	var out bytes.Buffer
	w, err := pqarrow.NewFileWriter(batch.Schema(), &out, pq.NewWriterProperties(pq.WithDictionaryDefault(false)), pqarrow.DefaultWriterProps())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(batch); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return madeFile{raw: out.Bytes(), format: iceberg.ParquetFile, records: int64(rows)}
}

func wideValue(row, column int) int64 { return int64(row + column*7919) }

// makeWide makes a table of such files, each of one row group.
func makeWide(t testing.TB, columns, files, rows int) *madeTable {
	t.Helper()
	var schema []string
	for c := range columns {
		schema = append(schema, fmt.Sprintf(`{"id":%d,"name":"c%d","type":"long","required":false}`, c+1, c))
	}
	m := makeTable(t, strings.Join(schema, ","))
	var all []madeFile
	for i := range files {
		all = append(all, wideFile(t, columns, i*rows, rows))
	}
	m.commit(all...)
	return m
}

// wideTable gives such a table's source.
func wideTable(t *testing.T, decoder kernels.Decoder, columns, files, rows int) Source {
	t.Helper()
	m := makeWide(t, columns, files, rows)
	s := NewScanner(Config{Stores: storage.NewMux([]storage.Kind{local.Kind}, storage.Map{}), Decoder: decoder, Fallback: parquet.NewFallback()})
	table, err := s.Table(t.Context(), &catalogs.Table{Catalog: "made", Identifier: []string{"wide"}, MetadataLocation: m.location("v1.metadata.json"), Metadata: []byte(m.metadataText())})
	if err != nil {
		t.Fatal(err)
	}
	source, err := table.Source(t.Context(), Reference{})
	if err != nil {
		t.Fatal(err)
	}
	return source
}

// TestManyStatementsStayWithinASmallLimit reads the same table in many statements at once, each of which takes a third of the memory that there is.
func TestManyStatementsStayWithinASmallLimit(t *testing.T) {
	const limit, statements, columns, files, rows = 32 << 20, 24, 8, 3, 40_000
	decoder := kernels.Prefer(cpu.New(), parquet.NewFallback())
	defer decoder.Close()
	source := wideTable(t, decoder, columns, files, rows)
	pool := resource.NewPool(resource.Config{Memory: limit, Cores: 3, Wait: time.Hour})
	var all sync.WaitGroup
	for i := range statements {
		all.Go(func() {
			statement := pool.NewStatement(strconv.Itoa(i))
			leave, err := statement.Enter(t.Context())
			if err != nil {
				t.Error(err)
				return
			}
			defer leave()
			ctx := resource.With(t.Context(), statement)
			if err := readWide(ctx, source, files*rows, func() { time.Sleep(time.Duration(i%3) * time.Millisecond) }); err != nil {
				t.Errorf("statement %d: %v", i, err)
			}
			if statement.Used() != 0 {
				t.Errorf("statement %d: %d bytes are left", i, statement.Used())
			}
		})
	}
	all.Wait()
	if pool.Peak() > limit || pool.Peak() < limit/2 {
		t.Errorf("at most %d bytes were counted at once, the limit is %d", pool.Peak(), limit)
	}
}

// readWide reads a wide table, whose rows come in order, and calls between after each batch.
func readWide(ctx context.Context, source Source, rows int, between func()) error {
	plan, err := source.Plan(ctx, Request{Fields: fieldIDs(source.Schema()), Limit: -1})
	if err != nil {
		return err
	}
	reader, err := plan.Open(ctx, 0, plan.Splits())
	if err != nil {
		return err
	}
	defer reader.Release()
	next := map[int]bool{}
	for reader.Next() {
		batch := reader.RecordBatch()
		for r := range int(batch.NumRows()) {
			row := int(batch.Column(0).(*array.Int64).Value(r))
			if row >= rows || next[row] {
				return fmt.Errorf("row %d is no row, or came twice", row)
			}
			next[row] = true
			for c := range int(batch.NumCols()) {
				if got := batch.Column(c).(*array.Int64).Value(r); got != wideValue(row, c) {
					return fmt.Errorf("column %d of row %d is %d", c, row, got)
				}
			}
		}
		between()
	}
	if reader.Err() == nil && len(next) != rows {
		return fmt.Errorf("%d rows of %d", len(next), rows)
	}
	return reader.Err()
}

// TestASlowClientHoldsNoPages has a client stop after a batch: what its statement holds goes down to the batches that are ready, and the rest still comes.
func TestASlowClientHoldsNoPages(t *testing.T) {
	const columns, rows = 40, 60_000
	decoder := kernels.Prefer(cpu.New(), parquet.NewFallback())
	defer decoder.Close()
	source := wideTable(t, decoder, columns, 2, rows)
	for _, memory := range []int64{0, 64 << 20} {
		pool := resource.NewPool(resource.Config{Memory: memory, Cores: 2})
		statement := pool.NewStatement("slow")
		most, stops := int64(0), 3
		err := readWide(resource.With(t.Context(), statement), source, 2*rows, func() {
			for stops--; stops >= 0 && statement.Used() > 3*targetBytes; time.Sleep(time.Millisecond) {
				most = max(most, statement.Used())
			}
		})
		if err != nil || statement.Used() != 0 {
			t.Errorf("%v, %d bytes are left", err, statement.Used())
		}
		if least := int64(columns * rows * 8); most < least {
			t.Errorf("%d bytes were held while reading: the pages of all columns are %d", most, least)
		}
	}
}
