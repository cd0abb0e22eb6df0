package scan

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/iceberg-go"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/scan/parquet"
	"github.com/skua-data/skua/storage"
)

const changedSince = "changed since the statement was planned: run it again"

// drained gives the rows of a plan, or the error.
func drained(ctx context.Context, p Plan) (rows []string, err error) {
	r, err := p.Open(ctx, 0, p.Splits())
	if err != nil {
		return nil, err
	}
	defer r.Release()
	for r.Next() {
		rows = append(rows, rowsOf(r.RecordBatch())...)
	}
	slices.Sort(rows)
	return rows, r.Err()
}

// wantChanged wants the error of files that changed.
func wantChanged(t *testing.T, what string, err error) {
	t.Helper()
	if !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), changedSince) {
		t.Errorf("%s: %v", what, err)
	}
}

// rewrite writes one row to a file of the table, at a time that no clock's steps blur.
func (p *tableOfFiles) rewrite(name string, value, hours int) {
	p.t.Helper()
	p.write(name, []arrow.Field{bare("a", arrow.PrimitiveTypes.Int32)}, fmt.Sprintf(`[{"a": %d}]`, value))
	at := time.Now().Add(time.Duration(hours) * time.Hour)
	if err := os.Chtimes(filepath.Join(p.dir, name), at, at); err != nil {
		p.t.Fatal(err)
	}
}

func TestFilesThatChangeAfterPlanning(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(p *tableOfFiles) error
	}{
		{"rewritten, of the same size", func(p *tableOfFiles) error { p.rewrite("f", 7, 1); return nil }},
		{"replaced, of the same size", func(p *tableOfFiles) error {
			p.rewrite("_new", 7, 1)
			return os.Rename(filepath.Join(p.dir, "_new"), filepath.Join(p.dir, "f"))
		}},
		{"longer", func(p *tableOfFiles) error {
			p.write("f", []arrow.Field{bare("a", arrow.PrimitiveTypes.Int32)}, `[{"a": 7}, {"a": 8}, {"a": 9}]`)
			return nil
		}},
		{"torn", func(p *tableOfFiles) error { p.put("f", []byte("PAR1")); return nil }},
		{"gone", func(p *tableOfFiles) error { return os.Remove(filepath.Join(p.dir, "f")) }},
		{"a folder", func(p *tableOfFiles) error {
			return errors.Join(os.Remove(filepath.Join(p.dir, "f")), os.Mkdir(filepath.Join(p.dir, "f"), 0o755))
		}},
		{"the table's folder is gone", func(p *tableOfFiles) error { return os.RemoveAll(p.dir) }},
	} {
		for _, columns := range [][]string{{"a"}, nil} {
			for _, warm := range []bool{false, true} {
				what := fmt.Sprintf("%s, columns %v, read before: %v", c.name, columns, warm)
				p := newTableOfFiles(t, []iceberg.NestedField{fileColumn(1, "a", anInt)})
				p.rewrite("f", 1, 0)
				_, _, plan, err := p.plan(t.Context(), nil, columns...)
				if err != nil {
					t.Fatal(err)
				}
				if warm {
					if rows, err := drained(t.Context(), plan); err != nil || len(rows) != 1 {
						t.Fatalf("%s: %v, %v", what, rows, err)
					}
				}
				before := Listing(plan)
				if err := c.change(p); err != nil {
					t.Fatal(err)
				}
				rows, err := drained(t.Context(), plan)
				if wantChanged(t, what, err); len(rows) > 0 {
					t.Errorf("%s: rows %v", what, rows)
				}
				if _, _, next, err := p.plan(t.Context(), nil, columns...); err == nil && Listing(next) == before {
					t.Errorf("%s: it is planned as before", what)
				}
				if _, err := Decoders(t.Context(), plan); len(columns) > 0 {
					wantChanged(t, what+", decoders", err)
				}
			}
		}
	}
}

