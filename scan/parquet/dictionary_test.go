package parquet

import (
	"context"
	"fmt"
	"math"
	"math/rand"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	format "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"

	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/kernels/kernelstest"
	"github.com/skua-data/skua/kernels/pages"
	"github.com/skua-data/skua/predicate"
	"github.com/skua-data/skua/storage"
)

// byDictionary lists the row groups of a file, pruned by dictionaries alone.
func byDictionary(f *File, p predicate.Expr, columns []kernels.Column) []Group {
	groups := f.RowGroups(0, math.MaxInt64, nil, nil)
	f.pruneByDictionary(context.Background(), groups, p, lookup(columns), worth{})
	return groups
}

// TestNoRowIsPrunedByADictionaryThatAFilterKeeps tests for values that are there and for others, also of two columns, on files with statistics and
// without, packed and not, and on some whose dictionaries overflow.
func TestNoRowIsPrunedByADictionaryThatAFilterKeeps(t *testing.T) {
	r := rand.New(rand.NewSource(10))
	fields := kernelstest.Flat(true)
	pruned := map[arrow.Type]int{}
	for seed, options := range [][]format.WriterProperty{
		{format.WithStats(false)},
		{format.WithStats(false), format.WithDataPageVersion(format.DataPageV2), format.WithCompression(compress.Codecs.Zstd), format.WithStoreDecimalAsInteger(true)},
		{format.WithCompression(compress.Codecs.Snappy), format.WithDictionaryPageSizeLimit(40), format.WithBatchSize(4), format.WithDataPageSize(1)},
	} {
		batch := kernelstest.Random(fields, 40, 0.2, int64(seed), memory.DefaultAllocator)
		other := kernelstest.Random(fields, 40, 0.2, int64(seed+50), memory.DefaultAllocator)
		f := openBytes(t, kernelstest.Write(t, batch, kernelstest.Layout{RowGroup: 20, Options: options}))
		columns := matched(t, f, fields, nil)
		for c, field := range fields {
			values := append(literals(batch.Column(c), r), literals(other.Column(c), r)...)
			own := tests(boundField(field), values)
			next := (c + 1) % len(fields)
			mixed := tests(boundField(fields[next]), literals(other.Column(next), r))
			for i := 0; i+3 < min(len(own), len(mixed)); i += 3 {
				own = append(own, predicate.Or{Left: own[i], Right: mixed[i+1]}, predicate.And{Left: own[i], Right: predicate.And{Left: mixed[i+2], Right: own[i+3]}})
			}
			for _, p := range own {
				for _, g := range byDictionary(f, p, columns) {
					if g.Pruned == "" {
						continue
					}
					pruned[field.Type.ID()]++
					if n := survivors(t, f, g.Ordinal, columns, p); n > 0 {
						t.Fatalf("%s: row group %d with %d such rows is pruned: %s", p, g.Ordinal, n, g.Pruned)
					}
				}
			}
		}
		batch.Release()
		other.Release()
	}
	for _, field := range fields[1:] {
		if pruned[field.Type.ID()] < 10 {
			t.Errorf("%d row groups are pruned for %s", pruned[field.Type.ID()], field.Type)
		}
	}
}

// numbers is a column of numbers, each several times, between the least and the greatest of which others are missing.
func numbers(t testing.TB, nullable bool, values ...any) arrow.RecordBatch {
	b := array.NewInt32Builder(memory.DefaultAllocator)
	defer b.Release()
	for range 50 {
		for _, v := range values {
			if v == nil {
				b.AppendNull()
				continue
			}
			b.Append(int32(v.(int)))
		}
	}
	a := b.NewArray()
	defer a.Release()
	return array.NewRecordBatch(arrow.NewSchema([]arrow.Field{kernelstest.Field(1, "i", i32, nullable)}, nil), []arrow.Array{a}, int64(a.Len()))
}

