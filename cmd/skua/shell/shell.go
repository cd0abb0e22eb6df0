// Package shell is an SQL shell for any Flight SQL server. It is a client like any other: it imports nothing of Skua's.
package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/mattn/go-isatty"
)

// Config says whom to ask, what, and where the answers go.
type Config struct {
	URI             string // grpc://, grpc+tcp:// or host alone; grpc+tls:// for TLS; without a port 31337
	User            string
	Password        string
	Token           string // bearer token; instead of User
	CAFile          string // PEM; empty: the system's authorities
	CertificateFile string // PEM; with KeyFile the client's own certificate
	KeyFile         string
	Format          string // table (default), csv, json, arrow
	Timing          bool
	Execute         []Statement // to run; none: interactive on In

	In       io.Reader // of the interactive shell, or of statements when it is no terminal
	Out      io.Writer
	Progress io.Writer // progress of long statements, when it is a terminal; may be nil
}

// Run runs the statements, or the interactive shell. The first statement that fails ends a run; the interactive shell goes on.
func Run(ctx context.Context, config Config) error {
	if config.Format == "" {
		config.Format = "table"
	}
	if !slices.Contains(formats, config.Format) {
		return fmt.Errorf("--format %q: expected %s", config.Format, strings.Join(formats, ", "))
	}
	if config.Format == "arrow" && terminal(config.Out) {
		return errors.New("--format arrow is for machines; send it to a file or another program")
	}
	if len(config.Execute) == 0 && !terminal(config.In) {
		text, err := io.ReadAll(config.In)
		if err != nil {
			return fmt.Errorf("read statements: %w", err)
		}
		if config.Execute = Split("stdin", string(text)); len(config.Execute) == 0 {
			return errors.New("there is no statement on standard input")
		}
	}
	client, err := connect(ctx, config)
	if err != nil {
		return err
	}
	s := &shell{config: config, client: client}
	defer func() { s.client.close(ctx) }()
	if len(config.Execute) > 0 {
		return s.all(ctx, config.Execute)
	}
	if err := client.check(ctx); err != nil {
		return err
	}
	return s.interactive(ctx)
}

// terminal reports whether a reader or writer is one.
func terminal(file any) bool {
	f, ok := file.(*os.File)
	return ok && isatty.IsTerminal(f.Fd())
}

type shell struct {
	config   Config
	client   *client
	expanded bool
	streams  int // Arrow streams written
}

func (s *shell) all(ctx context.Context, statements []Statement) error {
	for _, statement := range statements {
		if err := s.one(ctx, statement.Text); err != nil {
			if statement.Source != "" {
				return fmt.Errorf("%s: %w", statement.Source, err)
			}
			return err
		}
	}
	return nil
}

// one runs a statement; Ctrl-C cancels it and nothing else.
func (s *shell) one(ctx context.Context, text string) error {
	running, cancel := signal.NotifyContext(ctx, os.Interrupt)
	defer cancel()
	started := time.Now()
	progress := newProgress(s.config.Progress, started)
	rows, err := s.client.query(running, text, s.newOutput(), progress)
	progress.clear()
	if err != nil {
		err = s.client.plain(err)
		if s.client.lost {
			return s.afterLoss(ctx, err)
		}
		return err
	}
	if s.config.Timing {
		s.tell(rows, time.Since(started))
	}
	return nil
}

// afterLoss says what is gone with a session, and connects and logs in anew: the old connection holds on to the name of the session that is gone.
func (s *shell) afterLoss(ctx context.Context, err error) error {
	err = fmt.Errorf("%w\nThe session is gone, and what SET and USE had set is gone with it; the next statement begins a new session", err)
	fresh, again := connect(ctx, s.config)
	if again != nil {
		return fmt.Errorf("%w\n%w", err, again)
	}
	s.client.close(ctx)
	s.client = fresh
	return err
}

// tell writes rows and time, where it is in nobody's way.
func (s *shell) tell(rows int64, took time.Duration) {
	w := s.config.Out
	if s.config.Format != "table" {
		w = os.Stderr
	}
	if rows >= 0 {
		fmt.Fprintf(w, "%s in ", counted(rows, "row"))
	}
	fmt.Fprintf(w, "%.3f s\n", took.Seconds())
}
