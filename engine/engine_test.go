package engine

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/engine/sparktype"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/scan"
	"github.com/skua-data/skua/session"
)

func prepare(t *testing.T, e *Engine, s *session.Session, sql string) Prepared {
	t.Helper()
	p, err := e.Prepare(context.Background(), Call{Session: s, Principal: "ann", Text: sql})
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return p
}

func run(t *testing.T, p Prepared, args arrow.RecordBatch) Result {
	t.Helper()
	r, err := p.Run(context.Background(), args)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func batch(t *testing.T, schema *arrow.Schema, rows string) arrow.RecordBatch {
	t.Helper()
	b, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, strings.NewReader(rows))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestParametersAreTypedByTheirPlace(t *testing.T) {
	w, e := newWorld(t)
	s := w.session(t, e, "s")
	for _, c := range []struct{ sql, want string }{
		{"SELECT 1", ""},
		{"SELECT id FROM sales WHERE id = ?", "int"},
		{"SELECT id FROM sales WHERE ? < st.a AND s LIKE ?", "int string"},
		{"SELECT id FROM sales x WHERE x.ts BETWEEN ? AND ? LIMIT ? OFFSET ?", "timestamp timestamp bigint bigint"},
		{"SELECT id FROM sales WHERE s IN (?, 'a', ?) OR ?", "string string boolean"},
		{"SELECT ?, CAST(? AS DECIMAL(9,2)) FROM sales WHERE ? = 5L", "void decimal(9,2) bigint"},
		{"SELECT id FROM sales WHERE ? = ?", "void void"},
	} {
		p := prepare(t, e, s, c.sql)
		var got []string
		for _, f := range p.Parameters().Fields() {
			got = append(got, sparkType(f.Type))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, want %s", c.sql, got, c.want)
		}
	}
}

func TestParameterSetsGiveTheirRowsInOrder(t *testing.T) {
	w, e := newWorld(t)
	s := w.session(t, e, "s")
	p := prepare(t, e, s, "SELECT id, s FROM sales WHERE id >= ? AND s <> ? LIMIT 2")
	schema := arrow.NewSchema([]arrow.Field{{Name: "a", Type: sparktype.Bigint, Nullable: true}, {Name: "b", Type: sparktype.String, Nullable: true}}, nil)
	args := batch(t, schema, `[{"a": 1, "b": "c"}, {"a": 5, "b": "x"}, {"a": null, "b": "x"}, {"a": 3, "b": "b"}]`)
	r := run(t, p, args)
	want := "id int!, s string\n1 | a\n4 | ab\n5 | b\n3 | c\n4 | ab\n"
	if got := tableText(t, r); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := resume(t, e, r); got != want {
		t.Errorf("resumed: %s", got)
	}
	if r.Parts() != 4 || !r.Ordered() {
		t.Errorf("%d parts, ordered %v", r.Parts(), r.Ordered())
	}
	selected := prepare(t, e, s, "SELECT ?, CAST(? AS INT) n")
	if got := tableText(t, run(t, selected, batch(t, schema, `[{"a": 1, "b": "7"}, {"a": null, "b": null}]`))); got != "? bigint, n int\n1 | 7\nNULL | NULL\n" {
		t.Errorf("selected parameters: %s", got)
	}
	if _, err := p.Run(context.Background(), nil); !fault.Is(err, fault.Invalid) {
		t.Errorf("without values: %v", err)
	}
	if got := tableText(t, run(t, p, batch(t, schema, `[]`))); got != "id int!, s string\n" {
		t.Errorf("no sets: %s", got)
	}
}

func TestArgumentsOfEveryWidth(t *testing.T) {
	for _, c := range []struct {
		typ  arrow.DataType
		json string
		typ2 string
		want any
	}{
		{arrow.PrimitiveTypes.Int8, "-3", "tinyint", int64(-3)},
		{arrow.PrimitiveTypes.Uint8, "200", "smallint", int64(200)},
		{arrow.PrimitiveTypes.Uint32, "4000000000", "bigint", int64(4000000000)},
		{arrow.PrimitiveTypes.Float32, "1.5", "float", 1.5},
		{arrow.BinaryTypes.LargeString, `"x"`, "string", "x"},
		{arrow.FixedWidthTypes.Boolean, "true", "boolean", true},
		{arrow.FixedWidthTypes.Timestamp_ms, `"1969-12-31T23:59:59.999Z"`, "timestamp", int64(-1000)},
		{&arrow.TimestampType{Unit: arrow.Second}, `"1970-01-01T00:00:02"`, "timestamp_ntz", int64(2_000_000)},
		{arrow.FixedWidthTypes.Date64, `"1969-12-31"`, "date", int64(-1)},
		{arrow.FixedWidthTypes.Time32s, `"00:00:01"`, "time(6)", int64(1_000_000)},
		{arrow.Null, "null", "void", nil},
		{arrow.PrimitiveTypes.Int64, "null", "bigint", nil},
	} {
		b := batch(t, arrow.NewSchema([]arrow.Field{{Name: "p", Type: c.typ, Nullable: true}}, nil), `[{"p": `+c.json+`}]`)
		got, err := sparktype.Argument(b.Column(0), 0)
		if err != nil {
			t.Errorf("%s: %v", c.typ, err)
			continue
		}
		if sparkType(got.Type) != c.typ2 || got.Value != c.want {
			t.Errorf("%s %s: %s %v, want %s %v", c.typ, c.json, sparkType(got.Type), got.Value, c.typ2, c.want)
		}
	}
	list := batch(t, arrow.NewSchema([]arrow.Field{{Name: "p", Type: arrow.ListOf(sparktype.Int), Nullable: true}}, nil), `[{"p": [1]}]`)
	if _, err := sparktype.Argument(list.Column(0), 0); !fault.Is(err, fault.Unsupported) {
		t.Errorf("a list: %v", err)
	}
}

func TestPartsAreReadAloneAndTogether(t *testing.T) {
	w, e := newWorld(t)
	r := run(t, prepare(t, e, w.session(t, e, "s"), "SELECT id FROM sales"), nil)
	if r.Parts() != 3 || r.Ordered() || r.Rows() != 5 {
		t.Fatalf("%d parts, ordered %v, %d rows", r.Parts(), r.Ordered(), r.Rows())
	}
	read := func(from, to int) (ids []int32) {
		reader, err := r.Open(context.Background(), from, to)
		if err != nil {
			t.Fatal(err)
		}
		defer reader.Release()
		for reader.Next() {
			ids = append(ids, reader.RecordBatch().Column(0).(*array.Int32).Int32Values()...)
		}
		return ids
	}
	for _, c := range []struct{ from, to, first, n int }{{0, 3, 1, 5}, {0, 1, 1, 2}, {1, 2, 3, 1}, {2, 3, 4, 2}, {1, 3, 3, 3}, {1, 1, 0, 0}} {
		ids := read(c.from, c.to)
		if len(ids) != c.n || (c.n > 0 && int(ids[0]) != c.first) {
			t.Errorf("parts %d to %d: %v", c.from, c.to, ids)
		}
	}
	for _, c := range [][2]int{{-1, 1}, {2, 1}, {0, 4}} {
		if _, err := r.Open(context.Background(), c[0], c[1]); !fault.Is(err, fault.Invalid) {
			t.Errorf("parts %v: %v", c, err)
		}
	}
}

func TestPinOutlivesTheTable(t *testing.T) {
	w, e := newWorld(t)
	s := w.session(t, e, "s")
	r := run(t, prepare(t, e, s, "SELECT * FROM sales WHERE id = 1"), nil)
	first := tableText(t, r)
	if pin := r.Pin(); pin.Session == "" || strings.Contains(pin.Session, "s-") || pin.Statement == "" || len(pin.Tables) != 1 || pin.Tables[0].MetadataLocation != "db.sales@1" {
		t.Errorf("pin %+v", pin)
	}
	sales := w.catalogs["lake"].tables["db.sales"]
	sales.versions = append(sales.versions, version{schema: schemaOf("other:9:int"), splits: nil})
	if err := e.Use(context.Background(), s, "bare", nil, true, false); err != nil {
		t.Fatal(err)
	}
	if got := resume(t, e, r); got != first {
		t.Errorf("after a change: %s, want %s", got, first)
	}
	sales.dropped = true
	if got := resume(t, e, r); got != first {
		t.Errorf("after a drop: %s, want %s", got, first)
	}
}

func TestPinnedMetadataTableAndSelector(t *testing.T) {
	w, e := newWorld(t)
	s := w.session(t, e, "s")
	for _, sql := range []string{"SELECT * FROM db.sales.snapshots", "SELECT * FROM db.sales.branch_first"} {
		r := run(t, prepare(t, e, s, sql), nil)
		first := tableText(t, r)
		// A real table of the full name wins for new statements, not for the pinned one.
		id := strings.TrimPrefix(sql, "SELECT * FROM ")
		w.catalogs["lake"].tables[id] = &fakeTable{name: []string{"lake", id}, versions: []version{{schema: schemaOf("x:1:int")}}}
		if got := resume(t, e, r); got != first {
			t.Errorf("%s: %s, want %s", sql, got, first)
		}
		if got := tableText(t, run(t, prepare(t, e, s, sql), nil)); got != "x int\n" {
			t.Errorf("%s: the real table does not win: %s", sql, got)
		}
	}
}

func TestEffectsHappenOncePerRunAndNeverAtPrepareOrResume(t *testing.T) {
	w, e := newWorld(t)
	s := w.session(t, e, "s")
	p := prepare(t, e, s, "SET k=v")
	if _, set := s.State().Get("k"); set {
		t.Error("preparing has the effect")
	}
	r := run(t, p, nil)
	if err := e.Unset(s, "k"); err != nil {
		t.Fatal(err)
	}
	if got := resume(t, e, r); got != "key string!, value string!\nk | v\n" {
		t.Errorf("resumed: %s", got)
	}
	if _, set := s.State().Get("k"); set {
		t.Error("resuming has the effect")
	}
	pin := r.Pin()
	pin.Outcome, pin.Text = nil, "SET k=v"
	if _, err := e.Resume(context.Background(), pin); !fault.Is(err, fault.Invalid) {
		t.Errorf("a pin without outcome: %v", err)
	}
}

func TestLongListingIsMadeAgain(t *testing.T) {
	w, e := newWorld(t)
	s := w.session(t, e, "s")
	for i := range 4000 {
		w.catalogs["lake"].tables["other."+strings.Repeat("x", 20)+itoa(i)] = &fakeTable{}
	}
	r := run(t, prepare(t, e, s, "SHOW TABLES IN lake.other"), nil)
	if r.Pin().Outcome != nil || r.Rows() != 4000 {
		t.Errorf("%d bytes inside the ticket, %d rows", len(r.Pin().Outcome), r.Rows())
	}
	if resume(t, e, r) != tableText(t, r) {
		t.Error("the listing differs")
	}
}

func TestPreparedTwiceSeesNewRowsAndRefusesNewColumns(t *testing.T) {
	w, e := newWorld(t)
	p := prepare(t, e, w.session(t, e, "s"), "SELECT * FROM bare.db.t")
	if got := tableText(t, run(t, p, nil)); got != "n bigint\n1\n" {
		t.Fatal(got)
	}
	table := w.catalogs["bare"].tables["db.t"]
	table.versions = append(table.versions, version{schema: schemaOf("n:1:bigint"), splits: [][]string{{`{"n": 2}`}}})
	if got := tableText(t, run(t, p, nil)); got != "n bigint\n2\n" {
		t.Error(got)
	}
	table.versions = append(table.versions, version{schema: schemaOf("m:1:int")})
	if _, err := p.Run(context.Background(), nil); !fault.Is(err, fault.Invalid) {
		t.Errorf("new columns: %v", err)
	}
}

func TestDirectStatementLoadsItsTableOnce(t *testing.T) {
	w, e := newWorld(t)
	run(t, prepare(t, e, w.session(t, e, "s"), "SELECT * FROM sales"), nil)
	if n := w.catalogs["lake"].loads; n != 1 {
		t.Errorf("%d loads", n)
	}
}

func TestTicketsOfOneStatementPlanOnce(t *testing.T) {
	w, e := newWorld(t)
	r := run(t, prepare(t, e, w.session(t, e, "s"), "SELECT id FROM sales"), nil)
	w.plans = 0
	e.plans = newPlanCache(maxPlans)
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			again, err := e.Resume(context.Background(), r.Pin())
			if err != nil || again.Parts() != 3 {
				t.Errorf("resume: %v", err)
			}
		})
	}
	wait.Wait()
	if w.plans != 1 {
		t.Errorf("planned %d times", w.plans)
	}
}

