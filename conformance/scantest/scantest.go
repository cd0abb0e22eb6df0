// Package scantest compares scans with the truth. It makes random tables, of which it knows every row that was ever written, asks random
// queries of them, and holds what a scan gives against a reader of its own that is as plain as can be and, where Python is there, against
// PyIceberg and DuckDB's Parquet reader. A part of the queries, and what only SQL can ask (transforms in filters, sorted rows), goes through the
// SQL engine too. It writes metadata, manifests and delete vectors by itself, so that nothing it compares with shares
// code with the reader under test. It is for tests only.
package scantest

import (
	"context"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Config says how much is compared, and with what.
type Config struct {
	Seed    int64  // of the first table; the next has the next seed
	Tables  int    // how many
	Queries int    // of each table
	Dir     string // an empty folder for the tables; each table is removed once it was read
	Keep    bool   // leave the tables of which a reader differed
	Python  string // an interpreter that has PyIceberg, DuckDB and PyArrow; empty: none of them is asked
}

// Report counts what was compared.
type Report struct {
	Cases       int            // queries of a table, each read by every decoder
	Rows        int            // that they gave
	Asked       map[string]int // cases that a reader which is not ours answered too, by its name
	Left        map[string]int // cases that such a reader could not be asked or could not answer, with the reason
	Versions    string         // of those readers
	Differences []string       // in words; each names the table's seed
	Features    map[string]int // tables that have it
}

// Run makes the tables and compares. An error is one of making or asking, not a difference.
func Run(ctx context.Context, c Config) (*Report, error) {
	r := &Report{Asked: map[string]int{}, Left: map[string]int{}, Features: map[string]int{}}
	readers := newReaders()
	sql, err := newSQLReader(readers[0])
	if err != nil {
		return r, err
	}
	defer sql.close()
	const batch = 20 // tables that Python is asked of at once
	for from := 0; from < c.Tables; from += batch {
		var asked []*tableCase
		for i := from; i < min(from+batch, c.Tables); i++ {
			t, err := compareTable(ctx, c, c.Seed+int64(i), readers, sql, r)
			if err != nil {
				return r, fmt.Errorf("seed %d: %w", c.Seed+int64(i), err)
			}
			asked = append(asked, t)
		}
		if c.Python != "" {
			if err := askOthers(ctx, c, asked, r); err != nil {
				return r, err
			}
		}
		for _, t := range asked {
			if c.Keep && r.differs(t.table) {
				continue
			}
			if err := os.RemoveAll(t.table.dir); err != nil {
				return r, err
			}
		}
		if len(r.Differences) > 20 {
			break
		}
	}
	return r, nil
}

// differs says whether a reader differed on a table.
func (r *Report) differs(t *table) bool {
	return slices.ContainsFunc(r.Differences, func(d string) bool { return strings.HasPrefix(d, fmt.Sprintf("seed %d,", t.seed)) })
}

// tableCase is a table with its queries and what each must give.
type tableCase struct {
	table   *table
	queries []*query
	want    [][]string // rows as text, sorted, by query
}

// compareTable makes a table and compares our readers with the plain one.
func compareTable(ctx context.Context, c Config, seed int64, readers []reader, sql *sqlReader, r *Report) (*tableCase, error) {
	dir := filepath.Join(c.Dir, fmt.Sprintf("t%d", seed))
	if err := os.MkdirAll(filepath.Join(dir, "data"), 0o700); err != nil {
		return nil, err
	}
	t := newTable(rand.New(rand.NewSource(seed)), seed, dir)
	if err := t.save(); err != nil {
		return nil, err
	}
	out := &tableCase{table: t}
	for range c.Queries {
		q := t.randomQuery()
		want := t.answer(q)
		out.queries, out.want = append(out.queries, q), append(out.want, want)
		r.Cases++
		r.Rows += len(want)
		compare := func(name string, got []string, err error) {
			if err != nil {
				r.Differences = append(r.Differences, fmt.Sprintf("seed %d, %s, %s: %v", seed, name, q, err))
			} else if d := difference(got, want); d != "" {
				r.Differences = append(r.Differences, fmt.Sprintf("seed %d, %s, %s: %s", seed, name, q, d))
			}
		}
		if q.sql || t.r.Intn(3) == 0 {
			got, err := sql.read(ctx, t, q)
			compare("SQL: "+t.sparkSQL(q), got, err)
			r.Asked["the SQL engine"]++
		}
		if q.sql {
			continue
		}
		for _, reader := range readers {
			got, err := reader.read(ctx, t, q)
			compare(reader.name, got, err)
		}
	}
	for f := range t.features {
		r.Features[f]++
	}
	return out, nil
}

// difference says in words how sorted rows differ; empty: they do not.
func difference(got, want []string) string {
	if slices.Equal(got, want) {
		return ""
	}
	if a, b := slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want)); slices.Equal(a, b) {
		return fmt.Sprintf("%d rows in another order: %s; want %s", len(got), some(got), some(want))
	}
	left, right := map[string]int{}, map[string]int{}
	for _, g := range got {
		left[g]++
	}
	for _, w := range want {
		right[w]++
	}
	var more, less []string
	for _, g := range got {
		if left[g] > right[g] {
			more = append(more, g)
		}
	}
	for _, w := range want {
		if right[w] > left[w] {
			less = append(less, w)
		}
	}
	return fmt.Sprintf("%d rows, want %d; too many: %s; missing: %s", len(got), len(want), some(more), some(less))
}

func some(rows []string) string {
	const most = 4
	if len(rows) > most {
		return strings.Join(rows[:most], " ") + fmt.Sprintf(" and %d more", len(rows)-most)
	}
	return strings.Join(rows, " ")
}
