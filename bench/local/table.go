package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/kernels/cpu"
	"github.com/skua-data/skua/predicate"
	"github.com/skua-data/skua/resource"
	"github.com/skua-data/skua/scan"
	"github.com/skua-data/skua/scan/parquet"
	"github.com/skua-data/skua/storage"
	"github.com/skua-data/skua/storage/local"
)

// job is one thing to do with a table.
type job struct {
	metadata, operation, columns, filter string
	stream                               string // a file for the rows; empty: they are dropped
}

// reader is what a server has of Skua's scan, and nothing else.
type reader struct {
	decoder kernels.Decoder
	scanner *scan.Scanner
	pool    *resource.Pool
}

func newTable(choice string) *reader {
	var decoder kernels.Decoder = parquet.NewFallback()
	fallback := decoder
	if choice != "fallback" {
		decoder = kernels.Prefer(cpu.New(), fallback)
	}
	stores := storage.NewMux([]storage.Kind{local.Kind}, storage.Map{})
	return &reader{
		decoder: decoder,
		scanner: scan.NewScanner(scan.Config{Stores: stores, Decoder: decoder, Fallback: fallback}),
		pool:    resource.NewPool(resource.Config{Cores: runtime.GOMAXPROCS(0)}),
	}
}

func (r *reader) close() { r.decoder.Close() }

// do opens the table, plans and, but for a plan, reads every batch.
func (r *reader) do(ctx context.Context, j job, c *cost) error {
	ctx = resource.With(ctx, r.pool.NewStatement("local"))
	t, err := r.scanner.Table(ctx, &catalogs.Table{Identifier: table.Identifier{"t"}, MetadataLocation: j.metadata})
	if err != nil {
		return err
	}
	source, err := t.Source(ctx, scan.Reference{})
	if err != nil {
		return err
	}
	request, err := j.request(source.Schema())
	if err != nil {
		return err
	}
	plan, err := source.Plan(ctx, request)
	if err != nil {
		return err
	}
	switch j.operation {
	case "plan":
		c.Rows = files(plan)
		return nil
	case "count":
		if n, known := plan.Rows(); known {
			c.Rows = n
			return nil
		}
	}
	return j.read(ctx, plan, c)
}

// files counts the data files of a plan.
func files(p scan.Plan) int64 {
	paths := map[string]bool{}
	for _, s := range p.Explain().Splits {
		for _, t := range s.Tasks {
			paths[t.Path] = true
		}
	}
	return int64(len(paths))
}

func (j job) request(schema *arrow.Schema) (scan.Request, error) {
	out := scan.Request{Limit: -1}
	for i, f := range schema.Fields() {
		wanted := j.columns == "*" || strings.Contains(","+j.columns+",", ","+f.Name+",")
		if wanted && j.operation == "scan" {
			out.Fields = append(out.Fields, id(schema.Field(i)))
		}
	}
	name, text, ok := strings.Cut(j.filter, "<")
	if !ok {
		return out, nil
	}
	value, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return out, err
	}
	f, ok := schema.FieldsByName(name)
	if !ok {
		return out, fmt.Errorf("no column %s", name)
	}
	field := predicate.Field{ID: id(f[0]), Path: []string{name}, Type: f[0].Type}
	out.Filter = predicate.Comparison{Op: predicate.Lt, Field: field, Value: predicate.Literal{Type: f[0].Type, Value: value}}
	return out, nil
}

func id(f arrow.Field) int {
	text, _ := f.Metadata.GetValue(scan.FieldIDKey)
	n, _ := strconv.Atoi(text)
	return n
}

// read takes every batch and drops it, or writes it to the stream.
func (j job) read(ctx context.Context, plan scan.Plan, c *cost) error {
	batches, err := plan.Open(ctx, 0, plan.Splits())
	if err != nil {
		return err
	}
	defer batches.Release()
	write := func(arrow.RecordBatch) error { return nil }
	if j.stream != "" {
		f, err := os.Create(j.stream)
		if err != nil {
			return err
		}
		defer f.Close()
		w := ipc.NewWriter(f, ipc.WithSchema(plan.Schema()))
		defer w.Close()
		write = w.Write
	}
	return drain(batches, c, write)
}

func drain(batches array.RecordReader, c *cost, write func(arrow.RecordBatch) error) error {
	for batches.Next() {
		b := batches.RecordBatch()
		c.Rows += b.NumRows()
		for _, column := range b.Columns() {
			c.Bytes += size(column.Data())
		}
		if err := write(b); err != nil {
			return err
		}
	}
	return batches.Err()
}

// size is the length of an array's buffers.
func size(d arrow.ArrayData) (n int64) {
	for _, b := range d.Buffers() {
		if b != nil {
			n += int64(b.Len())
		}
	}
	for _, c := range d.Children() {
		n += size(c)
	}
	return n
}
