// Package catalogs is the read side of Iceberg catalogs: the interface that crosses to a plugin's process, the loaded table that comes back,
// the set of configured catalogs, and the table of Java class names. It does not read data and has no catalog of its own: each
// type is a folder below, linked into a plugin binary only.
package catalogs

import (
	"context"
	"iter"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/storage"
)

// Catalog is the read side of a catalog. It is safe for concurrent use. What is optional is announced in Capabilities, which crosses
// the plugin boundary; nothing is discovered by type assertion. Errors carry a fault kind and no secret: a missing namespace or table is fault.NotFound, a
// catalog that cannot be reached fault.Unavailable. A listing's iterator may be stopped at any time; an error ends it.
type Catalog interface {
	Capabilities() Capabilities
	// Namespaces yields the direct children of parent (nil: the root) in byte order, each with its full path.
	Namespaces(ctx context.Context, parent table.Identifier) iter.Seq2[table.Identifier, error]
	// LoadNamespace gives a namespace's properties; location is one where the catalog knows it.
	LoadNamespace(ctx context.Context, namespace table.Identifier) (iceberg.Properties, error)
	// Tables yields the entries of a namespace (nil: the root, where RootTables says so) in byte order. What Names(ctx) does not match may be left out.
	Tables(ctx context.Context, namespace table.Identifier) iter.Seq2[Entry, error]
	// Load loads a table or a view.
	Load(ctx context.Context, req LoadRequest) (*Table, error)
	// Close frees what the catalog holds; calls that still run fail.
	Close() error
}

// Capabilities are what a catalog can do beyond the least. Fields are only added.
type Capabilities struct {
	NestedNamespaces bool // more than one level
	RootTables       bool // tables outside any namespace
	Views            bool
	Files            bool // lists and loads tables that are plain files (the session catalog's non-Iceberg ones)
	VendsCredentials bool // Table.Credentials may be set
	Unchanged        bool // Load honours LoadRequest.Held
	NamespaceDefault bool // a namespace called default answers even where nobody made it
	References       bool // Load honours LoadRequest.Reference
	Refresh          bool // Load honours LoadRequest.Fresh: the catalog keeps answers of its own
	Reports          bool // the catalog is a Reporter
	Partitions       bool // the catalog is a PartitionLister
}

// Reporter is what a catalog is, too, that announces Capabilities.Reports: it wants to know which scans there were.
type Reporter interface {
	// Report passes on what a scan of a table planned and left out: JSON, as Iceberg's REST specification has a ReportMetricsRequest. Nobody waits for it.
	Report(ctx context.Context, table table.Identifier, report []byte) error
}

// Kind is what an entry is.
type Kind uint8

// The kinds of entries.
const (
	KindTable Kind = iota // an Iceberg table
	KindView              // a view
	KindFiles             // plain files, no Iceberg metadata
)

// Entry is a line of a listing.
type Entry struct {
	Identifier table.Identifier // namespace levels, then the name
	Kind       Kind
}

// LoadRequest names what to load.
type LoadRequest struct {
	Identifier table.Identifier
	Held       string // metadata location the caller has parsed already; the catalog may answer with Metadata nil. Empty: none
	Reference  string // a catalog-level reference (Nessie's branch, tag or hash); empty: the configured one
	Principal  string // on whose behalf; empty: the server's own
	Fresh      bool   // neither answers nor credentials that the catalog keeps may be given out again
}

// Table is a loaded table in a form that can cross a process: no closures, no open files, unknown metadata fields kept. It is
// immutable.
type Table struct {
	Catalog          string // the configured name; the plugin leaves it empty, the Set fills it in
	Identifier       table.Identifier
	Kind             Kind
	MetadataLocation string
	Metadata         []byte               // JSON (never compressed), as the catalog gave it; nil: unchanged, or the server reads MetadataLocation itself
	Config           iceberg.Properties   // for the store
	Credentials      []storage.Credential // by location prefix, with expiry; renewed through the catalog
	Locations        storage.Map          // where the table's paths lie, in this order; nil: as spelt. A path that no mapping fits is refused
	Format           string               // of KindFiles: the format's name, such as parquet
	Files            *Files               // of KindFiles; nil: the catalog knows no more than the format

	// Set by the Set, and lost where the table crosses a process.
	renew      func(ctx context.Context) (*Table, error)
	partitions func(ctx context.Context, names []string) iter.Seq2[Partition, error]
}

// Renew loads the table anew for its Config and Credentials, as those that it has expire. Nil where nobody can.
func (t *Table) Renew() func(ctx context.Context) (*Table, error) { return t.renew }

// Config is what a catalog is opened with.
type Config struct {
	Name       string             // of the catalog, the <name> of spark.sql.catalog.<name>
	Properties iceberg.Properties // spark.sql.catalog.<name>.<key> as <key>; may hold secrets
	Locations  storage.Map        // skua.location-map.*
}

// Constructor opens a catalog type. It checks properties but need not reach a server: a catalog that is down fails its first call.
type Constructor func(ctx context.Context, config Config) (Catalog, error)
