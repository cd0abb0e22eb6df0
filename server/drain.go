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
type activity struct{ running atomic.Int64 }

func (a *activity) options() []grpc.ServerOption {
	return []grpc.ServerOption{
		// The parts may be freed only when no call uses them any more.
		grpc.WaitForHandlers(true),
		grpc.ChainUnaryInterceptor(func(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
			defer a.enter(info.FullMethod)()
			return next(ctx, req)
		}),
		grpc.ChainStreamInterceptor(func(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
			defer a.enter(info.FullMethod)()
			return next(srv, stream)
		}),
	}
}

func (a *activity) enter(method string) (leave func()) {
	if strings.HasPrefix(method, "/grpc.") {
		return func() {}
	}
	a.running.Add(1)
	return func() { a.running.Add(-1) }
}

// idle waits until nothing runs, and reports whether that came before ctx ended or the limit was over.
func (a *activity) idle(ctx context.Context, limit time.Duration) bool {
	over := time.NewTimer(limit)
	defer over.Stop()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for a.running.Load() > 0 {
		select {
		case <-ctx.Done():
			return false
		case <-over.C:
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
	finished := s.activity.idle(ctx, s.config.DrainTimeout)
	cut := s.activity.running.Load()
	if !finished {
		s.log.Warn("cutting what still runs", "running", cut)
	}
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		s.Stop()
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

// Stop ends the server at once and waits for the calls that it cut. It may be called any number of times.
func (s *Server) Stop() { s.stop.Do(s.grpc.Stop) }
