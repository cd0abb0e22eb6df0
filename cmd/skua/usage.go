package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// misuse is an error in how a command was called, not in what it did.
type misuse struct {
	command string
	err     error
}

func (m *misuse) Error() string {
	return strings.TrimRight(m.err.Error(), "\n") + "\nsee " + m.command + " --help"
}

func (m *misuse) Unwrap() error { return m.err }

// execute runs the command that the arguments mean. Errors in the arguments tell whose help to read.
func execute(ctx context.Context, root *cobra.Command) error {
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return &misuse{c.CommandPath(), err} })
	tellMisuse(root)
	started := false
	root.PersistentPreRun = func(*cobra.Command, []string) { started = true }
	called, err := root.ExecuteContextC(ctx)
	var told *misuse
	if err != nil && !started && !errors.As(err, &told) {
		return &misuse{called.CommandPath(), err}
	}
	return err
}

// tellMisuse makes commands that only hold others refuse what they do not hold, instead of showing their help as if all were well.
func tellMisuse(c *cobra.Command) {
	for _, child := range c.Commands() {
		tellMisuse(child)
		if child.HasSubCommands() && !child.Runnable() {
			child.Args = knownCommand
			child.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
		}
	}
}

func knownCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	c.SuggestionsMinimumDistance = 2
	meant := ""
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		meant = "; did you mean " + strings.Join(near, " or ") + "?"
	}
	return fmt.Errorf("unknown command %q for %q%s", args[0], c.CommandPath(), meant)
}

// helpCommand shows the help of a command, and refuses what is none.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Show the help of a command",
		RunE: func(c *cobra.Command, args []string) error {
			found, rest, err := c.Root().Find(args)
			if err == nil && len(rest) > 0 {
				err = knownCommand(found, rest)
			}
			if err != nil {
				return &misuse{c.Root().CommandPath(), err}
			}
			return found.Help()
		},
	}
}

func noArguments(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("unexpected argument %q", args[0])
	}
	return nil
}

// oneArgument wants exactly the argument that a command's usage calls name.
func oneArgument(name string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return errors.New(name + " is missing")
		}
		return noArguments(nil, args[1:])
	}
}
