package flightsql

import (
	"context"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/flight"
	upstream "github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	pb "github.com/apache/arrow-go/v18/arrow/flight/gen/flight"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

func TestPollingASlowPlan(t *testing.T) {
	w := start(t, func(c *Config) { c.Auth = byHeader{} })
	w.engine.slow = make(chan struct{})
	c := w.connect("authorization", alice)
	first, err := c.Client.Client.PollFlightInfo(c.ctx, descriptor(t, &pb.CommandStatementQuery{Query: "SLOW"}))
	check(t, err)
	if first.FlightDescriptor == nil || first.ExpirationTime == nil || len(first.Info.Endpoint) != 0 || len(first.Info.Schema) == 0 || first.GetProgress() != 0.25 {
		t.Fatalf("%v", first)
	}
	if w.engine.prepared.Load() != 1 {
		t.Errorf("prepared %d times for its schema", w.engine.prepared.Load())
	}
	thief := w.connect("authorization", bob)
	_, err = thief.Client.Client.PollFlightInfo(thief.ctx, first.FlightDescriptor)
	wantCode(t, err, codes.NotFound, "not known")
	_, err = thief.Client.Client.CancelFlightInfo(thief.ctx, &flight.CancelFlightInfoRequest{Info: first.Info})
	wantCode(t, err, codes.NotFound, "not known")
	close(w.engine.slow)
	other := w.connect("authorization", alice) // a connection of its own
	for range 2 {                              // an old descriptor stays good
		last, err := other.Client.Client.PollFlightInfo(other.ctx, first.FlightDescriptor)
		check(t, err)
		if last.FlightDescriptor != nil || last.GetProgress() != 1 || string(last.Info.Schema) != string(first.Info.Schema) || len(other.fetch(last.Info)) != 1 {
			t.Errorf("%v", last)
		}
	}
}

func TestAPollIsCancelledAndForgotten(t *testing.T) {
	w := start(t, nil)
	w.engine.slow = make(chan struct{})
	c := w.connect()
	poll := func() *flight.PollInfo {
		t.Helper()
		p, err := c.Client.Client.PollFlightInfo(c.ctx, descriptor(t, &pb.CommandStatementQuery{Query: "SLOW"}))
		check(t, err)
		return p
	}
	p := poll()
	for range 2 {
		_, err := c.Client.Client.CancelFlightInfo(c.ctx, &flight.CancelFlightInfoRequest{Info: p.Info})
		check(t, err)
	}
	_, err := c.Client.Client.PollFlightInfo(c.ctx, p.FlightDescriptor)
	wantCode(t, err, codes.Canceled, "cancelled")
	left := poll()
	w.now = w.now.Add(2 * pollIdle)
	poll()
	_, err = c.Client.Client.PollFlightInfo(c.ctx, left.FlightDescriptor)
	wantCode(t, err, codes.NotFound, "not polled for too long")
	check(t, w.server.Close()) // ends the one that is left
}

// TestAStatementIsCancelledAtEveryStage: while it is planned, when it is planned and its client does not know, when nobody reads it, while somebody does, and after.
func TestAStatementIsCancelledAtEveryStage(t *testing.T) {
	w := start(t, nil)
	w.engine.slow = make(chan struct{})
	c := w.connect()
	cancelled := func(info *flight.FlightInfo) {
		t.Helper()
		r, err := c.Client.Client.CancelFlightInfo(c.ctx, &flight.CancelFlightInfoRequest{Info: info})
		check(t, err)
		if r.Status != flight.CancelStatusCancelled {
			t.Errorf("status %v", r.Status)
		}
	}
	worthless := func(info *flight.FlightInfo) {
		t.Helper()
		_, err := c.read(info.Endpoint[0].Ticket, info.Schema)
		wantCode(t, err, codes.Canceled, "cancelled")
	}
	poll := func(d *flight.FlightDescriptor) *flight.PollInfo {
		t.Helper()
		p, err := c.Client.Client.PollFlightInfo(c.ctx, d)
		check(t, err)
		return p
	}
	slow := descriptor(t, &pb.CommandStatementQuery{Query: "SLOW"})

	planning := poll(slow)
	cancelled(planning.Info)
	_, err := c.Client.Client.PollFlightInfo(c.ctx, planning.FlightDescriptor)
	wantCode(t, err, codes.Canceled, "cancelled")

	unaware := poll(slow)
	close(w.engine.slow)
	planned := poll(unaware.FlightDescriptor)
	cancelled(unaware.Info)
	worthless(planned.Info)

	_, unread := c.query("ROWS 1 2")
	cancelled(unread)
	cancelled(unread)
	worthless(unread)

	_, read := c.query("ROWS 1 2")
	c.fetch(read)
	cancelled(read)
	worthless(read)

	tables, err := c.GetTables(c.ctx, &upstream.GetTablesOpts{})
	check(t, err)
	r, err := c.Client.Client.CancelFlightInfo(c.ctx, &flight.CancelFlightInfoRequest{Info: tables})
	check(t, err)
	if r.Status != flight.CancelStatusNotCancellable {
		t.Errorf("a listing: status %v", r.Status)
	}
}

func TestAPolledSetReachesItsSession(t *testing.T) {
	w := start(t, nil)
	c := w.connect()
	var header metadata.MD
	_, err := c.Client.Client.PollFlightInfo(c.ctx, descriptor(t, &pb.CommandStatementQuery{Query: setX}), grpc.Header(&header))
	check(t, err)
	if len(header.Get("set-cookie")) == 0 {
		t.Errorf("no cookie: %v", header)
	}
	c.wantX("mine")
}

func TestPollsAreBounded(t *testing.T) {
	w := start(t, nil)
	w.engine.slow = make(chan struct{})
	defer close(w.engine.slow)
	ctx := w.connect().ctx
	for range maxPollsEach {
		_, err := w.server.polls.start(ctx, nil, func(context.Context) (*flight.FlightInfo, error) { return nil, nil })
		check(t, err)
	}
	_, err := w.server.polls.start(ctx, nil, func(context.Context) (*flight.FlightInfo, error) { return nil, nil })
	if err == nil {
		t.Error("one user has more than the bound")
	}
}

// TestPollingAStatementThatIsRead: what is told of it grows with what was read, and is all once it was, to its owner.
func TestPollingAStatementThatIsRead(t *testing.T) {
	w := start(t, func(c *Config) { c.Auth = byHeader{} })
	w.engine.step = make(chan struct{})
	c := w.connect("authorization", alice)
	info, err := c.Execute(c.ctx, "STEPS 4")
	check(t, err)
	asked := &flight.FlightDescriptor{Type: flight.DescriptorCMD, Cmd: []byte(pollPrefix + string(info.Endpoint[0].AppMetadata))}
	_, err = c.Client.Client.PollFlightInfo(c.ctx, asked)
	wantCode(t, err, codes.NotFound, "not known") // nobody reads it yet
	read := make(chan int)
	go func() { read <- len(c.fetch(info)) }()
	poll := func(want float64, more bool) {
		t.Helper()
		for {
			p, err := c.Client.Client.PollFlightInfo(c.ctx, asked)
			if status.Code(err) == codes.NotFound && more {
				continue // the reader is on its way
			}
			check(t, err)
			if p.GetProgress() > want || (p.FlightDescriptor == nil) == more {
				t.Fatalf("%v, want %v", p, want)
			}
			if p.GetProgress() == want {
				return
			}
		}
	}
	poll(0, true)
	w.engine.step <- struct{}{}
	poll(0.25, true)
	thief := w.connect("authorization", bob)
	_, err = thief.Client.Client.PollFlightInfo(thief.ctx, asked)
	wantCode(t, err, codes.NotFound, "not known")
	for range 2 {
		w.engine.step <- struct{}{}
	}
	poll(0.75, true)
	w.engine.step <- struct{}{}
	if rows := <-read; rows != 1 {
		t.Errorf("%d rows", rows)
	}
	poll(1, false)
}

// TestPollingAStatementInEndpoints: each tells its part, whether they are read in order or not, and together they are all.
func TestPollingAStatementInEndpoints(t *testing.T) {
	w := start(t, nil)
	c := w.connect(partitionsOption, "true")
	info, err := c.Execute(c.ctx, "ROWS 4 2")
	check(t, err)
	if len(info.Endpoint) != 4 {
		t.Fatalf("%d endpoints", len(info.Endpoint))
	}
	asked := &flight.FlightDescriptor{Type: flight.DescriptorCMD, Cmd: []byte(pollPrefix + string(info.Endpoint[0].AppMetadata))}
	for step, endpoint := range []int{1, 1, 3, 0, 2} { // one is read twice
		_, err := c.read(info.Endpoint[endpoint].Ticket, info.Schema)
		check(t, err)
		want := []float64{0.25, 0.25, 0.5, 0.75, 1}[step]
		for { // until the server has seen the stream's end, too
			p, err := c.Client.Client.PollFlightInfo(c.ctx, asked)
			check(t, err)
			if p.GetProgress() > want || (p.FlightDescriptor == nil) != (p.GetProgress() == 1) {
				t.Fatalf("after %d endpoints %v, want %v", step+1, p, want)
			}
			if p.GetProgress() == want {
				break
			}
		}
	}
	_, err = c.Client.Client.CancelFlightInfo(c.ctx, &flight.CancelFlightInfoRequest{Info: info})
	check(t, err)
	_, err = c.Client.Client.PollFlightInfo(c.ctx, asked)
	wantCode(t, err, codes.Canceled, "cancelled")
}
