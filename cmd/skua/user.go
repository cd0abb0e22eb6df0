package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/chzyer/readline"
	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"

	"github.com/skua-data/skua/server"
)

func userCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "user NAME",
		Short: "Print a line for the users file, with the password hashed",
		Long: `Print a line for the users file (skua.auth.users-file), with the password hashed. The password is asked for on a terminal, or read
from the first line of standard input.`,
		Example: "  bin/skua user ana >> users\n  bin/skua serve --conf skua.auth.users-file=users",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			password, err := askPassword(args[0])
			if err != nil {
				return err
			}
			line, err := server.UserLine(args[0], password)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(c.OutOrStdout(), line)
			return err
		},
	}
}

func askPassword(user string) (string, error) {
	if isatty.IsTerminal(os.Stdin.Fd()) {
		typed, err := readline.Password("Password for " + user + ": ")
		return string(typed), err
	}
	line := bufio.NewScanner(os.Stdin)
	if !line.Scan() {
		return "", errors.Join(errors.New("no password on standard input"), line.Err())
	}
	return strings.TrimRight(line.Text(), "\r"), nil
}
