package conformance

import (
	"slices"
	"strings"
	"testing"
)

func TestWhatWritesIsFound(t *testing.T) {
	for _, sql := range []string{"DROP TABLE lake.a.b", "insert into t values (1)", "WITH x AS (SELECT 1) INSERT INTO t SELECT * FROM x", "SELECT 1; DELETE FROM t",
		"/* a */ UPDATE t SET a = 1", "-- a\nMERGE INTO t USING s ON 1", "CALL lake.system.rollback_to_snapshot('t', 1)", "EXPLAIN ANALYZE DELETE FROM t", "EXPLAIN INSERT INTO t VALUES (1)"} {
		if !writes(sql) {
			t.Errorf("%q writes", sql)
		}
	}
	for _, sql := range []string{"SELECT * FROM t", "SET a=b", "SHOW CREATE TABLE t", "EXPLAIN SELECT 1", "CALL lake.system.ancestors_of('t')", "SELECT updated, created FROM t",
		"SELECT replace(a, 'DROP', '') FROM t -- DROP", "WITH x AS (SELECT 1) SELECT * FROM x", "DESCRIBE t", "REFRESH TABLE t", "RESET", "USE lake.deletes"} {
		if writes(sql) {
			t.Errorf("%q does not write", sql)
		}
	}
}

const capable = `case one
query
SELECT a FROM lake.session.t JOIN lake.names.` + "`a.b`" + ` WHERE x = 'lake.in.text'
----
a int

query elsewhere
arg int 1
SELECT ?
----
a int

case two
needs sql-engine
error PermissionDenied
DROP TABLE lake.session.t
----
`

func TestNeedsAreKnownBeforeAnythingIsSent(t *testing.T) {
	s, err := Parse("x.test", strings.NewReader(capable))
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Cases[0].Needs(s.Cases[0].Heading); !slices.Equal(got, []string{"parameters", "tables", "tickets"}) {
		t.Errorf("needs %v", got)
	}
	if got := s.Cases[0].Tables(s.Cases[0].Heading); !slices.Contains(got, "lake.session.t") || !slices.Contains(got, "lake.names.`a.b`") {
		t.Errorf("tables %v", got)
	}
	deep := Case{Steps: []Step{{Kind: Query, SQL: "SELECT lake.system.years(d) FROM lake.names.deep.er.t, lake.information_schema.tables"}}}
	if got := deep.Tables(deep.Heading); !slices.Equal(got, []string{"lake.names.deep.er.t"}) {
		t.Errorf("tables %v", got)
	}
	for text, want := range map[string]string{
		"can all":                                 "",
		"can all\ncannot reads-only":              "would write",
		"can reads-only tables":                   "sql-engine",
		"can all\nskip x/tw* it is known to fail": "it is known to fail",
	} {
		p, err := ParseProfile("p", strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if got := p.skips(s.Name, &s.Cases[1], s.Cases[1].Heading); !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%q skips with %q, expected %q", text, got, want)
		}
	}
	for _, bad := range []string{"can fly", "tables some", "rename a", "path bicycle", "skip a/b", "nonsense"} {
		if _, err := ParseProfile("p", strings.NewReader(bad)); err == nil || !strings.Contains(err.Error(), "line 1") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	for _, name := range ProfileNames() {
		if _, err := BuiltInProfile(name); err != nil {
			t.Error(err)
		}
	}
}

// TestWhatACaseNeedsToBeThere: a case whose table is absent is skipped rather than failed, also where the table is needed for an error of another kind,
// is refreshed, or is declared because no statement names it.
func TestWhatACaseNeedsToBeThere(t *testing.T) {
	for text, want := range map[string][]string{
		"error InvalidArgument\nSELECT nope FROM lake.session.t\n----\n":      {"lake.session.t"},
		"error Unimplemented\nSELECT * FROM lake.session.t\n----\n":           {"lake.session.t"},
		"error NotFound\nSELECT * FROM lake.session.gone\n----\n":             nil,
		"error PermissionDenied\nDROP TABLE lake.session.t\n----\n":           nil,
		"effect\nREFRESH TABLE lake.session.t\n":                              {"lake.session.t"},
		"effect\nSET table-setting.lake.session.t.read-split-target-size=1\n": nil,
		"table lake.deletes.pos_v2\neffect\nUSE lake.deletes\n":               {"lake.deletes.pos_v2"},
	} {
		s, err := Parse("x.test", strings.NewReader("case one\n"+text))
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Cases[0].Tables(s.Heading(&s.Cases[0])); !slices.Equal(got, want) {
			t.Errorf("%q: tables %v, expected %v", text, got, want)
		}
	}
	for _, bad := range []string{"session.t", "lake.session", "lake.a.b;"} {
		if _, err := Parse("x.test", strings.NewReader("case one\ntable "+bad+"\n")); err == nil || !strings.Contains(err.Error(), bad) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestWhatShowsThatAFeatureIsNotSupported(t *testing.T) {
	for text, want := range map[string]bool{
		"error Unimplemented\nSELECT * FROM lake.a.b\n----\n":                                                    true,
		"error Unimplemented\nSELECT * FROM lake.a.b\n----\n\nquery\nDESCRIBE lake.a.b\n----\ncol_name string\n": true,
		"error Unimplemented\nSELECT * FROM lake.a.b\n----\n\nquery\nSELECT 1 AS a\n----\na int!\n1\n":           false,
		"error InvalidArgument\nSELEC 1\n----\n":                                                                 false,
		"effect\nREFRESH TABLE lake.a.b\nerror NotFound\nREFRESH TABLE lake.a.c\n----\n":                         false,
		"error PermissionDenied\nDROP TABLE lake.a.b\n----\n":                                                    false,
	} {
		s, err := Parse("x.test", strings.NewReader("case one\n"+text))
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Cases[0].Refusal(); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestEveryScriptParses(t *testing.T) {
	scripts, err := Bundled()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range scripts {
		for i := range s.Cases {
			if h := s.Heading(&s.Cases[i]); h.Rule == "" {
				t.Errorf("%s/%s names no rule", s.Name, s.Cases[i].Name)
			}
		}
	}
}
