// Package catalogtest is the suite that every catalog passes, whatever it reads and on whichever side of a process it runs. A catalog's test
// makes one with known content and declares that content; the suite asks for all of it, for names that are not there, at once, halfway and
// after the end.
package catalogtest

import (
	"context"
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

// T is what the suite needs of a testing.T. Whoever runs it outside of a test binary has a T of its own; Fatal and Fatalf end the goroutine that calls them.
type T interface {
	Context() context.Context // canceled when the test has ended
	Cleanup(f func())
	Helper()
	Error(args ...any)
	Errorf(format string, args ...any)
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

var _ T = (*testing.T)(nil)

// Test is one of the suite.
type Test struct {
	Name string
	run  func(t T, s *suite)
}

// Run runs the test over a fresh catalog, which it closes.
func (c Test) Run(t T, catalog catalogs.Catalog, expected Expected) {
	t.Cleanup(func() { _ = catalog.Close() })
	c.run(t, &suite{catalog, expected})
}

// Tests are those of the suite, in their order.
func Tests() []Test {
	return []Test{
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
	}
}

// Run runs the suite. open makes a fresh catalog for one test; it is closed by the suite.
func Run(t *testing.T, open func(t *testing.T) (catalogs.Catalog, Expected)) {
	for _, c := range Tests() {
		t.Run(c.Name, func(t *testing.T) {
			catalog, expected := open(t)
			c.Run(t, catalog, expected)
		})
	}
}

// suite is a fresh catalog with what it holds.
type suite struct {
	catalogs.Catalog
	expected Expected
}
