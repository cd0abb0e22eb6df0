package scan

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/predicate"
)

// recordedSplit is a scan that Spark planned.
type recordedSplit struct {
	Kind, ID, Table          string
	Of                       string `json:"files_of"`
	Options, Set, Properties map[string]string
	Where                    *string
	Stage                    string
	Error                    *struct {
		Message     string
		RootMessage string `json:"root_message"`
	}
	Read *struct {
		Target      *int64
		Applied     *int64 `json:"target_applied"`
		Lookback    *int64
		OpenCost    *int64 `json:"open_file_cost"`
		Adaptive    bool
		Parallelism *int64
		Grouping    []string
	}
	Files     []recordedFile
	Manifests []string
	Splits    []struct {
		Tasks []recordedTask
		Size  int64
		Files int
		Rows  int64
		Key   []any
	}
}

type recordedFile struct {
	Path, Format, Partition string
	Size, Length, Records   int64
	Offsets                 []int64
	Class                   string `json:"task"`
	Splittable              bool
	Rows                    *int64
	Content                 *int64 `json:"content_size"`
	Deletes                 []struct {
		Path          string
		Size          int64
		Format        string
		ContentLength *int64 `json:"content_size"`
	}
}

type recordedTask struct {
	Path          string
	Start, Length int64
	Deletes       []struct {
		Path string
		Size int64
	}
}

// recordedSplits reads the record, each scan with its files.
func recordedSplits(t testing.TB) []recordedSplit {
	t.Helper()
	f, err := os.Open("testdata/splits.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	unpacked, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(unpacked)
	lines.Buffer(nil, 16<<20)
	var out []recordedSplit
	files := map[string]recordedSplit{}
	for lines.Scan() {
		var c recordedSplit
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		if c.Kind != "split" {
			continue
		}
		if c.Of != "" {
			c.Files, c.Manifests = files[c.Of].Files, files[c.Of].Manifests
		}
		files[c.ID] = c
		out = append(out, c)
	}
	return out
}

// TestRecordedSplits plans again what Spark planned: every scan's recorded files through the packer, and, where its table lies here, the whole
// scan. With several manifests Spark takes files in the order of a hash: there the planner's files are put into the recorded order before
// they are packed, and must be the same ones.
func TestRecordedSplits(t *testing.T) {
	counts := map[string]int{}
	all := recordedSplits(t)
	if len(all) != 145 {
		t.Fatalf("%d recorded scans", len(all))
	}
	root := "testdata/oracle"
	scanner := oracleScanner(t, root)
	for _, c := range all {
		t.Run(c.ID, func(t *testing.T) {
			counts["packed: "+c.packed(t)]++
			counts["scanned: "+c.scanned(t, scanner, root)]++
		})
	}
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		t.Logf("%4d %s", counts[k], k)
	}
	for outcome, want := range map[string]int{"packed: equal": 106, "scanned: equal": 107, "scanned: equal as a set": 4, "scanned: refused alike": 32} {
		if counts[outcome] != want {
			t.Errorf("%s: %d scans, want %d", outcome, counts[outcome], want)
		}
	}
}

// options gives the read options that a session of the record has, as whoever knows sessions resolves them.
func (c recordedSplit) options() []Option {
	parallelism := int64(2)
	if n, err := strconv.ParseInt(c.Set["spark.sql.shuffle.partitions"], 10, 64); err == nil {
		parallelism = max(parallelism, n)
	}
	out := []Option{{Name: "adaptive-split-size-parallelism", Value: strconv.FormatInt(parallelism, 10), Scope: "session"}}
	for key, name := range map[string]string{"spark.sql.iceberg.read.adaptive-split-size.enabled": "adaptive-split-size-enabled",
		"spark.sql.iceberg.planning.preserve-data-grouping": "preserve-data-grouping"} {
		if v, ok := c.Set[key]; ok {
			out = append(out, Option{Name: name, Value: v, Scope: "session", Key: key})
		}
	}
	if v, ok := c.Set["spark.sql.iceberg.read.adaptive-split-size.parallelism"]; ok {
		out[0].Value = v
	}
	spelling := map[string]string{"splitsize": "split-size", "fileopencost": "file-open-cost"}
	for k, v := range c.Options {
		k = strings.ToLower(k)
		if s, ok := spelling[k]; ok {
			k = s
		}
		out = append(out, Option{Name: k, Value: v, Scope: "explicit"})
	}
	return out
}

// weightsWrap is true of the one scan whose weights overflow 64 bits, which wrap around in the reference and are saturated here.
func (c recordedSplit) weightsWrap() bool {
	return c.Read != nil && c.Read.OpenCost != nil && *c.Read.OpenCost == math.MaxInt64
}

