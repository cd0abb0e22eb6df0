package scan

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/kernels/kernelstest"
	"github.com/skua-data/skua/resource"
	"github.com/skua-data/skua/scan/parquet"
	"github.com/skua-data/skua/storage"
	"github.com/skua-data/skua/storage/local"
)

// oracleRoot is a folder laid out like testdata/oracle: warehouse and expected.
func oracleRoots() []string {
	roots := []string{"testdata/oracle"}
	if dir := os.Getenv("SKUA_ORACLE"); dir != "" {
		roots = append(roots, dir)
	}
	return roots
}

func oracleScanner(t testing.TB, root string) *Scanner {
	t.Helper()
	dir, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	locations, err := storage.NewMap([]storage.Mapping{{From: "file:/skua-oracle/", To: "file:" + dir + "/"}, {From: "file:///skua-oracle/", To: "file:" + dir + "/"}})
	if err != nil {
		t.Fatal(err)
	}
	return NewScanner(Config{Stores: storage.NewMux([]storage.Kind{local.Kind}, locations), Decoder: parquet.NewFallback()})
}

// oracleTable loads warehouse/<namespace>/<name> at its newest version.
func oracleTable(t testing.TB, s *Scanner, root string, namespace []string, name string) *Table {
	t.Helper()
	folder := strings.Join(append(append([]string(nil), namespace...), name), "/")
	hint, err := os.ReadFile(filepath.Join(root, "warehouse", folder, "metadata", "version-hint.text"))
	if err != nil {
		t.Fatal(err)
	}
	at := "file:/skua-oracle/warehouse/" + folder + "/metadata/v" + strings.TrimSpace(string(hint))
	if _, err := os.Stat(filepath.Join(root, "warehouse", folder, "metadata", "v"+strings.TrimSpace(string(hint))+".metadata.json")); err == nil {
		at += ".metadata.json"
	} else {
		at += ".gz.metadata.json"
	}
	out, err := s.Table(t.Context(), &catalogs.Table{Catalog: "oracle", Identifier: append(append([]string(nil), namespace...), name), MetadataLocation: at})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

type oracleLine struct {
	Kind, ID, SQL, Name, Table string
	Namespace                  []string
	Columns                    [][]any
	Rows                       [][]any
	Error                      map[string]any
	Options                    map[string]string
}

func oracleFile(t testing.TB, path string) []oracleLine {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []oracleLine
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var l oracleLine
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			t.Fatal(err)
		}
		out = append(out, l)
	}
	return out
}

func corrected(t testing.TB, root string) map[string][][]any {
	out := map[string][][]any{}
	raw, err := os.ReadFile(filepath.Join(root, "corrections.jsonl"))
	if err != nil {
		return out
	}
	for _, line := range strings.Split(string(raw), "\n") {
		var l struct {
			ID   string
			Rows [][]any
		}
		if json.Unmarshal([]byte(line), &l) == nil && l.ID != "" {
			out[l.ID] = l.Rows
		}
	}
	return out
}

