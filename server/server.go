// Package server is the composition root: it reads the configuration, builds every part from it, owns them all, listens, tells its health,
// and drains. Nothing but cmd imports it.
package server

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/apache/iceberg-go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection"

	"github.com/skua-data/skua/auth"
	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/engine"
	"github.com/skua-data/skua/engine/duckdb"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/flightsql"
	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/plugins/host"
	"github.com/skua-data/skua/resource"
	"github.com/skua-data/skua/scan"
	"github.com/skua-data/skua/session"
	"github.com/skua-data/skua/storage"
	"github.com/skua-data/skua/storage/adls"
	"github.com/skua-data/skua/storage/gcs"
	"github.com/skua-data/skua/storage/hdfs"
	"github.com/skua-data/skua/storage/local"
	"github.com/skua-data/skua/storage/s3"
)

// Server is a running or startable server. It owns everything it built.
type Server struct {
	config   Config
	log      *slog.Logger
	listener net.Listener
	grpc     *grpc.Server
	health   *health.Server
	sessions *session.Store
	draining atomic.Bool
	activity activity
	closers  []func() error
	stop     sync.Once
	flushing sync.WaitGroup
}

// Parts are what a caller may replace; nil fields get the real thing.
type Parts struct {
	Log  *slog.Logger
	Now  func() time.Time
	Open catalogs.Opener // instead of plugin processes

	Decoder func(kernels.Decoder) kernels.Decoder // laid over every decoder; nil: nothing
	Source  func(scan.Source) scan.Source         // laid over every source of a table; nil: nothing
}

// decoder lays what the caller wants over a decoder.
func (p Parts) decoder(d kernels.Decoder) kernels.Decoder {
	if p.Decoder == nil || d == nil {
		return d
	}
	return p.Decoder(d)
}

// source lays what the caller wants over what the server lays over a table's source.
func (p Parts) source(own func(scan.Source) scan.Source) func(scan.Source) scan.Source {
	return func(s scan.Source) scan.Source {
		if s = own(s); p.Source != nil {
			s = p.Source(s)
		}
		return s
	}
}

// Version is the server's version, as SqlInfo and --version tell it.
const Version = "0.1.0"

// New builds a server and starts listening, but answers nothing before Serve.
func New(ctx context.Context, config Config, parts Parts) (_ *Server, err error) {
	if parts.Log == nil {
		parts.Log = slog.New(NewLogHandler(os.Stderr, config.LogLevel, config.LogFormat))
	}
	if parts.Now == nil {
		parts.Now = time.Now
	}
	s := &Server{config: config, log: parts.Log, health: health.NewServer(), activity: activity{over: make(chan struct{})}}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	boundCollector(config.Memory)
	flight, err := s.build(ctx, parts)
	if err != nil {
		return nil, err
	}
	options := append(flight.Options(), s.activity.options()...)
	if config.TLS.CertificateFile != "" {
		files, err := newCertificates(config.TLS, s.log)
		if err != nil {
			return nil, err
		}
		options = append(options, grpc.Creds(credentials.NewTLS(files.serverConfig())))
	}
	s.grpc = grpc.NewServer(options...)
	flight.Register(s.grpc)
	healthpb.RegisterHealthServer(s.grpc, s.health)
	if config.Reflection {
		reflection.Register(s.grpc)
	}
	var listen net.ListenConfig
	if s.listener, err = listen.Listen(ctx, "tcp", config.Listen); err != nil {
		return nil, fault.New(fault.Unavailable, "listen on %s: %w", config.Listen, err).Change("skua.listen")
	}
	s.listener = newBoundedListener(s.listener, maxConnections(), s.log)
	return s, nil
}

// kinds lists the stores of this build.
func kinds() []storage.Kind {
	return []storage.Kind{local.Kind, s3.Kind, gcs.Kind, adls.Kind, hdfs.Kind}
}