func TestFilesThatChangeWhileTheyStream(t *testing.T) {
	const files = 40
	p := newTableOfFiles(t, []iceberg.NestedField{fileColumn(1, "a", anInt)})
	for i := range files {
		p.rewrite(fmt.Sprintf("f%02d", i), 1, 0)
	}
	source, request, _, err := p.plan(t.Context(), nil, "a")
	if err != nil {
		t.Fatal(err)
	}
	request.Options = []Option{{Name: "batch-size", Value: "1"}}
	plan := mustPlan(t, source, request)
	r, err := plan.Open(t.Context(), 0, plan.Splits())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	n := 0
	for r.Next() {
		if got := rowsOf(r.RecordBatch()); len(got) != 1 || got[0] != "[1]" {
			t.Fatalf("row %d is %v", n, got)
		}
		if n++; n == 1 {
			for i := range files {
				p.rewrite(fmt.Sprintf("f%02d", i), 2, 1)
			}
		}
	}
	wantChanged(t, fmt.Sprintf("after %d rows", n), r.Err())
	if n == files {
		t.Error("all rows came")
	}
}

// TestFilesOfOneStoreThatChange reads a table of plain files from every kind of remote store.
func TestFilesOfOneStoreThatChange(t *testing.T) {
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	file := func(rows string) []byte {
		p := newTableOfFiles(t, nil)
		p.write("f", []arrow.Field{bare("a", arrow.PrimitiveTypes.Int32)}, rows)
		raw, err := os.ReadFile(filepath.Join(p.dir, "f"))
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	old, same, longer := file(`[{"a": 1}]`), file(`[{"a": 2}]`), file(`[{"a": 2}, {"a": 3}, {"a": 4}, {"a": 5}]`)
	if len(old) != len(same) || len(old) == len(longer) {
		t.Fatalf("sizes %d, %d, %d", len(old), len(same), len(longer))
	}
	for at, r := range remoteStores {
		for _, next := range [][]byte{same, longer, nil} {
			for _, warm := range []bool{false, true} {
				what := fmt.Sprintf("store %d, %d bytes, read before: %v", at, len(next), warm)
				server := r.start(t)
				server.Put(r.bucket+"/t/f", old)
				server.Put(r.bucket+"/t/g", old)
				files := &catalogs.Files{Schema: iceberg.NewSchema(0, fileColumn(1, "a", anInt)), Location: r.base + "t"}
				s := NewScanner(Config{Stores: storage.NewMux([]storage.Kind{r.kind}, storage.Map{}), Decoder: parquet.NewFallback()})
				table, err := s.Table(t.Context(), &catalogs.Table{Catalog: "made", Identifier: []string{"t"}, Kind: catalogs.KindFiles, Format: "parquet", Files: files, Config: r.properties(server.URL)})
				if err != nil {
					t.Fatal(err)
				}
				source, err := table.Source(t.Context(), Reference{})
				if err != nil {
					t.Fatal(err)
				}
				request := Request{Fields: []int{1}, Limit: -1}
				plan := mustPlan(t, source, request)
				if warm {
					if rows, err := drained(t.Context(), plan); err != nil || strings.Join(rows, " ") != "[1] [1]" {
						t.Fatalf("%s: %v, %v", what, rows, err)
					}
				}
				if next == nil {
					server.Remove(r.bucket + "/t/g")
				} else {
					server.Put(r.bucket+"/t/g", next)
				}
				rows, err := drained(t.Context(), plan)
				if slices.ContainsFunc(rows, func(row string) bool { return row != "[1]" }) {
					t.Errorf("%s: rows %v", what, rows)
				}
				if !warm || err != nil { // bytes that were kept are of the old file, whole
					wantChanged(t, what, err)
				}
				fresh := mustPlan(t, source, request)
				if rows, err := drained(t.Context(), fresh); err != nil || next != nil && slices.Equal(rows, []string{"[1]", "[1]"}) {
					t.Errorf("%s, planned anew: %v, %v", what, rows, err)
				}
			}
		}
	}
}
