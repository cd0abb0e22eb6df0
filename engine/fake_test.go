package engine

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/engine/sparktype"
	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/predicate"
	"github.com/skua-data/skua/resource"
	"github.com/skua-data/skua/scan"
	"github.com/skua-data/skua/session"
	"github.com/skua-data/skua/storage"
)

// world is everything that the engine's tests stand on: catalogs in memory whose tables are versions of Arrow batches.
type world struct {
	catalogs map[string]*fakeCatalog
	now      time.Time
	mem      *memory.CheckedAllocator
	plans    int
	viewFile func(ctx context.Context, v *catalogs.Table) ([]byte, error)
	opened   atomic.Int64 // tables whose metadata was read
	bytes    atomic.Int64 // of what is kept
	kept     sync.Map     // what was made of metadata
}

// fakeCatalog is a catalog in memory. A table's metadata location is its name, @ and its version.
type fakeCatalog struct {
	world      *world
	namespaces map[string]iceberg.Properties // by dotted name
	tables     map[string]*fakeTable         // by dotted name
	views      []string
	mu         sync.Mutex
	loads      int
	listed     int // calls of Namespaces and Tables
	down       bool
	asked      func(ctx context.Context, call, name string) error // list namespaces, load, and list tables after the first one; nil: as down says
}

// fakeTable has one version for each snapshot; the last is current.
type fakeTable struct {
	name     []string // with catalog
	versions []version
	dropped  bool
}

type version struct {
	schema *arrow.Schema
	splits [][]string // JSON rows for each split
	ref    string     // a branch or tag with this name

	described []string // the types of its columns as DESCRIBE spells them; nil: as Arrow's are
}

func (c *fakeCatalog) Capabilities() catalogs.Capabilities {
	return catalogs.Capabilities{NestedNamespaces: true, RootTables: true, Views: true}
}

func (c *fakeCatalog) err() error {
	if c.down {
		return fault.New(fault.Unavailable, "the catalog is down")
	}
	return nil
}

func (c *fakeCatalog) ask(ctx context.Context, call string, name []string) error {
	if c.asked == nil {
		return c.err()
	}
	return c.asked(ctx, call, strings.Join(name, "."))
}

func (c *fakeCatalog) Namespaces(ctx context.Context, parent table.Identifier) iter.Seq2[table.Identifier, error] {
	c.listed++
	return func(yield func(table.Identifier, error) bool) {
		if err := c.ask(ctx, "list namespaces", parent); err != nil {
			yield(nil, err)
			return
		}
		for _, n := range sortedKeys(c.namespaces) {
			id := strings.Split(n, ".")
			if len(id) == len(parent)+1 && slices.Equal(id[:len(parent)], parent) && !yield(id, nil) {
				return
			}
		}
	}
}

func (c *fakeCatalog) LoadNamespace(_ context.Context, n table.Identifier) (iceberg.Properties, error) {
	if p, ok := c.namespaces[strings.Join(n, ".")]; ok {
		return p, c.err()
	}
	return nil, fault.New(fault.NotFound, "no such namespace")
}

func (c *fakeCatalog) Tables(ctx context.Context, n table.Identifier) iter.Seq2[catalogs.Entry, error] {
	c.listed++
	return func(yield func(catalogs.Entry, error) bool) {
		if err := c.err(); err != nil {
			yield(catalogs.Entry{}, err)
			return
		}
		all := slices.DeleteFunc(sortedKeys(c.tables), func(t string) bool { id := strings.Split(t, "."); return !slices.Equal(id[:len(id)-1], n) })
		for i, t := range all {
			if i == 1 { // in the middle
				if err := c.ask(ctx, "list tables", n); err != nil {
					yield(catalogs.Entry{}, err)
					return
				}
			}
			if !yield(catalogs.Entry{Identifier: strings.Split(t, ".")}, nil) {
				return
			}
		}
		if len(all) < 2 {
			if err := c.ask(ctx, "list tables", n); err != nil {
				yield(catalogs.Entry{}, err)
				return
			}
		}
		for _, v := range c.views {
			if id := strings.Split(v, "."); slices.Equal(id[:len(id)-1], n) && !yield(catalogs.Entry{Identifier: id, Kind: catalogs.KindView}, nil) {
				return
			}
		}
	}
}

