package demo

import (
	"context"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/catalog"
	"github.com/apache/iceberg-go/catalog/hadoop"
	"github.com/apache/iceberg-go/table"
)

// column describes a column and how row i of it is made.
type column struct {
	name     string
	kind     iceberg.Type
	arrow    arrow.DataType
	required bool
	doc      string
	append   func(b array.Builder, i int)
}

func schemaOf(columns []column) *iceberg.Schema {
	fields := make([]iceberg.NestedField, len(columns))
	for i, c := range columns {
		fields[i] = iceberg.NestedField{ID: i + 1, Name: c.name, Type: c.kind, Required: c.required, Doc: c.doc}
	}
	return iceberg.NewSchema(0, fields...)
}

// create makes a table with the columns.
func create(ctx context.Context, cat *hadoop.Catalog, name table.Identifier, columns []column, spec *iceberg.PartitionSpec, properties iceberg.Properties) (*table.Table, error) {
	options := []catalog.CreateTableOpt{catalog.WithProperties(properties)}
	if spec != nil {
		options = append(options, catalog.WithPartitionSpec(spec))
	}
	t, err := cat.CreateTable(ctx, name, schemaOf(columns), options...)
	if err != nil {
		return nil, fmt.Errorf("create %v: %w", name, err)
	}
	return t, nil
}

// batchRows is how many rows are made at a time.
const batchRows = 50_000

// rows makes rows from..to of the columns.
func rows(columns []column, from, to int) (array.RecordReader, error) {
	fields := make([]arrow.Field, len(columns))
	for i, c := range columns {
		fields[i] = arrow.Field{Name: c.name, Type: c.arrow, Nullable: !c.required}
	}
	schema := arrow.NewSchema(fields, nil)
	var batches []arrow.RecordBatch
	for start := from; start < to; start += batchRows {
		builder := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		for c, column := range columns {
			for i := start; i < min(to, start+batchRows); i++ {
				column.append(builder.Field(c), i)
			}
		}
		batches = append(batches, builder.NewRecordBatch())
		builder.Release()
	}
	reader, err := array.NewRecordReader(schema, batches)
	for _, b := range batches {
		b.Release()
	}
	return reader, err
}

// fill appends rows from..to of the columns as one snapshot.
func fill(ctx context.Context, t *table.Table, columns []column, from, to int) (*table.Table, error) {
	reader, err := rows(columns, from, to)
	if err != nil {
		return nil, err
	}
	defer reader.Release()
	out, err := t.Append(ctx, reader, nil)
	if err != nil {
		return nil, fmt.Errorf("append to %v: %w", t.Identifier(), err)
	}
	return out, nil
}

// reference points a branch or a tag at the current snapshot.
func reference(ctx context.Context, cat *hadoop.Catalog, t *table.Table, name string, kind table.RefType) (*table.Table, error) {
	update := table.NewSetSnapshotRefUpdate(name, t.CurrentSnapshot().SnapshotID, kind, 0, 0, 0)
	if _, _, err := cat.CommitTable(ctx, t.Identifier(), nil, []table.Update{update}); err != nil {
		return nil, fmt.Errorf("set %s of %v: %w", name, t.Identifier(), err)
	}
	return cat.LoadTable(ctx, t.Identifier())
}

// mix gives a number that looks random and is the same every time.
func mix(i, salt int) uint64 {
	x := uint64(i)*0x9E3779B97F4A7C15 + uint64(salt)*0xBF58476D1CE4E5B9
	x ^= x >> 30
	x *= 0xBF58476D1CE4E5B9
	x ^= x >> 27
	x *= 0x94D049BB133111EB
	return x ^ x>>31
}

func pick(i, salt int, n int) int { return int(mix(i, salt) % uint64(n)) }
