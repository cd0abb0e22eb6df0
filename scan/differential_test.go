package scan

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/iceberg-go"
	icebergio "github.com/apache/iceberg-go/io"
	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/predicate"
	"github.com/skua-data/skua/scan/parquet"
	"github.com/skua-data/skua/storage"
	"github.com/skua-data/skua/storage/local"
)

// TestPlannerAgainstAnother plans random filters over random tables with our planner and with iceberg-go's. Both must find the same files with the
// same deletes. Where they do not, the rows that the files would hold say who is right, and the difference must be of a class named here. A file
// that holds a wanted row, or deletes that hit one, may never be left out by ours. SKUA_PLANS says how many tables (60, 5 in short tests), SKUA_SEED where to start (1).
func TestPlannerAgainstAnother(t *testing.T) {
	few := int64(60)
	if testing.Short() {
		few = 5
	}
	tables, seed := envNumber(t, "SKUA_PLANS", few), envNumber(t, "SKUA_SEED", 1)
	t.Logf("seeds %d to %d", seed, seed+tables-1)
	const filters = 9
	totals := map[string]int{}
	for i := range tables {
		dir := filepath.Join(t.TempDir(), fmt.Sprint(seed+i))
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		x := newRandomTable(t, seed+i, dir)
		d := newDifferential(t, x)
		for j := range filters {
			d.compare(t, seed+i, j, totals)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		if t.Failed() {
			break
		}
	}
	for _, k := range slices.Sorted(maps.Keys(totals)) {
		t.Logf("%7d %s", totals[k], k)
	}
	if totals["plans alike"] < int(tables)*filters/3 { // the rest differ in a class
		t.Errorf("only %d of %d plans are alike", totals["plans alike"], tables*filters)
	}
}

func envNumber(t *testing.T, name string, fallback int64) int64 {
	text := os.Getenv(name)
	if text == "" {
		return fallback
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// The classes of deviation. All but the last are ours being sharper or more careful.
const (
	// iceberg-go decodes bounds with the column's type of today: a filter on a promoted column fails.
	classPromoted = "another planner fails on bounds written before a promotion"
	classFails    = "another planner fails otherwise"
	// iceberg-go leaves out files that hold wanted rows: its bounds know nothing of NaN, which is the largest value here as in Spark.
	classLostNaN = "another planner leaves out wanted rows: NaN beyond the bounds"
	// iceberg-go takes a manifest's lower bound of no bytes for none, and none for a partition of nulls alone: an empty text or binary value
	// hides the manifest's other partitions.
	classLostEmpty = "another planner leaves out wanted rows: an empty text among the partitions"
	// iceberg-go tests a filter on all statistics of an equality delete file, also on columns that the deletes do not compare and whose values
	// say nothing of the rows they delete.
	classLostDeletes = "another planner leaves out deletes of wanted rows"
	// So it leaves out more than ours, which tests the compared columns alone; here no wanted row is hit.
	classFiltered = "ours keeps equality deletes that hit no wanted row"
	// Ours leaves out a file that holds no wanted row.
	classSharper = "ours leaves out a file without wanted rows"
	// NaN is the largest value here and lies in no bound; a file that may hold it is kept for > and >=.
	classNaN = "ours keeps a file that may hold NaN"
	// Bounds of uuids are compared by signed halves by some writers: ours does not use them.
	classUUID = "ours keeps a file whose uuids may match"
	// Writers of old cut upper bounds of text without rounding them up.
	classCut = "ours keeps a file whose bound may have been cut"
	// Writers of old rounded dates and times before 1970 towards zero when they partitioned by hour, day, month or year.
	classRounded = "ours keeps a file whose partition may have been rounded up"
	// Iceberg's Java index leaves equality deletes out by value; so does ours.
	classEquality = "ours leaves out equality deletes that no row of the file meets"
	// Iceberg's Java index leaves position deletes of other files out by equal path bounds; so does ours.
	classPath = "ours leaves out position deletes of another file"
	// Position deletes are those of a partition in Iceberg's index; bounds that span more than one path leave out nothing.
	classSpan = "ours keeps position deletes whose paths may span the file"
)

// differential is one random table behind both planners.
type differential struct {
	x      *randomTable
	ours   *Table
	theirs *table.Table
}

func newDifferential(t *testing.T, x *randomTable) *differential {
	locations, err := storage.NewMap(nil)
	if err != nil {
		t.Fatal(err)
	}
	s := NewScanner(Config{Stores: storage.NewMux([]storage.Kind{local.Kind}, locations), Decoder: parquet.NewFallback()})
	ours, err := s.Table(t.Context(), &catalogs.Table{Catalog: "c", Identifier: table.Identifier{"n", "t"}, MetadataLocation: x.location})
	if err != nil {
		t.Fatal(err)
	}
	theirs := table.New(table.Identifier{"n", "t"}, ours.metadata, x.location, func(context.Context) (icebergio.IO, error) { return icebergio.LocalFS{}, nil }, nil)
	return &differential{x, ours, theirs}
}

// outcome is a planner's answer: the deletes of each data file.
type outcome map[string][]string

func (d *differential) compare(t *testing.T, seed int64, j int, totals map[string]int) {
	ref, name, snapshot := Reference{}, "", d.ours.metadata.CurrentSnapshot().SnapshotID
	if j%3 == 2 {
		ref, name, snapshot = Reference{Kind: RefBranch, Name: "other"}, "other", d.x.branch
	}
	filter := predicate.Simplify(d.x.filter(2))
	if j == 0 {
		filter = predicate.True
	}
	ours, err := d.plan(t, ref, filter)
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	theirs, err := d.planTheirs(t, name, filter)
	if err != nil {
		if d.promoted(filter) {
			totals[classPromoted]++
		} else {
			totals[classFails+": "+err.Error()]++
		}
		theirs = nil
	}
	alike := theirs != nil
	for _, f := range d.x.live[snapshot] {
		class := d.verdict(t, f, snapshot, filter, ours, theirs)
		if strings.HasPrefix(class, "!") {
			t.Errorf("seed %d, filter %d (%s), file %s (spec %d %v, sequence %d): %s", seed, j, filter, f.path, f.spec, f.tuple, f.sequence, class[1:])
		}
		if class != "" {
			totals[class]++
			alike = false
		}
	}
	for path := range ours {
		if !slices.ContainsFunc(d.x.live[snapshot], func(f *randomFile) bool { return f.path == path }) {
			t.Errorf("seed %d: %s is not live", seed, path)
		}
	}
	if alike {
		totals["plans alike"]++
	}
	totals["plans"]++
}

// verdict names the difference over one file; empty: none; from ! on: ours is wrong, or no class is known.
func (d *differential) verdict(t *testing.T, f *randomFile, snapshot int64, filter predicate.Expr, ours, theirs outcome) string {
	deletes, kept := ours[f.path]
	wanted := d.x.matches(f, filter)
	if !kept && wanted {
		return "!ours leaves out a wanted row"
	}
	if kept {
		if problem := d.checkDeletes(f, snapshot, filter, deletes); problem != "" {
			return "!" + problem
		}
	}
	if theirs == nil {
		return ""
	}
	other, theirKept := theirs[f.path]
	switch {
	case kept && !theirKept && wanted:
		if d.readsFloats(filter) {
			return classLostNaN
		}
		if d.partitionedByText(f, filter) {
			return classLostEmpty
		}
		return "!the other planner leaves out wanted rows, and no class says why"
	case kept && !theirKept:
		return d.keptAlone(f, filter)
	case !kept && theirKept:
		return classSharper
	case kept:
		return d.deletesDiffer(f, snapshot, filter, deletes, other)
	}
	return ""
}

// partitionedByText says whether a filter reads a text or binary column that a file is partitioned by.
func (d *differential) partitionedByText(f *randomFile, filter predicate.Expr) bool {
	return slices.ContainsFunc(specFields(d.x.specs[f.spec]), func(p iceberg.PartitionField) bool {
		c := d.x.columns[p.SourceIDs[0]-1]
		text := c.now.Equals(iceberg.PrimitiveTypes.String) || c.now.Equals(iceberg.PrimitiveTypes.Binary)
		return text && slices.ContainsFunc(predicate.Fields(filter), func(field predicate.Field) bool { return field.ID == c.id })
	})
}

func (d *differential) readsFloats(filter predicate.Expr) bool {
	return slices.ContainsFunc(predicate.Fields(filter), func(f predicate.Field) bool { return isFloatType(d.x.columns[f.ID-1].now) })
}

// keptAlone finds out why ours keeps a file without wanted rows that the other planner leaves out: some test of the filter must be one that
// ours is more careful with.
func (d *differential) keptAlone(f *randomFile, filter predicate.Expr) string {
	class := ""
	for _, field := range predicate.Fields(filter) {
		c := d.x.columns[field.ID-1]
		switch typ := c.now.(type) {
		case iceberg.Float32Type, iceberg.Float64Type:
			class = classNaN
		case iceberg.UUIDType:
			class = classUUID
		case iceberg.StringType, iceberg.BinaryType:
			class = classCut
		case iceberg.DateType, iceberg.TimestampType, iceberg.TimestampTzType:
			for _, p := range specFields(d.x.specs[f.spec]) {
				if p.SourceIDs[0] == c.id && isTemporal(p.Transform) {
					class = classRounded
				}
			}
		default:
			_ = typ
		}
		if class != "" {
			return class
		}
	}
	return "!only ours keeps the file, and no class says why"
}

// checkDeletes holds deletes against the rules: each given one may apply, and each that deletes a wanted row is given.
func (d *differential) checkDeletes(f *randomFile, snapshot int64, filter predicate.Expr, given []string) string {
	vector := hasVector(d.x.deletes[snapshot], f.path)
	for _, del := range d.x.deletes[snapshot] {
		has := slices.Contains(given, del.path)
		applies := del.appliesTo(d.x, f, vector)
		if has && !applies {
			return fmt.Sprintf("ours gives the file deletes that do not apply: %s of %d %s, sequence %d, for %q", del.path, del.spec, del.tuple, del.sequence, del.target)
		}
		if !has && applies && d.x.deletesWanted(del, f, filter) {
			return "ours leaves out deletes that hit a wanted row: " + del.path
		}
	}
	return ""
}

// appliesTo is the specification's rule, without anything that statistics tell.
func (del *randomFile) appliesTo(x *randomTable, f *randomFile, vector bool) bool {
	samePlace := del.spec == f.spec && del.tuple == f.tuple
	switch {
	case del.content == iceberg.EntryContentEqDeletes:
		return f.sequence < del.sequence && (samePlace || x.unpartitioned(del.spec))
	case del.vector:
		return del.target == f.path
	case vector || f.sequence > del.sequence:
		return false
	case del.target != "":
		return del.target == f.path
	}
	return samePlace
}

func (x *randomTable) unpartitioned(spec int) bool {
	return !slices.ContainsFunc(specFields(x.specs[spec]), func(p iceberg.PartitionField) bool {
		_, void := p.Transform.(iceberg.VoidTransform)
		return !void
	})
}

// deletesWanted says whether deletes hit a row that the filter keeps. Any row may be the one that positions name.
func (x *randomTable) deletesWanted(del, f *randomFile, filter predicate.Expr) bool {
	for _, row := range f.rows {
		if !truth(x, filter, row) {
			continue
		}
		if del.content != iceberg.EntryContentEqDeletes || slices.ContainsFunc(del.rows, func(key []any) bool { return sameKey(del.keys, key, row) }) {
			return true
		}
	}
	return false
}

func sameKey(ids []int, a, b []any) bool {
	for _, id := range ids {
		if c, ok := compare(a[id-1], b[id-1]); a[id-1] == nil != (b[id-1] == nil) || a[id-1] != nil && (!ok || c != 0) {
			return false
		}
	}
	return true
}

func (d *differential) deletesDiffer(f *randomFile, snapshot int64, filter predicate.Expr, ours, theirs []string) string {
	slices.Sort(ours)
	slices.Sort(theirs)
	if slices.Equal(ours, theirs) {
		return ""
	}
	vector := hasVector(d.x.deletes[snapshot], f.path)
	class := ""
	for _, del := range d.x.deletes[snapshot] {
		has, they := slices.Contains(ours, del.path), slices.Contains(theirs, del.path)
		switch {
		case has == they:
		case has && del.appliesTo(d.x, f, vector) && del.content == iceberg.EntryContentPosDeletes && del.target == "":
			class = classSpan
		case has && del.appliesTo(d.x, f, vector) && d.x.deletesWanted(del, f, filter):
			class = classLostDeletes
		case has && del.appliesTo(d.x, f, vector) && filter != predicate.True:
			class = classFiltered
		case !del.appliesTo(d.x, f, vector) && del.content == iceberg.EntryContentPosDeletes:
			class = classPath
		case del.content == iceberg.EntryContentEqDeletes:
			class = classEquality
		default:
			return fmt.Sprintf("!deletes %v, the other planner has %v", ours, theirs)
		}
	}
	return class
}

func (d *differential) plan(t *testing.T, ref Reference, filter predicate.Expr) (outcome, error) {
	source, err := d.ours.Source(t.Context(), ref)
	if err != nil {
		return nil, err
	}
	p, err := source.Plan(t.Context(), Request{Fields: fieldIDs(source.Schema()), Filter: filter, Limit: -1})
	if err != nil {
		return nil, err
	}
	out := outcome{}
	for _, s := range p.(*tablePlan).splits {
		for _, task := range s.Tasks {
			var names []string
			for _, del := range task.File.Deletes {
				names = append(names, del.Path)
			}
			out[task.File.Path] = names
		}
	}
	return out, nil
}

func (d *differential) planTheirs(t *testing.T, branch string, filter predicate.Expr) (out outcome, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	options := []table.ScanOption{table.WithMaxConcurrency(1)}
	if filter != predicate.True {
		options = append(options, table.WithRowFilter(d.x.translate(filter)))
	}
	scan := d.theirs.Scan(options...)
	if branch != "" {
		if scan, err = scan.UseRef(branch); err != nil {
			return nil, err
		}
	}
	tasks, err := scan.PlanFiles(t.Context())
	if err != nil {
		return nil, err
	}
	out = outcome{}
	for _, task := range tasks {
		names := []string{}
		for _, list := range [][]iceberg.DataFile{task.DeleteFiles, task.EqualityDeleteFiles, task.DeletionVectorFiles} {
			for _, f := range list {
				if !slices.Contains(names, f.FilePath()) {
					names = append(names, f.FilePath())
				}
			}
		}
		out[task.File.FilePath()] = names
	}
	return out, nil
}

// promoted says whether a filter reads a column whose type grew, or which such a partition has as its source.
func (d *differential) promoted(filter predicate.Expr) bool {
	return slices.ContainsFunc(predicate.Fields(filter), func(f predicate.Field) bool {
		c := d.x.columns[f.ID-1]
		return c.first != nil && !c.first.Equals(c.now)
	})
}

// filter makes a random filter over the current schema.
func (x *randomTable) filter(depth int) predicate.Expr {
	if depth > 0 && x.r.Intn(3) > 0 {
		a, b := x.filter(depth-1), x.filter(depth-1)
		switch x.r.Intn(5) {
		case 0:
			return predicate.Not{Expr: a}
		case 1, 2:
			return predicate.Or{Left: a, Right: b}
		}
		return predicate.And{Left: a, Right: b}
	}
	c := x.columns[x.r.Intn(len(x.columns))]
	f := predicate.Field{ID: c.id, Path: []string{c.name}, Type: arrowTypeOf(c.now)}
	literal := func() predicate.Literal { return predicate.Literal{Type: f.Type, Value: x.value(c.now)} }
	switch x.r.Intn(8) {
	case 0:
		return predicate.IsNull{Field: f}
	case 1:
		return predicate.Not{Expr: predicate.IsNull{Field: f}}
	case 2:
		in := predicate.In{Field: f}
		for range 1 + x.r.Intn(3) {
			in.Values = append(in.Values, literal())
		}
		return in
	case 3:
		if isFloatType(c.now) {
			return predicate.IsNaN{Field: f}
		}
		if s, ok := x.value(c.now).(string); ok {
			return predicate.StartsWith{Field: f, Prefix: s}
		}
	}
	return predicate.Comparison{Op: predicate.Op(x.r.Intn(6)), Field: f, Value: literal()}
}

// translate gives the same filter to iceberg-go. Its != and NOT IN hold for nulls, SQL's do not.
func (x *randomTable) translate(e predicate.Expr) iceberg.BooleanExpression {
	switch e := e.(type) {
	case predicate.Constant:
		if e == predicate.True {
			return iceberg.AlwaysTrue{}
		}
		return iceberg.AlwaysFalse{}
	case predicate.And:
		return iceberg.NewAnd(x.translate(e.Left), x.translate(e.Right))
	case predicate.Or:
		return iceberg.NewOr(x.translate(e.Left), x.translate(e.Right))
	case predicate.IsNull:
		return iceberg.IsNull(iceberg.Reference(e.Field.Path[0]))
	case predicate.IsNaN:
		return iceberg.IsNaN(iceberg.Reference(e.Field.Path[0]))
	case predicate.StartsWith:
		return iceberg.StartsWith(iceberg.Reference(e.Field.Path[0]), e.Prefix)
	case predicate.Comparison:
		ref := iceberg.Reference(e.Field.Path[0])
		op := [...]iceberg.Operation{iceberg.OpEQ, iceberg.OpNEQ, iceberg.OpLT, iceberg.OpLTEQ, iceberg.OpGT, iceberg.OpGTEQ}[e.Op]
		out := iceberg.BooleanExpression(iceberg.LiteralPredicate(op, ref, literal(e.Value.Value, x.columns[e.Field.ID-1].now)))
		if e.Op == predicate.NotEq {
			return iceberg.NewAnd(out, iceberg.NotNull(ref))
		}
		return out
	case predicate.In:
		return iceberg.SetPredicate(iceberg.OpIn, iceberg.Reference(e.Field.Path[0]), x.literals(e))
	case predicate.Not:
		return x.translateNot(e.Expr)
	}
	panic(e)
}

func (x *randomTable) literals(e predicate.In) []iceberg.Literal {
	var out []iceberg.Literal
	for _, v := range e.Values {
		out = append(out, literal(v.Value, x.columns[e.Field.ID-1].now))
	}
	return out
}

func (x *randomTable) translateNot(e predicate.Expr) iceberg.BooleanExpression {
	ref := func(f predicate.Field) iceberg.Reference { return iceberg.Reference(f.Path[0]) }
	switch e := e.(type) {
	case predicate.IsNull:
		return iceberg.NotNull(ref(e.Field))
	case predicate.IsNaN:
		return iceberg.NotNaN(ref(e.Field))
	case predicate.StartsWith:
		return iceberg.NewAnd(iceberg.NotStartsWith(ref(e.Field), e.Prefix), iceberg.NotNull(ref(e.Field)))
	case predicate.In:
		return iceberg.NewAnd(iceberg.SetPredicate(iceberg.OpNotIn, ref(e.Field), x.literals(e)), iceberg.NotNull(ref(e.Field)))
	}
	return iceberg.NewNot(x.translate(e))
}

// matches says whether a file holds a row that a filter keeps.
func (x *randomTable) matches(f *randomFile, filter predicate.Expr) bool {
	return slices.ContainsFunc(f.rows, func(row []any) bool { return truth(x, filter, row) })
}

func truth(x *randomTable, e predicate.Expr, row []any) bool { return x.eval(e, row) == predicate.True }

// eval is a filter over one row, by the book.
func (x *randomTable) eval(e predicate.Expr, row []any) predicate.Constant {
	is := func(b bool) predicate.Constant {
		if b {
			return predicate.True
		}
		return predicate.False
	}
	switch e := e.(type) {
	case predicate.Constant:
		return e
	case predicate.And:
		a, b := x.eval(e.Left, row), x.eval(e.Right, row)
		switch {
		case a == predicate.False || b == predicate.False:
			return predicate.False
		case a == predicate.Null || b == predicate.Null:
			return predicate.Null
		}
		return predicate.True
	case predicate.Or:
		return x.eval(predicate.Not{Expr: predicate.And{Left: predicate.Not{Expr: e.Left}, Right: predicate.Not{Expr: e.Right}}}, row)
	case predicate.Not:
		switch x.eval(e.Expr, row) {
		case predicate.True:
			return predicate.False
		case predicate.False:
			return predicate.True
		}
		return predicate.Null
	case predicate.IsNull:
		return is(row[e.Field.ID-1] == nil)
	case predicate.IsNaN:
		return is(isNaN(row[e.Field.ID-1]))
	case predicate.StartsWith:
		v, ok := text(row[e.Field.ID-1])
		if !ok {
			return predicate.Null
		}
		return is(strings.HasPrefix(v, e.Prefix))
	case predicate.Comparison:
		v := row[e.Field.ID-1]
		if v == nil {
			return predicate.Null
		}
		c, _ := compare(v, e.Value.Value)
		return is([...]bool{c == 0, c != 0, c < 0, c <= 0, c > 0, c >= 0}[e.Op])
	case predicate.In:
		v := row[e.Field.ID-1]
		if v == nil {
			return predicate.Null
		}
		return is(slices.ContainsFunc(e.Values, func(l predicate.Literal) bool { c, _ := compare(v, l.Value); return c == 0 }))
	}
	panic(e)
}
