// Command skua-conformance asks a Flight SQL server that is already up what scripts and recorded answers hold, and tells what came out otherwise.
package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/skua-data/skua/conformance"
)

func main() {
	root := &cobra.Command{
		Use:           "skua-conformance",
		Short:         "Hold a Flight SQL server over Iceberg against scripts and recorded answers",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(runCommand(), oracleCommand())
	if err := root.ExecuteContext(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "skua-conformance: "+err.Error())
		os.Exit(1)
	}
}

// connection is the flags that say whom to ask.
type connection struct{ uri, user, passwordFile string }

func (c *connection) flags(command *cobra.Command) {
	command.Flags().StringVar(&c.uri, "uri", "grpc://127.0.0.1:31337", "the server: grpc://host:port, or grpc+tls://host:port")
	command.Flags().StringVar(&c.user, "user", "", "log in as this user; needs --password-file")
	command.Flags().StringVar(&c.passwordFile, "password-file", "", "a `file` whose first line is the password")
}

func runCommand() *cobra.Command {
	var whom connection
	run := &cobra.Command{
		Use:   "run FILE…",
		Short: "Run scripts on every execution path, with and without cookies",
		Long: `Run scripts on every execution path (query, update, prepared), with and without cookies. It sends the statements of the scripts and
nothing else. The form of a script is told by the package comment of conformance; conformance/testdata holds examples.
Exits with 1 when a case fails.`,
		Example: "  skua-conformance run --uri grpc://127.0.0.1:31337 conformance/testdata/session.test",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, files []string) error {
			target, err := targetOf(whom)
			if err != nil {
				return err
			}
			return runFiles(c, target, files)
		},
	}
	whom.flags(run)
	return run
}

func targetOf(c connection) (conformance.Target, error) {
	scheme, address, ok := strings.Cut(c.uri, "://")
	if !ok || scheme != "grpc" && scheme != "grpc+tls" {
		return conformance.Target{}, fmt.Errorf("--uri %q: expected grpc://host:port or grpc+tls://host:port", c.uri)
	}
	t := conformance.Target{Address: address, Credentials: insecure.NewCredentials()}
	if scheme == "grpc+tls" {
		t.Credentials = credentials.NewTLS(nil)
	}
	if c.user == "" {
		return t, nil
	}
	data, err := os.ReadFile(c.passwordFile)
	if err != nil {
		return t, fmt.Errorf("read the password: %w", err)
	}
	password, _, _ := strings.Cut(string(data), "\n")
	t.Authorization = "Basic " + base64.StdEncoding.EncodeToString([]byte(c.user+":"+strings.TrimRight(password, "\r")))
	return t, nil
}

func runFiles(c *cobra.Command, target conformance.Target, files []string) error {
	var outcomes []conformance.Outcome
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			return err
		}
		script, err := conformance.Parse(filepath.Base(file), f)
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
		for _, path := range conformance.Paths() {
			for _, cookies := range []bool{false, true} {
				target.Cookies = cookies
				outcomes = append(outcomes, conformance.Run(c.Context(), conformance.Config{Target: target, Path: path}, script)...)
			}
		}
	}
	if _, failed := conformance.Report(c.OutOrStdout(), outcomes); failed > 0 {
		return fmt.Errorf("%d cases failed", failed)
	}
	return nil
}