func (f recordedFile) extent(grouping []string) extent {
	e := extent{Size: f.Length, Offsets: f.Offsets, Deletes: len(f.Deletes),
		Divisible: f.Splittable && slices.Contains([]string{"BaseFileScanTask", "BasePositionDeletesScanTask"}, f.Class)}
	for _, d := range f.Deletes {
		if d.ContentLength != nil {
			e.DeleteBytes += *d.ContentLength
		} else {
			e.DeleteBytes += d.Size
		}
	}
	for _, name := range grouping {
		for _, part := range strings.Split(f.Partition, "/") {
			if strings.HasPrefix(part, name+"=") {
				e.Key += part + "/"
			}
		}
	}
	return e
}

// packed feeds the recorded files to the packer.
func (c recordedSplit) packed(t *testing.T) string {
	switch {
	case c.Error != nil:
		return "an error"
	case c.Read == nil || c.Read.Applied == nil:
		return "nothing to pack"
	case c.weightsWrap():
		return "weights wrap around"
	}
	var files []extent
	for _, f := range c.Files {
		files = append(files, f.extent(c.Read.Grouping))
	}
	groups, err := planSplits(files, readOptions{Target: *c.Read.Applied, Lookback: *c.Read.Lookback, OpenCost: *c.Read.OpenCost})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, g := range groups {
		var tasks []string
		size, opened := int64(0), 0
		for _, p := range g.Pieces {
			f := c.Files[p.File]
			e := f.extent(nil)
			tasks = append(tasks, fmt.Sprintf("%s %d+%d %d", f.Path, p.Start, p.Length, len(f.Deletes)))
			size, opened = size+p.Length+e.DeleteBytes, opened+1+len(f.Deletes)
		}
		got = append(got, fmt.Sprintf("%d bytes, %d files: %s", size, opened, strings.Join(tasks, ", ")))
	}
	var want []string
	for _, s := range c.Splits {
		var tasks []string
		for _, task := range s.Tasks {
			tasks = append(tasks, fmt.Sprintf("%s %d+%d %d", task.Path, task.Start, task.Length, len(task.Deletes)))
		}
		want = append(want, fmt.Sprintf("%d bytes, %d files: %s", s.Size, s.Files, strings.Join(tasks, ", ")))
	}
	if len(c.Read.Grouping) > 0 { // keys come in no order
		slices.Sort(got)
		slices.Sort(want)
	}
	if !slices.Equal(got, want) {
		t.Errorf("packed\n got %s\nwant %s", strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
	return "equal"
}

// source finds the recorded table, with the properties that the scan laid over its own.
func (c recordedSplit) source(t *testing.T, s *Scanner, root string) (Source, string) {
	parts := strings.Split(strings.TrimPrefix(c.Table, "oracle."), ".")
	folder := filepath.Join(root, "warehouse", parts[0], parts[1])
	if _, err := os.Stat(folder); err != nil {
		t.Fatal(err)
	}
	table := oracleTable(t, s, root, parts[:1], parts[1])
	if len(c.Properties) > 0 {
		table = withProperties(t, s, table, root, c.Properties)
	}
	var at Reference
	if v, ok := c.Options["versionAsOf"]; ok {
		at = Reference{Kind: RefName, Name: v}
	}
	if v, ok := c.Options["timestampAsOf"]; ok {
		when, err := time.Parse(time.DateTime, v)
		if err != nil {
			t.Fatal(err)
		}
		at = Reference{Kind: RefTimestamp, ID: when.UnixMilli()}
	}
	if v, ok := c.Options["branch"]; ok {
		at = Reference{Kind: RefBranch, Name: v}
	}
	if v, ok := c.Set["spark.wap.branch"]; ok {
		at = Reference{Kind: RefBranch, Name: v}
	}
	if text, ok := c.Options["start-snapshot-id"]; ok {
		at = Reference{Kind: RefRange, Range: &Range{After: number(t, text), Until: number(t, c.Options["end-snapshot-id"])}}
	}
	var source Source
	var err error
	if len(parts) > 2 {
		if v, ok := strings.CutPrefix(parts[2], "branch_"); ok {
			source, err = table.Source(t.Context(), Reference{Kind: RefBranch, Name: v})
		} else {
			source, _, err = table.MetadataSource(t.Context(), parts[2], at)
		}
	} else {
		source, err = table.Source(t.Context(), at)
	}
	if err != nil {
		t.Fatal(err)
	}
	return source, ""
}

func number(t *testing.T, text string) *int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return &n
}

func withProperties(t *testing.T, s *Scanner, table *Table, root string, more map[string]string) *Table {
	raw, err := os.ReadFile(strings.Replace(table.location, "file:/skua-oracle", root, 1))
	if err != nil {
		t.Fatal(err)
	}
	var tree map[string]json.RawMessage
	properties := map[string]string{}
	if err := json.Unmarshal(raw, &tree); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(tree["properties"], &properties); err != nil {
		t.Fatal(err)
	}
	maps.Copy(properties, more)
	if tree["properties"], err = json.Marshal(properties); err != nil {
		t.Fatal(err)
	}
	if raw, err = json.Marshal(tree); err != nil {
		t.Fatal(err)
	}
	out, err := s.Table(t.Context(), &catalogs.Table{Catalog: "oracle", Identifier: table.identifier, MetadataLocation: table.location, Metadata: raw})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// filters are the conditions of the record, bound to the fields they name.
func recordedFilter(t *testing.T, where string, s Source) predicate.Expr {
	t.Helper()
	field := func(name string) predicate.Field {
		for _, f := range s.Schema().Fields() {
			if f.Name == name {
				return predicate.Field{ID: FieldID(f), Path: []string{name}, Type: f.Type}
			}
		}
		t.Fatalf("no column %s", name)
		return predicate.Field{}
	}
	is := func(name string, op predicate.Op, v any) predicate.Expr {
		f := field(name)
		return predicate.Comparison{Op: op, Field: f, Value: predicate.Literal{Type: f.Type, Value: v}}
	}
	switch where {
	case "1 = 0":
		return predicate.False
	case "p = 'a'", "p = 'b'", "p = 'c'", "p = 'zz'", "p = 'p1'":
		return is("p", predicate.Eq, strings.Trim(where[4:], "'"))
	case "p <> 'b'":
		return is("p", predicate.NotEq, "b")
	case "p = 1":
		return is("p", predicate.Eq, int64(1))
	case "id >= 400":
		return is("id", predicate.GtEq, int64(400))
	case "id > 5":
		return is("id", predicate.Gt, int64(5))
	case "id > 480":
		return is("id", predicate.Gt, int64(480))
	case "b":
		return is("b", predicate.Eq, true)
	case "spec_id = 1":
		return is("spec_id", predicate.Eq, int64(1))
	case "ts >= TIMESTAMP'2023-11-15 03:00:00'":
		return is("ts", predicate.GtEq, int64(1700017200000000))
	}
	t.Fatalf("no filter %s", where)
	return nil
}

// scanned plans the scan of the table itself.
func (c recordedSplit) scanned(t *testing.T, s *Scanner, root string) string {
	if c.Stage == "set" || c.Error != nil && c.Read != nil {
		return "not a scan's error"
	}
	source, why := c.source(t, s, root)
	if source == nil {
		return why
	}
	req := Request{Fields: fieldIDs(source.Schema()), Options: c.options(), Limit: -1}
	if c.Where != nil {
		req.Filter = recordedFilter(t, *c.Where, source)
	}
	p, err := source.Plan(t.Context(), req)
	if c.Error != nil {
		message := c.Error.Message
		if c.Error.RootMessage != "" {
			message = c.Error.RootMessage
		}
		if err == nil || !strings.Contains(err.Error(), message) {
			t.Errorf("error %v, want %q", err, message)
		}
		return "refused alike"
	}
	if err != nil {
		t.Fatal(err)
	}
	if c.weightsWrap() {
		if want := len(c.Files[0].Offsets); p.Splits() != want {
			t.Errorf("%d splits of saturated weights, want %d: a row group each", p.Splits(), want)
		}
		return "weights wrap around"
	}
	var got []string
	if tp, ok := p.(*tablePlan); ok && len(c.Manifests) > 1 {
		got = c.repacked(t, tp)
	} else {
		got = plannedText(p)
	}
	want := c.wanted(p)
	if mp, ok := p.(*metaPlan); ok && (len(mp.tasks) > 1 && c.severalManifests()) {
		got, want = sortedTasks(got), sortedTasks(want)
		if !slices.Equal(got, want) {
			t.Errorf("tasks\n got %s\nwant %s", strings.Join(got, "\n     "), strings.Join(want, "\n     "))
		}
		return "equal as a set"
	}
	if c.Read != nil && len(c.Read.Grouping) > 0 {
		slices.Sort(got)
		slices.Sort(want)
	}
	if !slices.Equal(got, want) {
		t.Errorf("scanned\n got %s\nwant %s", strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
	return "equal"
}

// severalManifests is true of metadata tables whose tasks Spark takes in the order of a hash.
func (c recordedSplit) severalManifests() bool {
	return strings.HasSuffix(c.Table, ".all_data_files") || strings.HasSuffix(c.Table, ".position_deletes")
}

// sortedTasks forgets how tasks are grouped: what is left is the set of them.
func sortedTasks(splits []string) []string {
	var out []string
	for _, s := range splits {
		_, tasks, _ := strings.Cut(s, ": ")
		out = append(out, strings.Split(tasks, ", ")...)
	}
	slices.Sort(out)
	return out
}

// plannedText spells a plan's splits as wanted does.
func plannedText(p Plan) []string {
	var out []string
	for _, s := range p.Explain().Splits {
		var tasks []string
		rows, files := int64(0), 0
		for _, task := range s.Tasks {
			tasks = append(tasks, fmt.Sprintf("%s %d+%d %d", task.Path, task.Start, task.Length, task.Deletes))
			rows, files = rows+task.Rows, files+1+task.Deletes
		}
		text := fmt.Sprintf("%d bytes, %d files", s.Bytes, files)
		if _, ok := p.(*tablePlan); ok {
			text += fmt.Sprintf(", %d rows", rows)
		}
		out = append(out, text+": "+strings.Join(tasks, ", "))
	}
	return out
}

func (c recordedSplit) wanted(p Plan) []string {
	var out []string
	for _, s := range c.Splits {
		var tasks []string
		for _, task := range s.Tasks {
			tasks = append(tasks, fmt.Sprintf("%s %d+%d %d", task.Path, task.Start, task.Length, len(task.Deletes)))
		}
		text := fmt.Sprintf("%d bytes, %d files", s.Size, s.Files)
		if _, ok := p.(*tablePlan); ok {
			text += fmt.Sprintf(", %d rows", s.Rows)
		}
		out = append(out, text+": "+strings.Join(tasks, ", "))
	}
	return out
}

// repacked puts the files that the plan found into the recorded order, packs them again, and compares each file and its deletes on the way.
func (c recordedSplit) repacked(t *testing.T, p *tablePlan) []string {
	found := map[string]*dataFile{}
	for _, s := range p.splits {
		for _, task := range s.Tasks {
			found[task.File.Path] = task.File
		}
	}
	var files []*dataFile
	for _, want := range c.Files {
		f, ok := found[want.Path]
		if !ok {
			t.Fatalf("the plan lacks %s", want.Path)
		}
		var got, deletes []string
		for _, d := range f.Deletes {
			got = append(got, fmt.Sprintf("%s %d", d.Path, d.Size))
		}
		for _, d := range want.Deletes {
			deletes = append(deletes, fmt.Sprintf("%s %d", d.Path, d.Size))
		}
		if !slices.Equal(got, deletes) {
			t.Errorf("%s has the deletes\n%q, want\n%q", want.Path, got, deletes)
		}
		files = append(files, f)
	}
	if len(found) != len(files) {
		t.Errorf("the plan has %d files, want %d", len(found), len(files))
	}
	options, err := resolveOptions(p.request.Options, p.source.table.metadata.Properties(), scanData)
	if err != nil {
		t.Fatal(err)
	}
	again := &tablePlan{source: p.source, request: p.request, filter: p.filter, projection: p.projection, options: options}
	if err := again.split(files); err != nil {
		t.Fatal(err)
	}
	return plannedText(again)
}

// TestGroupingNeedsColumnsThatAreRead: a scan that does not read a partition's column cannot promise that its splits keep to one.
func TestGroupingNeedsColumnsThatAreRead(t *testing.T) {
	table := oracleTable(t, oracleScanner(t, "testdata/oracle"), "testdata/oracle", []string{"layout"}, "planned")
	source, err := table.Source(t.Context(), Reference{})
	if err != nil {
		t.Fatal(err)
	}
	options := []Option{{Name: "preserve-data-grouping", Value: "TRUE"}, {Name: "split-size", Value: "1000000000000"}}
	keys := func(f func(arrow.Field) bool) []string {
		var ids []int
		for _, c := range source.Schema().Fields() {
			if f(c) {
				ids = append(ids, FieldID(c))
			}
		}
		p, err := source.Plan(t.Context(), Request{Fields: ids, Options: options, Limit: -1})
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, s := range p.Explain().Splits {
			out = append(out, s.Key)
		}
		return out
	}
	if got := keys(func(c arrow.Field) bool { return c.Name == "p" }); fmt.Sprint(got) != "[p=a p=b p=c]" {
		t.Errorf("with the column: %q", got)
	}
	if got := keys(func(c arrow.Field) bool { return c.Name != "p" }); fmt.Sprint(got) != "[]" {
		t.Errorf("without it: %q", got)
	}
}
