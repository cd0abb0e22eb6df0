package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skua-data/skua/cmd/skua/shell"
)

// sqlFlags are what the flags of sql say before files are read.
type sqlFlags struct {
	config       shell.Config
	passwordFile string
	tokenFile    string
	file         string
	execute      []string
}

func sqlCommand() *cobra.Command {
	var flags sqlFlags
	command := &cobra.Command{
		Use:   "sql",
		Short: "Ask any Flight SQL server: one-shot with -e or -f, else interactively",
		Long: `Ask any Flight SQL server: one-shot with -e or -f, statements from standard input when it is no terminal, else interactively.

Statements run one after another in one session; the first that fails ends the run with exit code 1. Statements with an effect (SET k=v, USE, REFRESH)
answer OK in the format table and nothing in the formats for machines.`,
		Example: `  skua sql --uri grpc://127.0.0.1:31337
  skua sql -e "USE demo.shop; SHOW TABLES" --format csv
  skua sql --uri grpc+tls://lake.example.com:443 --user ana --password-file ~/.skua-password -f report.sql --format arrow > report.arrow`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("unexpected argument %q; statements come after -e: %s -e %q", args[0], c.CommandPath(), strings.Join(args, " "))
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error {
			config, err := flags.shell(c.InOrStdin())
			if err != nil {
				return err
			}
			config.In, config.Out, config.Progress = c.InOrStdin(), c.OutOrStdout(), c.ErrOrStderr()
			return shell.Run(c.Context(), config)
		},
	}
	flags.add(command)
	return command
}

func (s *sqlFlags) add(command *cobra.Command) {
	f := command.Flags()
	f.StringVar(&s.config.URI, "uri", "grpc://127.0.0.1:31337", "the server: grpc://host:port in plain text, grpc+tls://host:port with TLS; the port is 31337 unless given")
	f.StringVar(&s.config.User, "user", "", "log in as this user; needs --password-file")
	f.StringVar(&s.passwordFile, "password-file", "", "a `file` whose first line is the password")
	f.StringVar(&s.tokenFile, "token-file", "", "a `file` whose first line is a bearer token")
	f.StringVar(&s.config.CAFile, "ca-file", "", "a PEM `file` of authorities for grpc+tls (default: the system's)")
	f.StringVar(&s.config.CertificateFile, "client-certificate", "", "a PEM `file` with the client's certificate, for servers that want one; needs --client-key")
	f.StringVar(&s.config.KeyFile, "client-key", "", "a PEM `file` with the key of the client's certificate")
	f.StringVar(&s.config.Format, "format", "table", "table, csv, json (one object a line) or arrow (an IPC stream)")
	f.StringArrayVarP(&s.execute, "execute", "e", nil, "a `statement` to run, or several with semicolons; repeatable")
	f.StringVarP(&s.file, "file", "f", "", "a `file` of statements separated by semicolons; - is standard input")
	f.BoolVar(&s.config.Timing, "timing", false, "tell rows and time after each statement")
}

// shell is the configuration that the flags mean.
func (s *sqlFlags) shell(stdin io.Reader) (config shell.Config, err error) {
	config = s.config
	if err := s.checkLogin(); err != nil {
		return config, err
	}
	if config.Password, err = secretFrom(s.passwordFile); err != nil {
		return config, err
	}
	if config.Token, err = secretFrom(s.tokenFile); err != nil {
		return config, err
	}
	for _, text := range s.execute {
		config.Execute = append(config.Execute, shell.Split("", text)...)
	}
	if s.file != "" {
		config.Execute, err = statementsOf(s.file, stdin)
	}
	if err == nil && len(config.Execute) == 0 && (s.file != "" || len(s.execute) > 0) {
		err = errors.New("there is no statement to run")
	}
	return config, err
}

func (s *sqlFlags) checkLogin() error {
	switch {
	case s.config.User != "" && s.tokenFile != "":
		return errors.New("--user and --token-file exclude each other")
	case s.config.User != "" && s.passwordFile == "":
		return errors.New("--user needs --password-file: a file whose first line is the password, which so stays out of the process list")
	case s.config.User == "" && s.passwordFile != "":
		return errors.New("--password-file needs --user")
	case s.file != "" && len(s.execute) > 0:
		return errors.New("-e and -f exclude each other")
	}
	return nil
}

func statementsOf(file string, stdin io.Reader) ([]shell.Statement, error) {
	if file == "-" {
		text, err := io.ReadAll(stdin)
		if err != nil {
			return nil, fmt.Errorf("read standard input: %w", err)
		}
		return shell.Split("stdin", string(text)), nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read statements: %w", err)
	}
	return shell.Split(file, string(text)), nil
}

func secretFrom(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("read the secret: %w", err)
	}
	line, _, _ := strings.Cut(string(data), "\n")
	if line = strings.TrimRight(line, "\r"); line == "" {
		return "", fmt.Errorf("read the secret: the first line of %s is empty", path)
	}
	return line, nil
}
