package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/session"
)

// failing makes a catalog's calls fail.
func failing(call, name string, kind fault.Kind) func(context.Context, string, string) error {
	return func(_ context.Context, c, n string) error {
		if c == call && n == name {
			return fault.New(kind, "it died")
		}
		return nil
	}
}

// TestACatalogThatFailsFailsTheTablesAboutTables: rows that lack what the catalog did not tell would be wrong.
func TestACatalogThatFailsFailsTheTablesAboutTables(t *testing.T) {
	for _, c := range []struct {
		call, name string
		kind       fault.Kind
		table      string
		wanted     map[string][]string // as its filter asks
		fails      bool
	}{
		{"list tables", "db", fault.Unavailable, "tables", nil, true},
		{"list tables", "db", fault.Unavailable, "tables", map[string][]string{"table_schema": {"db"}}, true},
		{"list tables", "", fault.Unavailable, "tables", map[string][]string{"table_schema": {"db"}}, false},
		{"list tables", "db", fault.Deadline, "tables", nil, true},
		{"list tables", "db", fault.Internal, "tables", nil, true},
		{"list tables", "db", fault.NotFound, "tables", nil, false},
		{"list tables", "db", fault.Denied, "tables", nil, false},
		{"list namespaces", "", fault.Unavailable, "schemata", nil, true},
		{"list namespaces", "db", fault.Unavailable, "schemata", nil, true},
		{"list namespaces", "db", fault.NotFound, "schemata", nil, false},
		{"load", "db.sales", fault.Unavailable, "columns", nil, true},
		{"load", "db.sales", fault.Unavailable, "columns", map[string][]string{"table_schema": {"db"}, "table_name": {"sales"}}, true},
		{"load", "db.sales", fault.Corrupt, "columns", nil, false},
		{"load", "db.v", fault.Unavailable, "views", nil, true},
		{"load", "db.sales", fault.Unavailable, "key_column_usage", nil, true},
		{"load", "db.sales", fault.Unavailable, "table_constraints", nil, true},
		{"list tables", "sp ace", fault.Unavailable, "constraint_column_usage", nil, true},
	} {
		t.Run(c.table+" "+c.call+" "+c.name+" "+c.kind.String(), func(t *testing.T) {
			w, e := newWorld(t)
			w.catalogs["lake"].asked = failing(c.call, c.name, c.kind)
			source := &systemSource{statement: &statement{engine: e}, catalog: "lake", table: systemTables[c.table], wanted: c.wanted}
			rows := 0
			err := source.table.rows(context.Background(), source, func(...any) { rows++ })
			if c.fails && (!fault.Is(err, c.kind) || !strings.Contains(err.Error(), "catalog lake")) || !c.fails && (err != nil || rows == 0) {
				t.Errorf("%d rows, %v", rows, err)
			}
		})
	}
}

// listedNames gives what a listing over all catalogs has, or its error.
func listedNames(ctx context.Context, e *Engine, withSchema bool) (out []string, err error) {
	for t, err := range e.Tables(ctx, session.State{}, TableFilter{WithSchema: withSchema, Types: []string{TypeTable}}) {
		if err != nil {
			return out, err
		}
		out = append(out, t.Catalog+"."+t.Schema+"."+t.Name)
	}
	return out, nil
}

func TestAListingOverAllCatalogsLeavesOutWhatFails(t *testing.T) {
	for _, c := range []struct {
		call, name string
		kind       fault.Kind
		want       string
	}{
		{"list tables", "db", fault.Internal, "[bare.db.t lake..root lake.db.broken lake.sp ace.o-k]"},
		{"list tables", "db", fault.Unavailable, "[bare.db.t lake..root]"}, // the rest would wait as long
		{"list namespaces", "", fault.Unavailable, "[bare.db.t lake..root]"},
		{"load", "db.sales", fault.Unavailable, "[bare.db.t lake..root lake.db.broken lake.db.p lake.db.sales lake.db.wap lake.sp ace.o-k]"},
	} {
		w, e := newWorld(t)
		w.catalogs["lake"].asked = failing(c.call, c.name, c.kind)
		if got, err := listedNames(context.Background(), e, c.call == "load"); err != nil || fmt.Sprint(got) != c.want {
			t.Errorf("%s %s: %v, %v; want %s", c.call, c.name, got, err, c.want)
		}
	}
}

