package flightsql

import (
	"context"
	"strings"
	"sync"

	"github.com/apache/arrow-go/v18/arrow/flight"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/skua-data/skua/auth"
	"github.com/skua-data/skua/fault"
)

// maxCancelled bounds how many cancelled statements are remembered.
const maxCancelled = 4096

// running knows the open streams of every statement, and which statements were cancelled: their tickets are good for nothing any more.
type running struct {
	mu        sync.Mutex
	streams   map[statementKey]map[*context.CancelCauseFunc]struct{}
	cancelled map[statementKey]struct{}
	order     []statementKey // of cancelled, oldest first
}

// statementKey is a statement of a user: nobody cancels another's.
type statementKey struct {
	statement string
	owner     auth.Principal
}

func newRunning() *running {
	return &running{streams: map[statementKey]map[*context.CancelCauseFunc]struct{}{}, cancelled: map[statementKey]struct{}{}}
}

// errCancelled is why a stream ended that CancelFlightInfo ended.
func errCancelled() error { return fault.New(fault.Canceled, "the statement was cancelled") }

// start registers a stream; call stop when it is over.
func (r *running) start(ctx context.Context, k statementKey) (_ context.Context, stop func(), err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, gone := r.cancelled[k]; gone {
		return nil, nil, errCancelled()
	}
	ctx, cancel := context.WithCancelCause(ctx)
	if r.streams[k] == nil {
		r.streams[k] = map[*context.CancelCauseFunc]struct{}{}
	}
	r.streams[k][&cancel] = struct{}{}
	return ctx, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		cancel(nil)
		if delete(r.streams[k], &cancel); len(r.streams[k]) == 0 {
			delete(r.streams, k)
		}
	}, nil
}

// open is the number of statements with open streams.
func (r *running) open() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.streams)
}

// cancel ends a statement's streams, now and later.
func (r *running) cancel(k statementKey) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for stop := range r.streams[k] {
		(*stop)(errCancelled())
	}
	if _, known := r.cancelled[k]; known {
		return
	}
	r.cancelled[k] = struct{}{}
	if r.order = append(r.order, k); len(r.order) > maxCancelled {
		delete(r.cancelled, r.order[0])
		r.order = r.order[1:]
	}
}

// CancelFlightInfo ends the streams of a statement and makes its tickets worthless, whether it is being planned for a client that polls, is planned, is read or
// was read. It can be repeated. What metadata calls list cannot be cancelled: it is made while it is fetched, so the client ends that call.
func (s *Server) CancelFlightInfo(ctx context.Context, req *flight.CancelFlightInfoRequest) (flight.CancelFlightInfoResult, error) {
	endpoints := req.GetInfo().GetEndpoint()
	if id, polled := strings.CutPrefix(string(req.GetInfo().GetAppMetadata()), pollPrefix); polled && len(endpoints) == 0 {
		planned, err := s.polls.cancelled(id, callerOf(ctx).principal)
		if err != nil {
			return flight.CancelFlightInfoResult{}, err
		}
		if len(planned) == 0 {
			return flight.CancelFlightInfoResult{Status: flight.CancelStatusCancelled}, nil
		}
		endpoints = planned
	}
	if listings(endpoints) {
		return flight.CancelFlightInfoResult{Status: flight.CancelStatusNotCancellable}, nil
	}
	if err := s.cancelEndpoints(ctx, endpoints); err != nil {
		return flight.CancelFlightInfoResult{}, err
	}
	return flight.CancelFlightInfoResult{Status: flight.CancelStatusCancelled}, nil
}

// listings reports whether endpoints are of metadata, whose tickets are their commands.
func listings(endpoints []*flight.FlightEndpoint) bool {
	for _, e := range endpoints {
		var command anypb.Any
		if proto.Unmarshal(e.GetTicket().GetTicket(), &command) != nil || !strings.Contains(command.TypeUrl, ".sql.CommandGet") {
			return false
		}
	}
	return len(endpoints) > 0
}

func (s *Server) cancelEndpoints(ctx context.Context, endpoints []*flight.FlightEndpoint) error {
	if len(endpoints) == 0 {
		return fault.New(fault.Invalid, "the FlightInfo has no endpoint")
	}
	for _, e := range endpoints {
		t, err := s.endpointTicket(ctx, e)
		if err != nil {
			return err
		}
		s.running.cancel(statementKey{t.Pin.Statement, callerOf(ctx).principal})
	}
	return nil
}
