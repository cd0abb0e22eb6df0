package scan

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestDescribeOracle compares what DESCRIBE TABLE and SHOW TBLPROPERTIES need with Spark's output.
func TestDescribeOracle(t *testing.T) {
	for _, root := range oracleRoots() {
		s := oracleScanner(t, root)
		files, _ := filepath.Glob(filepath.Join(root, "expected", "*.jsonl"))
		for _, path := range files {
			lines := oracleFile(t, path)
			if lines[0].Kind != "table" {
				continue
			}
			d, err := oracleTable(t, s, root, lines[0].Namespace, lines[0].Name).Describe("")
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range lines {
				switch {
				case l.Error != nil || l.Rows == nil:
				case l.SQL == "DESCRIBE TABLE "+lines[0].Table:
					compareDescription(t, l.ID, describeRows(d), l.Rows)
				case l.SQL == "SHOW TBLPROPERTIES "+lines[0].Table:
					var got [][]any
					for _, p := range d.Properties {
						got = append(got, []any{p.Key, p.Value})
					}
					compareDescription(t, l.ID, got, l.Rows)
				}
			}
		}
	}
}

func describeRows(d Description) [][]any {
	var out [][]any
	byName := map[string][]any{}
	for _, c := range d.Columns {
		row := []any{c.Name, c.Type, nil}
		if c.Comment != "" {
			row[2] = c.Comment
		}
		out, byName[c.Name] = append(out, row), row
	}
	switch {
	case len(d.Partitioning) == 0:
	case d.IdentityOnly:
		out = append(out, []any{"# Partition Information", "", ""}, []any{"# col_name", "data_type", "comment"})
		for _, p := range d.Partitioning {
			out = append(out, byName[strings.Trim(p, "`")])
		}
	default:
		out = append(out, []any{"", "", ""}, []any{"# Partitioning", "", ""})
		for i, p := range d.Partitioning {
			out = append(out, []any{"Part " + string(rune('0'+i)), p, ""})
		}
	}
	return out
}

func compareDescription(t *testing.T, id string, got, want [][]any) {
	t.Helper()
	if a, b := asJSON(got), asJSON(want); a != b {
		t.Errorf("%s\n got %s\nwant %s", id, a, b)
	}
}
