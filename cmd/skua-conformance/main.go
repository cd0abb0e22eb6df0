// Command skua-conformance asks a Flight SQL server that is already up the scripts given, and tells what came out otherwise.
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
		Short:         "Hold a Flight SQL server over Iceberg against scripts of statements and answers",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(runCommand())
	if err := root.ExecuteContext(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "skua-conformance: "+err.Error())
		os.Exit(1)
	}
}

func runCommand() *cobra.Command {
	var uri, user, passwordFile string
	run := &cobra.Command{
		Use:   "run FILE…",
		Short: "Run scripts on every execution path, with and without cookies",
		Long: `Run scripts on every execution path (query, update, prepared), with and without cookies. It sends the statements of the scripts and
nothing else. The form of a script is told by the package comment of conformance; conformance/testdata holds examples.
Exits with 1 when a case fails.`,
		Example: "  skua-conformance run --uri grpc://127.0.0.1:31337 conformance/testdata/session.test",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, files []string) error {
			target, err := targetOf(uri, user, passwordFile)
			if err != nil {
				return err
			}
			return runFiles(c, target, files)
		},
	}
	run.Flags().StringVar(&uri, "uri", "grpc://127.0.0.1:31337", "the server: grpc://host:port, or grpc+tls://host:port")
	run.Flags().StringVar(&user, "user", "", "log in as this user; needs --password-file")
	run.Flags().StringVar(&passwordFile, "password-file", "", "a `file` whose first line is the password")
	return run
}

func targetOf(uri, user, passwordFile string) (conformance.Target, error) {
	scheme, address, ok := strings.Cut(uri, "://")
	if !ok {
		return conformance.Target{}, fmt.Errorf("--uri %q: expected grpc://host:port or grpc+tls://host:port", uri)
	}
	t := conformance.Target{Address: address, Credentials: insecure.NewCredentials()}
	if scheme == "grpc+tls" {
		t.Credentials = credentials.NewTLS(nil)
	}
	if user == "" {
		return t, nil
	}
	data, err := os.ReadFile(passwordFile)
	if err != nil {
		return t, fmt.Errorf("read the password: %w", err)
	}
	password, _, _ := strings.Cut(string(data), "\n")
	t.Authorization = "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+strings.TrimRight(password, "\r")))
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
