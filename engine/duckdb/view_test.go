//go:build cgo

package duckdb

import (
	"context"
	"strings"
	"testing"

	"github.com/skua-data/skua/engine"
	"github.com/skua-data/skua/engine/syntax"
)

// viewQuery gives a query that sees views beside the fixture's tables.
func viewQuery(f *fixture, sql string, views map[string]*engine.View) engine.Query {
	q := f.query(sql, nil)
	tables := q.Resolve
	var resolve func(ctx context.Context, ref syntax.TableRef) (engine.Table, error)
	resolve = func(ctx context.Context, ref syntax.TableRef) (engine.Table, error) {
		last := ref.Name[len(ref.Name)-1].Text
		v, ok := views[last]
		if !ok {
			return tables(ctx, ref)
		}
		out := *v
		out.Name, out.Resolve = last, resolve
		return engine.Table{Name: last, Parts: []string{"cat", "ns", "deep", last}, View: &out}, nil
	}
	q.Resolve = resolve
	return q
}

func column(name string) engine.ViewColumn { return engine.ViewColumn{Name: name} }

func TestViewsStandInThePlaceOfTables(t *testing.T) {
	f := newFixture(t)
	views := map[string]*engine.View{
		"open":    {Text: "SELECT id, customer AS c FROM orders WHERE status = 'open'", Dialect: "spark", Columns: []engine.ViewColumn{column("number"), column("who")}},
		"named":   {Text: "SELECT * FROM orders", Dialect: "spark", Columns: []engine.ViewColumn{{Name: "p", From: "price", Type: "DECIMAL(20,4)"}, {Name: "id", From: "id"}}},
		"nested":  {Text: "WITH o AS (SELECT * FROM open) SELECT o.who, count(*) n FROM o GROUP BY o.who", Dialect: "ansi", Columns: []engine.ViewColumn{column("who"), column("n")}},
		"sorted":  {Text: "SELECT id FROM customers ORDER BY id LIMIT 1", Dialect: "spark", Columns: []engine.ViewColumn{column("id")}},
		"spark":   {Text: "SELECT avg(price) FROM orders WHERE id < 3", Dialect: "spark", Columns: []engine.ViewColumn{column("a")}},
		"few":     {Text: "SELECT id FROM orders", Dialect: "spark", Columns: []engine.ViewColumn{column("a"), column("b")}},
		"renamed": {Text: "SELECT * FROM orders", Dialect: "spark", Columns: []engine.ViewColumn{{Name: "p", From: "cost"}}},
		"nested types": {Text: "SELECT array(1) l, named_struct('x', 1, 'Y z', map('k', array(2))) s, TIMESTAMP_NTZ'2024-01-02 03:04:05' t", Dialect: "spark", Columns: []engine.ViewColumn{{Name: "l", Type: "ARRAY<BIGINT>"},
			{Name: "s", Type: "STRUCT<x: DECIMAL(9,2), `Y z`: MAP<STRING, ARRAY<DOUBLE>>>"}, {Name: "t", Type: "TIMESTAMP_NS"}}},
		"broken":    {Text: "SELECT nothing FROM customers", Dialect: "spark", Columns: []engine.ViewColumn{column("a")}},
		"on_broken": {Text: "SELECT a FROM broken", Dialect: "spark", Columns: []engine.ViewColumn{column("id")}},
		"own_name":  {Text: "SELECT cost FROM orders", Dialect: "spark", Columns: []engine.ViewColumn{{Name: "p", From: "cost"}}},
		"captures":  {Text: "SELECT status FROM customers", Dialect: "spark", Columns: []engine.ViewColumn{column("a")}},
		"hidden":    {Text: "SELECT * FROM read_csv('/etc/passwd')", Dialect: "ansi", Columns: []engine.ViewColumn{column("a")}},
		"asks":      {Text: "SELECT id FROM orders WHERE id = ?", Dialect: "spark", Columns: []engine.ViewColumn{column("a")}},
		"no sql":    {Text: "SELECT FROM WHERE", Dialect: "spark", Columns: []engine.ViewColumn{column("a")}},
		"lost":      {Text: "SELECT * FROM nowhere", Dialect: "spark", Columns: []engine.ViewColumn{column("a")}},
	}
	for _, c := range []struct{ sql, want string }{
		{"SELECT * FROM open WHERE number < 4", `[{"number":0,"who":0},{"number":3,"who":3}]`},
		{"SELECT open.who, o2.number FROM open JOIN open o2 ON open.number = o2.number WHERE o2.number = 3", `[{"number":3,"who":3}]`},
		{"SELECT ns.deep.open.who FROM ns.deep.open WHERE deep.open.number = 3", `[{"who":3}]`},
		{"SELECT p FROM named WHERE id = 1", `[{"p":"1.01"}]`},
		{"SELECT n FROM nested WHERE who = 0", `[{"n":34}]`},
		{"WITH orders AS (SELECT 1 AS id) SELECT count(*) AS n FROM orders, nested", `[{"n":50}]`},
		{"SELECT * FROM sorted", `[{"id":null}]`},
		{"SELECT l, s.x, s.`Y z`['k'] k, t FROM `nested types`", `[{"k":[2],"l":[1],"t":"2024-01-02T03:04:05","x":"1"}]`},
		{"SELECT a FROM spark", `[{"a":"1.01"}]`},
	} {
		p, err := f.run.Compile(t.Context(), viewQuery(f, c.sql, views))
		if err != nil {
			t.Errorf("%s: %v", c.sql, err)
			continue
		}
		r, err := p.Open(t.Context())
		if err != nil {
			t.Errorf("%s: %v", c.sql, err)
			continue
		}
		got := ""
		for r.Next() {
			text, _ := r.RecordBatch().MarshalJSON()
			got += strings.Join(strings.Fields(string(text)), "")
		}
		if r.Err() != nil || got != c.want {
			t.Errorf("%s\n got %s %v\nwant %s", c.sql, got, r.Err(), c.want)
		}
		r.Release()
	}
	for _, c := range []struct{ sql, want string }{
		{"SELECT * FROM few", "[INCOMPATIBLE_VIEW_SCHEMA_CHANGE] The SQL query of view cat.ns.deep.few has an incompatible schema change and column `b` cannot be resolved: " +
			"what it reads (orders) has no such column now. Please try to re-create the view. SQLSTATE: 51024 (line 1, pos 14)"},
		{"SELECT * FROM orders, broken", "[UNRESOLVED_COLUMN.WITH_SUGGESTION] in the text of view cat.ns.deep.broken: A column, variable, or function parameter with name `nothing` cannot be resolved. " +
			"Did you mean one of the following? ["},
		{"SELECT * FROM orders, broken", "SQLSTATE: 42703 (line 1, pos 22)"},
		{"SELECT * FROM orders, captures", "[UNRESOLVED_COLUMN.WITH_SUGGESTION] in the text of view cat.ns.deep.captures: A column, variable, or function parameter with name `status`"},
		{"SELECT id FROM on_broken", "[UNRESOLVED_COLUMN.WITH_SUGGESTION] in the text of view cat.ns.deep.broken: A column, variable, or function parameter with name `nothing`"},
		{"SELECT * FROM own_name", "[UNRESOLVED_COLUMN.WITH_SUGGESTION] in the text of view cat.ns.deep.own_name: A column, variable, or function parameter with name `cost`"},
		{"SELECT * FROM renamed", "column `cost` cannot be resolved: what it reads (orders)"},
		{"SELECT * FROM hidden", "view hidden: the table function read_csv is not allowed"},
		{"SELECT * FROM `no sql`", "in the text of view no sql: SELECT clause"},
		{"SELECT * FROM asks", "the text of view asks has parameters"},
		{"SELECT * FROM lost", "view lost: no table nowhere"},
	} {
		if _, err := f.run.Compile(t.Context(), viewQuery(f, c.sql, views)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.sql, err)
		}
	}
}

