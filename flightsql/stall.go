package flightsql

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/apache/arrow-go/v18/arrow/flight"

	"github.com/skua-data/skua/fault"
)

// attended is a stream whose client is waited for with patience, but not for ever: one that takes no message for as long as limit ends the call. What it takes
// is seen late: its transport tells once a quarter of what it buffers was taken, so it may take several messages for limit each before one more can be sent.
type attended struct {
	flight.FlightService_DoGetServer
	limit   time.Duration // 0: there is none
	end     context.CancelCauseFunc
	waiting atomic.Bool // a message is being sent
	sent    []int       // the sizes of the last messages, the latest last: those that the client may take unseen
}

// What a client may take unseen: a quarter of the 16 MiB, or half of the 8 MiB, that transports buffer at most. Small messages count up to a number.
const (
	unseenBytes    = 4 << 20
	unseenMessages = 16
)

var _ flight.FlightService_DoGetServer = (*attended)(nil)

// Send sends a message.
func (a *attended) Send(data *flight.FlightData) error {
	return a.during(len(data.DataBody), func() error { return a.FlightService_DoGetServer.Send(data) })
}

// SendMsg sends a message.
func (a *attended) SendMsg(message any) error {
	size := 0
	if f, ok := message.(*frame); ok {
		size = f.size
	}
	return a.during(size, func() error { return a.FlightService_DoGetServer.SendMsg(message) })
}

func (a *attended) during(size int, send func() error) error {
	a.waiting.Store(true)
	defer a.waiting.Store(false)
	if a.limit > 0 {
		patience := a.limit * time.Duration(1+len(a.sent))
		defer time.AfterFunc(patience, func() { a.end(errStalled(patience)) }).Stop()
		a.note(size)
	}
	return send()
}

// note keeps the last messages that together are what a client may take unseen.
func (a *attended) note(size int) {
	a.sent = append(a.sent, size)
	bytes := 0
	for i := len(a.sent) - 1; i >= 0; i-- {
		if bytes += a.sent[i]; bytes >= unseenBytes || len(a.sent)-i == unseenMessages {
			a.sent = a.sent[i:]
			return
		}
	}
}

// errStalled is why a stream ended whose client took nothing.
func errStalled(limit time.Duration) error {
	return fault.New(fault.Deadline, "the client took nothing of the result for %s", limit).Change("skua.fetch.stall.timeout")
}

// unanswered is how often a call that is over looks whether only its client keeps it.
const unanswered = 10 * time.Millisecond

// attend has send write to a stream, under a context that ends with ctx or when the client takes nothing for too long. gRPC waits for a client until the call is
// over, so the call ends without send where a message is still being sent then: that fails once the call has ended, and Close waits for it.
func (s *Server) attend(ctx context.Context, stream flight.FlightService_DoGetServer, send func(context.Context, flight.FlightService_DoGetServer) error) error {
	call := stream.Context()
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	a := &attended{FlightService_DoGetServer: stream, limit: s.config.Limits.Stall, end: end}
	done := make(chan error, 1)
	s.sending.Go(func() { done <- recovered(func() error { return send(ctx, a) }) })
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	why := context.Cause(ctx)
	for look := time.NewTicker(unanswered); ; {
		select {
		case err := <-done:
			look.Stop()
			return err
		case <-look.C:
			if call.Err() == nil && a.waiting.Load() {
				look.Stop()
				return why
			}
		}
	}
}

func recovered(f func() error) (err error) {
	defer fault.Recover(&err, fault.Internal, "send")
	return f()
}
