package scantest

import (
	"context"
	"fmt"
	"sort"
	"strings"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/kernels/cpu"
	"github.com/skua-data/skua/resource"
	"github.com/skua-data/skua/scan"
	"github.com/skua-data/skua/scan/parquet"
	"github.com/skua-data/skua/storage"
	"github.com/skua-data/skua/storage/local"
)

// reader is a scanner with one way to decode.
type reader struct {
	name    string
	scanner *scan.Scanner
}

func newReaders() []reader {
	make := func(name string, d kernels.Decoder) reader {
		return reader{name, scan.NewScanner(scan.Config{Stores: storage.NewMux([]storage.Kind{local.Kind}, storage.Map{}), Decoder: d})}
	}
	return []reader{make("cpu", kernels.Prefer(cpu.New(), parquet.NewFallback())), make("fallback", parquet.NewFallback())}
}

// read gives the rows of a query as text, sorted. Memory that is not given back is an error.
func (r reader) read(ctx context.Context, t *table, q *query) (rows []string, err error) {
	held := &heldMemory{}
	defer func() {
		if n := held.bytes.Load(); err == nil && n != 0 {
			err = fmt.Errorf("%d bytes of memory are not given back", n)
		}
	}()
	ctx = resource.With(ctx, resource.NewPool(resource.Config{Cores: 2, Allocator: held}).NewStatement("scantest"))
	loaded, err := r.scanner.Table(ctx, &catalogs.Table{Catalog: "random", Identifier: []string{"t"}, MetadataLocation: t.location()})
	if err != nil {
		return nil, err
	}
	source, err := loaded.Source(ctx, q.ref)
	if err != nil {
		return nil, err
	}
	request := scan.Request{Filter: q.filter, Options: q.options, Limit: -1}
	for _, p := range q.output {
		request.Fields = append(request.Fields, p[len(p)-1].id)
	}
	plan, err := source.Plan(ctx, request)
	if err != nil {
		return nil, err
	}
	step := max(plan.Splits(), 1)
	if q.apart {
		step = 1
	}
	for from := 0; from < plan.Splits(); from += step {
		if rows, err = readPart(ctx, plan, from, from+step, q, rows); err != nil {
			return nil, err
		}
	}
	if n, known := plan.Rows(); known && n != int64(len(rows)) {
		return nil, fmt.Errorf("the plan knows of %d rows and gives %d", n, len(rows))
	}
	sort.Strings(rows)
	return rows, nil
}

func readPart(ctx context.Context, plan scan.Plan, from, to int, q *query, rows []string) ([]string, error) {
	stream, err := plan.Open(ctx, from, to)
	if err != nil {
		return nil, err
	}
	defer stream.Release()
	return rowsOf(stream, q, rows)
}

// rowsOf appends a stream's rows as text.
func rowsOf(stream array.RecordReader, q *query, rows []string) ([]string, error) {
	for stream.Next() {
		batch := stream.RecordBatch()
		for i := range int(batch.NumRows()) {
			line := ""
			for c, p := range q.output {
				line += spellArrow(batch.Column(c), i, p[len(p)-1].typ) + ";"
			}
			rows = append(rows, line)
		}
	}
	return rows, stream.Err()
}

// spellArrow writes a value of an array as spell does.
func spellArrow(a arrow.Array, i int, t *typ) string {
	if a.IsNull(i) || a.DataType().ID() == arrow.NULL {
		return "_"
	}
	switch a := a.(type) {
	case *array.Boolean:
		return spell(t, a.Value(i))
	case *array.Int32:
		return spell(t, int64(a.Value(i)))
	case *array.Int64:
		return spell(t, a.Value(i))
	case *array.Float32:
		return spell(t, float64(a.Value(i)))
	case *array.Float64:
		return spell(t, a.Value(i))
	case *array.Decimal128:
		return spell(t, a.Value(i))
	case *array.Date32:
		return spell(t, int64(a.Value(i)))
	case *array.Time64:
		return spell(t, int64(a.Value(i)))
	case *array.Timestamp:
		return spell(t, int64(a.Value(i)))
	case *array.String:
		if t.kind == uuid { // as the SQL engine has it inside of others
			return "x" + strings.ReplaceAll(a.Value(i), "-", "")
		}
		return spell(t, a.Value(i))
	case *array.Binary:
		return spell(t, a.Value(i))
	case *array.FixedSizeBinary:
		return spell(t, a.Value(i))
	case array.ExtensionArray:
		return spellArrow(a.Storage(), i, t)
	}
	return spellNested(a, i, t)
}

func spellNested(a arrow.Array, i int, t *typ) string {
	switch a := a.(type) {
	case *array.Struct:
		if t.kind == variants {
			v, err := decodedVariant(a.Field(0).(*array.Binary).Value(i), a.Field(1).(*array.Binary).Value(i))
			if err != nil {
				return err.Error()
			}
			return v.spell()
		}
		out := "{"
		for c, f := range t.fields {
			out += spellArrow(a.Field(c), i, f.typ) + ","
		}
		return trimmed(out) + "}"
	case *array.Map:
		out := "("
		from, to := a.ValueOffsets(i)
		for e := int(from); e < int(to); e++ {
			out += spellArrow(a.Keys(), e, t.fields[0].typ) + ":" + spellArrow(a.Items(), e, t.fields[1].typ) + ","
		}
		return trimmed(out) + ")"
	case *array.List:
		out := "["
		from, to := a.ValueOffsets(i)
		for e := int(from); e < int(to); e++ {
			out += spellArrow(a.ListValues(), e, t.fields[0].typ) + ","
		}
		return trimmed(out) + "]"
	}
	panic(fmt.Sprintf("no text for a %s", a.DataType()))
}

// trimmed takes a last comma off.
func trimmed(s string) string {
	if s[len(s)-1] == ',' {
		return s[:len(s)-1]
	}
	return s
}

// heldMemory counts what is allocated and not freed.
type heldMemory struct {
	memory.GoAllocator
	bytes atomic.Int64
}

// Allocate allocates size bytes.
func (h *heldMemory) Allocate(size int) []byte {
	h.bytes.Add(int64(size))
	return h.GoAllocator.Allocate(size)
}

// Reallocate grows or shrinks b.
func (h *heldMemory) Reallocate(size int, b []byte) []byte {
	h.bytes.Add(int64(size - len(b)))
	return h.GoAllocator.Reallocate(size, b)
}

// Free gives b back.
func (h *heldMemory) Free(b []byte) {
	h.bytes.Add(-int64(len(b)))
	h.GoAllocator.Free(b)
}
