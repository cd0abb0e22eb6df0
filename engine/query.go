package engine

import (
	"context"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/scan"
)

// Executor compiles what is more than a scan. It is safe for concurrent use.
type Executor interface {
	// Compile binds a statement without effect and without data I/O. A statement that the executor does not run is Unsupported or Denied by
	// name; one that is no SQL is Invalid.
	Compile(ctx context.Context, q Query) (Program, error)
	Close() error
}

// Query is a statement for an Executor, with all of the session that its rows may depend on.
type Query struct {
	Text          string
	Zone          *time.Location
	Clock         time.Time
	CaseSensitive bool
	Dialect       string                   // spark or ansi
	Catalog       string                   // the current one
	Namespace     []string                 // the current one
	Name          func(syntax.Expr) string // what a result column of an expression is called
	// Rows evaluates the number of a LIMIT or an OFFSET, which it is told in lower case; false: it is no constant of ours. Nil: none is known.
	Rows func(word string, e syntax.Expr) (int64, bool, error)
	// Variable gives the value of a session variable, a constant in SQL, by a name of one to three parts that is no column's; nil: there are none.
	Variable  func(parts []string) (string, bool)
	Constants map[string]string // the values of functions such as current_user and version, by name in lower case
	// Arguments has one row with the values of the statement's parameters; nil: they are not bound, and the program cannot be opened.
	Arguments arrow.RecordBatch
	// Resolve finds the table of a name, at the snapshot that its clause and its options choose.
	Resolve func(ctx context.Context, name syntax.TableRef) (Table, error)
}

// Table is one place where a statement reads something.
type Table struct {
	Name    string // in full, quoted
	Parts   []string
	Source  scan.Source // nil: a view
	Options []scan.Option
	View    *View // nil: none
}

// Program is a compiled statement. It is immutable and safe for concurrent use.
type Program interface {
	// Parameters has one field per parameter, in order (null type: unknown). Never nil.
	Parameters() *arrow.Schema
	// Schema is exactly what Open's readers have.
	Schema() *arrow.Schema
	// Open starts the statement. Reading stops soon after ctx ends. Memory and counters are those of the resource.Statement in ctx. The caller
	// releases the reader, which waits for what it started.
	Open(ctx context.Context) (array.RecordReader, error)
	// Scans tells of each table that is read, and how: after Open's reader has ended, with what was found out while running.
	Scans() []QueryScan
	// Plan is the executor's own account of its plan.
	Plan(ctx context.Context) (string, error)
	Close() error
}

// QueryScan is how a statement reads one of its tables.
type QueryScan struct {
	Scan    *scan.Explanation
	Runtime string // the filter that a join found while running; empty: none
}