// build makes the parts in the order of their needs.
func (s *Server) build(ctx context.Context, parts Parts) (*flightsql.Server, error) {
	c := s.config
	stores := storage.NewMux(kinds(), c.Locations)
	if parts.Open == nil {
		folder, err := executableFolder(c.PluginFolder)
		if err != nil {
			return nil, err
		}
		launcher, err := host.New(host.Config{Folder: folder, Log: s.log})
		if err != nil {
			return nil, err
		}
		s.closers = append(s.closers, launcher.Close)
		parts.Open = launcher.Open
	}
	set, err := catalogs.NewSet(catalogs.SetConfig{Definitions: c.Catalogs, Open: parts.Open, Locations: c.Locations, Now: parts.Now, Log: s.log})
	if err != nil {
		return nil, err
	}
	s.closers = append(s.closers, set.Close)
	set.Open(ctx)
	decode := newDecoders(ctx, c, s.log)
	s.closers = append(s.closers, decode.Close)
	named := map[string]kernels.Decoder{}
	for name, d := range decode.named {
		named[name] = parts.decoder(d)
	}
	scanner := scan.NewScanner(scan.Config{Stores: stores, Decoder: parts.decoder(decode.auto), Fallback: parts.decoder(decode.fallback), Decoders: named, MetadataCache: c.MetadataCache, DeleteCache: c.DeleteCache, Properties: func(catalog string) iceberg.Properties {
		d, _ := set.Definition(catalog)
		return d.Properties
	}})
	pool := resource.NewPool(resource.Config{Memory: c.Memory, Wait: c.MemoryWait, StatementMemory: c.StatementMemory, Cores: c.Cores})
	executor, err := duckdb.New(c.SQL)
	if err != nil {
		return nil, err
	}
	run, err := engine.New(engine.Config{Catalogs: set, Scanner: scanner, Pool: pool, Executor: executor, Clock: parts.Now, Version: Version, Log: s.log, Source: parts.source(reporting(set, s.log))})
	if err != nil {
		return nil, err
	}
	s.closers = append(s.closers, run.Close)
	if executor != nil {
		s.closers = append(s.closers, executor.Close)
	}
	keyring, err := newKeyring(c.KeyFile)
	if err != nil {
		return nil, err
	}
	authenticator, err := newAuthenticator(c, s.log, parts.Now)
	if err != nil {
		return nil, err
	}
	s.sessions = session.NewStore(session.StoreConfig{Max: c.MaxSessions, MaxPerOwner: c.MaxPerPrincipal, Idle: c.SessionIdle, Now: parts.Now})
	if c.Insecure {
		s.log.Warn("serving everybody in plain text, as skua.listen.insecure says", "address", c.Listen)
	}
	if len(c.Catalogs) == 0 {
		s.log.Warn("no catalog is configured; set spark.sql.catalog.<name>, or try: skua serve --demo")
	}
	flight, err := flightsql.New(flightsql.Config{Engine: run, Sessions: s.sessions, Startup: c.Startup, Auth: authenticator, Keyring: keyring, Pool: pool,
		Version: Version, Log: s.log, Draining: s.draining.Load,
		Limits: flightsql.Limits{MaxReceive: c.MaxReceive, MaxStreams: c.MaxStreams, Stall: c.FetchStall}})
	if err != nil {
		return nil, err
	}
	s.closers = append(s.closers, flight.Close)
	return flight, nil
}

func newKeyring(path string) (*auth.Keyring, error) {
	if path == "" {
		return auth.NewRandomKeyring()
	}
	return auth.LoadKeyring(path)
}

// newAuthenticator joins the ways to log in that are configured; without any, everybody is anonymous.
func newAuthenticator(c Config, log *slog.Logger, now func() time.Time) (auth.Gate, error) {
	var login auth.Login
	var err error
	if c.UsersFile != "" {
		if login.Users, err = auth.LoadStatic(c.UsersFile, log); err != nil {
			return nil, err
		}
	}
	if c.JWT.Keys != "" {
		keys := c.JWT
		keys.Log, keys.Now = log, now
		if login.Tokens, err = auth.NewJWT(keys); err != nil {
			return nil, err
		}
	}
	if c.TLS.ClientCAFile != "" {
		if login.Certificates, err = auth.NewCertificates(c.ClientPrincipal); err != nil {
			return nil, err
		}
	}
	if login == (auth.Login{}) {
		return auth.AnonymousOnly{}, nil
	}
	return login, nil
}

// Addr is the address the server listens on, with the true port.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// Warnings are what the operator should know about the configuration.
func (s *Server) Warnings() []string { return s.config.Warnings }

// Serve answers until Drain or Stop ends it, then frees everything. It returns nil after an orderly end.
func (s *Server) Serve(ctx context.Context) error {
	defer s.close()
	ticking, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.expireSessions(ticking)
	}()
	defer func() { cancel(); <-done }()
	s.log.Info("serving", "address", s.Addr().String(), "version", Version, "catalogs", len(s.config.Catalogs), "tls", s.config.TLS.CertificateFile != "")
	if err := s.grpc.Serve(s.listener); err != nil && !errors.Is(err, grpc.ErrServerStopped) {
		return fault.New(fault.Unavailable, "serve on %s: %w", s.Addr(), err)
	}
	return nil
}

func (s *Server) expireSessions(ctx context.Context) {
	tick := time.NewTicker(30 * time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			s.sessions.Expire()
		}
	}
}

// close frees the parts, last built first.
func (s *Server) close() {
	for i := len(s.closers) - 1; i >= 0; i-- {
		if err := s.closers[i](); err != nil {
			s.log.Warn("closing", "error", err)
		}
	}
	s.closers = nil
	if s.listener != nil {
		s.listener.Close()
	}
}

// UserLine is a line for the users file: a name with its hashed password.
func UserLine(name, password string) (string, error) {
	if name == "" || strings.ContainsAny(name, ":#\r\n") || strings.TrimSpace(name) != name {
		return "", fault.New(fault.Invalid, "user name %q: a name is not empty and has no colon, #, line end or blank at its ends", name)
	}
	hash, err := auth.Hash(password)
	if err != nil {
		return "", err
	}
	return name + ":" + hash, nil
}