func TestWhatADictionaryProves(t *testing.T) {
	long := kernelstest.Field(1, "i", i64, true) // promoted
	field := boundField(long)
	number := func(v int64) predicate.Literal { return predicate.Literal{Type: i64, Value: v} }
	is := func(op predicate.Op, v int64) predicate.Expr {
		return predicate.Comparison{Op: op, Field: field, Value: number(v)}
	}
	null := predicate.IsNull{Field: field}
	absent := predicate.Field{ID: 9, Path: []string{"gone"}, Type: i64}
	in := func(null bool, values ...int64) predicate.Expr {
		out := predicate.In{Field: field, HasNull: null}
		for _, v := range values {
			out.Values = append(out.Values, number(v))
		}
		return out
	}
	for _, c := range []struct {
		values []any
		filter predicate.Expr
		pruned bool
	}{
		{[]any{1, 9}, is(predicate.Eq, 5), true},
		{[]any{1, 9}, is(predicate.Eq, 9), false},
		{[]any{1, nil, 9}, is(predicate.Eq, 5), true},
		{[]any{1, nil, 9}, predicate.Or{Left: is(predicate.Eq, 5), Right: null}, false}, // x <=> NULL or 5
		{[]any{1, nil, 9}, predicate.And{Left: is(predicate.Eq, 5), Right: predicate.Not{Expr: null}}, true},
		{[]any{1, nil, 9}, null, false},
		{[]any{1, 9}, predicate.Not{Expr: null}, false},
		{[]any{1, 9}, in(false, 2, 3, 4, 5, 6, 7), true},
		{[]any{1, 9}, in(true, 2, 3), true},
		{[]any{1, 9}, in(true, 2, 9), false},
		{[]any{1, 9}, predicate.Not{Expr: in(false, 1, 9)}, true},
		{[]any{1, nil, 9}, predicate.Not{Expr: in(false, 1, 9)}, true}, // NULL NOT IN (1, 9) is null
		{[]any{1, 9}, predicate.Not{Expr: in(false, 1)}, false},
		{[]any{1, 9}, predicate.And{Left: is(predicate.Gt, 1), Right: is(predicate.Lt, 9)}, true},
		{[]any{1, 9}, predicate.And{Left: is(predicate.Gt, 0), Right: is(predicate.Lt, 9)}, false},
		{[]any{4}, is(predicate.NotEq, 4), true},
		{[]any{1, 9}, is(predicate.Eq, 1<<32+1), true},
		{[]any{1, 9}, predicate.Comparison{Op: predicate.Eq, Field: absent, Value: number(5)}, false},
		{[]any{1, 9}, predicate.Or{Left: is(predicate.Eq, 5), Right: predicate.IsNull{Field: absent}}, false},
		{[]any{1, 9}, predicate.And{Left: is(predicate.Eq, 5), Right: predicate.IsNull{Field: absent}}, true},
		{[]any{1, 9}, predicate.Or{Left: is(predicate.Eq, 5), Right: is(predicate.Eq, 6)}, true},
	} {
		batch := numbers(t, true, c.values...)
		f := openBytes(t, kernelstest.Write(t, batch, kernelstest.Layout{Options: []format.WriterProperty{format.WithStats(false)}}))
		batch.Release()
		g := byDictionary(f, c.filter, matched(t, f, []arrow.Field{long}, nil))
		if (g[0].Pruned != "") != c.pruned || c.pruned && !strings.HasPrefix(g[0].Pruned, "dictionary: ") {
			t.Errorf("%v: %s: pruned %q", c.values, c.filter, g[0].Pruned)
		}
	}
}

