package scan

import (
	"context"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/iceberg-go"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/kernels/kernelstest"
	"github.com/skua-data/skua/predicate"
	"github.com/skua-data/skua/resource"
	"github.com/skua-data/skua/scan/parquet"
	"github.com/skua-data/skua/storage"
	"github.com/skua-data/skua/storage/local"
)

// tableOfFiles is a table of plain files in a folder of the test.
type tableOfFiles struct {
	t          *testing.T
	dir        string
	files      catalogs.Files
	partitions []catalogs.Partition // whole; nil: nobody lists any
	asked      [][]string           // the names in each call of the catalog
	pinned     string
	options    []Option
}

func newTableOfFiles(t *testing.T, columns []iceberg.NestedField, partitions ...string) *tableOfFiles {
	p := &tableOfFiles{t: t, dir: t.TempDir()}
	p.files = catalogs.Files{Schema: iceberg.NewSchema(0, columns...), Partitions: partitions, Location: "file:" + p.dir}
	return p
}

// write writes rows, JSON objects, as a Parquet file of fields that have no ids.
func (p *tableOfFiles) write(name string, fields []arrow.Field, rows string) {
	p.t.Helper()
	batch, _, err := array.RecordFromJSON(memory.DefaultAllocator, arrow.NewSchema(fields, nil), strings.NewReader(rows))
	if err != nil {
		p.t.Fatal(err)
	}
	defer batch.Release()
	p.put(name, kernelstest.Write(p.t, batch, kernelstest.Layout{}))
}

