package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/skua-data/skua/cmd/skua/shell"
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
			password, err := shell.AskPassword("Password for " + args[0] + ": ")
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
