package scan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
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

// madeHistory is a table of several snapshots: number n has the id n and the time 1000 n.
type madeHistory struct {
	*madeTable
	entries   map[string]iceberg.ManifestEntry // by the row that the file holds
	manifests map[string]iceberg.ManifestFile
	order     []string
	snapshots []string
}

func newHistory(t *testing.T) *madeHistory {
	return &madeHistory{madeTable: makeTable(t, `{"id":1,"name":"id","type":"long","required":false}`), entries: map[string]iceberg.ManifestEntry{},
		manifests: map[string]iceberg.ManifestFile{}}
}

// commit makes a snapshot that adds and removes files of one row each; a row that begins with - is a delete file.
func (h *madeHistory) commit(operation string, add, remove []string) {
	h.t.Helper()
	h.sequence++
	snapshot := h.sequence
	for _, row := range remove {
		old := h.entries[row]
		data := old.DataFile()
		before := old.SequenceNum()
		h.replace(row, iceberg.ManifestContentData, iceberg.NewManifestEntry(iceberg.EntryStatusDELETED, &snapshot, &before, &before, data))
		delete(h.entries, row)
	}
	for _, row := range add {
		f := madeFile{fields: []arrow.Field{withID(1, "id", arrow.PrimitiveTypes.Int64)}, rows: fmt.Sprintf(`[{"id": %s}]`, strings.Trim(row, "-r"))}
		content := iceberg.ManifestContentData
		if row[0] == '-' {
			f.keys, content = []int{1}, iceberg.ManifestContentDeletes
		}
		h.entries[row] = h.write(f)
		h.order = append([]string{row}, h.order...)
		h.replace(row, content, h.entries[row])
	}
	h.snapshots = append(h.snapshots, "")
	h.list(operation)
}

// list writes the manifest list of the newest snapshot, and what the metadata has of it.
func (h *madeHistory) list(operation string) {
	h.t.Helper()
	snapshot, sequence := h.sequence, h.sequence
	var list []iceberg.ManifestFile
	for _, row := range h.order {
		m := h.manifests[row]
		if m.HasAddedFiles() || m.SnapshotID() == snapshot {
			list = append(list, m)
		}
	}
	var out bytes.Buffer
	if err := iceberg.WriteManifestList(h.version, &out, snapshot, nil, &sequence, 0, list); err != nil {
		h.t.Fatal(err)
	}
	name := fmt.Sprintf("list%d.avro", snapshot)
	if err := os.WriteFile(filepath.Join(h.dir, name), out.Bytes(), 0o600); err != nil {
		h.t.Fatal(err)
	}
	parent := ""
	if snapshot > 1 {
		parent = fmt.Sprintf(`"parent-snapshot-id":%d,`, snapshot-1)
	}
	summary := ""
	if operation != "" {
		summary = fmt.Sprintf(`,"summary":{"operation":%q}`, operation)
	}
	h.snapshots[len(h.snapshots)-1] = fmt.Sprintf(`{"snapshot-id":%d,%s"sequence-number":%d,"timestamp-ms":%d,"manifest-list":%q%s}`,
		snapshot, parent, sequence, snapshot*1000, h.location(name), summary)
}

// replace writes the manifest of a file anew.
func (h *madeHistory) replace(row string, content iceberg.ManifestContent, e iceberg.ManifestEntry) {
	h.t.Helper()
	if e.Status() != iceberg.EntryStatusDELETED {
		h.manifest(content, 0, []iceberg.ManifestEntry{e})
		h.manifests[row] = h.madeTable.manifests[len(h.madeTable.manifests)-1]
		return
	}
	var schema iceberg.Schema
	if err := json.Unmarshal([]byte(h.schemaText(0)), &schema); err != nil {
		h.t.Fatal(err)
	}
	var out bytes.Buffer
	w, err := iceberg.NewManifestWriter(h.version, &out, h.spec(0), &schema, h.sequence)
	if err != nil {
		h.t.Fatal(err)
	}
	if err := w.Delete(e); err != nil {
		h.t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		h.t.Fatal(err)
	}
	name := fmt.Sprintf("removed-%d-%s.avro", h.sequence, row)
	if err := os.WriteFile(filepath.Join(h.dir, name), out.Bytes(), 0o600); err != nil {
		h.t.Fatal(err)
	}
	h.manifests[row] = iceberg.NewManifestFile(h.version, h.location(name), int64(out.Len()), 0, h.sequence).SequenceNum(h.sequence, h.sequence).
		AddedFiles(0).ExistingFiles(0).DeletedFiles(1).Build()
}

