package flightsql

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/flight"
	pb "github.com/apache/arrow-go/v18/arrow/flight/gen/flight"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/resource"
)

// DoGet streams what a ticket stands for: the parts of a pinned result, or a listing, whose ticket is its command. It has no effect, so it can be repeated. It
// does without the router, whose channel would be one more buffer and goroutine for each stream. It goes on while the server drains: the work was accepted.
func (s *service) DoGet(t *flight.Ticket, stream flight.FlightService_DoGetServer) error {
	var packed anypb.Any
	if err := proto.Unmarshal(t.GetTicket(), &packed); err != nil {
		return fault.New(fault.Invalid, "the ticket cannot be read")
	}
	command, err := packed.UnmarshalNew()
	if err != nil {
		return fault.New(fault.Invalid, "the ticket cannot be read")
	}
	if statement, ok := command.(*pb.TicketStatementQuery); ok {
		return s.server.sendStatement(statement.StatementHandle, stream)
	}
	return s.server.attend(stream.Context(), stream, func(ctx context.Context, stream flight.FlightService_DoGetServer) error {
		return s.server.sendListing(ctx, command, stream)
	})
}

func (s *Server) sendStatement(handle []byte, stream flight.FlightService_DoGetServer) error {
	ctx := stream.Context()
	t, err := s.openTicket(ctx, handle)
	if err != nil {
		return err
	}
	ctx, of, stop, err := s.running.start(ctx, statementKey{t.Pin.Statement, callerOf(ctx).principal})
	if err != nil {
		return err
	}
	defer stop()
	return s.attend(ctx, stream, func(ctx context.Context, stream flight.FlightService_DoGetServer) error {
		err := s.sendParts(ctx, t, of, stream)
		if err != nil && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return err
	})
}

// sendParts sends the parts of a ticket and counts on of how much of them was.
func (s *Server) sendParts(ctx context.Context, t ticket, of *stream, to flight.FlightService_DoGetServer) error {
	result, err := s.config.Engine.Resume(ctx, t.Pin)
	if err != nil {
		return err
	}
	defer result.Close()
	schema, err := t.Form.schema(result.Schema())
	if err != nil {
		return err
	}
	if t.From < 0 || t.From > t.To || t.To > result.Parts() {
		return fault.New(fault.Invalid, "the ticket's parts %d to %d are not among the result's %d", t.From, t.To, result.Parts())
	}
	of.reads(t.From, t.To, result.Parts())
	ctx = resource.WithProgress(ctx, &of.share)
	reader, err := result.Open(ctx, t.From, t.To)
	if err != nil {
		return err
	}
	defer reader.Release()
	if err := copyBatches(ctx, reader, s.newSender(to, schema, t.Form)); err != nil {
		return err
	}
	of.finished()
	return nil
}

// copyBatches sends what reader gives. A reader that ends early must not look like one that is done.
func copyBatches(ctx context.Context, reader array.RecordReader, to *sender) error {
	for reader.Next() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := to.send(reader.RecordBatch()); err != nil {
			return err
		}
	}
	if err := reader.Err(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return to.finish()
}

func (s *Server) sendListing(ctx context.Context, command proto.Message, stream flight.FlightService_DoGetServer) error {
	l, err := s.listing(ctx, command)
	if err != nil {
		return err
	}
	to := s.newSender(stream, l.schema, form{})
	for batch, err := range l.batches {
		if err != nil {
			return err
		}
		err := sendAndRelease(to, batch)
		if err != nil {
			return err
		}
	}
	return to.finish()
}

func sendAndRelease(to *sender, batch arrow.RecordBatch) error {
	defer batch.Release()
	return to.send(batch)
}
