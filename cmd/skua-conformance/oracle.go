package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/skua-data/skua/conformance"
	"github.com/skua-data/skua/conformance/oracle"
)

func oracleCommand() *cobra.Command {
	var whom connection
	var expected, names, texts, paths []string
	var only string
	var show int
	var timeout time.Duration
	command := &cobra.Command{
		Use:   "oracle --expected DIR",
		Short: "Ask every recorded query and compare with Spark's answers",
		Long: `Ask every recorded query and compare with Spark's answers. Prints a line of counts for each file of answers:
equal (the same columns and rows), error-ok (an error was recorded and one came), beyond (the reference fails by a fault of its own),
decided (differs, as deviations.jsonl says it may), refused (an error says that it is not supported), wrong, and failed (any other error).
Exits with 1 when a question is wrong or failed.`,
		Example: "  skua-conformance oracle --uri grpc://127.0.0.1:31337 --expected conformance/testdata/expected --map oracle=lake",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			config := oracle.Config{Only: only, Timeout: timeout}
			var err error
			if config.Target, err = whom.target(); err != nil {
				return err
			}
			config.Target.Cookies = true
			if config.Names, err = renamesOf("--map", names); err != nil {
				return err
			}
			if config.Texts, err = renamesOf("--text-map", texts); err != nil {
				return err
			}
			if config.Paths, err = pathsOf(paths); err != nil {
				return err
			}
			return askAll(c, config, expected, show)
		},
	}
	whom.flags(command)
	command.Flags().StringArrayVar(&expected, "expected", nil, "a `folder` of answers; may be given several times")
	command.Flags().StringArrayVar(&names, "map", nil, "`FROM=TO`: a catalog or table is called otherwise on the server; may be given several times")
	command.Flags().StringArrayVar(&texts, "text-map", nil, "`FROM=TO`: text in recorded values that is otherwise there, such as the beginning of paths")
	command.Flags().StringSliceVar(&paths, "path", []string{"query", "prepared"}, "how statements travel; of several they take turns")
	command.Flags().StringVar(&only, "only", "", "ask only what has this `text` in its id or its file's name")
	command.Flags().IntVar(&show, "show", 20, "print at most so many wrong or failed questions in full")
	command.Flags().DurationVar(&timeout, "timeout", time.Minute, "of one question")
	_ = command.MarkFlagRequired("expected") // the flag exists
	return command
}

func askAll(c *cobra.Command, config oracle.Config, folders []string, show int) error {
	var bad []oracle.Verdict
	for _, folder := range folders {
		suite, err := oracle.Load(folder)
		if err != nil {
			return err
		}
		report, err := suite.Run(c.Context(), config)
		if err != nil {
			return err
		}
		fmt.Fprintln(c.OutOrStdout(), "# "+folder)
		report.WriteCounts(c.OutOrStdout())
		bad = append(bad, report.Of(oracle.Wrong, oracle.Failed)...)
	}
	oracle.WriteVerdicts(c.OutOrStdout(), bad, show)
	if len(bad) > 0 {
		return fmt.Errorf("%d questions came out wrong or failed", len(bad))
	}
	return nil
}

func pathsOf(words []string) ([]conformance.Path, error) {
	out := make([]conformance.Path, len(words))
	for i, w := range words {
		if out[i] = conformance.Path(w); out[i] != conformance.PathQuery && out[i] != conformance.PathPrepared {
			return nil, fmt.Errorf("--path %q: expected query or prepared", w)
		}
	}
	return out, nil
}
