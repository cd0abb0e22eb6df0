// Package flightsql is the wire and nothing else: it turns Flight SQL calls into engine calls and results into streams, says who is calling and in
// which session, and is the one place that knows gRPC status codes. It reads no table and parses no SQL.
package flightsql

import (
	"context"
	"crypto/rand"
	"iter"
	"log/slog"
	"sync"
	"time"

	upstream "github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	pb "github.com/apache/arrow-go/v18/arrow/flight/gen/flight"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"google.golang.org/grpc"

	"github.com/skua-data/skua/auth"
	"github.com/skua-data/skua/engine"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/resource"
	"github.com/skua-data/skua/session"
)

// Statements is what the wire needs of the engine for running SQL.
type Statements interface {
	Prepare(ctx context.Context, call engine.Call) (engine.Prepared, error)
	Resume(ctx context.Context, pin engine.Pin) (engine.Result, error)
}

// Settings is what the wire needs of the engine for sessions.
type Settings interface {
	NewState(startup session.Conf) (session.State, error)
	Use(ctx context.Context, s *session.Session, catalog string, namespace []string, setCatalog, setNamespace bool) error
	SetOption(s *session.Session, key, value string) error
	Unset(s *session.Session, key string) error
}

// Listings is what the wire needs of the engine for metadata calls.
type Listings interface {
	CatalogNames() []string
	Schemas(ctx context.Context, st session.State, catalog, pattern *string) iter.Seq2[engine.SchemaEntry, error]
	Tables(ctx context.Context, st session.State, f engine.TableFilter) iter.Seq2[engine.TableEntry, error]
	Keys(ctx context.Context, st session.State, f engine.TableFilter) iter.Seq2[engine.KeyEntry, error]
}

// Engine is all that the wire needs of the engine. It is safe for concurrent use.
type Engine interface {
	Abilities() engine.Abilities
	Statements
	Settings
	Listings
}

var _ Engine = (*engine.Engine)(nil)

// Config is what a Server works with. Engine, Sessions, Auth and Keyring must be set.
type Config struct {
	Engine   Engine
	Sessions *session.Store
	Startup  session.Conf // what the operator configured
	Auth     auth.Gate
	Keyring  *auth.Keyring
	Pool     *resource.Pool // pays for bound parameters and listings; nil: one without limits
	Version  string         // of the product: major.minor…
	Log      *slog.Logger   // nil: nothing is logged
	Limits   Limits
	Draining func() bool      // new statements are refused while it is true; nil: never
	Now      func() time.Time // nil: time.Now
}

// Limits bounds what clients can use up. Zero values mean what each field says.
type Limits struct {
	MaxReceive      int           // largest message received, in bytes; 0: 64 MiB
	MaxStreams      uint32        // calls of one connection at once; 0: 256
	Prepared        int           // prepared statements of one session; the least recently used goes first; 0: 512
	PreparedTotal   int           // prepared statements of all sessions; 0: 20,000
	PreparedBytes   int64         // texts and bound parameters of all prepared statements; 0: 512 MiB
	PreparedIdle    time.Duration // a prepared statement unused for longer ends; 0: 1 hour
	Ticket          time.Duration // how long a ticket is good for; 0: 24 hours
	Token           time.Duration // how long a bearer token is good for; 0: 24 hours
	Stall           time.Duration // how long a client may take nothing of a result until its call ends; 0: for ever
	Endpoints       int           // most endpoints of one result; 0: 64
	RemoteByAddress bool          // a connection from another machine, without token and cookie, is a session too, as one from this machine always is
}

func (l Limits) withDefaults() Limits {
	l.MaxReceive = orDefault(l.MaxReceive, 64<<20)
	l.MaxStreams = orDefault(l.MaxStreams, 256)
	l.Prepared = orDefault(l.Prepared, 512)
	l.PreparedTotal = orDefault(l.PreparedTotal, 20_000)
	l.PreparedBytes = orDefault(l.PreparedBytes, 512<<20)
	l.PreparedIdle = orDefault(l.PreparedIdle, time.Hour)
	l.Ticket = orDefault(l.Ticket, 24*time.Hour)
	l.Token = orDefault(l.Token, 24*time.Hour)
	l.Endpoints = orDefault(l.Endpoints, 64)
	return l
}

func orDefault[T int | int64 | uint32 | time.Duration](v, otherwise T) T {
	if v <= 0 {
		return otherwise
	}
	return v
}

// Server answers Flight SQL. It is safe for concurrent use.
type Server struct {
	upstream.BaseServer
	config   Config
	mem      memory.Allocator
	instance string // begins every session name in the tokens of this process
	handles  *handles
	running  *running
	polls    *polls
	sending  sync.WaitGroup // results that are being sent
	info     infoTable
}

// New makes a Server.
func New(c Config) (*Server, error) {
	if c.Engine == nil || c.Sessions == nil || c.Auth == nil || c.Keyring == nil {
		return nil, fault.New(fault.Internal, "flightsql: engine, sessions, auth and keyring must be set")
	}
	if c.Pool == nil {
		c.Pool = resource.NewPool(resource.Config{})
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Draining == nil {
		c.Draining = func() bool { return false }
	}
	c.Limits = c.Limits.withDefaults()
	s := &Server{config: c, instance: rand.Text()[:10], running: newRunning(), polls: newPolls(c.Now), info: newInfoTable(c.Version, c.Engine.Abilities())}
	s.mem = c.Pool.NewStatement("wire").Allocator()
	s.handles = newHandles(c.Limits, c.Now)
	s.Alloc = s.mem
	return s, nil
}

// Register adds the Flight service to a gRPC server that was made with Options.
func (s *Server) Register(r grpc.ServiceRegistrar) {
	pb.RegisterFlightServiceServer(r, &service{FlightServiceServer: upstream.NewFlightServerWithAllocator(s, s.mem), server: s})
}

// Close ends what runs without a call: statements that are planned for clients that poll, and what was sent to clients that took nothing. It comes after the last call.
func (s *Server) Close() error {
	s.polls.close()
	s.sending.Wait()
	return nil
}

// refuseNew refuses new work while the server drains.
func (s *Server) refuseNew() error {
	if s.config.Draining() {
		return fault.New(fault.Unavailable, "the server is shutting down")
	}
	return nil
}