func TestPlanCache(t *testing.T) {
	c, ctx := newPlanCache(2), context.Background()
	made := 0
	get := func(key string) {
		t.Helper()
		if _, err := c.get(ctx, key, func() (*planned, error) { made++; return &planned{}, nil }); err != nil {
			t.Fatal(err)
		}
	}
	for _, k := range []string{"a", "b", "a", "c", "a", "b"} { // b is the one used longest ago when c comes
		get(k)
	}
	if made != 4 {
		t.Errorf("made %d plans, want 4", made)
	}
	bad := errors.New("bad")
	if _, err := c.get(ctx, "z", func() (*planned, error) { return nil, bad }); !errors.Is(err, bad) {
		t.Error(err)
	}
	if _, err := c.get(ctx, "z", func() (*planned, error) { panic("boom") }); !fault.Is(err, fault.Internal) {
		t.Error(err)
	}
	get("z") // neither failure is kept
}

func TestFreshStateAndUse(t *testing.T) {
	w, e := newWorld(t)
	for _, c := range []struct{ configured, catalog, namespace string }{{"", "", ""}, {"lake", "lake", "db"}, {"bare", "bare", ""}} {
		conf := session.Conf{}
		if c.configured != "" {
			conf = conf.With("spark.sql.defaultCatalog", c.configured)
		}
		st, err := e.NewState(conf)
		if err != nil || st.Catalog != c.catalog || strings.Join(st.Namespace, ".") != c.namespace {
			t.Errorf("%q: %+v, %v", c.configured, st, err)
		}
	}
	if _, err := e.NewState(session.Conf{}.With("spark.sql.defaultCatalog", "nope")); !fault.Is(err, fault.NotFound) {
		t.Errorf("unknown default catalog: %v", err)
	}
	nowhere := session.New("id", "ann", session.State{}, w.now)
	if _, err := e.Prepare(context.Background(), Call{Session: nowhere, Text: "SELECT * FROM t"}); !fault.Is(err, fault.NotFound) {
		t.Errorf("no current catalog: %v", err)
	}
	s := w.session(t, e, "s")
	if err := e.Use(context.Background(), s, "lake", []string{"sp ace"}, true, true); err != nil || s.State().Namespace[0] != "sp ace" {
		t.Errorf("%+v, %v", s.State(), err)
	}
	if err := e.Use(context.Background(), s, "bare", []string{"nope"}, true, true); !fault.Is(err, fault.NotFound) || s.State().Catalog != "lake" {
		t.Errorf("a failed USE changes the session: %+v, %v", s.State(), err)
	}
}

