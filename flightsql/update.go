package flightsql

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/flight"
	upstream "github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	pb "github.com/apache/arrow-go/v18/arrow/flight/gen/flight"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/skua-data/skua/fault"
)

// DoPut looks at the first message before the router does, which would trip over one without a descriptor.
func (s *service) DoPut(stream flight.FlightService_DoPutServer) error {
	if err := s.server.refuseNew(); err != nil {
		return err
	}
	first, err := stream.Recv()
	if errors.Is(err, io.EOF) {
		return fault.New(fault.Invalid, "the stream ended before its first message")
	}
	if err != nil {
		return err
	}
	if first.GetFlightDescriptor() == nil {
		return fault.New(fault.Invalid, "the first message has no descriptor")
	}
	var command anypb.Any
	if proto.Unmarshal(first.FlightDescriptor.Cmd, &command) == nil && command.MessageIs(&pb.CommandStatementIngest{}) {
		return fault.New(fault.Unsupported, "Skua reads only: bulk ingestion is not supported")
	}
	silent := command.MessageIs(&pb.CommandPreparedStatementQuery{}) && callerOf(stream.Context()).leaksAnswers()
	return s.FlightServiceServer.DoPut(&putStream{stream, first, silent})
}

// leaksAnswers reports whether a client may be Arrow's JDBC driver 16, which is known by its transport. It does not look at the answer to bound parameters,
// and fails when it is closed because it still holds that; clients of the same transport that do look can do without.
func (c *caller) leaksAnswers() bool {
	return strings.HasPrefix(c.header("user-agent"), "grpc-java-netty/1.63.")
}

// putStream gives back a message that was read ahead.
type putStream struct {
	flight.FlightService_DoPutServer
	first  *flight.FlightData
	silent bool // nothing is answered
}

// Send answers, unless the client had better not hear it.
func (p *putStream) Send(r *flight.PutResult) error {
	if p.silent {
		return nil
	}
	return p.FlightService_DoPutServer.Send(r)
}

// Recv gives the first message first.
func (p *putStream) Recv() (*flight.FlightData, error) {
	if first := p.first; first != nil {
		p.first = nil
		return first, nil
	}
	return p.FlightService_DoPutServer.Recv()
}

// DoPutCommandStatementUpdate has the statement's effect and gives the number of rows affected; a query is run, and gives -1.
func (s *Server) DoPutCommandStatementUpdate(ctx context.Context, u upstream.StatementUpdate) (int64, error) {
	if err := refuseTransaction(u.GetTransactionId()); err != nil {
		return 0, err
	}
	return updated(s.run(ctx, arrived{u.GetQuery(), updatePath}))
}

func updated(result *outcome, err error) (int64, error) {
	if err != nil {
		return 0, err
	}
	n := result.Updated()
	return n, result.Close()
}

// DoPutPreparedStatementUpdate has the statement's effect once for each row of parameters: n times for n rows, not at all for columns without rows, and once
// where there are no columns.
func (s *Server) DoPutPreparedStatementUpdate(ctx context.Context, u upstream.PreparedStatementUpdate, r flight.MessageReader) (int64, error) {
	h, err := s.handles.get(u.GetPreparedStatementHandle(), callerOf(ctx).principal)
	if err != nil {
		return 0, err
	}
	defer h.release()
	args, err := s.readParameters(r)
	if err != nil {
		return 0, err
	}
	if args == nil {
		return updated(s.runHandle(ctx, h, nil))
	}
	defer args.Release()
	return s.updateEach(ctx, h, args)
}

// updateEach adds up the counts; one unknown count makes the sum unknown.
func (s *Server) updateEach(ctx context.Context, h *lease, args arrow.RecordBatch) (total int64, err error) {
	for i := range args.NumRows() {
		row := args.NewSlice(i, i+1)
		n, err := updated(s.runHandle(ctx, h, row))
		row.Release()
		if err != nil {
			return 0, fault.Wrap(err, "row %d of the parameters", i+1)
		}
		if n < 0 || total < 0 {
			total = -1
			continue
		}
		total += n
	}
	return total, nil
}
