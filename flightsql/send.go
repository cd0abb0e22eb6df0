package flightsql

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/fault"
)

// batchBytes is the size that batches are cut to: clients take messages of 4 MiB, some no larger, and a message is a little more than its batch.
const batchBytes = 2 << 20

// sender writes batches to one stream. It blocks while the client does not read, and nothing is read ahead here, so a slow client slows the reader down:
// gRPC has one message, and the batch that it is cut from, beside the one that is being sent.
type sender struct {
	stream flight.FlightService_DoGetServer
	schema *arrow.Schema
	mem    memory.Allocator
	loans  *loans
	opened bool // the schema was sent
}

func (s *Server) newSender(stream flight.FlightService_DoGetServer, schema *arrow.Schema) *sender {
	return &sender{stream: stream, schema: schema, mem: s.mem, loans: &connectionOf(stream.Context()).loans}
}

// open sends the schema, once.
func (s *sender) open() error {
	if s.opened {
		return nil
	}
	s.opened = true
	payload := ipc.GetSchemaPayload(s.schema, s.mem)
	defer payload.Release()
	meta := payload.Meta()
	defer meta.Release()
	return s.stream.Send(&flight.FlightData{DataHeader: meta.Bytes()})
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
	if err := s.open(); err != nil {
		return s.why(err)
	}
	piece := s.cut(b, from, to)
	defer piece.Release()
	f, err := newFrame(piece, s.mem, s.loans)
	if err != nil {
		return err
	}
	defer f.free()
	return s.why(s.stream.SendMsg(f))
}

// cut gives the rows from..to of a batch, with the schema that was announced.
func (s *sender) cut(b arrow.RecordBatch, from, to int64) arrow.RecordBatch {
	if from == 0 && to == b.NumRows() {
		return array.NewRecordBatch(s.schema, b.Columns(), to)
	}
	columns := make([]arrow.Array, b.NumCols())
	for i := range columns {
		columns[i] = array.NewSlice(b.Column(i), from, to)
		defer columns[i].Release()
	}
	return array.NewRecordBatch(s.schema, columns, to-from)
}

// why gives the reason that the call has for its end, if it ended.
func (s *sender) why(err error) error {
	if err == nil {
		return nil
	}
	if ended := s.stream.Context().Err(); ended != nil {
		return ended
	}
	return err
}

// finish ends a stream that is complete. Without a batch it still sends the schema.
func (s *sender) finish() error { return s.why(s.open()) }
