// Package shell is an SQL shell for any Flight SQL server. It is a client like any other: it imports nothing of Skua's.
package shell

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/mattn/go-isatty"
)

// Config says whom to ask, what, and where the answers go.
type Config struct {
	URI      string // grpc://, grpc+tcp://, flightsql+… or host:port; grpc+tls:// for TLS
	User     string
	Password string
	Token    string // bearer token; instead of User
	CAFile   string // PEM; empty: the system's authorities
	Format   string // table (default), csv, json, arrow
	Timing   bool
	Execute  []string // statements to run; none: interactive on In

	In       io.Reader // of the interactive shell, or of statements when it is no terminal
	Out      io.Writer
	Progress io.Writer // progress of long statements, when it is a terminal; may be nil
}

// Run runs the statements, or the interactive shell. The first statement that fails ends a run; the interactive shell goes on.
func Run(ctx context.Context, config Config) error {
	newOutput, ok := formats[config.Format]
	if !ok {
		return fmt.Errorf("--format %q: expected table, csv, json or arrow", config.Format)
	}
	client, err := connect(ctx, config)
	if err != nil {
		return err
	}
	defer client.close(ctx)
	s := &shell{config: config, client: client, newOutput: newOutput}
	if len(config.Execute) > 0 {
		return s.all(ctx, config.Execute)
	}
	if file, terminal := config.In.(*os.File); terminal && isatty.IsTerminal(file.Fd()) {
		return s.interactive(ctx)
	}
	text, err := io.ReadAll(config.In)
	if err != nil {
		return fmt.Errorf("read statements: %w", err)
	}
	return s.all(ctx, Split(string(text)))
}

type shell struct {
	config    Config
	client    *client
	newOutput func(io.Writer) output
}

func (s *shell) all(ctx context.Context, statements []string) error {
	for _, text := range statements {
		if err := s.one(ctx, text); err != nil {
			return err
		}
	}
	return nil
}

// one runs a statement; Ctrl-C cancels it and nothing else.
func (s *shell) one(ctx context.Context, text string) error {
	ctx, cancel := signal.NotifyContext(ctx, os.Interrupt)
	defer cancel()
	started := time.Now()
	progress := newProgress(s.config.Progress, started)
	out := s.newOutput(s.config.Out)
	rows, err := s.client.query(ctx, text, out, progress)
	progress.clear()
	if err != nil {
		return plain(err)
	}
	if s.config.Timing {
		w := s.config.Out
		if s.config.Format != "table" && s.config.Format != "" {
			w = os.Stderr
		}
		fmt.Fprintf(w, "%d rows in %.3f s\n", rows, time.Since(started).Seconds())
	}
	return nil
}
