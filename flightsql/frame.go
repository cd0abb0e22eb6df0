package flightsql

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
)

// The fields of FlightData that a record batch has.
const (
	headerField protowire.Number = 2
	bodyField   protowire.Number = 1000
)

// copiedBelow is the length, in bytes, below which a piece of a body is copied: less than what lending it costs, and gRPC does not tell when it is
// done with a buffer of 1 KiB or less.
const copiedBelow = 4 << 10

// frame is a record batch as the bytes of a FlightData message: small pieces copied together, large ones lent from Arrow's buffers.
type frame struct {
	buffers mem.BufferSlice
	loan    *loan
	lender  *lender
	copied  []byte // pieces not yet in buffers
	size    int    // of the body
}

// newFrame retains the batch until gRPC and the frame are done with it; the caller frees the frame.
func newFrame(b arrow.RecordBatch, allocator memory.Allocator, at *loans, options ...ipc.Option) (*frame, error) {
	payload, err := ipc.GetRecordBatchPayload(b, append(options, ipc.WithAllocator(allocator))...)
	if err != nil {
		return nil, err
	}
	b.Retain()
	f := &frame{buffers: append(make(mem.BufferSlice, 0, 2+4*b.NumCols()), mem.SliceBuffer(nil))} // the first is the head's place
	f.loan = &loan{batch: b, payload: payload, at: at}
	f.lender = newLender(f.loan)
	defer f.lender.returned()
	if err := payload.SerializeBody(f); err != nil {
		f.buffers.Free()
		return nil, err
	}
	f.flush()
	f.buffers[0] = mem.SliceBuffer(f.head(payload))
	return f, nil
}

// head is what comes before the body's bytes. Empty fields are left out, as protobuf does.
func (f *frame) head(payload ipc.Payload) []byte {
	meta := payload.Meta()
	defer meta.Release()
	head := make([]byte, 0, meta.Len()+32)
	head = protowire.AppendTag(head, headerField, protowire.BytesType)
	head = protowire.AppendBytes(head, meta.Bytes())
	if f.size == 0 {
		return head
	}
	head = protowire.AppendTag(head, bodyField, protowire.BytesType)
	return protowire.AppendVarint(head, uint64(f.size))
}

// Write takes the next piece of the body, which must stay as it is until the loan ends. It never fails.
func (f *frame) Write(p []byte) (int, error) {
	f.size += len(p)
	if len(p) < copiedBelow {
		f.copied = append(f.copied, p...)
		return len(p), nil
	}
	f.flush()
	f.buffers = append(f.buffers, f.lender.lend(p))
	return len(p), nil
}

// flush puts the copied pieces behind the others; what is copied next follows them in the same memory.
func (f *frame) flush() {
	if n := len(f.copied); n > 0 {
		f.buffers = append(f.buffers, mem.SliceBuffer(f.copied[:n:n]))
		f.copied = f.copied[n:]
	}
}

// free ends the frame's own hold on its memory, once it was sent or failed to be.
func (f *frame) free() {
	f.buffers.Free()
	f.loan.at.watch(f.loan)
}
