package conformance

import (
	"bytes"
	"strings"
	"testing"
)

const sample = `# head

needs session-options
on decoder

case set-is-seen
rule architecture §5.12
feature session.set sql.select
except store=s3 it is slow there
smoke
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

plan analyze
SELECT id FROM t
----
splits 1

call
tables catalog=lake
----
catalog_name string

query endpoints=2 elsewhere
arg bigint 1
arg string it's
SELECT id FROM t WHERE id = ? AND s = ?
----
id int
`

func TestParseAndWrite(t *testing.T) {
	s, err := Parse("sample", strings.NewReader(sample))
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Cases) != 1 || len(s.Cases[0].Steps) != 8 {
		t.Fatalf("parsed %+v", s.Cases)
	}
	if q := s.Cases[0].Steps[2]; q.SQL != "SELECT *\nFROM t" || !q.Ordered || q.Schema != "id int" || len(q.Lines) != 0 {
		t.Errorf("the second query is %+v", q)
	}
	if q := s.Cases[0].Steps[7]; q.Endpoints != 2 || !q.Elsewhere || len(q.Arguments) != 2 || q.SQL != "SELECT id FROM t WHERE id = ? AND s = ?" {
		t.Errorf("the last query is %+v", q)
	}
	var out bytes.Buffer
	if err := Write(&out, s); err != nil {
		t.Fatal(err)
	}
	if out.String() != sample {
		t.Errorf("written:\n%s", out.String())
	}
	for _, bad := range []string{"query\nSELECT 1\n", "case a\nnonsense\n", "case a\nerror\nSELECT 1\n", "case a\nquery wrong\nSELECT 1\n", "case a\nquery\n\n",
		"needs nonsense\n", "case a\non nothing\n", "case a\nexcept store=s3\n", "case a\n\ncase a\n", "case a\nplan contains\nSELECT 1\n",
		"case a\nquery endpoints=0\nSELECT 1\n", "case a\neffect elsewhere\nUSE a\n"} {
		if _, err := Parse("bad", strings.NewReader(bad)); err == nil {
			t.Errorf("%q must not parse", bad)
		}
	}
}

func TestMismatchesAreSeen(t *testing.T) {
	rows := []string{"1\ta", "2\tb"}
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
		if err := compareRows(&c.step, rows, Renames{}); (err == nil) != c.good {
			t.Errorf("%+v: %v", c.step, err)
		}
	}
}

func TestArguments(t *testing.T) {
	row, err := Bind([]string{"int -3", "string it's a b", "decimal(5,2) 1.50", "bigint NULL", "void", "timestamp 2024-01-01T10:00:00Z"})
	if err != nil {
		t.Fatal(err)
	}
	defer row.Release()
	if got, want := rowsOf(row)[0], "-3\tit's a b\t1.50\tNULL\tNULL\t2024-01-01T10:00:00Z"; got != want {
		t.Errorf("%q, expected %q", got, want)
	}
	for _, bad := range []string{"nonsense 1", "int x", "decimal 1"} {
		if _, err := Bind([]string{bad}); err == nil {
			t.Errorf("%q must be refused", bad)
		}
	}
}
