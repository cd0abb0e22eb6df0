package shell

import (
	"context"
	"sync"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// fake is a Flight SQL server whose statements are the keys of answers. Text that it has no answer for is invalid.
type fake struct {
	flightsql.BaseServer
	answers  map[string]arrow.RecordBatch
	prepares bool            // whether it can prepare, and so tell what has an effect
	updates  map[string]bool // told of prepared statements

	mu    sync.Mutex
	ended bool // the session has ended: the next call hears of it
	asked []string
}

func (f *fake) GetFlightInfoStatement(_ context.Context, q flightsql.StatementQuery, d *flight.FlightDescriptor) (*flight.FlightInfo, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended {
		f.ended = false
		return nil, status.Error(codes.Unauthenticated, "the session has ended")
	}
	f.asked = append(f.asked, q.GetQuery())
	if _, known := f.answers[q.GetQuery()]; !known {
		return nil, status.Error(codes.InvalidArgument, "syntax error")
	}
	ticket, err := flightsql.CreateStatementQueryTicket([]byte(q.GetQuery()))
	if err != nil {
		return nil, err
	}
	return &flight.FlightInfo{FlightDescriptor: d, TotalRecords: -1, Endpoint: []*flight.FlightEndpoint{{Ticket: &flight.Ticket{Ticket: ticket}}}}, nil
}

func (f *fake) DoGetStatement(_ context.Context, t flightsql.StatementQueryTicket) (*arrow.Schema, <-chan flight.StreamChunk, error) {
	batch := f.answers[string(t.GetStatementHandle())]
	batch.Retain()
	chunks := make(chan flight.StreamChunk, 1)
	chunks <- flight.StreamChunk{Data: batch}
	close(chunks)
	return batch.Schema(), chunks, nil
}

func (f *fake) CreatePreparedStatement(_ context.Context, r flightsql.ActionCreatePreparedStatementRequest) (out flightsql.ActionCreatePreparedStatementResult, err error) {
	if !f.prepares {
		return out, status.Error(codes.Unimplemented, "no prepared statements")
	}
	update := f.updates[r.GetQuery()]
	out.Handle, out.IsUpdate = []byte("x"), &update
	return out, nil
}

func (f *fake) ClosePreparedStatement(context.Context, flightsql.ActionClosePreparedStatementRequest) error {
	return nil
}

func (f *fake) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended = true
}

func (f *fake) questions() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asked
}

// serve starts f on a free port and gives its URI.
func (f *fake) serve(t *testing.T) string {
	t.Helper()
	f.Alloc = memory.DefaultAllocator
	s := flight.NewServerWithMiddleware(nil)
	s.RegisterFlightService(flightsql.NewFlightServer(f))
	if err := s.Init("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve() }()
	t.Cleanup(func() {
		s.Shutdown()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return "grpc://" + s.Addr().String()
}

func counting(name string, n int64) arrow.RecordBatch {
	schema := arrow.NewSchema([]arrow.Field{{Name: name, Type: arrow.PrimitiveTypes.Int64}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	b.Field(0).(*array.Int64Builder).Append(n)
	return b.NewRecordBatch()
}
