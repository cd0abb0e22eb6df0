package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/skua-data/skua/server"
)

// settingsFlags are the flags by which serve, config check and doctor are configured alike.
type settingsFlags struct {
	file  string
	conf  []string
	below map[string]string // defaults implied by other flags
}

const precedence = `Settings come from, strongest first:
  --conf key=value         repeatable; a secret here is visible in the process list, and warned of
  environment              SKUA_CONF holds lines like the file's; variables named skua.… or spark.… are keys
  --properties-file FILE   the format of spark-defaults.conf (default: $SKUA_PROPERTIES_FILE)
  built-in defaults        docs/options.md lists them
Inside a value ${env:NAME} and ${file:PATH} are replaced, so that secrets can stay elsewhere.`

func (f *settingsFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.file, "properties-file", os.Getenv("SKUA_PROPERTIES_FILE"), "a file in the format of spark-defaults.conf")
	c.Flags().StringArrayVar(&f.conf, "conf", nil, "a setting, `key=value`; repeatable")
}

func (f *settingsFlags) load() (*server.Settings, error) {
	return server.Load(server.Given{File: f.file, Environment: os.Environ(), Flags: f.conf, Defaults: f.below})
}

func configCommand() *cobra.Command {
	var flags settingsFlags
	check := &cobra.Command{
		Use:   "check",
		Short: "Explain every configured key, its source, and what Skua does not know or cannot honour",
		Long:  "Explain every configured key, its source, and what Skua does not know or cannot honour.\nExits with 1 when the server would refuse to start.\n\n" + precedence,
		Args:  noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			settings, err := flags.load()
			if err != nil {
				return err
			}
			return server.Check(c.Context(), c.OutOrStdout(), settings)
		},
	}
	flags.add(check)
	config := &cobra.Command{Use: "config", Short: "Look at the configuration without starting a server"}
	config.AddCommand(check)
	return config
}

func doctorCommand() *cobra.Command {
	var flags settingsFlags
	doctor := &cobra.Command{
		Use:   "doctor",
		Short: "Open every configured catalog once and say what works",
		Long:  "Open every configured catalog through its plugin, list its namespaces, and say what works and what to do about what does not.\n\n" + precedence,
		Args:  noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			settings, err := flags.load()
			if err != nil {
				return err
			}
			if problems := server.Diagnose(c.Context(), c.OutOrStdout(), settings); problems > 0 {
				return fmt.Errorf("%d problems found", problems)
			}
			return nil
		},
	}
	flags.add(doctor)
	return doctor
}
