package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/skua-data/skua/conformance"
	"github.com/skua-data/skua/conformance/feature"
	"github.com/skua-data/skua/conformance/outside"
	"github.com/skua-data/skua/conformance/report"
)

func runCommand() *cobra.Command {
	var whom connection
	var what choice
	var into outputs
	var clients []string
	run := &cobra.Command{
		Use:   "run [FILE…]",
		Short: "Run scripts against a server that is up",
		Long: `Run scripts against a server that is up, on every way that a statement can travel (query, update, prepared, prepared and executed twice), with and
without cookies. Without files it runs the scripts that are built in. Nothing is sent that the profile does not declare; nothing is created, and a
statement that would write is sent only to a server that is declared to refuse it (reads-only). A server that hangs, lies or disconnects fails its cases;
the run goes on and ends by itself. Exits with 1 when a case fails.`,
		Example: `  skua-conformance run --uri grpc://127.0.0.1:31337 --profile skua
  skua-conformance run --uri grpc+tls://lake.example:443 --tls-roots ca.pem --user ana --password-file pw --profile read-only --map lake=prod --html report.html`,
		RunE: func(c *cobra.Command, files []string) error {
			profile, err := what.load()
			if err != nil {
				return err
			}
			whom = whom.under(profile)
			target, err := whom.target()
			if err != nil {
				return err
			}
			scripts, err := scriptsOf(files)
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(c.Context(), what.run)
			defer cancel()
			started := time.Now()
			var outcomes []conformance.Outcome
			for _, name := range clients {
				more, err := runThrough(ctx, name, whom, what, target, profile, scripts)
				if err != nil {
					return err
				}
				outcomes = append(outcomes, more...)
			}
			return into.write(c.OutOrStdout(), report.Run{Title: whom.uri, Profile: profile.Name, Started: started, Outcomes: outcomes})
		},
	}
	whom.flags(run)
	what.flags(run)
	into.flags(run)
	run.Flags().StringSliceVar(&clients, "client", []string{"go"}, "through which clients: go, or the file of a program such as conformance/outside/adbc.py")
	return run
}

// runThrough runs scripts through one client on every path, with and without cookies where the client lets that be chosen.
func runThrough(ctx context.Context, name string, whom connection, what choice, target conformance.Target, p *conformance.Profile, scripts []*conformance.Script) (out []conformance.Outcome, err error) {
	config := what.config(target, p)
	if p.Probe {
		config.Missing = probe(target, what.step)
	}
	paths := p.Paths
	if len(paths) == 0 {
		paths = conformance.Paths()
	}
	if name == "go" {
		for _, path := range paths {
			for _, cookies := range []bool{false, true} {
				target.Cookies = cookies
				config.Connect, config.Cell = target.Sessions(), conformance.Cell{Path: path, Cookies: cookies}
				out = append(out, conformance.Run(ctx, config, scripts...)...)
			}
		}
		return out, nil
	}
	client, err := outside.Start(ctx, outside.Config{Program: name, URI: whom.uri, User: whom.user, PasswordFile: whom.passwordFile, TLSRoots: whom.tlsRoots})
	if err != nil {
		return nil, err
	}
	defer client.Close()
	for _, path := range paths {
		config.Connect = client.Sessions()
		config.Cell = conformance.Cell{Path: path, Cookies: true}.With(conformance.Through, client.Name())
		out = append(out, conformance.Run(ctx, config, scripts...)...)
	}
	return out, nil
}

// outputs are the flags that say where results go.
type outputs struct{ junit, json, html string }

func (o *outputs) flags(command *cobra.Command) {
	command.Flags().StringVar(&o.junit, "junit", "", "write JUnit XML to this `file`")
	command.Flags().StringVar(&o.json, "json", "", "write JSON to this `file`")
	command.Flags().StringVar(&o.html, "html", "", "write one HTML page to this `file`")
}

// write writes every form that was asked for, and text; it is an error when a case failed, or none was asked.
func (o outputs) write(w io.Writer, r report.Run) error {
	report.WriteText(w, r)
	title := func(id string) string { return feature.Title(id) }
	errs := []error{
		toFile(o.junit, func(w io.Writer) error { return report.WriteJUnit(w, r) }),
		toFile(o.json, func(w io.Writer) error { return report.WriteJSON(w, r) }),
		toFile(o.html, func(w io.Writer) error { return report.WritePage(w, r, title) }),
	}
	switch count := report.Count(r.Outcomes); {
	case count.Failed > 0:
		errs = append(errs, fmt.Errorf("%d failed", count.Failed))
	case count.Passed == 0:
		errs = append(errs, errors.New("nothing was checked: no case was asked"))
	}
	return errors.Join(errs...)
}

