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
	form   form
	mem    memory.Allocator
	loans  *loans
	limit  int64          // the most bytes of one row
	opened bool           // the schema was sent
	writer *flight.Writer // for dictionaries, which frames do not carry; else nil
}

func (s *Server) newSender(stream flight.FlightService_DoGetServer, schema *arrow.Schema, f form) *sender {
	out := &sender{stream: stream, schema: schema, form: f, mem: s.mem, loans: &connectionOf(stream.Context()).loans,
		limit: s.messageLimit(stream.Context())}
	if f.Dictionaries {
		out.writer = flight.NewRecordWriter(stream, append(f.ipcOptions(), ipc.WithSchema(schema), ipc.WithAllocator(s.mem))...)
	}
	return out
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

// send writes a batch, cut where it is large. A single row is sent as it is, or refused where the client would not take it. The batch stays the caller's.
func (s *sender) send(b arrow.RecordBatch) error {
	if s.form.plain() {
		if err := s.check(b); err != nil {
			return err
		}
		return s.pieces(b, s.write)
	}
	return s.pieces(b, s.sendConverted)
}

// sendConverted sends rows in the session's form, which may be larger than they were.
func (s *sender) sendConverted(b arrow.RecordBatch) error {
	if int(b.NumCols()) != s.schema.NumFields() {
		return s.check(b)
	}
	converted := s.form.batch(b, s.schema, s.mem)
	defer converted.Release()
	if err := s.check(converted); err != nil {
		return err
	}
	return s.pieces(converted, s.write)
}

// pieces gives a batch in pieces that fit into a message.
func (s *sender) pieces(b arrow.RecordBatch, each func(arrow.RecordBatch) error) error {
	for from := int64(0); from < b.NumRows(); {
		n := rowsWithin(b, from, batchBytes)
		piece := cut(b, from, from+n)
		var err error
		if n == 1 && batchSize(b, from, from+1) > s.limit {
			err = s.refuseRow(piece)
		} else {
			err = each(piece)
		}
		piece.Release()
		if err != nil {
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

func (s *sender) write(b arrow.RecordBatch) error {
	announced := array.NewRecordBatch(s.schema, b.Columns(), b.NumRows())
	defer announced.Release()
	if s.writer != nil {
		return s.why(s.writer.Write(announced))
	}
	if err := s.open(); err != nil {
		return s.why(err)
	}
	f, err := newFrame(announced, s.mem, s.loans, s.form.ipcOptions()...)
	if err != nil {
		return err
	}
	defer f.free()
	return s.why(s.stream.SendMsg(f))
}

// cut gives the rows from..to of a batch.
func cut(b arrow.RecordBatch, from, to int64) arrow.RecordBatch {
	if from == 0 && to == b.NumRows() {
		b.Retain()
		return b
	}
	return b.NewSlice(from, to)
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
func (s *sender) finish() error {
	if s.writer != nil {
		return s.why(s.writer.Close())
	}
	return s.why(s.open())
}
