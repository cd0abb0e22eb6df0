package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/catalog"
	"github.com/apache/iceberg-go/catalog/hadoop"
	"github.com/apache/iceberg-go/table"
)

var benchTable = table.Identifier{"db", "lineitem"}

// snapshotRows is how many rows one append, and so one data file, holds.
const snapshotRows = 1_000_000

var (
	modes    = []string{"AIR", "FOB", "MAIL", "RAIL", "REG AIR", "SHIP", "TRUCK"}
	instruct = []string{"COLLECT COD", "DELIVER IN PERSON", "NONE", "TAKE BACK RETURN"}
	words    = []string{"quickly", "ironic", "packages", "sleep", "above", "the", "final", "accounts", "furiously", "regular", "deposits", "haggle"}
)

// makeTable makes a table like TPC-H's lineitem, sorted by its key, unless dir holds it already with that many rows.
func makeTable(ctx context.Context, dir string, rows int) (err error) {
	done := filepath.Join(dir, fmt.Sprintf("complete-%d", rows))
	if _, err := os.Stat(done); err == nil {
		return nil
	}
	if _, err := os.Stat(dir); err == nil {
		return fmt.Errorf("%s holds something else; remove it or give another -dir", dir)
	}
	fmt.Fprintf(os.Stderr, "making a table of %d rows in %s …\n", rows, dir)
	lake, err := hadoop.NewCatalog("bench", filepath.Join(dir, "warehouse"), iceberg.Properties{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lake.Close()) }()
	if err := lake.CreateNamespace(ctx, table.Identifier{"db"}, nil); err != nil {
		return err
	}
	schema, err := table.ArrowSchemaToIcebergWithFreshIDs(lineitem, false)
	if err != nil {
		return err
	}
	t, err := lake.CreateTable(ctx, benchTable, schema, catalog.WithProperties(iceberg.Properties{"format-version": "2", "write.parquet.compression-codec": "snappy"}))
	if err != nil {
		return err
	}
	for from := 0; from < rows; from += snapshotRows {
		if t, err = appendRows(ctx, t, from, min(rows, from+snapshotRows)); err != nil {
			return err
		}
	}
	return os.WriteFile(done, nil, 0o644)
}

var price = &arrow.Decimal128Type{Precision: 12, Scale: 2}

var lineitem = arrow.NewSchema([]arrow.Field{
	{Name: "orderkey", Type: arrow.PrimitiveTypes.Int64}, {Name: "partkey", Type: arrow.PrimitiveTypes.Int64}, {Name: "suppkey", Type: arrow.PrimitiveTypes.Int64},
	{Name: "linenumber", Type: arrow.PrimitiveTypes.Int32}, {Name: "quantity", Type: price}, {Name: "extendedprice", Type: price}, {Name: "discount", Type: price}, {Name: "tax", Type: price},
	{Name: "returnflag", Type: arrow.BinaryTypes.String}, {Name: "linestatus", Type: arrow.BinaryTypes.String},
	{Name: "shipdate", Type: arrow.FixedWidthTypes.Date32}, {Name: "commitdate", Type: arrow.FixedWidthTypes.Date32}, {Name: "receiptdate", Type: arrow.FixedWidthTypes.Date32},
	{Name: "shipinstruct", Type: arrow.BinaryTypes.String}, {Name: "shipmode", Type: arrow.BinaryTypes.String}, {Name: "comment", Type: arrow.BinaryTypes.String},
}, nil)

func appendRows(ctx context.Context, t *table.Table, from, to int) (*table.Table, error) {
	random := rand.New(rand.NewPCG(uint64(from), 1))
	b := array.NewRecordBuilder(memory.DefaultAllocator, lineitem)
	defer b.Release()
	for i := from; i < to; i++ {
		appendRow(b, i, random)
	}
	batch := b.NewRecordBatch()
	defer batch.Release()
	reader, err := array.NewRecordReader(lineitem, []arrow.RecordBatch{batch})
	if err != nil {
		return nil, err
	}
	defer reader.Release()
	return t.Append(ctx, reader, nil)
}

func appendRow(b *array.RecordBuilder, i int, random *rand.Rand) {
	long := func(c int, v int64) { b.Field(c).(*array.Int64Builder).Append(v) }
	money := func(c int, v int64) { b.Field(c).(*array.Decimal128Builder).Append(decimal128.FromI64(v)) }
	date := func(c int, v int) { b.Field(c).(*array.Date32Builder).Append(arrow.Date32(v)) }
	text := func(c int, v string) { b.Field(c).(*array.StringBuilder).Append(v) }
	long(0, int64(i))
	long(1, random.Int64N(200_000))
	long(2, random.Int64N(10_000))
	b.Field(3).(*array.Int32Builder).Append(int32(1 + i%7))
	money(4, 100*(1+random.Int64N(50)))
	money(5, 90_000+random.Int64N(10_000_000))
	money(6, random.Int64N(11))
	money(7, random.Int64N(9))
	text(8, "ANR"[i%3:i%3+1])
	text(9, "FO"[i%2:i%2+1])
	day := 8_000 + random.IntN(2_500)
	date(10, day)
	date(11, day+random.IntN(60))
	date(12, day+random.IntN(30))
	text(13, instruct[random.IntN(len(instruct))])
	text(14, modes[random.IntN(len(modes))])
	comment := ""
	for range 2 + random.IntN(4) {
		comment += words[random.IntN(len(words))] + " "
	}
	text(15, comment)
}