func (p *tableOfFiles) put(name string, raw []byte) {
	p.t.Helper()
	at := filepath.Join(p.dir, name)
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(at, raw, 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// list adds a partition that the catalog lists, at a folder of the table's.
func (p *tableOfFiles) list(folder string, values ...string) {
	p.files.Listed = true
	one := catalogs.Partition{Name: strings.Join(values, "/"), Location: "file:" + filepath.Join(p.dir, folder)}
	for _, v := range values {
		one.Values = append(one.Values, catalogs.PartitionValue(v))
	}
	p.partitions = append(p.partitions, one)
}

// open opens the table. Its catalog lists all partitions without their locations.
func (p *tableOfFiles) open() *Table {
	p.t.Helper()
	s := NewScanner(Config{Stores: storage.NewMux([]storage.Kind{local.Kind}, storage.Map{}), Decoder: parquet.NewFallback()})
	t := &catalogs.Table{Catalog: "made", Identifier: []string{"t"}, Kind: catalogs.KindFiles, Format: "parquet", Files: &p.files, MetadataLocation: p.pinned}
	if p.files.Listed {
		t = t.WithPartitions(func(_ context.Context, names []string) iter.Seq2[catalogs.Partition, error] {
			p.asked = append(p.asked, names)
			return func(yield func(catalogs.Partition, error) bool) {
				for _, one := range p.partitions {
					if names == nil {
						one.Location, one.Format = "", ""
					} else if !slices.Contains(names, one.Name) {
						continue
					}
					if !yield(one, nil) {
						return
					}
				}
			}
		})
	}
	out, err := s.Table(p.t.Context(), t)
	if err != nil {
		p.t.Fatal(err)
	}
	return out
}

// plan plans a scan of some columns with a filter.
func (p *tableOfFiles) plan(ctx context.Context, filter predicate.Expr, names ...string) (Source, Request, Plan, error) {
	p.t.Helper()
	source, err := p.open().Source(ctx, Reference{})
	if err != nil {
		p.t.Fatal(err)
	}
	request := Request{Filter: filter, Limit: -1, Options: p.options}
	for _, name := range names {
		request.Fields = append(request.Fields, p.field(source, name).ID)
	}
	plan, err := source.Plan(ctx, request)
	return source, request, plan, err
}

func (p *tableOfFiles) field(source Source, name string) predicate.Field {
	for _, s := range []*arrow.Schema{source.Schema(), source.MetadataColumns()} {
		for id, at := range paths(s.Fields()) {
			if strings.Join(at.Names, ".") == name {
				return predicate.Field{ID: id, Path: at.Names, Type: at.Field.Type}
			}
		}
	}
	p.t.Fatalf("no column %s", name)
	return predicate.Field{}
}

// read gives the rows of columns, in a list with commas, as JSON lists, sorted; or the error.
func (p *tableOfFiles) read(columns string, filter func(of func(name string) predicate.Field) predicate.Expr) string {
	p.t.Helper()
	checked := kernelstest.NewSoiled()
	defer checked.AssertSize(p.t, 0)
	ctx := resource.With(p.t.Context(), resource.NewPool(resource.Config{Cores: 2, Allocator: checked}).NewStatement(""))
	source, err := p.open().Source(ctx, Reference{})
	if err != nil {
		p.t.Fatal(err)
	}
	var e predicate.Expr
	if filter != nil {
		e = filter(func(name string) predicate.Field { return p.field(source, name) })
	}
	var ids []int
	for _, name := range strings.Split(columns, ",") {
		ids = append(ids, p.field(source, name).ID)
	}
	batch, err := readAll(ctx, source, Request{Fields: ids, Filter: e, Limit: -1, Options: p.options})
	if err != nil {
		return err.Error()
	}
	defer batch.Release()
	rows := rowsOf(batch)
	slices.Sort(rows)
	return strings.Join(rows, " ")
}

func fileColumn(id int, name string, typ iceberg.Type) iceberg.NestedField {
	return iceberg.NestedField{ID: id, Name: name, Type: typ}
}

// bare is a field of a file, without an id.
func bare(name string, typ arrow.DataType) arrow.Field {
	return arrow.Field{Name: name, Type: typ, Nullable: true}
}

var (
	anInt   = iceberg.PrimitiveTypes.Int32
	aLong   = iceberg.PrimitiveTypes.Int64
	aString = iceberg.PrimitiveTypes.String
)

func TestColumnsOfPlainFilesAreFoundByName(t *testing.T) {
	p := newTableOfFiles(t, []iceberg.NestedField{fileColumn(1, "Id", aLong), fileColumn(2, "Name", aString),
		fileColumn(3, "Deep", &iceberg.StructType{FieldList: []iceberg.NestedField{fileColumn(5, "A", anInt), fileColumn(6, "L", &iceberg.ListType{ElementID: 7, Element: &iceberg.StructType{FieldList: []iceberg.NestedField{fileColumn(8, "X", anInt)}}})}}),
		fileColumn(4, "M", &iceberg.MapType{KeyID: 9, KeyType: aString, ValueID: 10, ValueType: &iceberg.StructType{FieldList: []iceberg.NestedField{fileColumn(11, "V", anInt)}}})})
	x := arrow.StructOf(bare("x", arrow.PrimitiveTypes.Int32), bare("other", arrow.PrimitiveTypes.Int32))
	v := arrow.StructOf(bare("W", arrow.PrimitiveTypes.Int32), bare("v", arrow.PrimitiveTypes.Int32))
	// Columns in another order, in other cases, of a smaller type, with ids of somebody else's, and more than are wanted.
	odd := bare("deep", arrow.StructOf(bare("l", arrow.ListOf(x)), bare("a", arrow.PrimitiveTypes.Int32)))
	odd.Metadata = idMetadata(2)
	p.write("b.parquet", []arrow.Field{odd, bare("more", arrow.BinaryTypes.String), bare("ID", arrow.PrimitiveTypes.Int32), bare("m", arrow.MapOf(arrow.BinaryTypes.String, v))},
		`[{"deep": {"l": [{"x": 5, "other": 6}], "a": 1}, "more": "m", "ID": 1, "m": [{"key": "k", "value": {"W": 1, "v": 2}}]}, {"ID": 2}]`)
	p.write("a.parquet", []arrow.Field{bare("name", arrow.BinaryTypes.String)}, `[{"name": "alone"}]`)
	want := `["1",null,[1,[[5]]],[["k",[2]]]] ["2",null,null,null] [null,"alone",null,null]`
	if got := p.read("Id,Name,Deep,M", nil); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if got := p.read("Deep.A", nil); got != "[1] [null] [null]" {
		t.Errorf("inside: %s", got)
	}
	equals := func(name string, v any) func(func(string) predicate.Field) predicate.Expr {
		return func(of func(string) predicate.Field) predicate.Expr {
			f := of(name)
			return predicate.Comparison{Op: predicate.Eq, Field: f, Value: predicate.Literal{Type: f.Type, Value: v}}
		}
	}
	for _, c := range []struct {
		column string
		value  any
		want   string
	}{{"Id", int64(2), `["2"]`}, {"Name", "alone", "[null]"}, {"Name", "none", ""}, {"Id", int64(99), ""}} {
		if got := p.read("Id", equals(c.column, c.value)); got != c.want {
			t.Errorf("%s = %v: %s, want %s", c.column, c.value, got, c.want)
		}
	}
	p.write("c.parquet", []arrow.Field{bare("id", arrow.PrimitiveTypes.Int32), bare("ID", arrow.PrimitiveTypes.Int32), bare("name", arrow.BinaryTypes.String)}, `[{"name": "x"}]`)
	if got := p.read("Id", nil); !strings.Contains(got, "differ in case alone") || !strings.Contains(got, "c.parquet") {
		t.Errorf("two columns of a name: %s", got)
	}
	if got := p.read("Name", nil); got != `["alone"] ["x"] [null] [null]` {
		t.Errorf("another column of that file: %s", got)
	}
	p.write("d.parquet", []arrow.Field{bare("name", arrow.PrimitiveTypes.Int64)}, `[{"name": 1}]`)
	if got := p.read("Name", nil); !strings.Contains(got, "column Name") || !strings.Contains(got, "d.parquet") {
		t.Errorf("a column of another type: %s", got)
	}
}

func TestWhichFilesCount(t *testing.T) {
	p := newTableOfFiles(t, []iceberg.NestedField{fileColumn(1, "a", anInt)})
	fields := []arrow.Field{bare("a", arrow.PrimitiveTypes.Int32)}
	for i, name := range []string{"part-0.parquet", "000000_0", "z", "_hidden", ".dot.parquet", "_SUCCESS", "_metadata", "x._COPYING_", "below/one.parquet", "_below/one.parquet"} {
		p.write(name, fields, fmt.Sprintf(`[{"a": %d}]`, i))
	}
	p.put("empty", nil)
	if got := p.read("a", nil); got != "[0] [1] [2]" {
		t.Errorf("%s", got)
	}
	p.files.Location = "file:" + filepath.Join(p.dir, "gone")
	if got := p.read("a", nil); got != "" {
		t.Errorf("a folder that is not there: %s", got)
	}
	p.files.Location = "file:" + p.dir
	p.put("torn.parquet", []byte("PAR1 and no more"))
	if got := p.read("a", nil); !strings.Contains(got, "torn.parquet") {
		t.Errorf("a file that is none: %s", got)
	}
}

func partitioned(t *testing.T) *tableOfFiles {
	p := newTableOfFiles(t, []iceberg.NestedField{fileColumn(1, "a", anInt), fileColumn(2, "Country", aString), fileColumn(3, "day", iceberg.PrimitiveTypes.Date)}, "Country", "day")
	for i, folder := range []string{"country=CH/day=2026-01-01", "country=CH/day=2026-01-02", "country=a%2Fb/day=__HIVE_DEFAULT_PARTITION__", "country=__HIVE_DEFAULT_PARTITION__/day=2026-01-01"} {
		// What a file itself holds of the partition's columns plays no role.
		p.write(folder+"/f", []arrow.Field{bare("A", arrow.PrimitiveTypes.Int32), bare("country", arrow.BinaryTypes.String)}, fmt.Sprintf(`[{"A": %d, "country": "not this"}]`, i))
	}
	return p
}

const partitionedRows = `[0,"CH",20454] [1,"CH",20455] [2,"a/b",null] [3,null,20454]`

func TestPartitionsByFolders(t *testing.T) {
	p := partitioned(t)
	p.write("country=CH/stray.parquet", []arrow.Field{bare("a", arrow.PrimitiveTypes.Int32)}, `[{"a": 9}]`)
	p.write("_temporary/0/f", []arrow.Field{bare("a", arrow.PrimitiveTypes.Int32)}, `[{"a": 9}]`)
	if got := p.read("a,Country,day", nil); got != partitionedRows {
		t.Errorf("%s\nwant %s", got, partitionedRows)
	}
	p.write("country=CH/other/f", []arrow.Field{bare("a", arrow.PrimitiveTypes.Int32)}, `[{"a": 9}]`)
	if got := p.read("a", nil); !strings.Contains(got, "country=CH/other is no partition by day") {
		t.Errorf("another folder: %s", got)
	}
	_ = os.RemoveAll(filepath.Join(p.dir, "country=CH", "other"))
	p.write("country=CH/day=soon/f", []arrow.Field{bare("a", arrow.PrimitiveTypes.Int32)}, `[{"a": 9}]`)
	if got := p.read("a", nil); !strings.Contains(got, `the value "soon" of day is no date`) {
		t.Errorf("a value that is none: %s", got)
	}
}

func TestFoldersWithoutFilesAreNoPartitions(t *testing.T) {
	p := partitioned(t)
	for _, folder := range []string{"other", "month=5", "country=CH/temp", "country=CH/day=soon", "deep/er/_hidden"} {
		if err := os.MkdirAll(filepath.Join(p.dir, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	p.put("deep/er/empty", nil)
	p.put("deep/er/_hidden/f", []byte("not seen"))
	if got := p.read("a,Country,day", nil); got != partitionedRows {
		t.Errorf("%s\nwant %s", got, partitionedRows)
	}
	_, _, plan, err := p.plan(t.Context(), nil, "a")
	if err != nil || plan.Explain().Partitions.Total != 4 {
		t.Errorf("%v", err)
	}
	p.put("deep/er/f", []byte("PAR1"))
	if got := p.read("a", nil); !strings.Contains(got, "deep is no partition by Country") {
		t.Errorf("a file below: %s", got)
	}
}

func listedPartitions(t *testing.T) *tableOfFiles {
	p := partitioned(t)
	p.list("country=CH/day=2026-01-01", "CH", "2026-01-01")
	p.list("country=CH/day=2026-01-02", "CH", "2026-1-2")
	p.list("country=a%2Fb/day=__HIVE_DEFAULT_PARTITION__", "a/b", "__HIVE_DEFAULT_PARTITION__")
	p.list("country=__HIVE_DEFAULT_PARTITION__/day=2026-01-01", "__HIVE_DEFAULT_PARTITION__", "2026-01-01")
	p.list("never/written", "DE", "2026-01-01")
	return p
}

func TestPartitionsOfTheCatalog(t *testing.T) {
	p := listedPartitions(t)
	p.write("country=XX/day=2026-01-01/f", []arrow.Field{bare("a", arrow.PrimitiveTypes.Int32)}, `[{"a": 9}]`) // which the catalog does not list
	elsewhere := t.TempDir()
	if err := os.Rename(filepath.Join(p.dir, "country=CH", "day=2026-01-02"), filepath.Join(elsewhere, "moved")); err != nil {
		t.Fatal(err)
	}
	p.partitions[1].Location = "file:" + filepath.Join(elsewhere, "moved")
	if got := p.read("a,Country,day", nil); got != partitionedRows {
		t.Errorf("%s\nwant %s", got, partitionedRows)
	}
	if len(p.asked) != 2 || p.asked[0] != nil || len(p.asked[1]) != 5 {
		t.Errorf("asked %q", p.asked)
	}
	p.partitions[2].Format = "orc"
	if got := p.read("a", nil); !strings.Contains(got, "in orc, which is not supported") {
		t.Errorf("a partition in another format: %s", got)
	}
}

func TestFiltersRuleOutPartitions(t *testing.T) {
	literal := func(f predicate.Field, v any) predicate.Literal { return predicate.Literal{Type: f.Type, Value: v} }
	const day = 20454 // 2026-01-01
	for _, c := range []struct {
		name   string
		filter func(of func(string) predicate.Field) predicate.Expr
		rows   string
		asked  int // partitions that are asked for by name
	}{
		{"a day", func(of func(string) predicate.Field) predicate.Expr {
			return predicate.Comparison{Op: predicate.Eq, Field: of("day"), Value: literal(of("day"), int64(day))}
		}, "[0] [3]", 3},
		{"null", func(of func(string) predicate.Field) predicate.Expr { return predicate.IsNull{Field: of("Country")} }, "[3]", 1},
		{"either", func(of func(string) predicate.Field) predicate.Expr {
			return predicate.Or{Left: predicate.Comparison{Op: predicate.Eq, Field: of("Country"), Value: literal(of("Country"), "a/b")},
				Right: predicate.Comparison{Op: predicate.Gt, Field: of("day"), Value: literal(of("day"), int64(day))}}
		}, "[1] [2]", 2},
		{"a column of the files", func(of func(string) predicate.Field) predicate.Expr {
			return predicate.Comparison{Op: predicate.GtEq, Field: of("a"), Value: literal(of("a"), int64(2))}
		}, "[2] [3]", 5},
		{"nothing", func(of func(string) predicate.Field) predicate.Expr {
			return predicate.Comparison{Op: predicate.Lt, Field: of("day"), Value: literal(of("day"), int64(0))}
		}, "", 0},
	} {
		p := listedPartitions(t)
		if got := p.read("a", c.filter); got != c.rows {
			t.Errorf("%s: %s, want %s", c.name, got, c.rows)
		}
		asked := 0
		for _, names := range p.asked {
			asked += len(names)
		}
		if asked != c.asked {
			t.Errorf("%s: %d partitions were asked for, want %d", c.name, asked, c.asked)
		}
		folders := partitioned(t)
		if got := folders.read("a", c.filter); got != c.rows {
			t.Errorf("%s, by folders: %s, want %s", c.name, got, c.rows)
		}
	}
}

func TestValuesOfPartitions(t *testing.T) {
	for _, c := range []struct {
		typ  iceberg.Type
		text string
		want any // as a manifest would give it, spelled; nil: none
	}{
		{aString, " x ", " x "}, {anInt, " 12 ", 12}, {anInt, "-5", -5}, {anInt, "3000000000", nil}, {anInt, "1.5", nil}, {anInt, "", nil}, {aLong, "3000000000", 3000000000},
		{iceberg.PrimitiveTypes.Bool, "TRUE", true}, {iceberg.PrimitiveTypes.Bool, "no", false}, {iceberg.PrimitiveTypes.Bool, "maybe", nil},
		{iceberg.PrimitiveTypes.Float64, "1.5E3", 1500}, {iceberg.PrimitiveTypes.Float64, "NaN", "NaN"}, {iceberg.PrimitiveTypes.Float32, "-Infinity", "-Inf"}, {iceberg.PrimitiveTypes.Float64, "x", nil},
		{iceberg.DecimalTypeOf(9, 2), "12.5", "12.50"}, {iceberg.DecimalTypeOf(4, 2), "123", nil}, {iceberg.DecimalTypeOf(4, 2), "x", nil},
		{iceberg.PrimitiveTypes.Date, "1970-01-02", 1}, {iceberg.PrimitiveTypes.Date, "1969-12-31", -1}, {iceberg.PrimitiveTypes.Date, "1970-1-2", 1}, {iceberg.PrimitiveTypes.Date, "1970-02-30", nil},
		{iceberg.PrimitiveTypes.TimestampTz, "1970-01-01 00:00:01.5", 1500000}, {iceberg.PrimitiveTypes.Timestamp, "1970-01-01T01:00:00", 3600000000},
		{iceberg.PrimitiveTypes.TimestampTz, "1970-01-01 01:00:00+01:00", 0}, {iceberg.PrimitiveTypes.Timestamp, "noon", nil}, {iceberg.PrimitiveTypes.Binary, "ab", "[97 98]"},
	} {
		typ, _ := arrowType(c.typ)
		v, ok := partitionText(c.text, typ)
		if d, isDecimal := v.(iceberg.Decimal); isDecimal {
			v = d.Val.ToString(int32(d.Scale))
		}
		if ok != (c.want != nil) || ok && fmt.Sprint(v) != fmt.Sprint(c.want) {
			t.Errorf("%q as %s: %v, %v, want %v", c.text, c.typ, v, ok, c.want)
		}
	}
}

func TestPlainFilesAreTold(t *testing.T) {
	p := listedPartitions(t)
	p.files.Comment, p.files.Properties = "said", iceberg.Properties{"EXTERNAL": "TRUE", "k": "v"}
	table := p.open()
	d, err := table.Describe("")
	if err != nil || d.Provider != "parquet" || d.Comment != "said" || !d.IdentityOnly || fmt.Sprint(d.Partitioning) != "[Country day]" || len(d.Columns) != 3 || d.Columns[2].Type != "date" ||
		len(d.Properties) != 1 || d.Reserved["external"] != "TRUE" || d.Location != p.files.Location || len(d.MetadataColumns) != 2 {
		t.Errorf("%+v, %v", d, err)
	}
	if got := p.read("_file", nil); strings.Count(got, "country=") != 4 {
		t.Errorf("%s", got)
	}
	for _, r := range []Reference{{Kind: RefSnapshot, ID: 1, Clause: "VERSION AS OF 1"}, {Kind: RefTimestamp}, {Kind: RefBranch, Name: "b"}, {Kind: RefTag, Name: "x"}, {Kind: RefName, Name: "x"}, {Kind: RefRange, Range: &Range{}}} {
		if _, err := table.Source(t.Context(), r); !fault.Is(err, fault.Unsupported) || !strings.Contains(err.Error(), "plain parquet files") {
			t.Errorf("%v: %v", r, err)
		}
	}
	for _, name := range []string{"snapshots", "FILES", "changes", "partitions"} {
		if _, known, err := table.MetadataSource(t.Context(), name, Reference{}); !known || !fault.Is(err, fault.Unsupported) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := table.Describe(name); !fault.Is(err, fault.Unsupported) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, known, err := table.MetadataSource(t.Context(), "nothing", Reference{}); known || err != nil {
		t.Errorf("no metadata table: %v", err)
	}
	source, _, plan, err := p.plan(t.Context(), nil, "a")
	if err != nil {
		t.Fatal(err)
	}
	e := plan.Explain()
	if e.Kind != "plain parquet files" || e.Files.Total != 4 || e.Partitions.Total != 5 || e.Snapshot != 0 {
		t.Errorf("%+v", e)
	}
	if _, known := plan.Rows(); known {
		t.Error("rows are known")
	}
	if _, why := Aggregates(mustPlan(t, source, Request{Limit: -1, Aggregates: []Aggregate{{Kind: CountRows}}})); why == "" {
		t.Error("metadata tells a count")
	}
	day := p.field(source, "day")
	_, _, few, err := p.plan(t.Context(), predicate.IsNull{Field: day}, "a")
	if err != nil {
		t.Fatal(err)
	}
	if e := few.Explain(); e.Partitions.Pruned[byPartition] != 4 || e.Files.Total != 1 {
		t.Errorf("%+v", e)
	}
	same := mustPlan(t, source, Request{Fields: []int{p.field(source, "a").ID}, Limit: -1})
	if Listing(plan) != Listing(same) || Listing(plan) == Listing(few) || Listing(plan) == "" {
		t.Errorf("%s, %s, %s", Listing(plan), Listing(same), Listing(few))
	}
	options := []Option{{Name: "split-size", Value: "nonsense"}, {Name: "batch-size", Value: "1"}}
	optional, err := source.Plan(t.Context(), Request{Limit: -1, Options: options})
	if err != nil || len(optional.Explain().Splits) == 0 {
		t.Errorf("an option of Iceberg's: %v", err)
	}
}

func mustPlan(t *testing.T, source Source, r Request) Plan {
	t.Helper()
	p, err := source.Plan(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPinnedFilesAreThoseOrNone(t *testing.T) {
	p := listedPartitions(t)
	_, _, plan, err := p.plan(t.Context(), nil, "a")
	if err != nil {
		t.Fatal(err)
	}
	p.pinned = Listing(plan)
	if got := p.read("a", nil); got != "[0] [1] [2] [3]" {
		t.Errorf("%s", got)
	}
	p.write("country=CH/day=2026-01-01/g", []arrow.Field{bare("a", arrow.PrimitiveTypes.Int32)}, `[{"a": 9}]`)
	if got := p.read("a", nil); !strings.Contains(got, "changed since the statement was planned") {
		t.Errorf("%s", got)
	}
	s := NewScanner(Config{Stores: storage.NewMux([]storage.Kind{local.Kind}, storage.Map{}), Decoder: parquet.NewFallback()})
	if _, err := s.Table(t.Context(), &catalogs.Table{Identifier: []string{"t"}, MetadataLocation: p.pinned}); !fault.Is(err, fault.NotFound) {
		t.Errorf("a table that is gone: %v", err)
	}
}

func TestPlainFilesAreCounted(t *testing.T) {
	p := listedPartitions(t)
	source, _, _, err := p.plan(t.Context(), nil, "a")
	if err != nil {
		t.Fatal(err)
	}
	plan := mustPlan(t, source, Request{Limit: -1, Aggregates: []Aggregate{{Kind: CountRows}}})
	r, err := plan.Open(t.Context(), 0, plan.Splits())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	n := int64(0)
	for r.Next() {
		n += r.RecordBatch().NumRows()
	}
	if r.Err() != nil || n != 4 {
		t.Errorf("%d rows, %v", n, r.Err())
	}
}

func TestPlainFilesThatCannotBe(t *testing.T) {
	s := NewScanner(Config{Stores: storage.NewMux([]storage.Kind{local.Kind}, storage.Map{}), Decoder: parquet.NewFallback()})
	schema := iceberg.NewSchema(0, fileColumn(1, "a", anInt))
	for _, c := range []struct {
		table catalogs.Table
		kind  fault.Kind
	}{
		{catalogs.Table{Format: "orc", Files: &catalogs.Files{Schema: schema}}, fault.Unsupported},
		{catalogs.Table{Format: "parquet"}, fault.Unsupported},
		{catalogs.Table{Format: "parquet", Files: &catalogs.Files{Schema: schema, Listed: true, Partitions: []string{"a"}}}, fault.Unsupported},
		{catalogs.Table{Format: "parquet", Files: &catalogs.Files{}}, fault.Corrupt},
		{catalogs.Table{Format: "parquet", Files: &catalogs.Files{Schema: schema, Location: "file:/x", Partitions: []string{"b"}}}, fault.Corrupt},
	} {
		c.table.Kind, c.table.Identifier = catalogs.KindFiles, []string{"t"}
		if _, err := s.Table(t.Context(), &c.table); !fault.Is(err, c.kind) {
			t.Errorf("%+v: %v, want %v", c.table, err, c.kind)
		}
	}
}
