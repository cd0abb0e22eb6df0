package engine

import (
	"context"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/skua-data/skua/scan"
	"github.com/skua-data/skua/session"
)

// Prepared is a statement that has had no effect yet. It is safe for concurrent use.
type Prepared interface {
	// IsUpdate: the statement has an effect and no rows of its own; clients that ask get a count (architecture §5.12).
	IsUpdate() bool
	// Parameters has one field per ?, in order, with the type inferred from where it stands (null type: unknown). Never nil.
	Parameters() *arrow.Schema
	// Schema is what Run's result has, equal to the last detail. For an update it is nil, unless the update answers with rows that a user would look at, as
	// SET k=v does with key and value.
	Schema() *arrow.Schema
	// Run has the effect, once per call, and gives the result. args holds one row per parameter set (nil: no parameters); its columns may have
	// other types than Parameters and are converted. ctx bounds planning only.
	Run(ctx context.Context, args arrow.RecordBatch) (Result, error)
	// Explain plans without effect; with analyze it runs and throws the rows away.
	Explain(ctx context.Context, analyze bool) (*scan.Explanation, error)
	Close() error
}

// Result is a statement's outcome before its rows are read. Parts can be read in any order, several times and by several readers; for a
// scan a part is a split.
type Result interface {
	Schema() *arrow.Schema // for an update: the single row's schema on the query path, column "affected_rows" or Spark's key and value
	Parts() int
	Ordered() bool // parts must be read in order
	// Rows is the number of rows of all parts, or -1.
	Rows() int64
	// Updated is the number of affected rows of an update (0 for SET, USE, RESET, REFRESH), or -1 for a query.
	Updated() int64
	// Open reads the parts from..to in order. It reads ahead a bounded number of batches and stops soon after ctx ends. The caller releases.
	Open(ctx context.Context, from, to int) (array.RecordReader, error)
	// Pin is what another replica, or this one later, needs to give the same rows: see Engine.Resume.
	Pin() Pin
	Close() error
}

// Pin stands for a result in a ticket. It outlives cursors, prepared handles and the session's later changes. It is serialised as JSON inside a
// signed ticket, so fields are only added.
type Pin struct {
	Statement string            `json:"statement"`           // an id for logs and cancelling
	Text      string            `json:"text,omitempty"`      // the SQL
	Arguments []byte            `json:"arguments,omitempty"` // bound values: one IPC stream
	Principal string            `json:"principal"`
	Session   string            `json:"session,omitempty"` // a hash of the session's id, for cancelling; not enough to enter it
	Client    string            `json:"client,omitempty"`  // who sent it, and by which way: for the log
	Path      string            `json:"path,omitempty"`
	Catalog   string            `json:"catalog,omitempty"`
	Namespace []string          `json:"namespace,omitempty"`
	Settings  map[string]string `json:"settings,omitempty"` // those that affect rows, types or splits
	Clock     time.Time         `json:"clock"`              // the statement's now
	Tables    []PinnedTable     `json:"tables,omitempty"`
	Variables map[string]string `json:"variables,omitempty"` // of the session, with their values in SQL
	Views     []session.View    `json:"views,omitempty"`     // temporary ones
	Outcome   []byte            `json:"outcome,omitempty"`   // the whole result as one IPC stream, for statements with an effect and small listings
}

// PinnedTable fixes the state of a table: a snapshot id alone fixes neither schema nor properties.
type PinnedTable struct {
	Name             string `json:"name"` // as resolved: catalog, namespace levels and table, quoted and dotted
	MetadataLocation string `json:"metadata"`
	Snapshot         int64  `json:"snapshot,omitempty"` // for the log
	View             bool   `json:"view,omitempty"`
}
