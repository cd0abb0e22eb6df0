package scan

import (
	"testing"

	"github.com/skua-data/skua/fault"
)

// TestAncestors follows a line of snapshots to its beginning, and refuses one that the table lacks.
func TestAncestors(t *testing.T) {
	root := oracleRoots()[0]
	table := oracleTable(t, oracleScanner(t, root), root, []string{"history"}, "branches_tags")
	line, err := table.Ancestors(nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(line) < 2 || line[0].Snapshot != table.metadata.CurrentSnapshot().SnapshotID {
		t.Fatalf("line %v does not begin at the current snapshot", line)
	}
	for i, a := range line {
		s := table.metadata.SnapshotByID(a.Snapshot)
		if s == nil || s.TimestampMs != a.Timestamp {
			t.Errorf("%v is no snapshot of the table", a)
		}
		if last := i == len(line)-1; last != (s.ParentSnapshotID == nil) || !last && *s.ParentSnapshotID != line[i+1].Snapshot {
			t.Errorf("%v is not followed by its parent", a)
		}
	}
	second, err := table.Ancestors(&line[1].Snapshot)
	if err != nil || len(second) != len(line)-1 || second[0] != line[1] {
		t.Errorf("from the second: %v, %v", second, err)
	}
	missing := int64(5)
	if _, err := table.Ancestors(&missing); !fault.Is(err, fault.NotFound) || err.Error() != "Cannot find snapshot: 5 ("+table.Name()+")" {
		t.Errorf("a missing one: %v", err)
	}
}
