package scan

import (
	"github.com/apache/arrow-go/v18/arrow"
)

// Sizes of batches: small enough for clients that take no message over 4 MiB, large enough to carry their overhead.
const (
	targetBytes = 2 << 20
	maxRows     = 1 << 18
)

// sizer chooses how many rows to read at once from what earlier rows took. It serves one worker.
type sizer struct {
	next int64
	cap  int64 // rows in a batch at most
}

func newSizer(p *tablePlan) *sizer {
	perRow := int64(1)
	for _, c := range p.projection.columns {
		perRow += guess(c.Field.Type)
	}
	s := &sizer{cap: maxRows}
	if p.options.BatchRows > 0 {
		s.cap = min(s.cap, p.options.BatchRows)
	}
	s.next = min(max(targetBytes/perRow/2, 64), 1<<16, s.cap)
	if p.filter == nil && p.request.Limit > 0 {
		s.next = min(s.next, p.request.Limit)
	}
	return s
}

// guess is what a value of a type may take, before any was seen.
func guess(t arrow.DataType) int64 {
	switch t := storageType(t).(type) {
	case *arrow.StructType:
		n := int64(1)
		for _, f := range t.Fields() {
			n += guess(f.Type)
		}
		return n
	case *arrow.ListType:
		return 4 + 4*guess(t.Elem())
	case *arrow.MapType:
		return 4 + 4*(guess(t.KeyType())+guess(t.ItemType()))
	case arrow.FixedWidthDataType:
		return int64(max(t.Bytes(), 1))
	}
	return 32
}

func (s *sizer) rows() int64 { return s.next }

// saw learns from a frame that was read in full.
func (s *sizer) saw(f *frame) {
	if f.rows == 0 {
		return
	}
	var bytes int64
	for _, a := range f.columns {
		if a != nil {
			bytes += arrayBytes(a.Data())
		}
	}
	perRow := max(bytes/int64(f.rows), 1)
	s.next = min(max(targetBytes/perRow, 1), s.next*4, s.cap)
}

// arrayBytes is the memory that an array's own rows take, whatever else its buffers hold.
func arrayBytes(d arrow.ArrayData) int64 {
	n := int64(d.Len())
	out := n / 8
	switch t := storageType(d.DataType()).(type) {
	case *arrow.StringType, *arrow.BinaryType:
		return out + 4*n + offsetSpan(d)
	case *arrow.ListType, *arrow.MapType:
		out += 4 * n
		if total := int64(d.Children()[0].Len()); total > 0 {
			out += arrayBytes(d.Children()[0]) * offsetSpan(d) / total
		}
	case arrow.FixedWidthDataType:
		out += n * int64(t.Bytes())
	default:
		for _, c := range d.Children() {
			out += arrayBytes(c)
		}
	}
	return out
}

func offsetSpan(d arrow.ArrayData) int64 {
	b := offsets(d)
	if len(b) <= d.Offset()+d.Len() {
		return 0
	}
	return int64(b[d.Offset()+d.Len()] - b[d.Offset()])
}

func offsets(d arrow.ArrayData) []int32 {
	if len(d.Buffers()) < 2 || d.Buffers()[1] == nil {
		return nil
	}
	return arrow.Int32Traits.CastFromBytes(d.Buffers()[1].Bytes())
}

// deliver emits a batch, cut where it came out much larger than wanted.
func (s *sizer) deliver(batch arrow.RecordBatch, emit func(arrow.RecordBatch) error) error {
	var bytes int64
	for _, c := range batch.Columns() {
		bytes += arrayBytes(c.Data())
	}
	step := batch.NumRows()
	if bytes > targetBytes*3/2 {
		step = max(step*targetBytes/bytes, 1)
	}
	if step >= batch.NumRows() {
		return emit(batch)
	}
	defer batch.Release()
	for from := int64(0); from < batch.NumRows(); from += step {
		if err := emit(batch.NewSlice(from, min(from+step, batch.NumRows()))); err != nil {
			return err
		}
	}
	return nil
}
