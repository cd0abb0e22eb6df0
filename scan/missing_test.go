package scan

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/kernels/kernelstest"
	"github.com/skua-data/skua/resource"
	"github.com/skua-data/skua/scan/parquet"
	"github.com/skua-data/skua/storage"
	"github.com/skua-data/skua/storage/local"
)

// TestAMissingFileIsAFaultOfItsTable takes away each file that a table has, one at a time: the error names table and file, and does not say that the
// table is unknown; the next statement, with the file back, succeeds.
func TestAMissingFileIsAFaultOfItsTable(t *testing.T) {
	m := twiceDeleted(t)
	if err := os.WriteFile(filepath.Join(m.dir, "v1.metadata.json"), []byte(m.metadataText()), 0o600); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(m.dir, "*"))
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	checked := kernelstest.NewSoiled()
	defer checked.AssertSize(t, 0)
	read := func() error {
		s := NewScanner(Config{Stores: storage.NewMux([]storage.Kind{local.Kind}, storage.Map{}), Decoder: parquet.NewFallback()})
		ctx := resource.With(t.Context(), resource.NewPool(resource.Config{Cores: 2, Allocator: checked}).NewStatement(""))
		table, err := s.Table(ctx, &catalogs.Table{Catalog: "made", Identifier: []string{"n", "t"}, MetadataLocation: m.location("v1.metadata.json")})
		if err != nil {
			return err
		}
		source, err := table.Source(ctx, Reference{})
		if err != nil {
			return err
		}
		batch, err := readAll(ctx, source, Request{Fields: []int{1}, Limit: -1})
		if err == nil {
			batch.Release()
		}
		return err
	}
	for _, file := range files {
		if err := os.Rename(file, file+".away"); err != nil {
			t.Fatal(err)
		}
		err := read()
		if !fault.Is(err, fault.Corrupt) || !strings.Contains(err.Error(), filepath.Base(file)) || !strings.Contains(err.Error(), "made.n.t") ||
			!strings.Contains(err.Error(), "is missing") {
			t.Errorf("%s: %v", filepath.Base(file), err)
		}
		if err := os.Rename(file+".away", file); err != nil {
			t.Fatal(err)
		}
		if err := read(); err != nil {
			t.Errorf("with %s back: %v", filepath.Base(file), err)
		}
	}
}

// TestAFileThatIsMissedAtTheFirstReadIsNamed is of stores that trust the length which metadata states.
func TestAFileThatIsMissedAtTheFirstReadIsNamed(t *testing.T) {
	memory := newMemoryStore()
	memory.put("mem:f", make([]byte, 10))
	memory.fail = func(at string, _ int64) error { return fault.New(fault.NotFound, "404 for %s", at) }
	f, err := wholeStore{Store: memory, table: "made.n.t"}.Open(t.Context(), "mem:f", 10)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	_, err = f.ReadAt(make([]byte, 4), 0)
	if !fault.Is(err, fault.Corrupt) || fmt.Sprint(err) != "the file mem:f of table made.n.t is missing: 404 for mem:f" {
		t.Error(err)
	}
	memory.fail = func(string, int64) error { return fault.New(fault.Denied, "no") }
	if _, err = f.ReadAt(make([]byte, 4), 0); !fault.Is(err, fault.Denied) {
		t.Error(err)
	}
}
