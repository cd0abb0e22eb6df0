package server

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/session"
)

// Check writes what `skua config check` shows: every key with its value, where it came from, what it overrode and what it means, then what Skua
// does not know or cannot honour; it opens each catalog once. It returns the error that would keep the server from starting, or says how many
// catalogs cannot be used.
func Check(ctx context.Context, w io.Writer, s *Settings) error {
	config, problem := NewConfig(s)
	table := tabwriter.NewWriter(w, 2, 4, 2, ' ', 0)
	fmt.Fprintln(table, "KEY\tVALUE\tSOURCE\tMEANING")
	var unknown, refused []string
	for _, e := range s.All() {
		meaning, known := explain(e.Key)
		_, listed := session.Lookup(e.Key)
		switch {
		case !listed && strings.HasPrefix(e.Key, "skua."):
			refused = append(refused, e.Key+suggest(e.Key))
		case !known:
			unknown = append(unknown, e.Key+suggest(e.Key))
		}
		source := e.Source
		if len(e.Overrides) > 0 {
			source += " (over " + strings.Join(e.Overrides, ", ") + ")"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", e.Key, e.Shown(), source, meaning)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, c := range config.Catalogs {
		kind := c.Type
		if c.Impl != "" {
			kind = "plugin " + c.Impl
		}
		overrides := "session overrides inactive: its class does not wrap"
		if c.Class.Wraps {
			overrides = "session overrides active"
		}
		fmt.Fprintf(w, "\ncatalog %s: %s (%s; %s)\n", c.Name, kind, c.Class.Name, overrides)
	}
	section(w, "Unknown keys inside skua.* (refused)", refused)
	section(w, "Unknown to Skua (kept and shown to clients, without effect)", unknown)
	section(w, "Warnings", config.Warnings)
	if problem != nil {
		return problem
	}
	fmt.Fprintln(w)
	if broken := openAll(ctx, w, config); broken > 0 {
		return fault.New(fault.Invalid, "the server would start, but %d of %d catalogs cannot be used", broken, len(config.Catalogs))
	}
	fmt.Fprintln(w, "The configuration is good.")
	return nil
}

func section(w io.Writer, title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s:\n", title)
	for _, l := range lines {
		fmt.Fprintln(w, "  "+l)
	}
}

// explain gives a key's meaning from the option table, or as a part of a catalog's configuration.
func explain(key string) (string, bool) {
	if rest, ok := strings.CutPrefix(key, catalogPrefix); ok {
		name, property, nested := strings.Cut(rest, ".")
		if !nested {
			return "class of catalog " + name, true
		}
		return "property " + property + " of catalog " + name, true
	}
	switch j := session.Judge(key, catalogs.Nearest); {
	case j.Standing == session.Unknown:
		return "", false
	case j.Standing != session.Listed:
		return "unknown: " + j.Hint(), true // a warning tells of it
	case !j.Option.Effect:
		return "without effect: " + j.Option.Doc, true
	default:
		return j.Option.Doc, true
	}
}