// TestOnlyChunksThatAreProvedToUseTheirDictionaryAlonePrune changes what a footer says of encodings.
func TestOnlyChunksThatAreProvedToUseTheirDictionaryAlonePrune(t *testing.T) {
	batch := numbers(t, true, 1, nil, 9)
	defer batch.Release()
	data := kernelstest.Write(t, batch, kernelstest.Layout{Options: []format.WriterProperty{format.WithStats(false)}})
	p := predicate.Comparison{Op: predicate.Eq, Field: boundField(kernelstest.Field(1, "i", i32, true)), Value: predicate.Literal{Type: i32, Value: int64(5)}}
	old, plain, rle := format.Encodings.PlainDict, format.Encodings.Plain, format.Encodings.RLE
	for _, c := range []struct {
		name   string
		change func(f *File)
		pruned bool
	}{
		{"as written", func(*File) {}, true},
		{"a page that is PLAIN", func(f *File) {
			stats := f.metadata.RowGroups[0].Columns[0].MetaData.EncodingStats
			for _, s := range stats {
				if s.PageType == pages.Data {
					s.Encoding = 0
				}
			}
		}, false},
		{"no data page at all", func(f *File) {
			for _, s := range f.metadata.RowGroups[0].Columns[0].MetaData.EncodingStats {
				s.PageType = pages.Dictionary
			}
		}, false},
		{"no statistics of encodings, new names", func(f *File) { f.metadata.RowGroups[0].Columns[0].MetaData.EncodingStats = nil }, false},
		{"no statistics of encodings, old names", func(f *File) { setEncodings(f, old, rle) }, true},
		{"no statistics of encodings, old names and a page that is PLAIN", func(f *File) { setEncodings(f, old, plain, rle) }, false},
		{"no statistics of encodings, levels alone", func(f *File) { setEncodings(f, rle) }, false},
		{"no place of the dictionary", func(f *File) { f.metadata.RowGroups[0].Columns[0].MetaData.DictionaryPageOffset = nil }, false},
		{"a dictionary behind the data", func(f *File) {
			m := f.metadata.RowGroups[0].Columns[0].MetaData
			at := m.DataPageOffset + 4
			m.DictionaryPageOffset = &at
		}, false},
		{"a long dictionary", func(f *File) { f.metadata.RowGroups[0].Columns[0].MetaData.DataPageOffset += dictionaryMost }, false},
	} {
		f := openBytes(t, data)
		columns := matched(t, f, []arrow.Field{kernelstest.Field(1, "i", i32, true)}, nil)
		c.change(f)
		if g := byDictionary(f, p, columns); (g[0].Pruned != "") != c.pruned {
			t.Errorf("%s: pruned %q", c.name, g[0].Pruned)
		}
	}
}

func setEncodings(f *File, ids ...format.Encoding) {
	m := f.metadata.RowGroups[0].Columns[0].MetaData
	m.EncodingStats = nil
	first := m.Encodings[0]
	m.Encodings = m.Encodings[:0]
	for _, id := range ids {
		e := first - first
		for range int(id) {
			e++
		}
		m.Encodings = append(m.Encodings, e)
	}
}

// TestShortChunksAreNotWorthADictionary counts what is read.
func TestShortChunksAreNotWorthADictionary(t *testing.T) {
	field := kernelstest.Field(1, "s", utf8, true)
	b := array.NewStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	for i := range 300_000 {
		b.Append(fmt.Sprint("value ", 2*(i%1500)))
	}
	a := b.NewArray()
	defer a.Release()
	batch := array.NewRecordBatch(arrow.NewSchema([]arrow.Field{field}, nil), []arrow.Array{a}, int64(a.Len()))
	defer batch.Release()
	p := predicate.Comparison{Op: predicate.Eq, Field: boundField(field), Value: predicate.Literal{Type: utf8, Value: "value 1001"}}
	for _, c := range []struct {
		rows   int64
		pruned int
	}{{300_000, 1}, {50_000, 0}} {
		data := kernelstest.Write(t, batch, kernelstest.Layout{RowGroup: c.rows, Options: []format.WriterProperty{
			format.WithStats(false), format.WithDictionaryCostFallbackFor("s", false)}})
		f := openBytes(t, data)
		file := &countedReads{File: f.file}
		f.file = file
		groups := f.RowGroups(0, math.MaxInt64, nil, nil)
		f.PruneByDictionary(context.Background(), groups, p, lookup(matched(t, f, []arrow.Field{field}, nil)))
		pruned := 0
		for _, g := range groups {
			pruned += boolInt(g.Pruned != "")
		}
		if pruned != c.pruned || file.reads != c.pruned || file.bytes > 64<<10 {
			t.Errorf("groups of %d rows: %d pruned for %d bytes in %d reads", c.rows, pruned, file.bytes, file.reads)
		}
	}
}

