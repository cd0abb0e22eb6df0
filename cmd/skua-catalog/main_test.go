package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/catalogs/catalogtest"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/plugins/host"
	"github.com/skua-data/skua/plugins/sdk"
	"github.com/skua-data/skua/storage"
)

// TestMain lets the test binary be the program itself.
func TestMain(m *testing.M) {
	if sdk.Launched() {
		main()
		return
	}
	os.Exit(m.Run())
}

func TestByHand(t *testing.T) {
	for _, c := range []struct {
		args           string
		status         int
		stdout, stderr string
	}{
		{"", 2, "", "hadoop"},
		{"--help", 0, "jdbc", ""},
		{"--version", 0, "skua-catalog " + version + " (plugin protocol 1)", ""},
		{"hadoop", 1, "", "spark.sql.catalog.NAME.type  hadoop"},
		{"bigquery", 2, "", "catalog type bigquery is not supported by this build yet"},
		{"tin", 2, "", "Unknown catalog type: tin"},
	} {
		t.Run(c.args, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			if status := byHand(strings.Fields(c.args), &stdout, &stderr); status != c.status {
				t.Errorf("status %d", status)
			}
			if !strings.Contains(stdout.String(), c.stdout) || !strings.Contains(stderr.String(), c.stderr) {
				t.Errorf("stdout %q, stderr %q", &stdout, &stderr)
			}
			if (stdout.Len() > 0) == (stderr.Len() > 0) {
				t.Error("one of the two must speak")
			}
		})
	}
}

func TestTheVersionIsTheServers(t *testing.T) {
	source, err := os.ReadFile("../../server/server.go")
	if err != nil {
		t.Fatal(err)
	}
	if want := `Version = "` + version + `"`; !bytes.Contains(source, []byte(want)) {
		t.Errorf("server/server.go lacks %s", want)
	}
}

// launcher is a host whose plugin folder holds the test binary as skua-catalog.
func launcher(t *testing.T) *host.Host {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := os.Symlink(program, filepath.Join(folder, "skua-catalog")); err != nil {
		t.Fatal(err)
	}
	h, err := host.New(host.Config{Folder: folder})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

func TestAHadoopCatalogPassesTheSuiteInItsProcess(t *testing.T) {
	metadata, err := os.ReadFile("../../catalogs/hadoop/testdata/v2.json")
	if err != nil {
		t.Fatal(err)
	}
	warehouse := t.TempDir()
	at := filepath.Join(warehouse, "sales", "eu", "orders", "metadata")
	if err := os.MkdirAll(at, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{"v2.metadata.json": metadata, "version-hint.text": []byte("2")} {
		if err := os.WriteFile(filepath.Join(at, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	h := launcher(t)
	catalogtest.Run(t, func(t *testing.T) (catalogs.Catalog, catalogtest.Expected) {
		catalog, err := h.Open(t.Context(), catalogs.Definition{Name: "lake", Type: "hadoop", Properties: iceberg.Properties{"warehouse": "/w"}},
			storage.Map{{From: "/w", To: warehouse}})
		if err != nil {
			t.Fatal(err)
		}
		return catalog, catalogtest.Expected{
			Capabilities: catalogs.Capabilities{NestedNamespaces: true, RootTables: true, Unchanged: true},
			Namespaces: []catalogtest.Namespace{
				{Identifier: table.Identifier{"sales"}, Properties: iceberg.Properties{"location": "/w/sales"}},
				{Identifier: table.Identifier{"sales", "eu"}},
			},
			Tables: []catalogtest.Table{
				{Identifier: table.Identifier{"sales", "eu", "orders"}, MetadataLocation: "/w/sales/eu/orders/metadata/v2.metadata.json"},
			},
		}
	})
}

func TestTypesThatAreNotBundledAreNamed(t *testing.T) {
	h := launcher(t)
	for typ, want := range map[string]string{"bigquery": "catalog type bigquery is not supported by this build yet", "tin": "Unknown catalog type: tin",
		"jdbc": "uri"} {
		_, err := h.Open(t.Context(), catalogs.Definition{Name: "other", Type: typ, Properties: iceberg.Properties{}}, nil)
		if err == nil || !strings.Contains(err.Error(), want) || fault.Is(err, fault.Unsupported) == (typ == "jdbc") {
			t.Errorf("%s: %v", typ, err)
		}
	}
}