// merge makes a snapshot that adds a file of one row and writes the manifests of others into one with it.
func (h *madeHistory) merge(operation, row string, others ...string) {
	h.t.Helper()
	h.commit(operation, []string{row}, nil)
	added := h.entries[row]
	entries := []iceberg.ManifestEntry{added}
	for _, other := range others {
		e := h.entries[other]
		snapshot, sequence := e.SnapshotID(), e.SequenceNum()
		entries = append(entries, iceberg.NewManifestEntry(iceberg.EntryStatusEXISTING, &snapshot, &sequence, &sequence, e.DataFile()))
		delete(h.manifests, other)
		h.order = slices.DeleteFunc(h.order, func(o string) bool { return o == other })
	}
	h.manifest(iceberg.ManifestContentData, 0, entries)
	h.manifests[row] = h.madeTable.manifests[len(h.madeTable.manifests)-1]
	h.list(operation)
}

func (h *madeHistory) open() *Table {
	h.t.Helper()
	var log []string
	for i := range h.snapshots {
		log = append(log, fmt.Sprintf(`{"snapshot-id":%d,"timestamp-ms":%d}`, i+1, 1000*(i+1)))
	}
	metadata := fmt.Sprintf(`{"format-version":2,"table-uuid":"00000000-0000-0000-0000-000000000001","location":%q,"last-sequence-number":%d,"last-updated-ms":%d,
		"last-column-id":1,"current-schema-id":0,"schemas":[%s],"default-spec-id":0,"partition-specs":[{"spec-id":0,"fields":[]}],"last-partition-id":999,
		"default-sort-order-id":0,"sort-orders":[{"order-id":0,"fields":[]}],"current-snapshot-id":%d,"snapshots":[%s],"snapshot-log":[%s]}`, h.location(), h.sequence,
		1000*len(h.snapshots), h.schemaText(0), len(h.snapshots), strings.Join(h.snapshots, ","), strings.Join(log, ","))
	s := NewScanner(Config{Stores: storage.NewMux([]storage.Kind{local.Kind}, storage.Map{}), Decoder: parquet.NewFallback()})
	out, err := s.Table(h.t.Context(), &catalogs.Table{Catalog: "made", Identifier: []string{"t"}, MetadataLocation: h.location("v1.metadata.json"), Metadata: []byte(metadata)})
	if err != nil {
		h.t.Fatal(err)
	}
	return out
}

// rowsAt reads a source whole; rows are sorted. It compares their number with that of a scan asked for nothing else, and with what metadata tells.
func rowsAt(t *testing.T, source Source, filter predicate.Expr) ([]string, error) {
	t.Helper()
	checked := kernelstest.NewSoiled()
	defer checked.AssertSize(t, 0)
	ctx := resource.With(t.Context(), resource.NewPool(resource.Config{Cores: 2, Allocator: checked}).NewStatement(""))
	batch, err := readAll(ctx, source, Request{Fields: fieldIDs(source.Schema()), Filter: filter, Limit: -1})
	if err != nil {
		return nil, err
	}
	defer batch.Release()
	count, err := readAll(ctx, source, Request{Filter: filter, Limit: -1, Aggregates: []Aggregate{{Kind: CountRows}}})
	if err != nil || count.NumRows() != batch.NumRows() {
		t.Errorf("%d rows are counted, %d read, %v", count.NumRows(), batch.NumRows(), err)
	}
	count.Release()
	plan := mustPlan(t, source, Request{Filter: filter, Limit: -1, Aggregates: []Aggregate{{Kind: CountRows}}})
	if told, instead := Aggregates(plan); instead == "" && told[0] != batch.NumRows() {
		t.Errorf("metadata tells %v rows, %d are read", told[0], batch.NumRows())
	}
	out := rowsOf(batch)
	slices.Sort(out)
	return out, nil
}

// unquoted spells rows with bare numbers.
func unquoted(rows []string) string {
	return regexp.MustCompile(`"(\d+)"`).ReplaceAllString(strings.Join(rows, " "), "$1")
}

func someHistory(t *testing.T) *madeHistory {
	h := newHistory(t)
	h.commit("append", []string{"1"}, nil)
	h.commit("append", []string{"2"}, nil)
	h.commit("overwrite", []string{"10"}, []string{"1"})
	h.commit("replace", []string{"r2"}, []string{"2"})
	h.commit("append", []string{"3"}, nil)
	return h
}

func ids(after, until int64) *Range {
	out := &Range{}
	if after != 0 {
		out.After = &after
	}
	if until != 0 {
		out.Until = &until
	}
	return out
}

func times(after, until int64) *Range {
	out := ids(after, until)
	return &Range{AfterTime: out.After, UntilTime: out.Until}
}

