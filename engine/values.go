package engine

import (
	"bytes"
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/fault"
)

// values is a result that lies in memory: a command's rows. Its batches live on Go's heap, so that closing it is the collector's business.
type values struct {
	schema  *arrow.Schema
	batches []arrow.RecordBatch
	rows    int64
	updated int64
	pin     Pin
}

var _ Result = (*values)(nil)

// batchRows bounds the rows of one batch of a listing.
const batchRows = 8192

// newValues builds the batches of a command's rows.
func newValues(schema *arrow.Schema, rows []row, update bool) *values {
	v := &values{schema: schema, rows: int64(len(rows)), updated: -1}
	if update {
		v.updated = 0
	}
	for len(rows) > 0 {
		n := min(len(rows), batchRows)
		v.batches = append(v.batches, batchOf(schema, rows[:n]))
		rows = rows[n:]
	}
	return v
}

func batchOf(schema *arrow.Schema, rows []row) arrow.RecordBatch {
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for _, r := range rows {
		for i, v := range r {
			switch f := b.Field(i).(type) {
			case *array.StringBuilder:
				if s, ok := v.(string); ok {
					f.Append(s)
				} else {
					f.AppendNull()
				}
			case *array.BooleanBuilder:
				f.Append(v.(bool))
			case *array.Int64Builder:
				f.Append(v.(int64))
			}
		}
	}
	return b.NewRecordBatch()
}

func (v *values) Schema() *arrow.Schema { return v.schema }
func (v *values) Parts() int            { return 1 }
func (v *values) Ordered() bool         { return true }
func (v *values) Rows() int64           { return v.rows }
func (v *values) Updated() int64        { return v.updated }
func (v *values) Pin() Pin              { return v.pin }
func (v *values) Close() error          { return nil }

func (v *values) Open(_ context.Context, from, to int) (array.RecordReader, error) {
	if err := checkParts(from, to, 1); err != nil {
		return nil, err
	}
	var batches []arrow.RecordBatch
	if from < to {
		batches = v.batches
	}
	return array.NewRecordReader(v.schema, batches)
}

func checkParts(from, to, parts int) error {
	if from < 0 || from > to || to > parts {
		return fault.New(fault.Invalid, "parts %d to %d of a result that has %d", from, to, parts)
	}
	return nil
}

// encode gives the whole result as one IPC stream.
func (v *values) encode() ([]byte, error) {
	var b bytes.Buffer
	w := ipc.NewWriter(&b, ipc.WithSchema(v.schema))
	for _, batch := range v.batches {
		if err := w.Write(batch); err != nil {
			return nil, fault.Wrap(err, "keep a result")
		}
	}
	if err := w.Close(); err != nil {
		return nil, fault.Wrap(err, "keep a result")
	}
	return b.Bytes(), nil
}

// decodeValues reads what encode gave.
func decodeValues(outcome []byte) (v *values, err error) {
	defer fault.Recover(&err, fault.Invalid, "read the ticket's rows")
	r, err := ipc.NewReader(bytes.NewReader(outcome))
	if err != nil {
		return nil, fault.New(fault.Invalid, "read the ticket's rows: %w", err)
	}
	defer r.Release()
	v = &values{schema: r.Schema(), updated: -1}
	for r.Next() {
		batch := r.RecordBatch()
		batch.Retain()
		v.batches, v.rows = append(v.batches, batch), v.rows+batch.NumRows()
	}
	if r.Err() != nil {
		return nil, fault.New(fault.Invalid, "read the ticket's rows: %w", r.Err())
	}
	return v, nil
}
