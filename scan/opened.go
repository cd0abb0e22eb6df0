package scan

import (
	"sort"

	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/storage"
)

// Table is a loaded Iceberg table with its metadata parsed, or a table of plain files. It is immutable and safe for concurrent use; the state it shows is that of
// the metadata file it was loaded from.
type Table struct {
	scanner    *Scanner
	catalog    string
	identifier table.Identifier
	location   string
	size       int64 // of the metadata, as it lies in its file or came from the catalog
	store      storage.Store
	metadata   table.Metadata
	defaults   defaults
	files      *plainFiles // nil: it is Iceberg's
}

// Name is catalog, namespace and table, dotted.
func (t *Table) Name() string { return quoteAll(t.catalog, t.identifier) }

// MetadataLocation is the metadata file that fixes the table's state; empty where the catalog keeps none.
func (t *Table) MetadataLocation() string { return t.location }

// Branches are the names of the table's branches, sorted.
func (t *Table) Branches() []string { return t.refs(table.BranchRef) }

// Tags are the names of the table's tags, sorted.
func (t *Table) Tags() []string { return t.refs(table.TagRef) }

func (t *Table) refs(kind table.RefType) []string {
	var out []string
	for name, ref := range t.metadata.Refs() {
		if ref.SnapshotRefType == kind {
			out = append(out, name)
		}
	}
	sort.Strings(out)
	return out
}