func toFile(path string, write func(io.Writer) error) error {
	if path == "" {
		return nil
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

func diffCommand() *cobra.Command {
	var one, other connection
	var what choice
	var into outputs
	var otherNames []string
	diff := &cobra.Command{
		Use:   "diff [FILE…]",
		Short: "Ask two servers the same and show where they differ",
		Long: `Ask two servers the same and show where they differ, whatever the scripts expect: schemas, rows, and codes of errors. The profile holds for
both. Exits with 1 when a case differs.`,
		Example: "  skua-conformance diff --uri grpc://127.0.0.1:31337 --with grpc://127.0.0.1:31338 --profile read-only",
		RunE: func(c *cobra.Command, files []string) error {
			profile, err := what.load()
			if err != nil {
				return err
			}
			if other.user == "" {
				other.user, other.passwordFile = one.user, one.passwordFile
			}
			a, err := one.under(profile).target()
			if err != nil {
				return err
			}
			b, err := other.under(profile).target()
			if err != nil {
				return err
			}
			scripts, err := scriptsOf(files)
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(c.Context(), what.run)
			defer cancel()
			started := time.Now()
			second := *profile
			more, err := renamesOf("--with-map", otherNames)
			if err != nil {
				return err
			}
			second.Names = append(slices.Clone(profile.Names), more...)
			left, right := what.config(a, profile), what.config(b, &second)
			if profile.Probe {
				left.Missing, right.Missing = probe(a, what.step), probe(b, what.step)
			}
			outcomes := conformance.Differ(ctx, left, right, scripts...)
			return into.write(c.OutOrStdout(), report.Run{Title: one.uri + " beside " + other.uri, Profile: profile.Name, Started: started, Outcomes: outcomes})
		},
	}
	one.flags(diff)
	what.flags(diff)
	into.flags(diff)
	diff.Flags().StringVar(&other.uri, "with", "", "the other server")
	diff.Flags().StringVar(&other.user, "with-user", "", "log in there as this user; none: as --user")
	diff.Flags().StringVar(&other.passwordFile, "with-password-file", "", "a `file` whose first line is the password there")
	diff.Flags().StringVar(&other.tlsRoots, "with-tls-roots", "", "a `file` of certificates that sign the other server's")
	diff.Flags().StringArrayVar(&otherNames, "with-map", nil, "`FROM=TO`: a name on the other server; may be given several times")
	_ = diff.MarkFlagRequired("with") // the flag exists
	return diff
}

func completeCommand() *cobra.Command {
	var whom connection
	complete := &cobra.Command{
		Use:   "complete FILE…",
		Short: "Write what a server answers into scripts, to be reviewed as a diff",
		Long: `Write what a server answers into scripts as what is expected: schemas, rows, facts of plans. Review the diff: what came is not what is right. Expected
errors are left alone, and a step that fails is reported. It refuses to run where the variable CI is set.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, files []string) error {
			if os.Getenv("CI") != "" {
				return errors.New("complete: expectations are never written in CI; a person reviews them")
			}
			target, err := whom.target()
			if err != nil {
				return err
			}
			scripts, err := scriptsOf(files)
			if err != nil {
				return err
			}
			var errs []error
			for i, s := range scripts {
				errs = append(errs, conformance.Complete(c.Context(), conformance.Config{Connect: target.Sessions()}, s),
					toFile(files[i], func(w io.Writer) error { return conformance.Write(w, s) }))
			}
			return errors.Join(errs...)
		},
	}
	whom.flags(complete)
	return complete
}

func listCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list [FILE…]",
		Short: "List the cases, what they check and what they need",
		RunE: func(c *cobra.Command, files []string) error {
			scripts, err := scriptsOf(files)
			if err != nil {
				return err
			}
			for _, s := range scripts {
				for i := range s.Cases {
					h := s.Heading(&s.Cases[i])
					fmt.Fprintf(c.OutOrStdout(), "%s/%s\t%s\t%s\t%s\n", strings.TrimSuffix(filepath.Base(s.Name), ".test"), s.Cases[i].Name, strings.Join(h.Features, " "),
						strings.Join(s.Cases[i].Needs(h), " "), h.Rule)
				}
			}
			return nil
		},
	}
}
