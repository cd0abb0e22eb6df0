package flightsql

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/skua-data/skua/fault"
)

// batchBytes is the size that batches are cut to: clients take messages of 4 MiB, some no larger, and a message is a little more than its batch.
const batchBytes = 2 << 20

// sender writes batches to one stream. It blocks while the client does not read, and nothing is read ahead here, so a slow client slows the reader down.
type sender struct {
	ctx    context.Context
	schema *arrow.Schema
	writer *flight.Writer
}

func (s *Server) newSender(stream flight.FlightService_DoGetServer, schema *arrow.Schema) *sender {
	return &sender{stream.Context(), schema, flight.NewRecordWriter(stream, ipc.WithSchema(schema), ipc.WithAllocator(s.mem))}
}

// send writes a batch, cut where it is large. A single row is sent however large it is. The batch stays the caller's.
func (s *sender) send(b arrow.RecordBatch) error {
	if err := s.check(b); err != nil {
		return err
	}
	for from := int64(0); from < b.NumRows(); {
		n := rowsWithin(b, from, batchBytes)
		if err := s.write(b, from, from+n); err != nil {
			return err
		}
		from += n
	}
	return nil
}

// check compares a batch with the schema that was announced: a stream that differs from it would be misread.
func (s *sender) check(b arrow.RecordBatch) error {
	if int(b.NumCols()) != s.schema.NumFields() {
		return fault.New(fault.Internal, "a batch has %d columns, the schema %d", b.NumCols(), s.schema.NumFields())
	}
	for i, f := range s.schema.Fields() {
		if got := b.Column(i).DataType(); !arrow.TypeEqual(got, f.Type) {
			return fault.New(fault.Internal, "column %q is %s in a batch and %s in the schema", f.Name, got, f.Type)
		}
	}
	return nil
}

func (s *sender) write(b arrow.RecordBatch, from, to int64) error {
	columns := make([]arrow.Array, b.NumCols())
	for i := range columns {
		columns[i] = array.NewSlice(b.Column(i), from, to)
		defer columns[i].Release()
	}
	piece := array.NewRecordBatch(s.schema, columns, to-from)
	defer piece.Release()
	if err := s.writer.Write(piece); err != nil {
		if s.ctx.Err() != nil {
			return s.ctx.Err()
		}
		return err
	}
	return nil
}

// finish ends a stream that is complete. Without a batch it still sends the schema.
func (s *sender) finish() error { return s.writer.Close() }
