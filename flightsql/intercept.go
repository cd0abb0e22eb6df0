package flightsql

import (
	"context"
	"errors"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"

	"github.com/skua-data/skua/fault"
)

// Options are what the gRPC server must be made with: recovery and status outermost, then who is calling; the codec that
// lends batches to gRPC; message and stream limits; keep-alive that lets pools live behind balancers.
func (s *Server) Options() []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.ChainUnaryInterceptor(s.unary),
		grpc.ChainStreamInterceptor(s.stream),
		grpc.ForceServerCodecV2(newCodec()),
		grpc.StatsHandler(&connections{server: s}),
		grpc.MaxRecvMsgSize(s.config.Limits.MaxReceive),
		grpc.MaxHeaderListSize(maxHeaders),
		grpc.ConnectionTimeout(helloTimeout),
		grpc.MaxConcurrentStreams(s.config.Limits.MaxStreams),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 10 * time.Second, PermitWithoutStream: true}),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: 30 * time.Second, Timeout: 20 * time.Second}),
	}
}

// maxHeaders bounds the headers of a call, in bytes: each open call of a connection holds its own. Tokens and a driver's properties take a few KiB.
const maxHeaders = 64 << 10

// helloTimeout is how long a new connection may take until it speaks the protocol.
const helloTimeout = 20 * time.Second

func (s *Server) unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (resp any, err error) {
	defer func() { err = s.conclude(info.FullMethod, err) }()
	defer fault.Recover(&err, fault.Internal, "%s", info.FullMethod)
	if ctx, err = s.admit(ctx, info.FullMethod); err != nil {
		return nil, err
	}
	return next(ctx, req)
}

func (s *Server) stream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) (err error) {
	defer func() { err = s.conclude(info.FullMethod, err) }()
	defer fault.Recover(&err, fault.Internal, "%s", info.FullMethod)
	ctx, err := s.admit(stream.Context(), info.FullMethod)
	limit := maxUnknown
	if err == nil {
		limit = maxRefused
		err = next(srv, &streamIn{stream, ctx})
	}
	if err != nil && strings.HasSuffix(info.FullMethod, "/DoPut") {
		hearOut(stream, limit)
	}
	return err
}

// streamIn is a stream with another context.
type streamIn struct {
	grpc.ServerStream
	ctx context.Context
}

// Context is the caller's.
func (s *streamIn) Context() context.Context { return s.ctx }

// admit finds out who is calling. Health and reflection answer everybody.
func (s *Server) admit(ctx context.Context, method string) (context.Context, error) {
	if strings.HasPrefix(method, "/grpc.health.") || strings.HasPrefix(method, "/grpc.reflection.") {
		return ctx, nil
	}
	return s.identify(ctx)
}

// conclude gives an error its status and logs what is our fault.
func (s *Server) conclude(method string, err error) error {
	if err == nil {
		return nil
	}
	out := toStatus(err)
	if status.Code(out) == codes.Internal {
		attrs := []any{"method", method, "error", err.Error()}
		if p := (*fault.Panic)(nil); errors.As(err, &p) {
			attrs = append(attrs, "stack", string(p.Stack))
		}
		s.config.Log.Error("call failed", attrs...)
	}
	return out
}
