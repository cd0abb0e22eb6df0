package scan

import (
	"strconv"
	"time"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/fault"
)

// at is a reference resolved: a snapshot (nil: the table has none) and the schema that goes with it.
type at struct {
	snapshot *table.Snapshot
	schema   *iceberg.Schema
	clause   string // for EXPLAIN; empty: current
}

// resolve finds a reference's snapshot and schema: a branch and the current state have the table's current schema, the rest the snapshot's.
func (t *Table) resolve(r Reference) (at, error) {
	out := at{schema: t.metadata.CurrentSchema(), clause: r.String()}
	switch r.Kind {
	case RefCurrent:
		out.snapshot, out.clause = t.metadata.CurrentSnapshot(), ""
		return out, nil
	case RefSnapshot:
		return t.snapshotAt(out, r.ID)
	case RefTimestamp:
		id, ok := t.idAsOf(r.ID)
		if !ok {
			return out, fault.New(fault.NotFound, "Cannot find a snapshot older than %s", isoMillis(r.ID)).In(t.Name())
		}
		return t.snapshotAt(out, id)
	case RefName:
		return t.named(out, r.Name)
	case RefBranch:
		ref, ok := t.ref(r.Name) // a tag does as well, as in Spark
		if !ok && r.Name == table.MainBranch {
			return out, nil
		}
		if !ok {
			return out, fault.New(fault.NotFound, "Cannot use branch (does not exist): %s", r.Name).In(t.Name())
		}
		schema := out.schema
		out, err := t.snapshotAt(out, ref.SnapshotID)
		out.schema = schema
		return out, err
	case RefTag:
		return t.named(out, r.Name)
	case RefRange:
		out.snapshot = t.metadata.CurrentSnapshot()
		return out, nil
	}
	return out, fault.New(fault.Internal, "unknown kind of reference %d", r.Kind)
}

// named resolves VERSION AS OF 'x': a number is always a snapshot id.
func (t *Table) named(out at, name string) (at, error) {
	if id, err := strconv.ParseInt(name, 10, 64); err == nil {
		return t.snapshotAt(out, id)
	}
	ref, ok := t.ref(name)
	if !ok {
		return out, fault.New(fault.NotFound, "Cannot find matching snapshot ID or reference name for version %s", name).In(t.Name())
	}
	return t.referred(out, ref)
}

func (t *Table) referred(out at, ref table.SnapshotRef) (at, error) {
	schema := out.schema
	out, err := t.snapshotAt(out, ref.SnapshotID)
	if ref.SnapshotRefType == table.BranchRef {
		out.schema = schema
	}
	return out, err
}

func (t *Table) ref(name string) (table.SnapshotRef, bool) {
	for n, ref := range t.metadata.Refs() {
		if n == name {
			return ref, true
		}
	}
	return table.SnapshotRef{}, false
}

func (t *Table) snapshotAt(out at, id int64) (at, error) {
	out.snapshot = t.metadata.SnapshotByID(id)
	if out.snapshot == nil {
		return out, fault.New(fault.NotFound, "Cannot find snapshot with ID %d", id).In(t.Name())
	}
	if s := t.schemaOf(out.snapshot); s != nil {
		out.schema = s
	}
	return out, nil
}

// schemaOf is the schema a snapshot was written with; nil where it does not say.
func (t *Table) schemaOf(s *table.Snapshot) *iceberg.Schema {
	if s.SchemaID == nil {
		return nil
	}
	for _, schema := range t.metadata.Schemas() {
		if schema.ID == *s.SchemaID {
			return schema
		}
	}
	return nil
}

// idAsOf is the snapshot that the history log had current at a time: rolled back states count.
func (t *Table) idAsOf(millis int64) (int64, bool) {
	var id, best int64
	found := false
	for e := range t.metadata.SnapshotLogs() {
		if e.TimestampMs <= millis && (!found || e.TimestampMs >= best) {
			id, best, found = e.SnapshotID, e.TimestampMs, true
		}
	}
	return id, found
}

// isoMillis writes a time as Iceberg's messages do.
func isoMillis(millis int64) string {
	t := time.UnixMilli(millis).UTC()
	return t.Format("2006-01-02T15:04:05.999+00:00")
}