func readAll(ctx context.Context, s Source, req Request) (arrow.RecordBatch, error) {
	p, err := s.Plan(ctx, req)
	if err != nil {
		return nil, err
	}
	r, err := p.Open(ctx, 0, p.Splits())
	if err != nil {
		return nil, err
	}
	defer r.Release()
	var batches []arrow.RecordBatch
	defer func() {
		for _, b := range batches {
			b.Release()
		}
	}()
	for r.Next() {
		b := r.RecordBatch()
		b.Retain()
		batches = append(batches, b)
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	return concatenate(p.Schema(), batches)
}

func concatenate(schema *arrow.Schema, batches []arrow.RecordBatch) (arrow.RecordBatch, error) {
	columns := make([]arrow.Array, schema.NumFields())
	rows := int64(0)
	for _, b := range batches {
		rows += b.NumRows()
	}
	for i := range columns {
		var list []arrow.Array
		for _, b := range batches {
			list = append(list, b.Column(i))
		}
		if len(list) == 0 {
			b := array.NewBuilder(memory.DefaultAllocator, schema.Field(i).Type)
			columns[i] = b.NewArray()
			b.Release()
			continue
		}
		c, err := array.Concatenate(list, memory.DefaultAllocator)
		if err != nil {
			return nil, err
		}
		columns[i] = c
	}
	out := array.NewRecordBatch(schema, columns, rows)
	for _, c := range columns {
		c.Release()
	}
	return out, nil
}

func fieldIDs(s *arrow.Schema) []int {
	var out []int
	for _, f := range s.Fields() {
		out = append(out, FieldID(f))
	}
	return out
}

func hexFloat(f float64) string {
	switch {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	}
	return strconv.FormatFloat(f, 'x', -1, 64)
}

// oracleValue writes a value as the expected files do; floats are compared as Go prints them.
func oracleValue(a arrow.Array, i int) any {
	if a.IsNull(i) {
		return nil
	}
	switch a := a.(type) {
	case *array.Null:
		return nil
	case *array.Boolean:
		return a.Value(i)
	case *array.Int8:
		return float64(a.Value(i))
	case *array.Int16:
		return float64(a.Value(i))
	case *array.Int32:
		return float64(a.Value(i))
	case *array.Int64:
		return strconv.FormatInt(a.Value(i), 10)
	case *array.Float32:
		return hexFloat(float64(a.Value(i)))
	case *array.Float64:
		return hexFloat(a.Value(i))
	case *array.Decimal128:
		return a.Value(i).ToString(a.DataType().(*arrow.Decimal128Type).Scale)
	case *array.String:
		return a.Value(i)
	case *array.Binary:
		return base64.StdEncoding.EncodeToString(a.Value(i))
	case *array.FixedSizeBinary:
		return base64.StdEncoding.EncodeToString(a.Value(i))
	case *extensions.UUIDArray:
		return a.Value(i).String()
	case *array.Date32:
		return float64(a.Value(i))
	case *array.Timestamp:
		return strconv.FormatInt(int64(a.Value(i)), 10)
	case *array.Time64:
		return strconv.FormatInt(int64(a.Value(i)), 10)
	case *array.Struct:
		out := []any{}
		for f := 0; f < a.NumField(); f++ {
			out = append(out, oracleValue(a.Field(f), i))
		}
		return out
	case *array.Map:
		from, to := a.ValueOffsets(i)
		out := []any{}
		for j := int(from); j < int(to); j++ {
			out = append(out, []any{oracleValue(a.Keys(), j), oracleValue(a.Items(), j)})
		}
		sortJSON(out)
		return out
	case *array.List:
		from, to := a.ValueOffsets(i)
		out := []any{}
		for j := int(from); j < int(to); j++ {
			out = append(out, oracleValue(a.ListValues(), j))
		}
		return out
	}
	return fmt.Sprintf("?%T", a)
}

func asJSON(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

func sortJSON(list []any) {
	sort.Slice(list, func(i, j int) bool { return asJSON(list[i]) < asJSON(list[j]) })
}

// normal brings an expected value into the form of oracleValue: floats as Go spells them, maps in one order.
func normal(v any, typ arrow.DataType) any {
	if v == nil {
		return nil
	}
	switch t := typ.(type) {
	case *arrow.Float32Type, *arrow.Float64Type:
		f, err := strconv.ParseFloat(v.(string), 64)
		if err != nil {
			return v
		}
		return hexFloat(f)
	case *arrow.StructType:
		if parts, ok := v.(map[string]any); ok { // a variant
			return []any{parts["metadata"], parts["value"]}
		}
		list := v.([]any)
		out := []any{}
		for i, f := range t.Fields() {
			out = append(out, normal(list[i], f.Type))
		}
		return out
	case *arrow.MapType:
		out := []any{}
		for _, e := range v.([]any) {
			pair := e.([]any)
			out = append(out, []any{normal(pair[0], t.KeyType()), normal(pair[1], t.ItemType())})
		}
		sortJSON(out)
		return out
	case *arrow.ListType:
		out := []any{}
		for _, e := range v.([]any) {
			out = append(out, normal(e, t.Elem()))
		}
		return out
	}
	return v
}

func rowsOf(b arrow.RecordBatch) []string {
	var out []string
	for i := 0; i < int(b.NumRows()); i++ {
		row := []any{}
		for _, c := range b.Columns() {
			row = append(row, oracleValue(c, i))
		}
		out = append(out, asJSON(row))
	}
	sort.Strings(out)
	return out
}

var oracleQuery = regexp.MustCompile(`^SELECT (\*|\*, _file, _pos, _spec_id, _partition, _deleted) FROM ([^ ]+)( VERSION AS OF ([0-9]+|'[^']*'))?$`)

// TestOracle compares whole tables, metadata columns, metadata tables and time travel with what Spark answered.
func TestOracle(t *testing.T) {
	for _, root := range oracleRoots() {
		files, err := filepath.Glob(filepath.Join(root, "expected", "*.jsonl"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no expected answers under %s: %v", root, err)
		}
		fixed := corrected(t, root)
		s := oracleScanner(t, root)
		asked := 0
		for _, path := range files {
			lines := oracleFile(t, path)
			if lines[0].Kind != "table" {
				continue
			}
			table := oracleTable(t, s, root, lines[0].Namespace, lines[0].Name)
			for _, l := range lines[1:] {
				m := oracleQuery.FindStringSubmatch(l.SQL)
				if m == nil || l.Kind != "query" {
					continue
				}
				if rows, ok := fixed[l.ID]; ok {
					l.Rows = rows
				}
				asked++
				t.Run(filepath.Base(root)+"/"+l.ID, func(t *testing.T) { askOracle(t, table, lines[0].Table, m, l) })
			}
		}
		if asked == 0 {
			t.Errorf("%s: nothing was asked", root)
		}
	}
}

func askOracle(t *testing.T, table *Table, name string, m []string, l oracleLine) {
	t.Logf("%s", l.SQL)
	var ref Reference
	if v := m[4]; strings.HasPrefix(v, "'") {
		ref = Reference{Kind: RefName, Name: strings.Trim(v, "'")}
	} else if v != "" {
		id, _ := strconv.ParseInt(v, 10, 64)
		ref = Reference{Kind: RefSnapshot, ID: id}
	}
	rest := strings.TrimPrefix(strings.TrimPrefix(m[2], name), ".")
	for _, p := range []struct {
		prefix string
		kind   ReferenceKind
	}{{"branch_", RefBranch}, {"tag_", RefTag}, {"snapshot_id_", RefSnapshot}} {
		if v, ok := strings.CutPrefix(rest, p.prefix); ok {
			ref = Reference{Kind: p.kind, Name: strings.Trim(v, "`")}
			ref.ID, _ = strconv.ParseInt(v, 10, 64)
			rest = ""
		}
	}
	if v, ok := strings.CutPrefix(rest, "at_timestamp_"); ok {
		ref.Kind, rest = RefTimestamp, ""
		ref.ID, _ = strconv.ParseInt(v, 10, 64)
	}
	if strings.ContainsAny(rest, ".`") {
		t.Skipf("not asked here: %s", rest)
	}
	checked := kernelstest.NewSoiled()
	defer checked.AssertSize(t, 0)
	statement := resource.NewPool(resource.Config{Cores: 2, Allocator: checked}).NewStatement("t")
	ctx := resource.With(t.Context(), statement)
	var source Source
	var err error
	found := true
	if rest == "" {
		source, err = table.Source(ctx, ref)
	} else {
		source, found, err = table.MetadataSource(ctx, rest, ref)
	}
	var batch arrow.RecordBatch
	if err == nil && found {
		ids := fieldIDs(source.Schema())
		if m[1] != "*" {
			ids = append(ids, idFile, idPos, idSpec, idPartition, idDeleted)
		}
		batch, err = readAll(ctx, source, Request{Fields: ids, Limit: -1})
	}
	switch {
	case !found:
		t.Errorf("no metadata table %s", rest)
	case err != nil && fault.Is(err, fault.Unsupported):
		if !strings.Contains(err.Error(), "not supported") {
			t.Errorf("refused without saying so: %v", err)
		}
		t.Logf("REFUSED %s: %v", l.SQL, err)
	case err != nil && l.Error == nil:
		t.Errorf("%s: %v", l.SQL, err)
	case err != nil:
		t.Logf("error %v, Spark %v", err, l.Error["message"])
	case l.Error != nil && strings.Contains(l.SQL, "branch_") && strings.Contains(l.SQL, " AS OF "):
		batch.Release() // whoever resolves the name refuses both at once
	case l.Error != nil:
		t.Logf("answered where Spark failed: %v", l.Error["message"])
		batch.Release()
	default:
		defer batch.Release()
		compareOracle(t, batch, l)
	}
}

func compareOracle(t *testing.T, batch arrow.RecordBatch, l oracleLine) {
	t.Helper()
	for i, c := range l.Columns {
		f := batch.Schema().Field(i)
		if f.Name != c[0] || f.Nullable != c[2].(bool) {
			t.Errorf("column %d is %s nullable=%v, want %v", i, f.Name, f.Nullable, c)
		}
	}
	var want []string
	for _, row := range l.Rows {
		out := []any{}
		for i, v := range row {
			out = append(out, normal(v, batch.Schema().Field(i).Type))
		}
		want = append(want, asJSON(out))
	}
	sort.Strings(want)
	got := rowsOf(batch)
	if len(got) != len(want) {
		t.Errorf("%d rows, want %d\n got %.2000s\nwant %.2000s", len(got), len(want), strings.Join(got, "\n"), strings.Join(want, "\n"))
		return
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("row %d\n got %s\nwant %s", i, got[i], want[i])
			return
		}
	}
}
