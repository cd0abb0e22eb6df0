package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/iceberg-go"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/plugins/host"
	"github.com/skua-data/skua/plugins/sdk"
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
		{"hive", 2, "", "catalog type hive is not supported by this build yet"},
		{"rest", 2, "", "catalog type rest is not supported by this build yet"},
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

func TestTheServerOpensBundledTypes(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	folder, warehouse := t.TempDir(), t.TempDir()
	if err := os.Symlink(program, filepath.Join(folder, "skua-catalog")); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(warehouse, "sales"), 0o755); err != nil {
		t.Fatal(err)
	}
	h, err := host.New(host.Config{Folder: folder})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	catalog, err := h.Open(t.Context(), catalogs.Definition{Name: "lake", Type: "hadoop", Properties: iceberg.Properties{"warehouse": warehouse}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for namespace, err := range catalog.Namespaces(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, namespace[0])
	}
	if len(names) != 1 || names[0] != "sales" {
		t.Errorf("got %v", names)
	}
	for typ, want := range map[string]string{"hive": "catalog type hive is not supported by this build yet", "tin": "Unknown catalog type: tin"} {
		_, err := h.Open(t.Context(), catalogs.Definition{Name: "other", Type: typ, Properties: iceberg.Properties{}}, nil)
		if !fault.Is(err, fault.Unsupported) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", typ, err)
		}
	}
}
