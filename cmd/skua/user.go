package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/skua-data/skua/cmd/skua/shell"
	"github.com/skua-data/skua/server"
)

func userCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "user NAME",
		Short: "Print a line for the users file, with the password hashed",
		Long: `Print a line for the users file, with the password hashed.

A users file holds one user a line, as name:hash; empty lines and lines that begin with # are passed over. The server lets in nobody else:
it is the value of skua.auth.users-file. To change a password, replace the user's line; a running server sees it at the next login, and what was
logged in with the old password is logged out.

The password is asked for twice on a terminal, without echo, or read from the first line of standard input.`,
		Example: "  skua user ana >> users\n  skua user robot >> users < robot.password\n  skua serve --conf skua.auth.users-file=users",
		Args:    oneArgument("NAME"),
		RunE: func(c *cobra.Command, args []string) error {
			stdin, ok := c.InOrStdin().(*os.File)
			if !ok {
				return errors.New("standard input is no file")
			}
			password, err := shell.AskPassword(stdin, "Password for "+args[0]+": ")
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
