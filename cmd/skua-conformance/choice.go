package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/skua-data/skua/conformance"
)

// choice is the flags that say what is asked, and how long it may take.
type choice struct {
	profile, only      string
	smoke              bool
	step, perCase, run time.Duration
	names, texts       []string
}

func (c *choice) flags(command *cobra.Command) {
	command.Flags().StringVar(&c.profile, "profile", "read-only", "what the server can do: "+strings.Join(conformance.ProfileNames(), ", ")+", or a `file`")
	command.Flags().StringVar(&c.only, "only", "", "only cases that match `SCRIPT/CASE`, * for anything; or a whole script")
	command.Flags().BoolVar(&c.smoke, "smoke", false, "only the cases of the short run, which takes seconds")
	command.Flags().DurationVar(&c.step, "step-timeout", time.Minute, "of one statement")
	command.Flags().DurationVar(&c.perCase, "case-timeout", 2*time.Minute, "of one case")
	command.Flags().DurationVar(&c.run, "timeout", time.Hour, "of the whole run; what is not over then fails")
	command.Flags().StringArrayVar(&c.names, "map", nil, "`FROM=TO`: catalog lake, or one of its tables, is called otherwise on the server; may be given several times")
	command.Flags().StringArrayVar(&c.texts, "text-map", nil, "`FROM=TO`: text in expected values that is otherwise there, such as the beginning of paths")
}

// load gives the profile with the renames of the flags.
func (c choice) load() (*conformance.Profile, error) {
	p, err := profileOf(c.profile)
	if err != nil {
		return nil, err
	}
	names, err := renamesOf("--map", c.names)
	if err != nil {
		return nil, err
	}
	texts, err := renamesOf("--text-map", c.texts)
	p.Names, p.Texts = append(p.Names, names...), append(p.Texts, texts...)
	return p, err
}

// profileOf finds a profile by the name of a built-in one, or reads a file.
func profileOf(name string) (*conformance.Profile, error) {
	f, err := os.Open(name)
	if err != nil && name == "smoke" {
		return nil, errors.New("--profile smoke: the short run is chosen by --smoke; --profile says what the server can do, such as --profile read-only --smoke")
	}
	if err != nil {
		return conformance.BuiltInProfile(name)
	}
	defer f.Close()
	return conformance.ParseProfile(strings.TrimSuffix(filepath.Base(name), ".profile"), f)
}

func (c choice) config(target conformance.Target, p *conformance.Profile) conformance.Config {
	return conformance.Config{Connect: target.Sessions(), Profile: p, StepTimeout: c.step, CaseTimeout: c.perCase, Smoke: c.smoke, Only: c.only}
}

// scriptsOf reads scripts from files; without any, those that are built in.
func scriptsOf(files []string) ([]*conformance.Script, error) {
	if len(files) == 0 {
		return conformance.Bundled()
	}
	var out []*conformance.Script
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		script, err := conformance.Parse(filepath.Base(file), f)
		if err := errors.Join(err, f.Close()); err != nil {
			return nil, err
		}
		out = append(out, script)
	}
	return out, nil
}

// probe gives a function that asks once for each table whether it is absent: neither the name nor its beginnings of three parts and more are found.
// Whatever else is wrong with a table makes its cases fail.
func probe(target conformance.Target, limit time.Duration) func(ctx context.Context, table string) bool {
	var mu sync.Mutex
	known := map[string]bool{}
	return func(ctx context.Context, table string) bool {
		mu.Lock()
		defer mu.Unlock()
		missing, ok := known[table]
		if ok {
			return missing
		}
		parts := dotted.FindAllString(table, -1)
		missing = true
		for n := min(3, len(parts)); n <= len(parts) && missing; n++ {
			missing = absent(ctx, target, limit, strings.Join(parts[:n], "."))
		}
		known[table] = missing
		return missing
	}
}

// dotted finds the parts of a name.
var dotted = regexp.MustCompile("`(?:[^`]|``)*`|[^.`]+")

func absent(ctx context.Context, target conformance.Target, limit time.Duration, table string) bool {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	client, err := target.Connect(ctx)
	if err != nil {
		return false
	}
	defer client.Close()
	answer, err := client.Ask(ctx, conformance.Question{SQL: "SELECT * FROM " + table + " LIMIT 0", Path: conformance.PathQuery})
	if err == nil {
		answer.Release()
	}
	return status.Code(err) == codes.NotFound
}

func renamesOf(flag string, pairs []string) ([]conformance.Rename, error) {
	out := make([]conformance.Rename, len(pairs))
	for i, p := range pairs {
		from, to, ok := strings.Cut(p, "=")
		if !ok || from == "" {
			return nil, fmt.Errorf("%s %q: expected FROM=TO", flag, p)
		}
		out[i] = conformance.Rename{From: from, To: to}
	}
	return out, nil
}
