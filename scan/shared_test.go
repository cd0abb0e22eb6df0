package scan

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/resource"
)

// twiceDeleted is a table with deletes of all kinds that files hold: positions, keys of one file, and keys of several.
func twiceDeleted(t *testing.T) *madeTable {
	m := makeTable(t, idAndName)
	m.commit(madeFile{fields: idAndNameFields, rows: `[{"id":1,"s":"a"},{"id":2,"s":"b"},{"id":3,"s":"c"},{"id":4,"s":"d"},{"id":5,"s":"e"},{"id":6,"s":"f"}]`})
	m.commit(madeFile{positions: true, fields: positionFields(), rows: fmt.Sprintf(`[{"file_path": %q, "pos": 0}]`, m.location("00001.parquet"))},
		madeFile{fields: nameOnly, rows: `[{"s":"b"}]`, keys: []int{2}}, madeFile{fields: idOnly, rows: `[{"id":3}]`, keys: []int{1}})
	m.commit(madeFile{fields: idOnly, rows: `[{"id":4}]`, keys: []int{1}}, madeFile{fields: idAndNameFields, rows: `[{"id":3,"s":"new"}]`})
	return m
}

var leftOfTwiceDeleted = []string{`[3]`, `[5]`, `[6]`}

// scanIDs reads the column id in a statement of its own, and gives the bytes that it read of delete files.
func scanIDs(t *testing.T, table *Table, pool *resource.Pool) ([]string, int64) {
	t.Helper()
	statement := pool.NewStatement("s")
	ctx := resource.With(t.Context(), statement)
	source, err := table.Source(ctx, Reference{})
	if err != nil {
		t.Error(err)
		return nil, 0
	}
	batch, err := readAll(ctx, source, Request{Fields: []int{1}, Limit: -1})
	if err != nil {
		t.Error(err)
		return nil, 0
	}
	defer batch.Release()
	return rowsOf(batch), statement.Counters.DeleteBytes.Load()
}

func TestDeleteFilesAreDecodedOnceForAllPlans(t *testing.T) {
	m := twiceDeleted(t)
	table, pool := m.open(), resource.NewPool(resource.Config{Cores: 2})
	rows, first := scanIDs(t, table, pool)
	again, second := scanIDs(t, table, pool)
	if !slices.Equal(rows, leftOfTwiceDeleted) || !slices.Equal(again, rows) || first == 0 || second != 0 {
		t.Errorf("%s for %d bytes of delete files, then %s for %d", rows, first, again, second)
	}
	var scans sync.WaitGroup
	fresh := m.open()
	for range 8 {
		scans.Go(func() {
			if rows, _ := scanIDs(t, fresh, pool); !slices.Equal(rows, leftOfTwiceDeleted) {
				t.Error(rows)
			}
		})
	}
	scans.Wait()
	if n := fresh.scanner.deletes.order.Len(); n != 4 {
		t.Errorf("%d delete files are kept", n)
	}
	for fresh.scanner.deletes.shrink() {
	}
	if rows, read := scanIDs(t, fresh, pool); !slices.Equal(rows, leftOfTwiceDeleted) || read == 0 {
		t.Errorf("%s for %d bytes of delete files where none are kept", rows, read)
	}
}

// TestKeysAreKeptByTheTypesThatTheyAreComparedIn: a column that was promoted has its keys decoded anew.
func TestKeysAreKeptByTheTypesThatTheyAreComparedIn(t *testing.T) {
	m := makeTable(t, idAndName)
	m.commit(madeFile{fields: idAndNameFields, rows: `[{"id":1,"s":"a"},{"id":2,"s":"b"}]`})
	m.commit(madeFile{fields: idOnly, rows: `[{"id":2}]`, keys: []int{1}})
	pool := resource.NewPool(resource.Config{Cores: 1})
	before := m.open()
	if rows, _ := scanIDs(t, before, pool); !slices.Equal(rows, []string{`[1]`}) {
		t.Error(rows)
	}
	m.schemas = append(m.schemas, `{"id":1,"name":"id","required":false,"type":"long"},{"id":2,"name":"s","required":false,"type":"string"}`)
	m.commit(madeFile{fields: []arrow.Field{withID(1, "id", int64Type), withID(2, "s", textType)}, rows: `[{"id":8589934594,"s":"c"}]`})
	after := m.open()
	after.scanner = before.scanner
	rows, read := scanIDs(t, after, pool)
	if !slices.Equal(rows, []string{`["1"]`, `["8589934594"]`}) || read == 0 {
		t.Errorf("%s for %d bytes of delete files", rows, read)
	}
}

// TestDeletesThatAreNotKeptAnyMoreStayWithTheirPlans reads a plan before and after the cache has let go, and in a cache that keeps nothing.
func TestDeletesThatAreNotKeptAnyMoreStayWithTheirPlans(t *testing.T) {
	m := twiceDeleted(t)
	for _, bound := range []int64{1, 1 << 20} {
		table, pool := m.open(), resource.NewPool(resource.Config{Cores: 1})
		deletes := newCache(bound)
		table.scanner.deletes = deletes
		ctx := resource.With(t.Context(), pool.NewStatement("s"))
		source, err := table.Source(ctx, Reference{})
		if err != nil {
			t.Fatal(err)
		}
		plan, err := source.Plan(ctx, Request{Fields: []int{1}, Limit: -1})
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			reader, err := plan.Open(ctx, 0, plan.Splits())
			if err != nil {
				t.Fatal(err)
			}
			rows := 0
			for reader.Next() {
				rows += int(reader.RecordBatch().NumRows())
			}
			if reader.Err() != nil || rows != len(leftOfTwiceDeleted) {
				t.Errorf("%d rows, %v", rows, reader.Err())
			}
			reader.Release()
			for deletes.shrink() {
			}
			if deletes.used != 0 {
				t.Errorf("%d bytes are kept", deletes.used)
			}
		}
		if held := plan.(*tablePlan).deletes.held.Load(); held <= 0 || pool.Used() < held {
			t.Errorf("the plan holds %d bytes of deletes, and the process counts %d", held, pool.Used())
		}
	}
}

func TestASharedValueCountsOnce(t *testing.T) {
	ctx, pool := inPool(t.Context(), 1000)
	s := &shared[int]{size: 600}
	if !s.hold(ctx) || !s.hold(ctx) || pool.Used() != 600 {
		t.Errorf("%d bytes are accounted for", pool.Used())
	}
	s.letGo()
	if other := (&shared[int]{size: 600}); other.hold(ctx) || pool.Used() != 600 {
		t.Errorf("two of 600 bytes fit into 1000: %d", pool.Used())
	}
	s.letGo()
	if pool.Used() != 0 || !s.hold(ctx) || pool.Used() != 600 {
		t.Errorf("%d bytes are accounted for, once all have let go and one holds it again", pool.Used())
	}
	c := newCache(2000)
	c.put(ctx, "k", s, s.size)
	if s.letGo(); pool.Used() != 600 || !c.shrink() || pool.Used() != 0 {
		t.Errorf("%d bytes are accounted for when the cache alone held it, and lets go", pool.Used())
	}
}