// TestDictionariesOfARemoteFileAreReadTogether counts requests, and checks that what was fetched is given back.
func TestDictionariesOfARemoteFileAreReadTogether(t *testing.T) {
	field := kernelstest.Field(1, "i", i32, false)
	batch := numbers(t, false, 1, 3, 5, 7, 9, 100, 200)
	defer batch.Release()
	many := make([]arrow.RecordBatch, 300)
	for i := range many {
		many[i] = batch
	}
	table := array.NewTableFromRecords(batch.Schema(), many)
	defer table.Release()
	whole, err := array.Concatenate(table.Column(0).Data().Chunks(), memory.DefaultAllocator)
	if err != nil {
		t.Fatal(err)
	}
	defer whole.Release()
	long := array.NewRecordBatch(batch.Schema(), []arrow.Array{whole}, int64(whole.Len()))
	defer long.Release()
	data := kernelstest.Write(t, long, kernelstest.Layout{RowGroup: 30_000, Options: []format.WriterProperty{format.WithStats(false)}})
	file := newDistantFile(data)
	file.access.Tail, file.access.Whole, file.access.Gap = 2<<10, 0, 100
	f, err := Open(t.Context(), file, "remote.parquet")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	columns := matched(t, f, []arrow.Field{field}, nil)
	for _, c := range []struct {
		value  int64
		pruned bool
	}{{50, true}, {100, false}} {
		file.reads = nil
		groups := f.RowGroups(0, math.MaxInt64, nil, nil)
		p := predicate.Comparison{Op: predicate.Eq, Field: boundField(field), Value: predicate.Literal{Type: i32, Value: c.value}}
		f.pruneByDictionary(checkedContext(t), groups, p, lookup(columns), worth{})
		var read int64
		for _, r := range file.reads {
			read += r.Length
		}
		if len(groups) < 3 || len(file.reads) > len(groups) || read > 100*int64(len(groups)) {
			t.Errorf("%d row groups: %d bytes in %v", len(groups), read, file.reads)
		}
		for _, g := range groups {
			if (g.Pruned != "") != c.pruned {
				t.Errorf("%d: row group %d is pruned: %q", c.value, g.Ordinal, g.Pruned)
			}
		}
	}
}

// countedReads is a file that counts.
type countedReads struct {
	storage.File
	reads, bytes int
}

// ReadAt reads and counts.
func (c *countedReads) ReadAt(p []byte, off int64) (int, error) {
	c.reads, c.bytes = c.reads+1, c.bytes+len(p)
	return c.File.ReadAt(p, off)
}

// FuzzDictionaryPage reads damaged dictionaries: they may prove anything, and must not do anything else.
func FuzzDictionaryPage(f *testing.F) {
	fields := kernelstest.Flat(true)
	batch := kernelstest.Random(fields, 60, 0.2, 1, memory.DefaultAllocator)
	data := kernelstest.Write(f, batch, kernelstest.Layout{Options: []format.WriterProperty{format.WithCompression(compress.Codecs.Snappy)}})
	batch.Release()
	file := openBytes(f, data)
	columns := matched(f, file, fields, nil)
	for c := range columns {
		if r, ok := file.dictionaryPage(0, columns[c].Node.Leaf); ok {
			f.Add(c, data[r.Offset:r.End()])
		}
	}
	f.Fuzz(func(t *testing.T, c int, page []byte) {
		if c < 0 || c >= len(columns) {
			return
		}
		defer func() { _ = recover() }() // as whoever asks does
		if a := file.dictionaryEntries(0, &columns[c].Node, page); a != nil {
			if a.Len() > len(page)*1000 {
				t.Errorf("%d entries of %d bytes", a.Len(), len(page))
			}
			a.Release()
		}
	})
}