// TestIncrementalAppends reads what ranges of snapshots appended: snapshots that overwrite, delete or move rows give none, and deletes of later ones
// take none away.
func TestIncrementalAppends(t *testing.T) {
	h := someHistory(t)
	h.commit("delete", []string{"-3"}, nil)
	table := h.open()
	for _, c := range []struct {
		name string
		of   *Range
		want string // rows, or an error's text
		kind fault.Kind
	}{
		{"to the end", ids(1, 0), "[2] [3]", 0},
		{"to a snapshot, with it", ids(1, 2), "[2]", 0},
		{"over an overwrite and a rewrite", ids(2, 5), "[3]", 0},
		{"only such", ids(2, 4), "", 0},
		{"from the current snapshot", ids(6, 0), "Starting snapshot (exclusive) 6 is not a parent ancestor of end snapshot 6", fault.Invalid},
		{"from one that is not", ids(99, 0), "Starting snapshot (exclusive) 99 is not a parent ancestor of end snapshot 6", fault.Invalid},
		{"backwards", ids(3, 2), "Starting snapshot (exclusive) 3 is not a parent ancestor of end snapshot 2", fault.Invalid},
		{"to one that is not", ids(1, 99), "Cannot find the end snapshot: 99", fault.NotFound},
		{"without a begin", ids(0, 3), "Cannot set only `end-snapshot-id` for incremental scans", fault.Invalid},
		{"until a time", times(0, 2000), "Only changelog scans support `start-timestamp` and `end-timestamp`", fault.Invalid},
		{"by times", times(1000, 0), "Only changelog scans support `start-timestamp` and `end-timestamp`", fault.Invalid},
	} {
		t.Run(c.name, func(t *testing.T) {
			source, err := table.Source(t.Context(), Reference{Kind: RefRange, Range: c.of})
			checkRange(t, source, err, c.want, c.kind)
		})
	}
}

