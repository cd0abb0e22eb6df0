// Package plugintest holds the binary of a catalog plugin against the suite that every catalog passes, outside of a test binary: it launches the
// plugin as a server would and runs package catalogtest over it.
package plugintest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
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

// Run runs the suite and gives an outcome for each of its tests. It is an error when the plugin cannot be launched or its content not be told. It must not
// run twice at once: what the suite says comes by the process's standard output.
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
	return run(func(t *testing.T) (catalogs.Catalog, catalogtest.Expected) {
		opened, err := open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return opened, expected
	})
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

// run runs the suite with package testing outside of a test binary, and reads what it says.
func run(open func(t *testing.T) (catalogs.Catalog, catalogtest.Expected)) ([]conformance.Outcome, error) {
	var mu sync.Mutex
	var out []conformance.Outcome
	said, err := captured(func() {
		runTests([]testing.InternalTest{{Name: suiteName, F: func(t *testing.T) {
			catalogtest.Run(t, func(t *testing.T) (catalogs.Catalog, catalogtest.Expected) {
				started := time.Now()
				t.Cleanup(func() {
					mu.Lock()
					defer mu.Unlock()
					o := conformance.Outcome{Script: suiteName, Case: strings.TrimPrefix(t.Name(), suiteName+"/"), Rule: "catalogs: the suite for every catalog", Status: conformance.Passed,
						Elapsed: time.Since(started), Cell: conformance.Cell{Path: "plugin"}}
					switch {
					case t.Failed():
						o.Status = conformance.Failed
					case t.Skipped():
						o.Status, o.Reason = conformance.Skipped, "the catalog does not announce what the test needs"
					}
					out = append(out, o)
				})
				return open(t)
			})
		}}})
	})
	if err != nil {
		return nil, err
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no test of the suite for catalogs ran: %s", bytes.TrimSpace(said))
	}
	texts := failures(said)
	for i := range out {
		if out[i].Status == conformance.Failed {
			out[i].Failures = []string{strings.Join(texts[out[i].Case], "\n")}
		}
	}
	return out, nil
}

// captured gives what do writes to the process's standard output.
func captured(do func()) ([]byte, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	before := os.Stdout
	os.Stdout = w
	var said bytes.Buffer
	done := make(chan error, 1)
	go func() {
		_, err := io.Copy(&said, r)
		done <- err
	}()
	func() {
		defer func() { os.Stdout = before; w.Close() }()
		do()
	}()
	err = <-done
	return said.Bytes(), errors.Join(err, r.Close())
}

// failures parts what package testing says of failed tests, by the test's name.
func failures(said []byte) map[string][]string {
	out := map[string][]string{}
	name := ""
	lines := bufio.NewScanner(bytes.NewReader(said))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if rest, ok := strings.CutPrefix(line, "--- "); ok {
			_, rest, _ = strings.Cut(rest, ": ")
			name = strings.TrimPrefix(rest[:max(strings.LastIndex(rest, " ("), 0)], suiteName+"/")
			continue
		}
		if name != "" && line != "" && line != "FAIL" && line != "PASS" {
			out[name] = append(out[name], line)
		}
	}
	return out
}
