package sdk_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/plugins/host"
)

// TestTheExampleWorksOutsideOfTheModule does what the example's README says, in a folder elsewhere: its tests pass, its program builds, and a host runs it.
func TestTheExampleWorksOutsideOfTheModule(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a program")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	elsewhere, folder := t.TempDir(), t.TempDir()
	if err := os.CopyFS(elsewhere, os.DirFS("example")); err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(elsewhere, "go.sum"), sums, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, arguments := range [][]string{
		{"mod", "edit", "-module", "example.com/my-catalog", "-replace", "github.com/skua-data/skua=" + root},
		{"test", "./..."}, {"build", "-o", filepath.Join(folder, "skua-catalog-Mine"), "."},
	} {
		c := exec.Command("go", arguments...)
		c.Dir = elsewhere
		c.Env = append(os.Environ(), "GOFLAGS=-mod=mod -buildvcs=false", "GOWORK=off")
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("go %v: %v\n%s", arguments, err, out)
		}
	}
	tables := t.TempDir()
	if err := os.MkdirAll(filepath.Join(tables, "sales"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(tables, "sales", "orders.metadata.json"), []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	h, err := host.New(host.Config{Folder: folder})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	catalog, err := h.Open(t.Context(), catalogs.Definition{Name: "mine", Impl: "com.example.Mine", Properties: iceberg.Properties{"root": tables}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := catalog.Load(t.Context(), catalogs.LoadRequest{Identifier: table.Identifier{"sales", "orders"}})
	if err != nil || loaded.MetadataLocation != tables+"/sales/orders.metadata.json" {
		t.Errorf("%+v, %v", loaded, err)
	}
}
