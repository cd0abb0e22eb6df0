// Package inprocess starts a Skua server inside a test binary, listening on a free loopback port, so that the scripts of package conformance
// run without anything being installed.
package inprocess

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"google.golang.org/grpc/credentials/insecure"

	"github.com/skua-data/skua/conformance"
	"github.com/skua-data/skua/server"
)

// Running is a server that answers.
type Running struct {
	server *server.Server
	done   chan struct{} // closed when it ended
	err    error         // then, how
}

// Config says what to start. The zero value gives a server without catalogs.
type Config struct {
	Settings map[string]string // over the server's defaults and a free port
	Log      *slog.Logger      // nil: nothing is logged
	Now      func() time.Time  // nil: time.Now
	Parts    server.Parts      // what is laid over the server's parts; Log and Now are those above
}

// Start starts a server. It stops when Drain or Stop ends it, not when ctx does.
func Start(ctx context.Context, c Config) (*Running, error) {
	all := map[string]string{"skua.listen": "127.0.0.1:0"}
	for k, v := range c.Settings {
		all[k] = v
	}
	loaded, err := server.Load(server.Given{Defaults: all})
	if err != nil {
		return nil, err
	}
	config, err := server.NewConfig(loaded)
	if err != nil {
		return nil, err
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	s, err := server.New(ctx, config, server.Parts{Log: c.Log, Now: c.Now, Open: c.Parts.Open, Decoder: c.Parts.Decoder, Source: c.Parts.Source})
	if err != nil {
		return nil, err
	}
	r := &Running{server: s, done: make(chan struct{})}
	go func() {
		defer close(r.done)
		r.err = s.Serve(ctx)
	}()
	return r, nil
}

// Target is how to ask it.
func (r *Running) Target() conformance.Target {
	return conformance.Target{Address: r.server.Addr().String(), Credentials: insecure.NewCredentials()}
}

// Drain ends the server in order and waits for it. An error says that calls were cut.
func (r *Running) Drain(ctx context.Context) error {
	return errors.Join(r.server.Drain(ctx), r.wait())
}

// Stop ends the server at once and waits for it. It may be called after Drain.
func (r *Running) Stop() error {
	r.server.Stop()
	return r.wait()
}

func (r *Running) wait() error {
	<-r.done
	return r.err
}
