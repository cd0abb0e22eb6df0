package parquet

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/kernels/pages"
	"github.com/skua-data/skua/predicate"
	"github.com/skua-data/skua/resource"
)

const (
	decoderName = "fallback"
	window      = 16 << 10 // rows decoded at once where the selection has gaps, and for a filter
)

// NewFallback gives the decoder that takes every column, on arrow-go's record readers. It starts no goroutines.
func NewFallback() kernels.Decoder { return &fallback{} }

type fallback struct{ codecs }

var _ kernels.Decoder = (*fallback)(nil)

// Route takes every column.
func (*fallback) Route(rg *kernels.RowGroup) []kernels.Route {
	out := make([]kernels.Route, len(rg.Columns))
	for i := range out {
		out[i] = kernels.Route{Decoder: decoderName, Taken: true, Reason: "takes every column", Skips: true}
	}
	return out
}

// Open opens a row group; it reads nothing yet.
func (d *fallback) Open(ctx context.Context, rg *kernels.RowGroup) (_ kernels.Reader, err error) {
	defer fault.Recover(&err, fault.Corrupt, "open row group %d of %s", rg.Ordinal, rg.Name)
	if rg.Ordinal < 0 || rg.Ordinal >= len(rg.Metadata.RowGroups) {
		return nil, fault.New(fault.Internal, "row group %d of the %d of %s", rg.Ordinal, len(rg.Metadata.RowGroups), rg.Name)
	}
	mem := guarded{resource.From(ctx).Allocator()}
	return &reader{decoder: d, rg: rg, mem: mem, columns: make([]*column, len(rg.Columns))}, nil
}

// Close gives back the codecs' memory; all readers are closed before.
func (d *fallback) Close() error {
	d.close()
	return nil
}

// reader reads one row group. Each column has a position of its own, so that columns may be read in different calls.
type reader struct {
	decoder *fallback
	rg      *kernels.RowGroup
	mem     memory.Allocator
	columns []*column // opened on first use
}

// Read gives the columns of the survivors from..from+n.
func (r *reader) Read(ctx context.Context, columns []int, sel *kernels.Selection, from, n int64) (_ arrow.RecordBatch, err error) {
	defer fault.Recover(&err, fault.Corrupt, "read %s", r.rg.Name)
	if err := resource.From(ctx).Err(); err != nil {
		return nil, err
	}
	rows := sel.Slice(from, n)
	fields, arrays := make([]arrow.Field, len(columns)), make([]arrow.Array, 0, len(columns))
	defer func() {
		for _, a := range arrays {
			a.Release()
		}
	}()
	for i, at := range columns {
		fields[i] = r.rg.Columns[at].Field
		if r.columns[at] == nil {
			r.columns[at] = r.newColumn(&r.rg.Columns[at].Node)
		}
		a, err := r.columns[at].survivors(ctx, rows)
		if err != nil {
			return nil, r.explain(err, fields[i].Name)
		}
		arrays = append(arrays, a)
	}
	return array.NewRecordBatch(arrow.NewSchema(fields, nil), arrays, rows.Count()), nil
}

// explain says where an error happened and classifies what arrow-go gave: it only ever fails on bad bytes.
func (r *reader) explain(err error, column string) error {
	return fault.Wrap(pages.Classify(fault.Corrupt, err), "read column %s of %s", column, r.rg.Name)
}

// Close gives back all memory.
func (r *reader) Close() (err error) {
	defer fault.Recover(&err, fault.Internal, "close %s", r.rg.Name)
	for i, c := range r.columns {
		if c != nil {
			c.close()
			r.columns[i] = nil
		}
	}
	return nil
}

// Select evaluates the conjuncts whose fields are among the columns of the row group; others are the rest.
func (r *reader) Select(ctx context.Context, p predicate.Expr, in *kernels.Selection) (rest predicate.Expr, out *kernels.Selection, err error) {
	defer fault.Recover(&err, fault.Corrupt, "filter %s", r.rg.Name)
	if p == nil {
		return nil, in, nil
	}
	f := &filter{reader: r, columns: map[int]*column{}}
	defer f.close()
	var mine, others []predicate.Expr
	for _, c := range predicate.Conjuncts(p) {
		if f.knows(c) {
			mine = append(mine, c)
			continue
		}
		others = append(others, c)
	}
	if len(others) > 0 {
		rest = predicate.Join(others)
	}
	if len(mine) == 0 {
		return rest, in, nil
	}
	out, err = f.apply(ctx, predicate.Join(mine), in)
	return rest, out, err
}