// TestFiltersReachTheTablesOfViews shows that what a statement asks of a view is pushed into its tables.
func TestFiltersReachTheTablesOfViews(t *testing.T) {
	f := newFixture(t)
	views := map[string]*engine.View{"open": {Text: "SELECT id, customer FROM orders WHERE status = 'open'", Dialect: "spark", Columns: []engine.ViewColumn{column("id"), column("c")}}}
	p, err := f.run.Compile(t.Context(), viewQuery(f, "SELECT count(*) FROM open WHERE c = 7 AND upper('x') = 'X'", views))
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for r.Next() {
	}
	r.Release()
	requests := f.tables["orders"].requests
	if len(requests) != 1 || requests[0].Filter == nil || requests[0].Filter.String() != "`customer` = 7 AND `status` = 'open'" {
		t.Errorf("asked of the table: %v", requests)
	}
}

// TestTemporaryViewsReadVariables: what a variable is when the view is read counts, and a column comes before it.
func TestTemporaryViewsReadVariables(t *testing.T) {
	f := newFixture(t)
	value := "CAST('3' AS INT)"
	known := func(parts []string) (string, bool) {
		if len(parts) == 2 && parts[0] == "session" {
			parts = parts[1:]
		}
		return value, len(parts) == 1 && (parts[0] == "least" || parts[0] == "status")
	}
	views := map[string]*engine.View{
		"few":   {Text: "SELECT id FROM orders WHERE id < least", Dialect: "spark", Variable: known},
		"twice": {Text: "SELECT count(*) AS n, max(a.id) + session.least AS m FROM few a JOIN few b ON a.id < b.id", Dialect: "spark", Variable: known},
		"own":   {Text: "SELECT count(*) AS n FROM orders WHERE status = 'open' AND id < session.status", Dialect: "spark", Variable: known},
		"split": {Text: "SELECT explode((SELECT tags FROM customers WHERE id = 1))", Dialect: "spark", Variable: known},
		"blind": {Text: "SELECT id FROM orders WHERE id < least", Dialect: "spark"},
	}
	for _, c := range []struct{ sql, value, want string }{
		{"SELECT count(*) AS n FROM few", "CAST('3' AS INT)", `[{"n":3}]`},
		{"SELECT count(*) AS n FROM few", "CAST('5' AS INT)", `[{"n":5}]`},
		{"SELECT * FROM twice", "CAST('4' AS INT)", `[{"m":6,"n":6}]`},
		{"SELECT * FROM own", "CAST('4' AS INT)", `[{"n":2}]`},
		{"SELECT o.id, s.col FROM orders o JOIN split s WHERE o.id = 7 ORDER BY col", "CAST('4' AS INT)", `[{"col":"a","id":7},{"col":"b","id":7}]`},
		{"SELECT * FROM blind", "CAST('4' AS INT)", "UNRESOLVED_COLUMN.WITH_SUGGESTION"},
	} {
		value = c.value
		q := viewQuery(f, c.sql, views)
		p, err := f.run.Compile(t.Context(), q)
		got := ""
		if err == nil {
			got, err = rowsOf(t, p.(*program))
			got = strings.Join(strings.Fields(got), "")
		}
		if err != nil {
			got, _, _ = strings.Cut(strings.TrimPrefix(err.Error(), "["), "]")
		}
		if got != c.want {
			t.Errorf("%s with %s: %s, want %s", c.sql, c.value, got, c.want)
		}
	}
}