// TestAListingAsksCatalogsSideBySide: each of fourteen catalogs answers only after all of them were asked, and the order is that of their names.
func TestAListingAsksCatalogsSideBySide(t *testing.T) {
	const silent = 14 // with lake and bare, as many as are asked at once
	class, _ := catalogs.ClassByName("org.apache.iceberg.spark.SparkCatalog")
	var more []catalogs.Definition
	for i := range silent {
		more = append(more, catalogs.Definition{Name: fmt.Sprintf("c%02d", i), Class: class, Type: "fake"})
	}
	w, e := newWorld(t, more...)
	var asked sync.WaitGroup
	asked.Add(silent)
	var want []string
	for i, d := range more {
		c := &fakeCatalog{world: w, namespaces: w.catalogs["bare"].namespaces, tables: w.catalogs["bare"].tables}
		var once sync.Once
		c.asked = func(_ context.Context, call, _ string) error {
			once.Do(asked.Done)
			asked.Wait()
			if i%5 == 4 {
				return fault.New(fault.Unavailable, "it was silent")
			}
			return nil
		}
		w.catalogs[d.Name] = c
		if i%5 != 4 {
			want = append(want, d.Name+".db.t")
		}
	}
	want = append(append([]string{"bare.db.t"}, want...), "lake..root", "lake.db.broken", "lake.db.p", "lake.db.sales", "lake.db.wap", "lake.sp ace.o-k")
	if got, err := listedNames(context.Background(), e, false); err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
}

// TestAListingThatIsLeftEnds: what is asked in the background ends with the reader's context, or when the reader has enough.
func TestAListingThatIsLeftEnds(t *testing.T) {
	w, e := newWorld(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	silent := make(chan struct{}, 100)
	w.catalogs["lake"].asked = func(ctx context.Context, _, _ string) error {
		silent <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	}
	for entry, err := range e.Tables(ctx, session.State{}, TableFilter{}) {
		if err != nil || entry.Catalog != "bare" {
			t.Errorf("%v, %v", entry, err)
		}
		<-silent
		break
	}
	go func() { <-silent; cancel() }()
	if got, err := listedNames(ctx, e, false); !fault.Is(err, fault.Canceled) {
		t.Errorf("%v, %v", got, err)
	}
	w.catalogs["lake"].asked = func(context.Context, string, string) error { panic("boom") }
	if got, err := listedNames(context.Background(), e, false); err != nil || len(got) != 1 {
		t.Errorf("a panic: %v, %v", got, err)
	}
}

// TestInformationSchemaIsListed like any namespace, with its tables and no views.
func TestInformationSchemaIsListed(t *testing.T) {
	w, e := newWorld(t)
	s := w.session(t, e, "listing")
	for _, c := range []struct {
		sql  string
		want int
	}{
		{"SHOW TABLES IN information_schema", len(systemTables)}, {"SHOW TABLES IN lake.INFORMATION_SCHEMA LIKE 'table*'", 2}, {"SHOW VIEWS IN information_schema", 0},
	} {
		p, err := e.Prepare(t.Context(), Call{Session: s, Principal: "ann", Text: c.sql})
		if err != nil {
			t.Fatal(err)
		}
		r, err := p.Run(t.Context(), nil)
		if err != nil || r.Rows() != int64(c.want) {
			t.Errorf("%s: %v, want %d rows", c.sql, err, c.want)
		}
	}
}

// TestConstraintsOpenTheTablesThatAreAskedFor: a filter on the kind, the schema or the name of constraints leaves the other tables shut.
func TestConstraintsOpenTheTablesThatAreAskedFor(t *testing.T) {
	w, e := newWorld(t)
	s, err := e.newStatement(Call{Session: w.session(t, e, "keys"), Principal: "ann", Text: "SELECT 1"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		wanted map[string][]string
		most   int64
	}{
		{map[string][]string{"constraint_type": {"FOREIGN KEY"}}, 0},
		{map[string][]string{"constraint_type": {"PRIMARY KEY"}, "table_schema": {"db"}, "table_name": {"sales"}}, 1},
		{map[string][]string{"constraint_schema": {"db"}, "constraint_name": {"sales_identifier"}}, 1},
		{map[string][]string{"constraint_schema": {"nowhere"}}, 0},
	} {
		w.opened.Store(0)
		source := &systemSource{statement: s, catalog: "lake", wanted: c.wanted}
		if err := source.keys(t.Context(), func(KeyEntry, string) {}); err != nil || w.opened.Load() > c.most {
			t.Errorf("%v: %v, %d tables were opened", c.wanted, err, w.opened.Load())
		}
	}
}