func (c *fakeCatalog) Load(ctx context.Context, req catalogs.LoadRequest) (*catalogs.Table, error) {
	c.mu.Lock()
	c.loads++
	c.mu.Unlock()
	if err := c.ask(ctx, "load", req.Identifier); err != nil {
		return nil, err
	}
	name := strings.Join(req.Identifier, ".")
	if slices.Contains(c.views, name) {
		return &catalogs.Table{Identifier: req.Identifier, Kind: catalogs.KindView, MetadataLocation: "view"}, nil
	}
	t, ok := c.tables[name]
	if !ok || t.dropped {
		return nil, fault.New(fault.NotFound, "no such table")
	}
	return &catalogs.Table{Identifier: req.Identifier, MetadataLocation: fmt.Sprintf("%s@%d", name, len(t.versions)-1)}, nil
}

func (c *fakeCatalog) Close() error { return nil }

// opened is a fakeTable at a metadata location.
type opened struct {
	world    *world
	table    *fakeTable
	version  int
	location string
}

// find finds what a catalog loaded, and counts what is read of it.
func (w *world) find(_ context.Context, t *catalogs.Table) (unread, error) {
	return &fakeUnread{w, t}, nil
}

// fakeUnread keeps what is made of a metadata location.
type fakeUnread struct {
	world  *world
	loaded *catalogs.Table
}

func (u *fakeUnread) Close() error { return nil }

func (u *fakeUnread) Table(ctx context.Context) (openTable, error) {
	u.world.opened.Add(1)
	return u.world.open(ctx, u.loaded)
}

func (u *fakeUnread) View(ctx context.Context) ([]byte, error) {
	if u.world.viewFile == nil {
		return nil, fault.New(fault.NotFound, "no such file")
	}
	return u.world.viewFile(ctx, u.loaded)
}

func (u *fakeUnread) Kept(_ context.Context, what string, make func() (any, int64, error)) (any, error) {
	key := what + " " + u.loaded.Catalog + " " + u.loaded.MetadataLocation
	if made, ok := u.world.kept.Load(key); ok {
		return made, nil
	}
	made, size, err := make()
	if err == nil {
		u.world.kept.Store(key, made)
		u.world.bytes.Add(size)
	}
	return made, err
}

func (w *world) open(_ context.Context, t *catalogs.Table) (openTable, error) {
	name, at, _ := strings.Cut(t.MetadataLocation, "@")
	n, err := strconv.Atoi(at)
	if err != nil || n < 0 {
		return nil, fault.New(fault.Corrupt, "metadata file %s is broken", t.MetadataLocation)
	}
	return &opened{w, w.catalogs[t.Catalog].tables[name], n, t.MetadataLocation}, nil
}

func (o *opened) MetadataLocation() string { return o.location }

func (o *opened) Source(_ context.Context, at scan.Reference) (scan.Source, error) {
	source := func(n int) (scan.Source, error) {
		return &fakeSource{world: o.world, name: syntax.QuoteName(o.table.name), version: o.table.versions[n], snapshot: int64(n + 1), clause: at.Clause}, nil
	}
	switch at.Kind {
	case scan.RefCurrent:
		return source(o.version)
	case scan.RefRange:
		if at.Range.After == nil || at.Range.AfterTime != nil || at.Range.UntilTime != nil {
			return nil, fault.New(fault.Invalid, "a table cannot be read over %s", at.Clause)
		}
		return source(o.version)
	case scan.RefTimestamp:
		for n := o.version; n >= 0; n-- {
			if int64(n+1)*1000 <= at.ID {
				return source(n)
			}
		}
		return nil, fault.New(fault.NotFound, "Cannot find a snapshot older than %s", time.UnixMilli(at.ID).UTC().Format("2006-01-02T15:04:05-07:00"))
	case scan.RefName:
		if id, err := strconv.ParseInt(at.Name, 10, 64); err == nil {
			at = scan.Reference{Kind: scan.RefSnapshot, ID: id, Clause: at.Clause}
		}
	}
	if at.Kind == scan.RefSnapshot {
		if at.ID < 1 || at.ID > int64(o.version+1) {
			return nil, fault.New(fault.NotFound, "Cannot find snapshot with ID %d", at.ID).In(strings.Join(o.table.name, "."))
		}
		return source(int(at.ID - 1))
	}
	for n := range o.version + 1 {
		if o.table.versions[n].ref == at.Name {
			return source(n)
		}
	}
	if at.Kind == scan.RefBranch {
		return nil, fault.New(fault.NotFound, "Cannot use branch (does not exist): %s", at.Name).In(strings.Join(o.table.name, "."))
	}
	return nil, fault.New(fault.NotFound, "Cannot find matching snapshot ID or reference name for version %s", at.Name).In(strings.Join(o.table.name, "."))
}

