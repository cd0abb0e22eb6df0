package scan

import "github.com/skua-data/skua/fault"

// Ancestor is a snapshot in the line of another.
type Ancestor struct {
	Snapshot  int64
	Timestamp int64 // milliseconds since the epoch
}

// Ancestors gives a snapshot and those before it in its line, the newest first; the line ends at one whose parent is expired. Nil means the
// current snapshot, which a table without one lacks as well.
func (t *Table) Ancestors(snapshot *int64) ([]Ancestor, error) {
	if t.files != nil {
		return nil, fault.New(fault.Unsupported, "%s is a table of plain %s files: it has no snapshots", t.Name(), t.files.format).In(t.Name())
	}
	id := int64(-1)
	if current := t.metadata.CurrentSnapshot(); current != nil {
		id = current.SnapshotID
	}
	if snapshot != nil {
		id = *snapshot
	}
	at := t.metadata.SnapshotByID(id)
	if at == nil {
		return nil, fault.New(fault.NotFound, "Cannot find snapshot: %d", id).In(t.Name())
	}
	var out []Ancestor
	seen := map[int64]bool{} // a damaged table's line may close on itself
	for at != nil && !seen[at.SnapshotID] {
		seen[at.SnapshotID] = true
		out = append(out, Ancestor{Snapshot: at.SnapshotID, Timestamp: at.TimestampMs})
		if at.ParentSnapshotID == nil {
			break
		}
		at = t.metadata.SnapshotByID(*at.ParentSnapshotID)
	}
	return out, nil
}
