package hadoop

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/catalogs"
)

// TestListingsSeeWhatOthersMakeAndDrop: what is known of folders shows no table that is gone, and hides none that is new.
func TestListingsSeeWhatOthersMakeAndDrop(t *testing.T) {
	warehouse := t.TempDir()
	file := func(name string) string { return filepath.Join(warehouse, "ns", name, "metadata", "v1.metadata.json") }
	for i := range foldersTogether + 2 {
		put(t, file(fmt.Sprintf("t%03d", i)), []byte("{}"), false)
	}
	c := open(t, warehouse, nil).(*catalog)
	names := regexp.MustCompile("^t00[0-3]$")
	list := func() string {
		var tables, namespaces []string
		for e, err := range c.Tables(catalogs.WithNames(t.Context(), names), table.Identifier{"ns"}) {
			if err != nil {
				t.Fatal(err)
			}
			tables = append(tables, e.Identifier[1])
		}
		for n, err := range c.Namespaces(t.Context(), table.Identifier{"ns"}) {
			if err != nil {
				t.Fatal(err)
			}
			namespaces = append(namespaces, n[1])
		}
		return fmt.Sprint(tables, namespaces)
	}
	check := func(what, want string) {
		t.Helper()
		for range 2 {
			if got := list(); got != want {
				t.Errorf("%s: %s, want %s", what, got, want)
			}
		}
	}
	check("four of many", "[t000 t001 t002 t003] []")
	if err := os.Remove(file("t001")); err != nil {
		t.Fatal(err)
	}
	check("metadata is gone", "[t000 t002 t003] [t001]")
	put(t, file("t001"), []byte("{}"), false)
	if err := os.Rename(filepath.Dir(filepath.Dir(file("t002"))), filepath.Dir(filepath.Dir(file("other")))); err != nil {
		t.Fatal(err)
	}
	check("it is back, and another is called otherwise", "[t000 t001 t003] []")
	if err := os.Remove(file("other")); err != nil {
		t.Fatal(err)
	}
	names = nil
	c.known.add(filepath.Join(warehouse, "ns", "other"), "v1.metadata.json") // looked at a moment ago
	for n := range c.Namespaces(t.Context(), table.Identifier{"ns"}) {
		t.Errorf("%s is a namespace already", n)
	}
	for folder, f := range c.known.files {
		c.known.files[folder] = knownFile{f.name, f.seen.Add(-remembered - time.Second)}
	}
	seen := 0
	for range c.Namespaces(t.Context(), table.Identifier{"ns"}) {
		seen++
	}
	if seen != 1 {
		t.Errorf("%d namespaces after the time", seen)
	}
}
