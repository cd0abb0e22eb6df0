package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skua-data/skua/cmd/skua/shell"
)

func sqlCommand() *cobra.Command {
	var (
		config       shell.Config
		passwordFile string
		tokenFile    string
		file         string
	)
	command := &cobra.Command{
		Use:   "sql",
		Short: "Ask any Flight SQL server: one-shot with -e or -f, else interactively",
		Example: `  skua sql --uri grpc://127.0.0.1:31337
  skua sql --uri grpc://127.0.0.1:31337 -e "SHOW TABLES IN demo.shop" --format csv
  skua sql --uri grpc+tls://lake.example.com:443 --user ana --password-file ~/.skua-password -f report.sql --format arrow > report.arrow`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			var err error
			if config.Password, err = secretFrom(passwordFile); err != nil {
				return err
			}
			if config.Token, err = secretFrom(tokenFile); err != nil {
				return err
			}
			if file != "" {
				if len(config.Execute) > 0 {
					return errors.New("-e and -f exclude each other")
				}
				text, err := os.ReadFile(file)
				if err != nil {
					return err
				}
				config.Execute = shell.Split(string(text))
			}
			config.In, config.Out, config.Progress = os.Stdin, os.Stdout, os.Stderr
			return shell.Run(c.Context(), config)
		},
	}
	f := command.Flags()
	f.StringVar(&config.URI, "uri", "grpc://127.0.0.1:31337", "the server: grpc://host:port in plain text, grpc+tls://host:port with TLS")
	f.StringVar(&config.User, "user", "", "log in as this user; needs --password-file")
	f.StringVar(&passwordFile, "password-file", "", "a `file` whose first line is the password")
	f.StringVar(&tokenFile, "token-file", "", "a `file` whose first line is a bearer token")
	f.StringVar(&config.CAFile, "ca-file", "", "a PEM `file` of authorities for grpc+tls (default: the system's)")
	f.StringVar(&config.Format, "format", "table", "table, csv, json (one object a line) or arrow (an IPC stream)")
	f.StringArrayVarP(&config.Execute, "execute", "e", nil, "a `statement` to run; repeatable")
	f.StringVarP(&file, "file", "f", "", "a `file` of statements separated by semicolons")
	f.BoolVar(&config.Timing, "timing", false, "tell rows and time after each statement")
	return command
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
	return strings.TrimRight(line, "\r"), nil
}