func TestSettingsAreBounded(t *testing.T) {
	w, e := newWorld(t)
	s := w.session(t, e, "s")
	half := strings.Repeat("x", 2<<20)
	if err := e.SetOption(s, "k1", half); err != nil {
		t.Fatal(err)
	}
	if err := e.SetOption(s, "k2", half); !fault.Is(err, fault.Exhausted) || !strings.Contains(err.Error(), session.SettingsSize) {
		t.Errorf("one more: %v", err)
	}
	for _, value := range []string{"w", half} {
		if err := e.SetOption(s, "k1", value); err != nil {
			t.Error(err)
		}
	}
}

func TestListings(t *testing.T) {
	w, e := newWorld(t)
	ctx, text := context.Background(), func(s string) *string { return &s }
	schemas := func(catalog, pattern *string) (out string) {
		for s, err := range e.Schemas(ctx, session.State{}, catalog, pattern) {
			if err != nil {
				return out + "error " + fault.KindOf(err).String()
			}
			out += s.Catalog + ":" + s.Schema + " "
		}
		return out
	}
	for _, c := range []struct {
		catalog, pattern *string
		want             string
	}{
		{nil, nil, "bare:db lake:db lake:db.sub lake:other lake:sp ace "},
		{text("lake"), text("d%"), "lake:db lake:db.sub "},
		{text("lake"), text("d_"), "lake:db "},
		{text("lake"), text(`d\_`), ""},
		{text("LAKE"), nil, ""},
		{text("down"), nil, "error unavailable"},
	} {
		if got := schemas(c.catalog, c.pattern); got != c.want {
			t.Errorf("schemas: %q, want %q", got, c.want)
		}
	}
	tables := func(f TableFilter) (out string) {
		for s, err := range e.Tables(ctx, session.State{}, f) {
			if err != nil {
				return out + "error " + fault.KindOf(err).String()
			}
			out += s.Catalog + ":" + s.Schema + ":" + s.Name + ":" + s.Type
			if s.Columns != nil {
				out += ":" + itoa(s.Columns.NumFields())
			}
			out += " "
		}
		return out
	}
	for _, c := range []struct {
		filter TableFilter
		want   string
	}{
		{TableFilter{}, "bare:db:t:TABLE lake::root:TABLE lake:db:broken:TABLE lake:db:p:TABLE lake:db:sales:TABLE lake:db:wap:TABLE lake:db:v:VIEW lake:sp ace:o-k:TABLE "},
		{TableFilter{Types: []string{"VIEW"}}, "lake:db:v:VIEW "},
		{TableFilter{Types: []string{"BASE TABLE"}, SchemaPattern: text("db"), NamePattern: text("s%")}, "lake:db:sales:TABLE "},
		{TableFilter{Catalog: text("lake"), SchemaPattern: text("db"), WithSchema: true}, "lake:db:broken:TABLE:0 lake:db:p:TABLE:1 lake:db:sales:TABLE:4 lake:db:wap:TABLE:1 lake:db:v:VIEW:0 "},
		{TableFilter{Catalog: text("down")}, "error unavailable"},
	} {
		if got := tables(c.filter); got != c.want {
			t.Errorf("tables: %q, want %q", got, c.want)
		}
	}
	w.catalogs["down"].down = false
	for s := range e.Tables(ctx, session.State{}, TableFilter{Catalog: text("lake"), NamePattern: text("sales"), WithSchema: true}) {
		if id := s.Columns.Field(0); commentOf(id) != "key" || scan.FieldID(id) != -1 {
			t.Errorf("column %s", id)
		}
	}
}