func (o *opened) MetadataSource(_ context.Context, name string, at scan.Reference) (scan.Source, bool, error) {
	if strings.EqualFold(name, "changes") {
		v := version{schema: schemaOf("id:1:int", "_change_type:9:string!"), splits: [][]string{{`{"id": 1, "_change_type": "INSERT"}`}}}
		return &fakeSource{world: o.world, name: syntax.QuoteName(o.table.name) + ".changes", version: v, clause: at.Clause}, true, nil
	}
	if !strings.EqualFold(name, "snapshots") {
		return nil, false, nil
	}
	v := version{schema: schemaOf("snapshot_id:1:bigint!"), splits: [][]string{nil}}
	for n := range o.version + 1 {
		v.splits[0] = append(v.splits[0], fmt.Sprintf(`{"snapshot_id": %d}`, n+1))
	}
	return &fakeSource{world: o.world, name: syntax.QuoteName(o.table.name) + ".snapshots", version: v}, true, nil
}

func (o *opened) Describe(metadataTable string) (scan.Description, error) {
	d := scan.Description{Location: "file:/lake/" + o.table.name[len(o.table.name)-1], Snapshot: int64(o.version + 1), Records: 5,
		MetadataColumns: []scan.ColumnInfo{{Name: "_file", Type: "string"}}, Properties: []scan.Property{{Key: "current-snapshot-id", Value: itoa(o.version + 1)}, {Key: "format", Value: "iceberg/parquet"}}}
	schema := o.table.versions[o.version].schema
	if metadataTable != "" {
		schema = schemaOf("snapshot_id:1:bigint!")
	} else {
		d.Properties = append(d.Properties, scan.Property{Key: "my.password", Value: "hunter2"}, scan.Property{Key: "option.x", Value: "it's"})
		if o.table.name[len(o.table.name)-1] == "wap" {
			d.Properties = append(d.Properties, scan.Property{Key: "write.wap.enabled", Value: "TRUE"})
		}
		d.Reserved = map[string]string{"owner": "ann", "comment": "it's"}
		d.Partitioning = []string{"bucket(4, id)", "days(ts)"}
	}
	for _, f := range schema.Fields() {
		d.Columns = append(d.Columns, scan.ColumnInfo{Name: f.Name, Type: sparkType(f.Type), Comment: commentOf(f), Nullable: f.Nullable, Field: icebergField(f)})
	}
	for i, typ := range o.table.versions[o.version].described {
		d.Columns[i].Type = typ
	}
	if len(d.Columns) == 1 && metadataTable == "" {
		d.Partitioning, d.IdentityOnly = []string{d.Columns[0].Name}, true
	}
	return d, nil
}

func icebergField(f arrow.Field) iceberg.NestedField {
	out := iceberg.NestedField{ID: scan.FieldID(f), Name: f.Name, Required: !f.Nullable, Doc: commentOf(f)}
	switch t := f.Type.(type) {
	case *arrow.StructType:
		st := &iceberg.StructType{}
		for _, in := range t.Fields() {
			st.FieldList = append(st.FieldList, icebergField(in))
		}
		out.Type = st
	case *arrow.TimestampType:
		out.Type = iceberg.PrimitiveTypes.TimestampTz
	default:
		out.Type = map[arrow.Type]iceberg.Type{arrow.INT32: iceberg.PrimitiveTypes.Int32, arrow.INT64: iceberg.PrimitiveTypes.Int64,
			arrow.STRING: iceberg.PrimitiveTypes.String, arrow.FLOAT64: iceberg.PrimitiveTypes.Float64}[t.ID()]
	}
	return out
}

func (o *opened) Branches() []string { return o.refs() }
func (o *opened) Tags() []string     { return nil }

func (o *opened) PartitionColumns() ([]string, bool, bool)                         { return nil, false, false }
func (o *opened) Partitions(context.Context, map[string]*string) ([]string, error) { return nil, nil }

func (o *opened) refs() (out []string) {
	for _, v := range o.table.versions {
		if v.ref != "" {
			out = append(out, v.ref)
		}
	}
	return out
}