func checkRange(t *testing.T, source Source, err error, want string, kind fault.Kind) {
	t.Helper()
	var rows []string
	if err == nil {
		rows, err = rowsAt(t, source, nil)
	}
	if kind != 0 {
		if !fault.Is(err, kind) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
		return
	}
	if got := unquoted(rows); err != nil || got != want {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
}

// TestIncrementalAppendsOfHistoriesThatAreOdd: appends in front of which lie deletes, that merge manifests or remove files, and snapshots of other
// operations that add files.
func TestIncrementalAppendsOfHistoriesThatAreOdd(t *testing.T) {
	for _, c := range []struct {
		name    string
		make    func(h *madeHistory)
		appends string // after the first snapshot
		changes string // the same, as a changelog
	}{
		{"deletes lie in front", func(h *madeHistory) { h.commit("delete", []string{"-1"}, nil); h.commit("append", []string{"2"}, nil) }, "[2]", "refused"},
		{"it merges manifests", func(h *madeHistory) {
			h.commit("append", []string{"2"}, nil)
			h.merge("append", "3", "1", "2")
			h.merge("append", "4", "3")
		},
			"[2] [3] [4]", `[2,"INSERT",0,2] [3,"INSERT",1,3] [4,"INSERT",2,4]`},
		{"it removes a file", func(h *madeHistory) { h.commit("append", []string{"2"}, []string{"1"}) }, "[2]", `[1,"DELETE",0,2] [2,"INSERT",0,2]`},
		{"a delete adds a file", func(h *madeHistory) { h.commit("delete", []string{"2"}, []string{"1"}) }, "", `[1,"DELETE",0,2] [2,"INSERT",0,2]`},
		{"no operation is told", func(h *madeHistory) { h.commit("", []string{"2"}, nil) }, "", `[2,"INSERT",0,2]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHistory(t)
			h.commit("append", []string{"1"}, nil)
			c.make(h)
			table, ref := h.open(), Reference{Kind: RefRange, Range: ids(1, 0)}
			source, err := table.Source(t.Context(), ref)
			checkRange(t, source, err, c.appends, 0)
			source, _, err = table.MetadataSource(t.Context(), changesName, ref)
			if c.changes == "refused" {
				checkRange(t, source, err, "Delete files are currently not supported in changelog scans", fault.Unsupported)
			} else {
				checkRange(t, source, err, c.changes, 0)
			}
		})
	}
}

// TestChangelog reads changelogs over ranges of snapshots and of times, before the first snapshot, between two, at one, and after the last.
func TestChangelog(t *testing.T) {
	table := someHistory(t).open()
	const (
		first, second = `[1,"INSERT",0,1]`, `[2,"INSERT",1,2]`
		all           = `[1,"DELETE",2,3] ` + first + ` [10,"INSERT",2,3] ` + second + ` [3,"INSERT",3,5]`
		after2        = `[1,"DELETE",0,3] [10,"INSERT",0,3] [3,"INSERT",1,5]`
	)
	for _, c := range []struct {
		name string
		of   *Range
		want string
		kind fault.Kind
	}{
		{"all", nil, all, 0},
		{"after a snapshot", ids(2, 0), after2, 0},
		{"until a snapshot", ids(0, 2), first + " " + second, 0},
		{"between two", ids(3, 5), `[3,"INSERT",0,5]`, 0},
		{"a rewrite alone", ids(3, 4), "", 0},
		{"from the time of a snapshot", times(2000, 0), after2, 0},
		{"from between two", times(1500, 2000), `[2,"INSERT",0,2]`, 0},
		{"from before the first", times(5, 0), all, 0},
		{"from after the last", times(9000, 0), "", 0},
		{"until before the first", times(0, 999), "", 0},
		{"until between two", times(0, 2999), first + " " + second, 0},
		{"until after the last", times(2000, 99_000), after2, 0},
		{"between the same two", times(2100, 2900), "", 0},
		{"from the time of the last", times(5000, 0), "Starting snapshot (exclusive) 5 is not a parent ancestor of end snapshot 5", fault.Invalid},
		{"times backwards", times(3000, 3000), "Cannot set start-timestamp to be greater than end-timestamp for changelogs", fault.Invalid},
		{"two starts", &Range{After: ids(1, 0).After, AfterTime: ids(1, 0).After}, "Cannot set both start-snapshot-id and start-timestamp", fault.Invalid},
		{"two ends", &Range{Until: ids(1, 0).After, UntilTime: ids(1, 0).After}, "Cannot set both end-snapshot-id and end-timestamp", fault.Invalid},
		{"from one that is not", ids(99, 0), "Starting snapshot (exclusive) 99 is not a parent ancestor", fault.Invalid},
	} {
		t.Run(c.name, func(t *testing.T) {
			ref := Reference{}
			if c.of != nil {
				ref = Reference{Kind: RefRange, Range: c.of}
			}
			source, known, err := table.MetadataSource(t.Context(), "Changes", ref)
			if !known {
				t.Fatal("there is no changelog")
			}
			checkRange(t, source, err, c.want, c.kind)
		})
	}
	if _, _, err := table.MetadataSource(t.Context(), "changes", Reference{Kind: RefSnapshot, ID: 1}); !fault.Is(err, fault.Invalid) {
		t.Errorf("time travel: %v", err)
	}
	if _, _, err := table.MetadataSource(t.Context(), "files", Reference{Kind: RefRange, Range: ids(1, 0)}); !fault.Is(err, fault.Invalid) {
		t.Errorf("a range of files: %v", err)
	}
	source, _, err := table.MetadataSource(t.Context(), "changes", Reference{})
	if err != nil {
		t.Fatal(err)
	}
	text := func(s string) predicate.Expr {
		return predicate.Comparison{Op: predicate.Eq, Field: predicate.Field{ID: idChangeType, Path: []string{"_change_type"}, Type: arrow.BinaryTypes.String},
			Value: predicate.Literal{Type: arrow.BinaryTypes.String, Value: s}}
	}
	if rows, err := rowsAt(t, source, text("DELETE")); err != nil || unquoted(rows) != `[1,"DELETE",2,3]` {
		t.Errorf("removed rows: %v, %v", rows, err)
	}
}

func TestChangelogsOfDeleteFilesAreRefused(t *testing.T) {
	h := someHistory(t)
	h.commit("delete", []string{"-3"}, nil)
	source, _, err := h.open().MetadataSource(t.Context(), "changes", Reference{})
	if err == nil {
		_, err = rowsAt(t, source, nil)
	}
	if !fault.Is(err, fault.Unsupported) || !strings.Contains(err.Error(), "Delete files are currently not supported in changelog scans") {
		t.Error(err)
	}
	source, _, err = h.open().MetadataSource(t.Context(), "changes", Reference{Kind: RefRange, Range: ids(0, 5)})
	if err == nil {
		_, err = rowsAt(t, source, nil)
	}
	if err != nil {
		t.Errorf("before the deletes: %v", err)
	}
}

// TestIncrementalAppendsOfATableWithKnownAnswers compares with what Spark read.
func TestIncrementalAppendsOfATableWithKnownAnswers(t *testing.T) {
	lines := oracleFile(t, "testdata/oracle/expected/history.branches_tags.jsonl")
	table := oracleTable(t, oracleScanner(t, "testdata/oracle"), "testdata/oracle", []string{"history"}, "branches_tags")
	asked := 0
	for _, l := range lines {
		text, ok := l.Options["start-snapshot-id"]
		if !ok || len(l.Options) > 1 {
			continue
		}
		asked++
		source, err := table.Source(t.Context(), Reference{Kind: RefRange, Range: &Range{After: number(t, text)}})
		if err != nil {
			t.Fatal(err)
		}
		batch, err := readAll(t.Context(), source, Request{Fields: fieldIDs(source.Schema()), Limit: -1})
		if err != nil {
			t.Fatal(err)
		}
		compareOracle(t, batch, l)
		batch.Release()
	}
	if asked == 0 {
		t.Error("nothing was asked")
	}
}
