package scan

import (
	"fmt"

	"github.com/apache/iceberg-go"
)

// Reference chooses a table's snapshot. The zero Reference is the current one.
type Reference struct {
	Kind   ReferenceKind
	ID     int64  // RefSnapshot: snapshot id; RefTimestamp: milliseconds since the epoch
	Name   string // RefName, RefBranch, RefTag
	Clause string // as the user wrote it, for messages and EXPLAIN
	Range  *Range // RefRange
}

// ReferenceKind says which field of a Reference counts.
type ReferenceKind uint8

// The ways to choose a snapshot (spark-semantics D11); the schema follows: a branch has the table's current one, all others the snapshot's.
const (
	RefCurrent   ReferenceKind = iota
	RefSnapshot                // VERSION AS OF 123, snapshot_id_123
	RefTimestamp               // TIMESTAMP AS OF, at_timestamp_N
	RefName                    // VERSION AS OF 'x': a snapshot id where x is a number, else a branch or a tag
	RefBranch                  // branch_x
	RefTag                     // tag_x
	RefRange                   // what a range of snapshots appended, or of a changelog, changed
)

// String gives the clause, or the reference in words.
func (r Reference) String() string {
	if r.Clause != "" || r.Kind == RefCurrent {
		return r.Clause
	}
	return fmt.Sprintf("reference(%d, %d, %q)", r.Kind, r.ID, r.Name)
}

// Description is what DESCRIBE, SHOW COLUMNS and SHOW TBLPROPERTIES tell of a table or a metadata table, in Spark's words.
type Description struct {
	Provider      string // the format of a table of plain files; empty: iceberg
	Columns       []ColumnInfo
	Partitioning  []string // transforms in Spark's spelling: bucket(4, id), days(ts), p
	IdentityOnly  bool     // every transform is an identity (DESCRIBE then prints # Partition Information)
	Properties    []Property
	Location      string
	FormatVersion int
	Snapshot      int64 // current; 0: none
	Comment       string
	SortOrder     string   // Spark's text, empty: unsorted
	Identifier    []string // identifier fields, names in order

	Reserved        map[string]string // what the table's own properties say under the keys that Spark shows elsewhere: owner, external, …; nil for a metadata table
	MetadataColumns []ColumnInfo      // those of SELECT _file, …
	Records         int64             // of the current snapshot, as its summary counts them; negative: it does not say
}

// ColumnInfo is a top-level column in Spark's words.
type ColumnInfo struct {
	Name     string
	Type     string // Spark's catalog string: struct<a:int>, decimal(9,2), timestamp_ntz
	Comment  string // empty: none
	Nullable bool
	Field    iceberg.NestedField // what the rest spells
	// Default is what a row gets that is written without the column: bool, int64 (also of dates and times), float64, decimal128.Num, string
	// or []byte by the column's type; nil: none.
	Default any
}

// Property is a key and its value.
type Property struct{ Key, Value string }