func (o *opened) Ancestors(snapshot *int64) ([]scan.Ancestor, error) {
	id := int64(o.version + 1)
	if snapshot != nil {
		id = *snapshot
	}
	if id < 1 || id > int64(o.version+1) {
		return nil, fault.New(fault.NotFound, "Cannot find snapshot: %d", id)
	}
	var out []scan.Ancestor
	for ; id > 0; id-- {
		out = append(out, scan.Ancestor{Snapshot: id, Timestamp: id * 1000})
	}
	return out, nil
}

// fakeSource reads a version.
type fakeSource struct {
	world    *world
	name     string
	version  version
	snapshot int64
	clause   string
}

func (s *fakeSource) Schema() *arrow.Schema { return s.version.schema }

func (s *fakeSource) MetadataColumns() *arrow.Schema { return schemaOf("_file:2147483646:string!") }

func (s *fakeSource) Plan(_ context.Context, req scan.Request) (scan.Plan, error) {
	s.world.plans++
	for _, o := range req.Options {
		if o.Name == "split-size" {
			if _, err := strconv.Atoi(o.Value); err != nil {
				return nil, fault.New(fault.Invalid, "For input string: \"%s\"", o.Value)
			}
		}
	}
	return &fakePlan{s, req}, nil
}

type fakePlan struct {
	source *fakeSource
	req    scan.Request
}

func (p *fakePlan) Schema() *arrow.Schema {
	var fields []arrow.Field
	for _, id := range p.req.Fields {
		f, _ := p.source.field(id)
		fields = append(fields, f)
	}
	return arrow.NewSchema(fields, nil)
}

// field finds a field and the path of positions to it.
func (s *fakeSource) field(id int) (arrow.Field, []int) {
	var find func(fields []arrow.Field) (arrow.Field, []int)
	find = func(fields []arrow.Field) (arrow.Field, []int) {
		for i, f := range fields {
			if scan.FieldID(f) == id {
				return f, []int{i}
			}
			if st, ok := f.Type.(*arrow.StructType); ok {
				if f, path := find(st.Fields()); path != nil {
					return f, append([]int{i}, path...)
				}
			}
		}
		return arrow.Field{}, nil
	}
	if f, path := find(s.version.schema.Fields()); path != nil {
		return f, path
	}
	return s.MetadataColumns().Field(0), nil
}

func (p *fakePlan) Splits() int { return len(p.source.version.splits) }

func (p *fakePlan) Rows() (int64, bool) {
	n := 0
	for _, rows := range p.source.version.splits {
		n += len(rows)
	}
	return int64(n), p.req.Filter == nil
}

func (p *fakePlan) Explain() *scan.Explanation {
	e := &scan.Explanation{Source: p.source.name, Kind: "table", Snapshot: p.source.snapshot, Reference: p.source.clause,
		Manifests: scan.Considered{Total: 1}, Files: scan.Considered{Total: 3, Pruned: map[string]int{"partition": 1}}}
	if p.req.Filter != nil {
		e.Filter = p.req.Filter.String()
	}
	for _, f := range p.Schema().Fields() {
		e.Columns = append(e.Columns, f.Name)
	}
	for _, o := range p.req.Options {
		e.Options = append(e.Options, scan.Resolved(o))
	}
	for range p.source.version.splits {
		e.Splits = append(e.Splits, scan.SplitInfo{Files: 1, Bytes: 10, Weight: 20, Tasks: []scan.TaskInfo{{Path: "file:/a", Length: 10}}})
	}
	return e
}

func (p *fakePlan) Open(ctx context.Context, from, to int) (array.RecordReader, error) {
	mem := resource.From(ctx).Allocator()
	var batches []arrow.RecordBatch
	for _, rows := range p.source.version.splits[from:to] {
		all, _, err := array.RecordFromJSON(mem, p.source.version.schema, strings.NewReader("["+strings.Join(rows, ",")+"]"))
		if err != nil {
			return nil, err
		}
		batches = append(batches, p.pick(all)...)
		all.Release()
	}
	schema := p.Schema()
	r, err := array.NewRecordReader(schema, batches)
	for _, b := range batches {
		b.Release()
	}
	return r, err
}

