package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/skua-data/skua/cmd/skua/demo"
	"github.com/skua-data/skua/server"
)

func serveCommand() *cobra.Command {
	var (
		flags     settingsFlags
		listen    string
		readyFile string
		withDemo  bool
		demoDir   string
	)
	serve := &cobra.Command{
		Use:   "serve",
		Short: "Start the server",
		Long: `Start the server. It serves until Ctrl-C or SIGTERM: then it refuses new work, lets running streams finish within
skua.drain.timeout, and ends; a second signal ends it at once.

` + precedence,
		Example: `  skua serve --demo
  skua serve --properties-file spark-defaults.conf --listen 127.0.0.1:31337
  skua serve --conf spark.sql.catalog.lake=org.apache.iceberg.spark.SparkCatalog \
             --conf spark.sql.catalog.lake.type=hadoop --conf spark.sql.catalog.lake.warehouse=file:///data/lake`,
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if listen != "" {
				flags.conf = append(flags.conf, "skua.listen="+listen)
			}
			r := &running{out: c.OutOrStdout(), errOut: c.ErrOrStderr(), readyFile: readyFile, program: os.Args[0]}
			if withDemo {
				r.demoDir = demoDir
			}
			return r.run(c.Context(), &flags)
		},
	}
	flags.add(serve)
	serve.Flags().StringVar(&listen, "listen", "", "`host:port` to listen on (default 127.0.0.1:31337; port 0 picks a free one)")
	serve.Flags().StringVar(&readyFile, "ready-file", "", "a `file` that receives the address once the server answers")
	serve.Flags().BoolVar(&withDemo, "demo", false, "make the demo warehouse if there is none, serve it as catalog demo, and show three statements")
	serve.Flags().StringVar(&demoDir, "demo-dir", "demo-warehouse", "where --demo keeps its warehouse")
	return serve
}

// running is one run of the server.
type running struct {
	out, errOut io.Writer
	readyFile   string
	demoDir     string // make the demo warehouse here and show it; empty: none
	program     string // how this program was called
}

// run serves until a signal. The first drains, the second stops.
func (r *running) run(ctx context.Context, flags *settingsFlags) error {
	if r.demoDir != "" {
		absolute, err := filepath.Abs(r.demoDir)
		if err != nil {
			return err
		}
		flags.below = demo.Settings(absolute)
	}
	settings, err := flags.load()
	if err != nil {
		return err
	}
	config, err := server.NewConfig(settings)
	if err != nil {
		return err
	}
	log := newQuiet(server.NewLogHandler(r.errOut, config.LogLevel, config.LogFormat))
	r.warn(slog.New(log.Handler), config)
	if r.demoDir != "" {
		if err := checkFree(ctx, config.Listen); err != nil {
			return err
		}
		if err := makeDemo(ctx, r.out, r.demoDir); err != nil {
			return err
		}
	}
	s, err := server.New(ctx, config, server.Parts{Log: slog.New(log)})
	if err != nil {
		log.release(ctx)
		return portHint(err)
	}
	return r.serve(ctx, s, config, log)
}

// warn tells what the operator should know of the configuration, as a line of the log where that is for machines.
func (r *running) warn(log *slog.Logger, config server.Config) {
	for _, w := range config.Warnings {
		if config.LogFormat == "json" {
			log.Warn(w)
			continue
		}
		fmt.Fprintln(r.errOut, "skua: warning: "+w)
	}
}

func (r *running) serve(ctx context.Context, s *server.Server, config server.Config, log *quiet) error {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx) }()
	address := s.Addr().String()
	if err := ready(r.readyFile, address); err != nil {
		log.release(ctx)
		s.Stop()
		return errors.Join(err, <-served)
	}
	if r.demoDir != "" {
		r.showTour(ctx, config, address)
	}
	log.release(ctx)
	return errors.Join(wait(ctx, s, signals, served), unready(r.readyFile, address))
}

// checkFree fails if somebody listens on the address already, before time is spent on a demo that would not be served.
func checkFree(ctx context.Context, address string) error {
	var listen net.ListenConfig
	l, err := listen.Listen(ctx, "tcp", address)
	if err != nil {
		return portHint(fmt.Errorf("listen on %s: %w", address, err))
	}
	return l.Close()
}

func portHint(err error) error {
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%w\nAnother server has this port. Give another one, or --listen 127.0.0.1:0 for any free one", err)
	}
	return err
}

func wait(ctx context.Context, s *server.Server, signals <-chan os.Signal, served <-chan error) error {
	select {
	case err := <-served:
		return err
	case <-signals:
	}
	draining, hurry := context.WithCancel(ctx)
	defer hurry()
	drained := make(chan error, 1)
	go func() { drained <- s.Drain(draining) }()
	var cut error
	select {
	case <-signals:
		hurry()
		cut = <-drained
	case cut = <-drained:
	}
	select {
	case err := <-served:
		return errors.Join(err, cut)
	case <-time.After(time.Second): // a call that does not end holds Serve; the process ends without it
		return cut
	}
}
