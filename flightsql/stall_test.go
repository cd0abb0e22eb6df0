package flightsql

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/apache/arrow-go/v18/arrow/flight"
	"google.golang.org/grpc/codes"
)

// TestAClientThatTakesNothingIsNotWaitedForForEver: its reader is closed while it stays connected, and it is told why when it reads on. So it is where
// somebody cancels what it does not read.
func TestAClientThatTakesNothingIsNotWaitedForForEver(t *testing.T) {
	for _, c := range []struct {
		name  string
		limit time.Duration
		code  codes.Code
		why   string
	}{
		{"stalled", 50 * time.Millisecond, codes.DeadlineExceeded, "skua.fetch.stall.timeout"},
		{"cancelled", 0, codes.Canceled, "cancelled"},
		{"cancelled before it is stalled", time.Hour, codes.Canceled, "cancelled"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := start(t, func(config *Config) { config.Limits.Stall = c.limit })
			client := w.connect()
			info, err := client.Execute(client.ctx, "ENDLESS")
			check(t, err)
			stream, err := client.Client.Client.DoGet(client.ctx, info.Endpoint[0].Ticket)
			check(t, err)
			if c.code == codes.Canceled {
				for sent := int64(-1); sent != w.engine.batches.Load(); time.Sleep(50 * time.Millisecond) { // until nothing more is taken
					sent = w.engine.batches.Load()
				}
				_, err := client.CancelFlightInfo(client.ctx, &flight.CancelFlightInfoRequest{Info: info})
				check(t, err)
			}
			for end := time.Now().Add(time.Minute); w.engine.closedReaders.Load() == 0; time.Sleep(time.Millisecond) {
				if time.Now().After(end) {
					t.Fatal("the reader is still open")
				}
			}
			for err == nil {
				_, err = stream.Recv()
			}
			wantCode(t, err, c.code, c.why)
			check(t, w.server.Close())
		})
	}
}

// reluctant is a stream to a client that takes messages one by one, and whose transport tells of them by the quarter of what it buffers.
type reluctant struct {
	flight.FlightService_DoGetServer
	window, credit, untold int
	mu                     sync.Mutex
	told                   sync.Cond
	unread                 []int
	left                   bool
}

func (r *reluctant) Send(data *flight.FlightData) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.credit <= 0 && !r.left {
		r.told.Wait()
	}
	if r.left {
		return context.Canceled
	}
	r.credit -= len(data.DataBody)
	r.unread = append(r.unread, len(data.DataBody))
	return nil
}

// take takes one message.
func (r *reluctant) take() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.untold += r.unread[0]
	r.unread = r.unread[1:]
	if r.untold >= r.window/4 {
		r.credit, r.untold = r.credit+r.untold, 0
		r.told.Broadcast()
	}
}

func (r *reluctant) leave() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left = true
	r.told.Broadcast()
}

// TestAClientThatTakesAMessageNowAndThenIsWaitedFor, though its transport tells of several at once; once it takes none, it is not.
func TestAClientThatTakesAMessageNowAndThenIsWaitedFor(t *testing.T) {
	const limit = 10 * time.Minute
	for _, size := range []int{300 << 10, 512 << 10, 1 << 20, 2 << 20, 3 << 20} {
		synctest.Test(t, func(t *testing.T) {
			client := &reluctant{window: 16 << 20, credit: 16 << 20}
			client.told.L = &client.mu
			ctx, end := context.WithCancelCause(t.Context())
			a := &attended{FlightService_DoGetServer: client, limit: limit, end: end}
			done := make(chan struct{})
			go func() {
				defer close(done)
				for a.Send(&flight.FlightData{DataBody: make([]byte, size)}) == nil {
				}
			}()
			for n := range 200 {
				time.Sleep(limit - time.Second)
				if ctx.Err() != nil {
					t.Fatalf("messages of %d bytes: after %d: %v", size, n, context.Cause(ctx))
				}
				client.take()
			}
			time.Sleep((unseenMessages + 1) * limit)
			if ctx.Err() == nil {
				t.Errorf("messages of %d bytes: a client that takes none is waited for", size)
			}
			client.leave()
			<-done
		})
	}
}