// pick gives the batch's rows that pass the filter, one batch a row, with the columns asked for.
func (p *fakePlan) pick(all arrow.RecordBatch) []arrow.RecordBatch {
	var out []arrow.RecordBatch
	keep := make([]bool, all.NumRows())
	if p.req.Filter == nil {
		for i := range keep {
			keep[i] = true
		}
	} else {
		mask, err := predicate.Evaluate(p.req.Filter, int(all.NumRows()), columnsOfBatch{p.source, all}, memory.DefaultAllocator)
		if err != nil {
			panic(err)
		}
		for i := range keep {
			keep[i] = mask.IsValid(i) && mask.Value(i)
		}
		mask.Release()
	}
	for i, k := range keep {
		if !k {
			continue
		}
		row := all.NewSlice(int64(i), int64(i+1))
		var columns []arrow.Array
		for _, id := range p.req.Fields {
			_, path := p.source.field(id)
			if path == nil { // _file
				file, _ := repeated(sparktype.TextValue("file:/a"), 1, memory.DefaultAllocator)
				columns = append(columns, file)
				continue
			}
			columns = append(columns, follow(row.Columns(), path))
		}
		out = append(out, array.NewRecordBatch(p.Schema(), columns, 1))
		row.Release()
	}
	return out
}

func follow(columns []arrow.Array, path []int) arrow.Array {
	a := columns[path[0]]
	for _, i := range path[1:] {
		a = a.(*array.Struct).Field(i)
	}
	return a
}

type columnsOfBatch struct {
	source *fakeSource
	batch  arrow.RecordBatch
}

func (c columnsOfBatch) Column(f predicate.Field) (arrow.Array, error) {
	_, path := c.source.field(f.ID)
	return follow(c.batch.Columns(), path), nil
}

// schemaOf reads name:id:type, with ! after the type of a required field; a struct's fields follow in brackets.
func schemaOf(fields ...string) *arrow.Schema {
	var out []arrow.Field
	for _, f := range fields {
		out = append(out, fieldOf(f))
	}
	return arrow.NewSchema(out, nil)
}

func fieldOf(text string) arrow.Field {
	parts := strings.SplitN(text, ":", 3)
	name, comment, _ := strings.Cut(parts[0], "#")
	typ, required := strings.CutSuffix(parts[2], "!")
	metadata := map[string]string{scan.FieldIDKey: parts[1]}
	if comment != "" {
		metadata[scan.CommentKey] = comment
	}
	f := arrow.Field{Name: name, Nullable: !required, Metadata: arrow.MetadataFrom(metadata)}
	if inner, ok := strings.CutPrefix(typ, "struct["); ok {
		var fields []arrow.Field
		for _, in := range strings.Split(strings.TrimSuffix(inner, "]"), ";") {
			fields = append(fields, fieldOf(in))
		}
		f.Type = arrow.StructOf(fields...)
		return f
	}
	f.Type = map[string]arrow.DataType{"int": arrow.PrimitiveTypes.Int32, "bigint": arrow.PrimitiveTypes.Int64, "string": arrow.BinaryTypes.String,
		"double": arrow.PrimitiveTypes.Float64, "date": arrow.FixedWidthTypes.Date32, "timestamp": &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}}[typ]
	return f
}

