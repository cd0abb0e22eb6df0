// Package plugintest holds the binary of a catalog plugin against the suite that every catalog passes, outside of a test binary: it launches the
// plugin as a server would and runs package catalogtest over it.
package plugintest

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/catalogs/catalogtest"
	"github.com/skua-data/skua/conformance"
	"github.com/skua-data/skua/plugins/host"
	"github.com/skua-data/skua/storage"
)

// Config says which plugin, and how its catalog is configured.
type Config struct {
	Plugin     string            // the binary's path
	Type       string            // the type to ask of a binary that serves several; empty: it serves one
	Properties map[string]string // the catalog's
	Locations  storage.Map       // where files lie that their paths do not tell
	Content    string            // a JSON file that declares namespaces and tables; empty: what the catalog lists
	Limit      time.Duration     // of each test; 0: a minute
	Log        *slog.Logger      // of the plugin's process
}

// mostTables bounds how many tables are taken from listings.
const mostTables = 200

// Choose gives the properties by which a plugin's binary is found in its folder: type where one is given, else catalog-impl.
func Choose(plugin, typ string) map[string]string {
	if typ != "" {
		return map[string]string{"type": typ}
	}
	return map[string]string{"catalog-impl": filepath.Base(plugin)}
}

// Run runs the suite and gives an outcome for each of its tests. It is an error when the plugin cannot be launched or its content not be told.
func Run(ctx context.Context, c Config) ([]conformance.Outcome, error) {
	properties := iceberg.Properties(Choose(c.Plugin, c.Type))
	for k, v := range c.Properties {
		properties[k] = v
	}
	d, _, err := catalogs.NewDefinition("lake", "org.apache.iceberg.spark.SparkCatalog", properties)
	if err != nil {
		return nil, err
	}
	launcher, err := host.New(host.Config{Folder: filepath.Dir(c.Plugin), Log: c.Log})
	if err != nil {
		return nil, err
	}
	defer launcher.Close()
	open := func(ctx context.Context) (catalogs.Catalog, error) { return launcher.Open(ctx, d, c.Locations) }
	first, err := open(ctx)
	if err != nil {
		return nil, err
	}
	defer first.Close()
	expected, err := contentOf(ctx, first, c.Content)
	if err != nil {
		return nil, err
	}
	limit := c.Limit
	if limit == 0 {
		limit = time.Minute
	}
	return run(ctx, open, expected, limit), nil
}

// declared is what a file of content holds.
type declared struct {
	Namespaces [][]string `json:"namespaces"`
	Tables     [][]string `json:"tables"`
}

// contentOf gives what a catalog is expected to hold: what a file declares, or what it lists.
func contentOf(ctx context.Context, c catalogs.Catalog, file string) (catalogtest.Expected, error) {
	var content declared
	if file != "" {
		data, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(data, &content)
		}
		if err != nil {
			return catalogtest.Expected{}, fmt.Errorf("read the declared content: %w", err)
		}
	} else if err := list(ctx, c, nil, &content); err != nil {
		return catalogtest.Expected{}, fmt.Errorf("list the catalog's content: %w", err)
	}
	out := catalogtest.Expected{Capabilities: c.Capabilities()}
	for _, ns := range content.Namespaces {
		out.Namespaces = append(out.Namespaces, catalogtest.Namespace{Identifier: ns})
	}
	for _, name := range content.Tables {
		loaded, err := c.Load(ctx, catalogs.LoadRequest{Identifier: name})
		if err != nil {
			return out, fmt.Errorf("load %s: %w", strings.Join(name, "."), err)
		}
		out.Tables = append(out.Tables, catalogtest.Table{Identifier: name, Kind: loaded.Kind, MetadataLocation: loaded.MetadataLocation, LocationOnly: loaded.Metadata == nil})
	}
	return out, nil
}

// list walks a catalog's listings.
func list(ctx context.Context, c catalogs.Catalog, parent table.Identifier, into *declared) error {
	if parent != nil || c.Capabilities().RootTables {
		for entry, err := range c.Tables(ctx, parent) {
			if err != nil {
				return err
			}
			if into.Tables = append(into.Tables, entry.Identifier); len(into.Tables) > mostTables {
				return fmt.Errorf("it lists more than %d tables; declare some of its content in a file", mostTables)
			}
		}
	}
	var children []table.Identifier
	for ns, err := range c.Namespaces(ctx, parent) {
		if err != nil {
			return err
		}
		children = append(children, slices.Clone(ns))
	}
	for _, ns := range children {
		into.Namespaces = append(into.Namespaces, ns)
		if !c.Capabilities().NestedNamespaces {
			if err := listTables(ctx, c, ns, into); err != nil {
				return err
			}
			continue
		}
		if err := list(ctx, c, ns, into); err != nil {
			return err
		}
	}
	return nil
}

func listTables(ctx context.Context, c catalogs.Catalog, ns table.Identifier, into *declared) error {
	for entry, err := range c.Tables(ctx, ns) {
		if err != nil {
			return err
		}
		into.Tables = append(into.Tables, entry.Identifier)
	}
	return nil
}

// suiteName is what the suite is called in outcomes.
const suiteName = "catalogtest"

// run runs every test of the suite over a fresh catalog, each within a limit.
func run(ctx context.Context, open func(context.Context) (catalogs.Catalog, error), expected catalogtest.Expected, limit time.Duration) []conformance.Outcome {
	var out []conformance.Outcome
	for _, c := range catalogtest.Tests() {
		started := time.Now()
		failures, timeout := check(ctx, limit, func(t catalogtest.T) {
			opened, err := open(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			c.Run(t, opened, expected)
		})
		o := conformance.Outcome{Script: suiteName, Case: strings.ReplaceAll(c.Name, " ", "-"), Rule: "catalogs: the suite for every catalog", Status: conformance.Passed,
			Failures: failures, Timeout: timeout, Elapsed: time.Since(started), Cell: conformance.Cell{Path: "plugin"}}
		if len(failures) > 0 {
			o.Status = conformance.Failed
		}
		out = append(out, o)
	}
	return out
}
