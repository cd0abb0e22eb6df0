package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/skua-data/skua/cmd/skua/demo"
	"github.com/skua-data/skua/cmd/skua/shell"
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
			if withDemo {
				if err := makeDemo(c.Context(), c.OutOrStdout(), demoDir); err != nil {
					return err
				}
				absolute, err := filepath.Abs(demoDir)
				if err != nil {
					return err
				}
				flags.below = demo.Settings(absolute)
			}
			if listen != "" {
				flags.conf = append(flags.conf, "skua.listen="+listen)
			}
			return runServer(c, &flags, readyFile, withDemo)
		},
	}
	flags.add(serve)
	serve.Flags().StringVar(&listen, "listen", "", "`host:port` to listen on (default 127.0.0.1:31337; port 0 picks a free one)")
	serve.Flags().StringVar(&readyFile, "ready-file", "", "a `file` that receives the address once the server answers")
	serve.Flags().BoolVar(&withDemo, "demo", false, "make the demo warehouse if there is none, serve it as catalog demo, and show three statements")
	serve.Flags().StringVar(&demoDir, "demo-dir", "demo-warehouse", "where --demo keeps its warehouse")
	return serve
}

func makeDemo(ctx context.Context, out io.Writer, dir string) error {
	made, err := demo.Make(ctx, dir, func(format string, args ...any) { fmt.Fprintf(out, format+"\n", args...) })
	if err == nil && !made {
		fmt.Fprintf(out, "Using the demo warehouse in %s.\n", dir)
	}
	return err
}

// runServer serves until a signal. The first drains, the second stops.
func runServer(c *cobra.Command, flags *settingsFlags, readyFile string, tour bool) error {
	settings, err := flags.load()
	if err != nil {
		return err
	}
	config, err := server.NewConfig(settings)
	if err != nil {
		return err
	}
	for _, w := range config.Warnings {
		fmt.Fprintln(c.ErrOrStderr(), "skua: warning: "+w)
	}
	s, err := server.New(c.Context(), config, server.Parts{})
	if err != nil {
		return err
	}
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	served := make(chan error, 1)
	go func() { served <- s.Serve(c.Context()) }()
	if err := ready(readyFile, s.Addr().String()); err != nil {
		s.Stop()
		return errors.Join(err, <-served)
	}
	if tour {
		showTour(c.Context(), c.OutOrStdout(), s.Addr().String())
	}
	return wait(c.Context(), s, signals, served)
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

// ready writes the address so that a reader never sees half of it.
func ready(path, address string) error {
	if path == "" {
		return nil
	}
	temporary := path + ".tmp"
	if err := os.WriteFile(temporary, []byte(address+"\n"), 0o644); err != nil {
		return fmt.Errorf("write the ready file: %w", err)
	}
	if err := os.Rename(temporary, path); err != nil {
		return errors.Join(fmt.Errorf("write the ready file: %w", err), ignoreMissing(os.Remove(temporary)))
	}
	return nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// showTour runs three statements through Flight SQL and prints how to connect. A statement that fails shows its error; the server goes on.
func showTour(ctx context.Context, out io.Writer, address string) {
	for _, statement := range demo.Tour() {
		fmt.Fprintf(out, "\nskua> %s;\n", statement)
		err := shell.Run(ctx, shell.Config{URI: "grpc://" + address, Format: "table", Out: out, Execute: []shell.Statement{{Text: statement}}})
		if err != nil {
			fmt.Fprintln(out, "error: "+err.Error())
		}
	}
	fmt.Fprintf(out, `
Connect:
  ADBC       grpc://%[1]s
  JDBC       jdbc:arrow-flight-sql://%[1]s?useEncryption=false
  shell      bin/skua sql --uri grpc://%[1]s
Ctrl-C ends the server.
`, address)
}

func demoCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "demo DIR",
		Short: "Make the demo warehouse in DIR",
		Long: `Make the demo warehouse in DIR: a Hadoop-type Iceberg catalog with a star schema of a few hundred thousand sales, a partitioned
event table whose schema and partitioning changed, merge-on-read deletes, a branch and a tag. The same rows come out every time.`,
		Args: oneArgument("DIR"),
		RunE: func(c *cobra.Command, args []string) error { return makeDemo(c.Context(), c.OutOrStdout(), args[0]) },
	}
}
