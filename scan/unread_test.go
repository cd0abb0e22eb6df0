package scan

import (
	"context"
	"os"
	"testing"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/resource"
	"github.com/skua-data/skua/scan/parquet"
	"github.com/skua-data/skua/storage"
	"github.com/skua-data/skua/storage/local"
)

// namesOf makes the names of a table's columns, and counts how often.
func namesOf(t *testing.T, ctx context.Context, s *Scanner, loaded *catalogs.Table, makes *int) (out string) {
	t.Helper()
	u, err := s.Find(ctx, loaded)
	if err != nil {
		t.Fatal(err)
	}
	defer u.Close()
	names, err := u.Kept(ctx, "names", func() (any, int64, error) {
		*makes++
		table, err := u.Table(ctx)
		if err != nil {
			return nil, 0, err
		}
		source, err := table.Source(ctx, Reference{})
		if err != nil {
			return nil, 0, err
		}
		for _, f := range source.Schema().Fields() {
			out += f.Name + " "
		}
		return out, 100, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names.(string)
}

// TestWhatIsMadeOfMetadataIsKeptWhileItStaysTheSame to the byte: a table that is dropped and made anew has the same location again.
func TestWhatIsMadeOfMetadataIsKeptWhileItStaysTheSame(t *testing.T) {
	first, second := makeTable(t, `{"id":1,"name":"old","type":"long","required":false}`), makeTable(t, `{"id":1,"name":"new","type":"long","required":false}`)
	first.commit()
	second.commit()
	raw, at := []byte(second.metadataText()), first.location("v1.metadata.json")
	if err := os.WriteFile(at[len("file:"):], []byte(first.metadataText()), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, pool := inPool(t.Context(), 0)
	s := NewScanner(Config{Stores: storage.NewMux([]storage.Kind{local.Kind}, nil), Decoder: parquet.NewFallback()})
	loaded := &catalogs.Table{Catalog: "lake", Identifier: []string{"db", "t"}, MetadataLocation: at}
	other := *loaded
	other.Identifier = []string{"db", "u"}
	sent := *loaded
	sent.Metadata = []byte(first.metadataText())
	makes := 0
	for _, c := range []struct {
		name   string
		loaded *catalogs.Table
		before func()
		want   string
		makes  int
	}{
		{"first", loaded, nil, "old ", 1},
		{"again", loaded, nil, "old ", 1},
		{"another table of the same metadata", &other, nil, "old ", 2},
		{"sent along", &sent, nil, "old ", 3},
		{"sent along again", &sent, nil, "old ", 3},
		{"made anew", loaded, func() {
			if err := os.WriteFile(at[len("file:"):], append(raw, ' '), 0o600); err != nil {
				t.Fatal(err)
			}
		}, "new ", 4},
		{"sent along anew", &sent, func() { sent.Metadata = raw }, "new ", 5},
		{"forgotten", loaded, s.Forget, "new ", 6},
	} {
		if c.before != nil {
			c.before()
		}
		if got := namesOf(t, ctx, s, c.loaded, &makes); got != c.want || makes != c.makes {
			t.Errorf("%s: %q, made %d times; want %q, %d", c.name, got, makes, c.want, c.makes)
		}
	}
	if counters := &resource.From(ctx).Counters; pool.Used() != s.cache.used+s.told.used || s.told.used < 100 || counters.CacheHits.Load() == 0 {
		t.Errorf("%d bytes are counted for %d and %d", pool.Used(), s.cache.used, s.told.used)
	}
	s.Forget()
	if pool.Used() != 0 {
		t.Errorf("%d bytes are left", pool.Used())
	}
}
