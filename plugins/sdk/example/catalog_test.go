package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/catalogs/catalogtest"
)

// TestSuite runs the suite that every catalog passes: declare what the catalog holds, and it asks for all of it and for what is not there.
func TestSuite(t *testing.T) {
	catalogtest.Run(t, func(t *testing.T) (catalogs.Catalog, catalogtest.Expected) {
		root := t.TempDir()
		for _, name := range []string{"sales/orders", "sales/B", "web/events"} {
			path := filepath.Join(root, name+suffix)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte("{}"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		catalog, err := open(t.Context(), catalogs.Config{Name: "mine", Properties: iceberg.Properties{"root": root}})
		if err != nil {
			t.Fatal(err)
		}
		tbl := func(namespace, name string) catalogtest.Table {
			return catalogtest.Table{Identifier: table.Identifier{namespace, name}, MetadataLocation: root + "/" + namespace + "/" + name + suffix, LocationOnly: true}
		}
		return catalog, catalogtest.Expected{
			Namespaces: []catalogtest.Namespace{
				{Identifier: table.Identifier{"sales"}, Properties: iceberg.Properties{"location": root + "/sales"}}, {Identifier: table.Identifier{"web"}}},
			Tables: []catalogtest.Table{tbl("sales", "orders"), tbl("sales", "B"), tbl("web", "events")},
		}
	})
}

func TestTheRootIsNeeded(t *testing.T) {
	if _, err := open(t.Context(), catalogs.Config{Name: "mine"}); err == nil {
		t.Error("it opens nothing")
	}
}