func TestCancelledReaderStops(t *testing.T) {
	w, e := newWorld(t)
	r := run(t, prepare(t, e, w.session(t, e, "s"), "SELECT id FROM sales"), nil)
	reader, err := r.Open(context.Background(), 0, 3)
	if err != nil {
		t.Fatal(err)
	}
	if !reader.Next() {
		t.Fatal("no batch")
	}
	reader.Retain()
	reader.Release()
	reader.Release() // the world's allocator finds what is left
}

func TestSessionSettingsReachTheScan(t *testing.T) {
	w, e := newWorld(t)
	const read = "spark.sql.iceberg.read."
	for _, c := range []struct {
		name    string
		startup map[string]string
		conf    map[string]string
		sql     string
		want    string
	}{
		{"nothing set", nil, nil, "SELECT n FROM bare.db.t", ""},
		{"split size", nil, map[string]string{read + "split-size": "7"}, "SELECT n FROM bare.db.t", "split-size=7(session)"},
		{"explicit wins", nil, map[string]string{read + "split-size": "7"}, "SELECT n FROM bare.db.t WITH (`split-size` = 8)", "split-size=8(explicit)"},
		{"override wins", nil, map[string]string{read + "split-size": "7", "spark.rapids.iceberg.global-setting.read-split-target-size": "9"},
			"SELECT id FROM lake.db.sales", "split-size=9(global)"},
		{"overrides need the class", nil, map[string]string{"spark.rapids.iceberg.global-setting.read-split-target-size": "9"}, "SELECT n FROM bare.db.t", ""},
		{"adaptive", nil, map[string]string{read + "adaptive-split-size.enabled": "false", read + "adaptive-split-size.parallelism": "3"}, "SELECT n FROM bare.db.t",
			"adaptive-split-size-enabled=false(session) adaptive-split-size-parallelism=3(session)"},
		{"shuffle partitions", nil, map[string]string{"spark.sql.shuffle.partitions": "5"}, "SELECT n FROM bare.db.t", "adaptive-split-size-parallelism=5(session)"},
		{"default parallelism below the default", map[string]string{"spark.default.parallelism": "9"}, nil, "SELECT n FROM bare.db.t", ""},
		{"default parallelism is larger", map[string]string{"spark.default.parallelism": "9"}, map[string]string{"spark.sql.shuffle.partitions": "5"},
			"SELECT n FROM bare.db.t", "adaptive-split-size-parallelism=9(session)"},
		{"default parallelism set later", nil, map[string]string{"spark.default.parallelism": "900"}, "SELECT n FROM bare.db.t", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := session.New("s", "ann", session.State{Startup: session.NewConf(c.startup)}, w.now)
			for k, v := range c.conf {
				if err := e.SetOption(s, k, v); err != nil {
					t.Fatal(err)
				}
			}
			r := run(t, prepare(t, e, s, c.sql), nil)
			options := func(r Result) string {
				var out []string
				for _, o := range r.(*result).planned.sets[0].query.request.Options {
					out = append(out, o.Name+"="+o.Value+"("+o.Scope+")")
				}
				return strings.Join(out, " ")
			}
			if got := options(r); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
			e.plans = newPlanCache(maxPlans)
			again, err := e.Resume(context.Background(), r.Pin())
			if err != nil {
				t.Fatal(err)
			}
			if got := options(again); got != c.want {
				t.Errorf("resumed: %s, want %s", got, c.want)
			}
		})
	}
}
