package conformance

import (
	"bytes"
	"strings"
	"testing"
)

const sample = `# head

case set-is-seen
rule architecture §5.12
effect session=a
SET my.key=v1
query session=a
SET my.key
----
key string!, value string!
my.key	v1

query ordered
SELECT *
FROM t
----
id int

query contains
EXPLAIN SELECT 1
----
plan string!
Scan

error NotFound session=b
SELECT * FROM nope
----
TABLE_OR_VIEW_NOT_FOUND
`

func TestParseAndWrite(t *testing.T) {
	s, err := Parse("sample", strings.NewReader(sample))
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Cases) != 1 || len(s.Cases[0].Steps) != 5 {
		t.Fatalf("parsed %+v", s.Cases)
	}
	if q := s.Cases[0].Steps[2]; q.SQL != "SELECT *\nFROM t" || !q.Ordered || q.Schema != "id int" || len(q.Lines) != 0 {
		t.Errorf("the second query is %+v", q)
	}
	var out bytes.Buffer
	if err := Write(&out, s); err != nil {
		t.Fatal(err)
	}
	if out.String() != sample {
		t.Errorf("written:\n%s", out.String())
	}
	for _, bad := range []string{"query\nSELECT 1\n", "case a\nnonsense\n", "case a\nerror\nSELECT 1\n", "case a\nquery wrong\nSELECT 1\n", "case a\nquery\n\n"} {
		if _, err := Parse("bad", strings.NewReader(bad)); err == nil {
			t.Errorf("%q must not parse", bad)
		}
	}
}

func TestMismatchesAreSeen(t *testing.T) {
	got := &result{schema: nil, rows: []string{"1\ta", "2\tb"}}
	for _, c := range []struct {
		step Step
		good bool
	}{
		{Step{Lines: []string{"2\tb", "1\ta"}}, true},
		{Step{Lines: []string{"2\tb", "1\ta"}, Ordered: true}, false},
		{Step{Lines: []string{"1\ta"}}, false},
		{Step{Lines: []string{"1\ta", "1\ta"}}, false},
		{Step{Lines: []string{"a", "2"}, Contains: true}, true},
		{Step{Lines: []string{"c"}, Contains: true}, false},
	} {
		if err := compareRows(&c.step, got.rows); (err == nil) != c.good {
			t.Errorf("%+v: %v", c.step, err)
		}
	}
}