// newWorld has the catalogs lake (RAPIDS' class, default namespace db), bare (Iceberg's class) and down, which fails.
// More catalogs may be configured: spark_catalog is ready for it.
func newWorld(t *testing.T, more ...catalogs.Definition) (*world, *Engine) {
	t.Helper()
	w := &world{now: time.UnixMilli(1_700_000_000_000), mem: memory.NewCheckedAllocator(memory.NewGoAllocator())}
	sales := schemaOf("id#key:1:int!", "s:2:string", "ts:3:timestamp", "st:4:struct[a:5:int;b:6:string]")
	w.catalogs = map[string]*fakeCatalog{
		"lake": {world: w, namespaces: map[string]iceberg.Properties{"db": {"location": "file:/lake/db", "owner": "me", "k": "v", "secret": "s"}, "db.sub": {}, "sp ace": {}, "other": {}},
			views: []string{"db.v"},
			tables: map[string]*fakeTable{
				"db.sales": {name: []string{"lake", "db", "sales"}, versions: []version{
					{schema: schemaOf("id:1:int!", "old:2:string"), splits: [][]string{{`{"id": 1, "old": "x"}`}}, ref: "first"},
					{schema: sales, splits: [][]string{
						{`{"id": 1, "s": "a", "st": {"a": 10, "b": "p"}}`, `{"id": 2, "s": null, "st": null}`},
						{`{"id": 3, "s": "c", "st": {"a": null, "b": "q"}}`},
						{`{"id": 4, "s": "ab", "st": {"a": 40, "b": "r"}}`, `{"id": 5, "s": "b", "st": {"a": 50, "b": null}}`}}}}},
				"db.p": {name: []string{"lake", "db", "p"}, versions: []version{{schema: schemaOf("p:1:string"), splits: [][]string{{`{"p": "x"}`}}}}},
				"db.wap": {name: []string{"lake", "db", "wap"}, versions: []version{
					{schema: schemaOf("n:1:int"), splits: [][]string{{`{"n": 1}`}}, ref: "audit"}, {schema: schemaOf("n:1:int"), splits: [][]string{{`{"n": 1}`, `{"n": 2}`}}}}},
				"db.broken":  {name: []string{"lake", "db", "broken"}},
				"root":       {name: []string{"lake", "root"}, versions: []version{{schema: schemaOf("n:1:int"), splits: nil}}},
				"sp ace.o-k": {name: []string{"lake", "sp ace", "o-k"}, versions: []version{{schema: schemaOf("n:1:int"), splits: [][]string{{`{"n": 7}`}}}}},
			}},
		"bare": {world: w, namespaces: map[string]iceberg.Properties{"db": {}}, tables: map[string]*fakeTable{
			"db.t": {name: []string{"bare", "db", "t"}, versions: []version{{schema: schemaOf("n:1:bigint"), splits: [][]string{{`{"n": 1}`}}}}}}},
		"down": {world: w, down: true},
		"spark_catalog": {world: w, namespaces: map[string]iceberg.Properties{"default": {}, "a": {}, "a.b": {}, "a.b.c": {}}, tables: map[string]*fakeTable{
			"default.test_tbl":  {name: []string{"spark_catalog", "default", "test_tbl"}, versions: []version{{schema: schemaOf("n:1:bigint"), splits: [][]string{{`{"n": 1}`, `{"n": 2}`}}, ref: "old"}}},
			"default.other_tbl": {name: []string{"spark_catalog", "default", "other_tbl"}, versions: []version{{schema: schemaOf("n:1:bigint")}}},
			"a.b.c.deep":        {name: []string{"spark_catalog", "a", "b", "c", "deep"}, versions: []version{{schema: schemaOf("n:1:bigint")}}},
			"a.b":               {name: []string{"spark_catalog", "a", "b"}, versions: []version{{schema: schemaOf("n:1:bigint")}}},
		}},
	}
	rapids, _ := catalogs.ClassByName("com.nvidia.spark.rapids.iceberg.spark.RapidsSparkCatalog")
	plain, _ := catalogs.ClassByName("org.apache.iceberg.spark.SparkCatalog")
	set, err := catalogs.NewSet(catalogs.SetConfig{
		Definitions: append([]catalogs.Definition{
			{Name: "lake", Class: rapids, Type: "fake", Properties: iceberg.Properties{"default-namespace": "db", "cache-enabled": "false"}},
			{Name: "bare", Class: plain, Type: "fake", Properties: iceberg.Properties{"cache-enabled": "false"}},
			{Name: "down", Class: plain, Type: "fake", Properties: iceberg.Properties{}},
		}, more...),
		Open: func(_ context.Context, d catalogs.Definition, _ storage.Map) (catalogs.Catalog, error) {
			return w.catalogs[d.Name], nil
		},
		Now: func() time.Time { return w.now },
	})
	if err != nil {
		t.Fatal(err)
	}
	e, err := New(Config{Catalogs: set, Scanner: scan.NewScanner(scan.Config{}), Pool: resource.NewPool(resource.Config{Cores: 2, Allocator: w.mem}),
		Clock: func() time.Time { return w.now }, Version: "1.2.3"})
	if err != nil {
		t.Fatal(err)
	}
	e.find = w.find
	t.Cleanup(func() {
		if err := set.Close(); err != nil {
			t.Error(err)
		}
		w.mem.AssertSize(t, 0)
	})
	return w, e
}

// sessionCatalogDefinition is spark_catalog with RAPIDS' class.
func sessionCatalogDefinition() catalogs.Definition {
	class, _ := catalogs.ClassByName("com.nvidia.spark.rapids.iceberg.spark.RapidsSparkSessionCatalog")
	return catalogs.Definition{Name: sessionCatalog, Class: class, Type: "fake", Properties: iceberg.Properties{}}
}

func (w *world) session(t *testing.T, e *Engine, id string) *session.Session {
	t.Helper()
	state, err := e.NewState(session.NewConf(map[string]string{"spark.sql.defaultCatalog": "lake", "spark.startup": "fromstart", "spark.sql.catalog.lake.token": "t0p"}))
	if err != nil {
		t.Fatal(err)
	}
	return session.New(id, "ann", state, w.now)
}
