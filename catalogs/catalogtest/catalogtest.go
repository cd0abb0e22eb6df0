// Package catalogtest is the suite that every catalog passes, whatever it reads and on whichever side of a process it runs. A catalog's test
// makes one with known content and declares that content; the suite asks for all of it, for names that are not there, at once, halfway and
// after the end.
package catalogtest

import (
	"testing"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/catalogs"
)

// Expected declares a catalog's whole content. Its orders mean nothing.
type Expected struct {
	Capabilities catalogs.Capabilities
	Namespaces   []Namespace // every one, at every depth
	Tables       []Table     // every table and view of every namespace, and of the root where RootTables says so
}

// Namespace is an expected namespace.
type Namespace struct {
	Identifier table.Identifier
	Properties iceberg.Properties // those that must be there with these values; others may be
}

// Table is an expected entry that must load.
type Table struct {
	Identifier       table.Identifier
	Kind             catalogs.Kind
	MetadataLocation string // empty: not compared
	LocationOnly     bool   // the catalog sends no metadata
}

// Run runs the suite. open makes a fresh catalog for one test; it is closed by the suite.
func Run(t *testing.T, open func(t *testing.T) (catalogs.Catalog, Expected)) {
	for _, c := range []struct {
		name string
		run  func(t *testing.T, s *suite)
	}{
		{"capabilities are as declared", testCapabilities},
		{"namespaces are listed with their full path in byte order", testNamespaces},
		{"tables are listed in byte order", testTables},
		{"namespaces have their properties", testProperties},
		{"tables load", testLoad},
		{"held metadata is not sent again", testHeld},
		{"what is missing is not found", testMissing},
		{"odd names do no harm", testOddNames},
		{"a listing may be stopped", testStopped},
		{"answers belong to the caller", testOwnership},
		{"a cancelled call fails as such", testCancelled},
		{"calls may run at once", testConcurrent},
		{"closing twice is harmless and ends everything", testClosed},
	} {
		t.Run(c.name, func(t *testing.T) {
			catalog, expected := open(t)
			t.Cleanup(func() { _ = catalog.Close() })
			c.run(t, &suite{catalog, expected})
		})
	}
}

// suite is a fresh catalog with what it holds.
type suite struct {
	catalogs.Catalog
	expected Expected
}
