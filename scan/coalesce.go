package scan

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// What counts as a small batch: one of several to be sent together, since every batch costs its receiver as much as some thousand rows.
const (
	smallRows  = 8 << 10
	smallBytes = targetBytes / 8
)

// coalescer joins small batches of a split, as many small files and filters that keep little make them, before they are sent. It copies them,
// so that nothing larger waits for it.
type coalescer struct {
	emit  func(arrow.RecordBatch) error
	mem   memory.Allocator
	most  int64 // rows of a batch
	limit int64 // rows that are wanted in all; negative: every row

	joins bool // the columns can be joined
	held  []arrow.RecordBatch
	rows  int64 // held
	bytes int64
}

func newCoalescer(p *tablePlan, mem memory.Allocator, emit func(arrow.RecordBatch) error) *coalescer {
	c := &coalescer{emit: emit, mem: mem, most: newSizer(p).cap, limit: p.request.Limit, joins: p.request.Best == nil} // whoever wants the best rows learns from each batch
	for _, f := range p.projection.output.Fields() {
		c.joins = c.joins && joinable(f.Type)
	}
	return c
}

// joinable leaves maps out: what arrow-go makes of pieces of them is not what they were.
func joinable(t arrow.DataType) bool {
	switch t := storageType(t).(type) {
	case *arrow.MapType:
		return false
	case *arrow.ListType:
		return joinable(t.Elem())
	case *arrow.StructType:
		for _, f := range t.Fields() {
			if !joinable(f.Type) {
				return false
			}
		}
	}
	return true
}

// take takes a batch over, also when it fails.
func (c *coalescer) take(b arrow.RecordBatch) error {
	var bytes int64
	for _, a := range b.Columns() {
		bytes += arrayBytes(a.Data())
	}
	small := c.joins && b.NumRows() < smallRows && bytes < smallBytes
	if !small || c.rows+b.NumRows() > c.most || c.bytes+bytes > targetBytes {
		if err := c.flush(); err != nil {
			b.Release()
			return err
		}
	}
	if !small {
		return c.emit(b)
	}
	c.held, c.rows, c.bytes = append(c.held, b), c.rows+b.NumRows(), c.bytes+bytes
	if c.limit >= 0 && c.rows >= c.limit {
		return c.flush()
	}
	return nil
}

// flush sends what is held.
func (c *coalescer) flush() error {
	if len(c.held) == 0 {
		return nil
	}
	if len(c.held) == 1 {
		b := c.held[0]
		c.held, c.rows, c.bytes = nil, 0, 0
		return c.emit(b)
	}
	defer c.drop()
	joined, err := c.join()
	if err != nil {
		return err
	}
	return c.emit(joined)
}

func (c *coalescer) join() (arrow.RecordBatch, error) {
	columns := make([]arrow.Array, c.held[0].NumCols())
	defer func() {
		for _, a := range columns {
			if a != nil {
				a.Release()
			}
		}
	}()
	parts := make([]arrow.Array, len(c.held))
	for i := range columns {
		for j, b := range c.held {
			parts[j] = b.Column(i)
		}
		var err error
		if columns[i], err = array.Concatenate(parts, c.mem); err != nil {
			return nil, err
		}
	}
	return array.NewRecordBatch(c.held[0].Schema(), columns, c.rows), nil
}

// drop frees what is held.
func (c *coalescer) drop() {
	for _, b := range c.held {
		b.Release()
	}
	c.held, c.rows, c.bytes = nil, 0, 0
}
