package flightsql

import (
	"context"
	"crypto/rand"
	"strings"
	"sync"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/skua-data/skua/auth"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/resource"
)

const (
	pollPrefix    = "skua-poll:"
	firstPatience = 250 * time.Millisecond // until the first answer of a statement that is still being planned
	pollPatience  = 5 * time.Second        // until a later one
	readPatience  = time.Second            // until one about a statement that is read
	pollIdle      = 2 * time.Minute        // without a poll a statement is given up
	maxPolls      = 256                    // statements that are being planned or wait for their poll
	maxPollsEach  = 32                     // of one user
)

// polls are the statements that are planned in the background for clients that poll.
type polls struct {
	now func() time.Time

	mu   sync.Mutex
	byID map[string]*poll
	jobs sync.WaitGroup
}

// poll is one of them. What stands below done is set when that is closed, but for schema and share.
type poll struct {
	id     string
	owner  auth.Principal
	asked  *flight.FlightDescriptor
	cancel context.CancelCauseFunc
	used   time.Time // belongs to polls.mu
	done   chan struct{}
	known  chan struct{} // closed when schema is set, once
	schema []byte        // of the rows, as soon as the statement is prepared
	share  resource.Progress
	info   *flight.FlightInfo
	err    error
	header metadata.MD // what the statement told the client, its session's cookie
}

func newPolls(now func() time.Time) *polls { return &polls{now: now, byID: map[string]*poll{}} }

// background is the transport of a statement that outlives the call it came by: it keeps the headers for the call that answers.
type background struct{ poll *poll }

var _ grpc.ServerTransportStream = background{}

// Method is that of the call.
func (background) Method() string { return "/arrow.flight.protocol.FlightService/PollFlightInfo" }

// SetHeader keeps headers.
func (b background) SetHeader(md metadata.MD) error {
	b.poll.header = metadata.Join(b.poll.header, md)
	return nil
}

// SendHeader keeps headers.
func (b background) SendHeader(md metadata.MD) error { return b.SetHeader(md) }

// SetTrailer has nowhere to go.
func (background) SetTrailer(metadata.MD) error { return nil }

// start plans a statement in the background.
func (p *polls) start(ctx context.Context, d *flight.FlightDescriptor, plan func(context.Context) (*flight.FlightInfo, error)) (*poll, error) {
	owner := callerOf(ctx).principal
	p.mu.Lock()
	defer p.mu.Unlock()
	own := 0
	for _, other := range p.byID {
		if p.now().Sub(other.used) > pollIdle {
			other.cancel(fault.New(fault.Canceled, "nobody polled for %s", pollIdle))
			delete(p.byID, other.id)
		} else if other.owner == owner {
			own++
		}
	}
	if len(p.byID) >= maxPolls || own >= maxPollsEach {
		return nil, fault.New(fault.Exhausted, "there are too many polled statements; finish or cancel some, or use GetFlightInfo")
	}
	job := &poll{id: rand.Text(), owner: owner, asked: d, used: p.now(), done: make(chan struct{}), known: make(chan struct{})}
	detached, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	job.cancel = cancel
	detached = grpc.NewContextWithServerTransportStream(detached, background{job})
	detached = resource.WithProgress(context.WithValue(detached, pollKey{}, job), &job.share)
	p.byID[job.id] = job
	p.jobs.Go(func() {
		defer cancel(nil)
		defer close(job.done)
		defer fault.Recover(&job.err, fault.Internal, "PollFlightInfo")
		if job.info, job.err = plan(detached); detached.Err() != nil { // cancelled is cancelled, even where the plan was quicker
			job.info, job.err = nil, context.Cause(detached)
		}
	})
	return job, nil
}

type pollKey struct{}

// announce tells whoever polls for the statement under ctx what its rows will look like, before it is planned.
func (s *Server) announce(ctx context.Context, f form, schema *arrow.Schema) {
	job, ok := ctx.Value(pollKey{}).(*poll)
	if !ok || schema == nil {
		return
	}
	select {
	case <-job.known: // prepared again
		return
	default:
	}
	if sent, err := f.schema(schema); err == nil { // an error is the plan's to tell
		job.schema = flight.SerializeSchema(sent, s.mem)
		close(job.known)
	}
}

// find gives the caller's poll of an id.
func (p *polls) find(id string, owner auth.Principal) (*poll, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	job := p.byID[id]
	if job == nil || job.owner != owner {
		return nil, fault.New(fault.NotFound, "the polled statement is not known: it was finished, was not polled for too long, or is another user's")
	}
	job.used = p.now()
	return job, nil
}

func (p *polls) forget(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.byID, id)
}

// cancelled ends a poll by its id, if it is the caller's, and gives the endpoints of one whose planning was done before.
func (p *polls) cancelled(id string, owner auth.Principal) ([]*flight.FlightEndpoint, error) {
	job, err := p.find(id, owner)
	if err != nil {
		return nil, err
	}
	select {
	case <-job.done:
		return job.info.GetEndpoint(), nil
	default:
		job.cancel(errCancelled())
		return nil, nil
	}
}

