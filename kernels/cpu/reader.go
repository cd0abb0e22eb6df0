package cpu

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/kernels/pages"
	"github.com/skua-data/skua/resource"
)

// reader reads one row group. Each column has a position of its own, so that columns may be read in different calls.
type reader struct {
	decoder *Decoder
	rg      *kernels.RowGroup
	mem     overwritten
	over    func() error // tells that the statement has used up its memory
	scratch *scratch
	columns []*column  // opened on first use
	kept    *survivors // of the last filter; nil: none
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
			r.columns[at] = &column{reader: r, node: &r.rg.Columns[at].Node}
		}
		a, err := r.kept.read(at, sel, from, rows.Count())
		if a == nil && err == nil {
			a, err = r.columns[at].survivors(ctx, rows)
		}
		if err != nil {
			return nil, r.explain(err, fields[i].Name)
		}
		arrays = append(arrays, a)
	}
	return array.NewRecordBatch(arrow.NewSchema(fields, nil), arrays, rows.Count()), nil
}

// explain says where an error happened; what nobody classified comes from bad bytes.
func (r *reader) explain(err error, column string) error {
	return fault.Wrap(pages.Classify(fault.Corrupt, err), "read column %s of %s", column, r.rg.Name)
}

// Park gives back the pages and dictionaries of columns outside of lists, if the file is near: their next rows are found again by the heads of the pages
// before. Between Select and Read nothing is open.
func (r *reader) Park() {
	if !r.rg.Near {
		return
	}
	for _, c := range r.columns {
		if c != nil && c.flat() {
			c.close()
		}
	}
}

// Close gives back all memory.
func (r *reader) Close() (err error) {
	defer fault.Recover(&err, fault.Internal, "close %s", r.rg.Name)
	if r.kept != nil {
		r.kept.release()
		r.kept = nil
	}
	for i, c := range r.columns {
		if c != nil {
			c.close()
			r.columns[i] = nil
		}
	}
	return nil
}
