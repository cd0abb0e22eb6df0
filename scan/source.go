// Package scan turns a table into record batches: it plans (manifests to files to splits, with the reason for each file left out), applies
// deletes and filters, and projects by field id. It has never heard of a session, an SQL text or a wire: whoever calls it resolved names
// and options before.
package scan

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/skua-data/skua/predicate"
)

// Source is something a query can read: a table at a snapshot, a metadata table, plain files. It is immutable and safe for
// concurrent use.
type Source interface {
	// Schema is what SELECT * gives, in Spark's column order and with the Arrow types of the wire. Every field, nested ones included, carries its field id
	// under the metadata key FieldIDKey, and its comment, if any, under CommentKey.
	Schema() *arrow.Schema
	// MetadataColumns are the columns that may be asked for by name but are not part of * (_file, _pos, …). May have no fields.
	MetadataColumns() *arrow.Schema
	// Plan fixes what is read. It does metadata I/O and no data I/O.
	Plan(ctx context.Context, req Request) (Plan, error)
}

// The keys of field metadata.
const (
	FieldIDKey = "PARQUET:field_id" // decimal number
	CommentKey = "REMARKS"
)

// Request is one scan of one source.
type Request struct {
	// Fields are the field ids wanted, in output order, without repetition: top-level fields or leaves and structs inside structs (whose null
	// parents make them null). None: batches have rows and no columns.
	Fields []int
	Filter predicate.Expr // over field ids of Schema and MetadataColumns; nil: every row
	// Partitions leaves out files as Filter does, by what partition transforms make of columns.
	Partitions PartitionTest
	Limit      int64    // at most this many rows are needed, negative: all; a hint, more may come
	Best       *Best    // rows that come first by a column are enough; nil: all are wanted
	Options    []Option // read options in no order, each name at most once
	// Aggregates are what the function Aggregates is asked for; none: nothing. A request of no fields and nothing but CountRows may get its rows counted
	// from manifests and position deletes instead of read.
	Aggregates []Aggregate
}

// PartitionTest is a test of transformed columns, such as bucket(16, id) = 3, that rules out files by their partitions and nothing else: rows for which it does
// not hold may come, and whoever asks tests them. The zero value rules out nothing.
type PartitionTest struct {
	Expr  predicate.Expr // over the fields that Terms name
	Terms []Term
}

// Term is a transformed column that stands for a field in a test. As in Iceberg, only partition fields of the very same transform tell of it.
type Term struct {
	ID        int // the field's in the test: negative, so that it is no column's
	Source    predicate.Field
	Transform string // as a partition spec writes it: bucket[16], truncate[4]; Lower and Upper only for a Folding source
}

// The transforms of a text into lower and upper case, which no partition has.
const (
	Lower = "lower"
	Upper = "upper"
)

// Folding is a Source that rules out something by tests of its text columns in lower or upper case.
type Folding interface {
	Source
	// FoldsCase does nothing.
	FoldsCase()
}

// Option is a read option that somebody set, with its origin.
type Option struct {
	Name  string // hyphenated and lower-case: split-size, lookback, file-open-cost, …
	Value string // as given
	Scope string // explicit, table, catalog, global or session
	Key   string // the very configuration key; empty for explicit
}

// Plan is a planned scan. It is immutable, safe for concurrent use, and holds no files open.
type Plan interface {
	// Schema has one field per requested field id, in that order. A field inside a struct has its own (last) name.
	Schema() *arrow.Schema
	// Splits is the number of parts that can be opened on their own; 0 for an empty scan.
	Splits() int
	// Rows is the number of rows that the splits give together, if it is known exactly without reading.
	Rows() (n int64, known bool)
	// Open reads the splits from..to in order, filter applied. Reading stops soon after ctx ends. Memory and counters are those of the
	// resource.Statement in ctx. The caller releases the reader, which waits for what it started; reader.Err tells why it ended early.
	Open(ctx context.Context, from, to int) (array.RecordReader, error)
	Explain() *Explanation
}

// Explanation is what EXPLAIN shows of one scan.
type Explanation struct {
	Source     string     // quoted name
	Parts      []string   // of a table: catalog, namespace levels and name
	Kind       string     // table, metadata table, …
	Snapshot   int64      // 0: none
	Reference  string     // the branch, tag or clause that chose the snapshot; empty: current
	Schema     int        // schema id
	Options    []Resolved // every read option, with value and origin
	Ignored    []Option   // options that are set and have no effect on a table of plain files
	Columns    []string   // projected columns, dotted paths
	Best       string     // the order by which the first rows are enough; empty: all are wanted
	Filter     string     // the whole filter, empty: none
	Pushed     string     // what planning could use of it
	Residual   string     // what rows are tested for
	Partitions Considered // of a table of plain files
	Manifests  Considered // of data files
	Files      Considered
	Splits     []SplitInfo
	Decoders   []string // who read each column of the first row group, one line a column; none before a run, see the function Decoders

	DeleteManifests Considered
	Deletes         Considered     // delete files and deletion vectors; left out are also those that no planned file needs
	DeletesByKind   map[string]int // those that apply: position deletes, equality deletes, deletion vectors
	RowGroups       Considered     // of what the plan has read so far; none before it is opened
}

// Resolved is a read option in force.
type Resolved struct{ Name, Value, Scope, Key string }

// Considered counts what planning looked at and why it left things out.
type Considered struct {
	Total  int
	Pruned map[string]int // reason → count
}

// SplitInfo sums up a split.
type SplitInfo struct {
	Files  int
	Bytes  int64  // data and deletes, each counted once
	Weight int64  // as the packer weighed it
	Key    string // the partition its files share, where the grouping of data is preserved
	Tasks  []TaskInfo
}

// TaskInfo is a byte range of one data file.
type TaskInfo struct {
	Path          string
	Start, Length int64
	Deletes       int
	Rows          int64 // estimated: the file's rows in proportion to the range, deletes not taken off
}