// close ends all and waits for them.
func (p *polls) close() {
	p.mu.Lock()
	for _, job := range p.byID {
		job.cancel(fault.New(fault.Unavailable, "the server is shutting down"))
	}
	p.mu.Unlock()
	p.jobs.Wait()
}

// PollFlightInfo plans in the background and answers soon: with the whole FlightInfo where planning is done, else with its schema, how much of the planning is
// done, and a descriptor to poll again with. The first answer waits a little longer for the schema, which clients want early. Rows are made when they are
// fetched, so there is no more to wait for: while a statement is read, the app metadata of its endpoints behind pollPrefix is the descriptor that tells how much was. A
// descriptor can be polled until the server forgets it.
func (s *service) PollFlightInfo(ctx context.Context, d *flight.FlightDescriptor) (*flight.PollInfo, error) {
	again, isPoll := strings.CutPrefix(string(d.GetCmd()), pollPrefix)
	patience := pollPatience
	job, err := s.server.polls.find(again, callerOf(ctx).principal)
	if !isPoll {
		if err := s.server.refuseNew(); err != nil {
			return nil, err
		}
		patience = firstPatience
		job, err = s.server.polls.start(ctx, d, func(ctx context.Context) (*flight.FlightInfo, error) { return s.GetFlightInfo(ctx, d) })
	}
	if err != nil {
		if isPoll {
			if read, readErr := s.pollRead(ctx, again); read != nil || readErr != nil {
				return read, readErr
			}
		}
		return nil, err
	}
	if err := job.wait(ctx, patience); err != nil {
		return nil, err
	}
	select {
	case <-job.done:
		if !isPoll { // nobody has a descriptor of it
			s.server.polls.forget(job.id)
		}
		return s.polled(ctx, job)
	default:
		return s.unfinished(job), nil
	}
}

// pollRead tells how much of a statement was read, soon after it was asked or when the last stream ends; nil: nobody reads it. Between the endpoints of one
// that a client reads one after the other, it is read still.
func (s *service) pollRead(ctx context.Context, statement string) (*flight.PollInfo, error) {
	key := statementKey{statement, callerOf(ctx).principal}
	now, known, err := s.server.running.progress(key)
	if !known {
		return nil, err
	}
	if now.share < 1 {
		soon := time.NewTimer(readPatience)
		defer soon.Stop()
		select {
		case <-now.idle:
		case <-soon.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if now, known, err = s.server.running.progress(key); !known {
		return nil, err
	}
	out := &flight.PollInfo{Info: &flight.FlightInfo{TotalRecords: -1, TotalBytes: -1, AppMetadata: []byte(pollPrefix + statement)}, Progress: &now.share}
	if now.share < 1 {
		out.FlightDescriptor = &flight.FlightDescriptor{Type: flight.DescriptorCMD, Cmd: []byte(pollPrefix + statement)}
		out.ExpirationTime = timestamppb.New(s.server.polls.now().Add(pollIdle))
	}
	return out, nil
}

// wait is over when planning is, or after a time: patience, or when the schema is known where that takes longer, but never much longer.
func (p *poll) wait(ctx context.Context, patience time.Duration) error {
	limit, soon := time.NewTimer(pollPatience), time.NewTimer(patience)
	defer limit.Stop()
	defer soon.Stop()
	var known <-chan struct{} // nil until patience is over
	for {
		select {
		case <-p.done:
			return nil
		case <-soon.C:
			known = p.known
		case <-known:
			return nil
		case <-limit.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// polled gives the outcome of planning.
func (s *service) polled(ctx context.Context, job *poll) (*flight.PollInfo, error) {
	if job.err != nil {
		return nil, job.err
	}
	if len(job.header) > 0 && grpc.ServerTransportStreamFromContext(ctx) != nil {
		if err := grpc.SetHeader(ctx, job.header); err != nil {
			return nil, err
		}
	}
	progress := 1.0
	return &flight.PollInfo{Info: job.info, Progress: &progress}, nil
}

// unfinished gives what is known while planning goes on: of the manifests that are to be read, the share that was read. Before that is known there is no
// progress, and none is made up.
func (s *service) unfinished(job *poll) *flight.PollInfo {
	info := &flight.FlightInfo{FlightDescriptor: job.asked, TotalRecords: -1, TotalBytes: -1, AppMetadata: []byte(pollPrefix + job.id)}
	select {
	case <-job.known:
		info.Schema = job.schema
	default:
	}
	out := &flight.PollInfo{Info: info, FlightDescriptor: &flight.FlightDescriptor{Type: flight.DescriptorCMD, Cmd: []byte(pollPrefix + job.id)},
		ExpirationTime: timestamppb.New(s.server.polls.now().Add(pollIdle))}
	if share, known := job.share.Share(); known {
		out.Progress = &share
	}
	return out
}
