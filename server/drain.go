package server

import (
	"context"
	"strings"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"

	"github.com/skua-data/skua/fault"
)

// stopPatience is how long cut calls may take to return before the process ends without them.
const stopPatience = 10 * time.Second

// activity counts the calls that a drain waits for: everything but health and reflection, which some clients keep open for ever.
type activity struct {
	running atomic.Int64
	over    chan struct{} // closed when nothing is waited for any more: calls that are not counted end then
}

func (a *activity) options() []grpc.ServerOption {
	return []grpc.ServerOption{
		// The parts may be freed only when no call uses them any more.
		grpc.WaitForHandlers(true),
		grpc.ChainUnaryInterceptor(func(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
			defer a.enter(info.FullMethod)()
			return next(ctx, req)
		}),
		grpc.ChainStreamInterceptor(func(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
			if !counted(info.FullMethod) {
				ctx, cancel := context.WithCancel(stream.Context())
				defer cancel()
				defer a.endWith(ctx, cancel)()
				return next(srv, &ending{stream, ctx})
			}
			defer a.enter(info.FullMethod)()
			return next(srv, stream)
		}),
	}
}

// counted leaves out gRPC's own services.
func counted(method string) bool { return !strings.HasPrefix(method, "/grpc.") }

// ending is a stream whose context ends early.
type ending struct {
	grpc.ServerStream
	ctx context.Context
}

// Context is the context that ends with the drain.
func (e *ending) Context() context.Context { return e.ctx }

// endWith cancels when the drain is over; what it returns waits for that watch to end, after ctx did.
func (a *activity) endWith(ctx context.Context, cancel func()) (wait func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-a.over:
		case <-ctx.Done():
		}
		cancel()
	}()
	return func() { cancel(); <-done }
}

func (a *activity) enter(method string) (leave func()) {
	if !counted(method) {
		return func() {}
	}
	a.running.Add(1)
	return func() { a.running.Add(-1) }
}

// idle waits until nothing runs, and reports whether that came before ctx ended.
func (a *activity) idle(ctx context.Context) bool {
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for a.running.Load() > 0 {
		select {
		case <-ctx.Done():
			return false
		case <-look.C:
		}
	}
	return true
}

// Drain ends the server in order: health turns NOT_SERVING, new work is refused as UNAVAILABLE, running calls finish within
// the drain timeout or until ctx ends, whatever comes first, then the rest is cut. The port stays open meanwhile, so that a probe sees
// why. An error says that calls were cut, or would not end even then; Serve may then not return.
func (s *Server) Drain(ctx context.Context) error {
	s.draining.Store(true)
	s.health.Shutdown()
	s.log.Info("draining", "timeout", s.config.DrainTimeout.String(), "running", s.activity.running.Load())
	limited, cancel := context.WithTimeout(ctx, s.config.DrainTimeout)
	defer cancel()
	finished := s.activity.idle(limited)
	cut := s.activity.running.Load()
	if !finished {
		s.log.Warn("cutting what still runs", "running", cut)
	}
	close(s.activity.over)
	s.flush(limited)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		s.Stop()
		s.flushing.Wait()
	}()
	patience := time.NewTimer(stopPatience)
	defer patience.Stop()
	select {
	case <-stopped:
	case <-patience.C:
		return fault.New(fault.Deadline, "%d calls did not end %s after they were cut", s.activity.running.Load(), stopPatience)
	}
	s.log.Info("stopped")
	if !finished {
		return fault.New(fault.Deadline, "%d calls were cut", cut).Change("skua.drain.timeout")
	}
	return nil
}

// flush waits until clients have what ended calls left in the transport's buffers, or ctx ends.
func (s *Server) flush(ctx context.Context) {
	flushed := make(chan struct{})
	s.flushing.Go(func() {
		defer close(flushed)
		s.grpc.GracefulStop()
	})
	select {
	case <-flushed:
	case <-ctx.Done():
	}
}

// Stop ends the server at once and waits for the calls that it cut. It may be called any number of times.
func (s *Server) Stop() { s.stop.Do(s.grpc.Stop) }
