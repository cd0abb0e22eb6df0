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

// maxRemembered bounds how many statements are remembered that were cancelled, and how many that were read, or some endpoints of them.
const maxRemembered = 4096

// running knows the open streams of every statement, and which statements were cancelled: their tickets are good for nothing any more.
type running struct {
	mu        sync.Mutex
	reads     map[statementKey]*reading // that have open streams
	cancelled recent[struct{}]
	ended     recent[*reading] // of which endpoints were read to the end, and none is now
}

// recent keeps the statements that were put into it last, with something about each.
type recent[V any] struct {
	known map[statementKey]V
	order []statementKey // oldest first
}

func (m *recent[V]) has(k statementKey) bool {
	_, known := m.known[k]
	return known
}

func (m *recent[V]) put(k statementKey, v V) {
	if m.known == nil {
		m.known = map[statementKey]V{}
	}
	if !m.has(k) {
		m.order = append(m.order, k)
	}
	if m.known[k] = v; len(m.order) > maxRemembered {
		delete(m.known, m.order[0])
		m.order = m.order[1:]
	}
}

// statementKey is a statement of a user: nobody cancels another's.
type statementKey struct {
	statement string
	owner     auth.Principal
}

func newRunning() *running { return &running{reads: map[statementKey]*reading{}} }

// errCancelled is why a stream ended that CancelFlightInfo ended.
func errCancelled() error { return fault.New(fault.Canceled, "the statement was cancelled") }

// start registers a stream; call stop when it is over.
func (r *running) start(ctx context.Context, k statementKey) (_ context.Context, of *stream, stop func(), err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cancelled.has(k) {
		return nil, nil, nil, errCancelled()
	}
	ctx, cancel := context.WithCancelCause(ctx)
	of = &stream{running: r, statement: r.find(k), cancel: cancel}
	if of.statement == nil {
		of.statement = &reading{streams: map[*stream]struct{}{}, read: map[int]int{}}
	}
	r.reads[k] = of.statement
	of.statement.open(of)
	return ctx, of, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		cancel(nil)
		if !of.statement.close(of) {
			return
		}
		delete(r.reads, k)
		if len(of.statement.read) > 0 {
			r.ended.put(k, of.statement)
		}
	}, nil
}

// find gives what is known of the reading of a statement; nil: nothing.
func (r *running) find(k statementKey) *reading {
	if of := r.reads[k]; of != nil {
		return of
	}
	return r.ended.known[k]
}

// progress tells how much of a statement was read; false: nobody reads it, and no endpoint of it was read to its end.
func (r *running) progress(k statementKey) (progress, bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cancelled.has(k) {
		return progress{}, false, errCancelled()
	}
	of := r.find(k)
	if of == nil {
		return progress{}, false, nil
	}
	return of.progress(), true, nil
}

// open is the number of statements with open streams.
func (r *running) open() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.reads)
}

// cancel ends a statement's streams, now and later.
func (r *running) cancel(k statementKey) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if of := r.reads[k]; of != nil {
		for s := range of.streams {
			s.cancel(errCancelled())
		}
	}
	r.cancelled.put(k, struct{}{})
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
