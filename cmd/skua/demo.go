package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skua-data/skua/cmd/skua/demo"
	"github.com/skua-data/skua/cmd/skua/shell"
	"github.com/skua-data/skua/server"
)

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

func makeDemo(ctx context.Context, out io.Writer, dir string) error {
	made, err := demo.Make(ctx, dir, func(format string, args ...any) { fmt.Fprintf(out, format+"\n", args...) })
	if err == nil && !made {
		fmt.Fprintf(out, "Using the demo warehouse in %s.\n", dir)
	}
	return err
}

// showTour runs three statements through Flight SQL and prints how to connect. A statement that fails shows its error; the server goes on. A server that wants
// a login or TLS is not asked: there is nobody to log in as.
func (r *running) showTour(ctx context.Context, config server.Config, address string) {
	scheme, jdbc := "grpc", "?useEncryption=false"
	if config.TLS.CertificateFile != "" {
		scheme, jdbc = "grpc+tls", ""
	}
	if config.TLS.CertificateFile == "" && config.UsersFile == "" {
		for _, statement := range demo.Tour() {
			fmt.Fprintf(r.out, "\nskua> %s;\n", statement)
			err := shell.Run(ctx, shell.Config{URI: "grpc://" + address, Out: r.out, Execute: []shell.Statement{{Text: statement}}})
			if err != nil {
				fmt.Fprintln(r.out, "error: "+err.Error())
			}
		}
	}
	program := r.program
	if strings.ContainsAny(program, " \t'\"$") {
		program = "'" + strings.ReplaceAll(program, "'", `'\''`) + "'"
	}
	fmt.Fprintf(r.out, `
Connect:
  ADBC       %[1]s://%[2]s
  JDBC       jdbc:arrow-flight-sql://%[2]s%[3]s
  shell      %[4]s sql --uri %[1]s://%[2]s
Ctrl-C ends the server.
`, scheme, address, jdbc, program)
}
