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
	"github.com/skua-data/skua/resource"
)

// maxRemembered bounds how many statements are remembered that were cancelled, and how many that were read.
const maxRemembered = 4096

// running knows the open streams of every statement, and which statements were cancelled: their tickets are good for nothing any more.
type running struct {
	mu        sync.Mutex
	streams   map[statementKey]*reading
	cancelled recent
	finished  recent // read to the end
}

// reading is a statement that is read, by one stream or several.
type reading struct {
	streams map[*context.CancelCauseFunc]struct{}
	share   resource.Progress
	most    float64       // that was told of it
	done    chan struct{} // closed when no stream is open any more
}

// recent keeps the statements that were put into it last.
type recent struct {
	known map[statementKey]struct{}
	order []statementKey // oldest first
}

func (m *recent) has(k statementKey) bool {
	_, known := m.known[k]
	return known
}

func (m *recent) put(k statementKey) {
	if m.has(k) {
		return
	}
	if m.known == nil {
		m.known = map[statementKey]struct{}{}
	}
	m.known[k] = struct{}{}
	if m.order = append(m.order, k); len(m.order) > maxRemembered {
		delete(m.known, m.order[0])
		m.order = m.order[1:]
	}
}

// statementKey is a statement of a user: nobody cancels another's.
type statementKey struct {
	statement string
	owner     auth.Principal
}

func newRunning() *running { return &running{streams: map[statementKey]*reading{}} }

// errCancelled is why a stream ended that CancelFlightInfo ended.
func errCancelled() error { return fault.New(fault.Canceled, "the statement was cancelled") }

// start registers a stream, under whose context the statement's progress is counted; call stop when it is over.
func (r *running) start(ctx context.Context, k statementKey) (_ context.Context, of *reading, stop func(), err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cancelled.has(k) {
		return nil, nil, nil, errCancelled()
	}
	ctx, cancel := context.WithCancelCause(ctx)
	of = r.streams[k]
	if of == nil {
		of = &reading{streams: map[*context.CancelCauseFunc]struct{}{}, done: make(chan struct{})}
		r.streams[k] = of
	}
	of.streams[&cancel] = struct{}{}
	return ctx, of, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		cancel(nil)
		if delete(of.streams, &cancel); len(of.streams) == 0 {
			delete(r.streams, k)
			close(of.done)
		}
	}, nil
}

// finish notes that a statement was read to its end.
func (r *running) finish(k statementKey) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.finished.put(k)
}

// nearlyAll is the most that is told of a statement that is not read to its end: what follows its scans is not counted.
const nearlyAll = 0.99

// progress gives how much of a statement was read, which only grows, and what is closed when nobody reads it any more; nil: nobody does. It is not known
// whether a statement of which nobody knows was ever read.
func (r *running) progress(k statementKey) (share float64, reading <-chan struct{}, known bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.finished.has(k) {
		return 1, nil, true
	}
	of := r.streams[k]
	if of == nil {
		return 0, nil, r.cancelled.has(k)
	}
	if now, counted := of.share.Share(); counted {
		of.most = max(of.most, min(now, nearlyAll))
	}
	return of.most, of.done, true
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
	if of := r.streams[k]; of != nil {
		for stop := range of.streams {
			(*stop)(errCancelled())
		}
	}
	r.cancelled.put(k)
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
