package parquet

import (
	"math"
	"math/rand"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	format "github.com/apache/arrow-go/v18/parquet"

	"github.com/skua-data/skua/kernels/kernelstest"
	"github.com/skua-data/skua/predicate"
)

// TestNoRowIsPrunedByABloomFilterThatAFilterKeeps tests for values that are there and for others; statistics are off, so that only Bloom filters
// can prune.
func TestNoRowIsPrunedByABloomFilterThatAFilterKeeps(t *testing.T) {
	r := rand.New(rand.NewSource(9))
	fields := kernelstest.Flat(true)
	pruned := map[arrow.Type]int{}
	for seed, decimals := range []bool{false, true} {
		batch := kernelstest.Random(fields, 80, 0.2, int64(seed), memory.DefaultAllocator)
		other := kernelstest.Random(fields, 80, 0.2, int64(seed+50), memory.DefaultAllocator)
		f := openBytes(t, kernelstest.Write(t, batch, kernelstest.Layout{RowGroup: 20, Options: []format.WriterProperty{
			format.WithStats(false), format.WithBloomFilterEnabled(true), format.WithDictionaryDefault(seed == 0), format.WithStoreDecimalAsInteger(decimals)}}))
		columns := matched(t, f, fields, nil)
		for c, field := range fields {
			values := append(literals(batch.Column(c), r), literals(other.Column(c), r)...)
			for _, p := range tests(boundField(field), values) {
				for _, g := range f.RowGroups(0, math.MaxInt64, p, lookup(columns)) {
					if g.Pruned == "" {
						continue
					}
					pruned[field.Type.ID()]++
					if n := survivors(t, f, g.Ordinal, columns[c:c+1], p); n > 0 {
						t.Fatalf("%s: row group %d with %d such rows is pruned: %s", p, g.Ordinal, n, g.Pruned)
					}
				}
			}
		}
		batch.Release()
		other.Release()
	}
	for _, id := range []arrow.Type{arrow.INT64, arrow.STRING, arrow.FLOAT64, arrow.TIMESTAMP} {
		if pruned[id] == 0 {
			t.Errorf("nothing is pruned for %s", id)
		}
	}
}

// TestBloomFiltersOfPromotedColumns looks for numbers in the form in which the file has them.
func TestBloomFiltersOfPromotedColumns(t *testing.T) {
	stored := []arrow.Field{kernelstest.Field(1, "i", arrow.PrimitiveTypes.Int32, false), kernelstest.Field(2, "f", arrow.PrimitiveTypes.Float32, false)}
	wanted := []arrow.Field{kernelstest.Field(1, "i", arrow.PrimitiveTypes.Int64, false), kernelstest.Field(2, "f", arrow.PrimitiveTypes.Float64, false)}
	batch := kernelstest.Random(stored, 50, 0, 1, memory.DefaultAllocator)
	defer batch.Release()
	f := openBytes(t, kernelstest.Write(t, batch, kernelstest.Layout{Options: []format.WriterProperty{format.WithStats(false), format.WithBloomFilterEnabled(true)}}))
	columns := matched(t, f, wanted, nil)
	r := rand.New(rand.NewSource(1))
	for c, field := range wanted {
		values := literals(batch.Column(c), r)
		for i := range values {
			values[i].Type = field.Type
		}
		for _, p := range tests(boundField(field), values) {
			for _, g := range f.RowGroups(0, math.MaxInt64, p, lookup(columns)) {
				if n := survivors(t, f, g.Ordinal, columns[c:c+1], p); g.Pruned != "" && n > 0 {
					t.Fatalf("%s: %d such rows are pruned", p, n)
				}
			}
		}
	}
	for c, v := range []any{int64(1) << 40, 0.1} {
		p := predicate.Comparison{Op: predicate.Eq, Field: boundField(wanted[c]), Value: predicate.Literal{Type: wanted[c].Type, Value: v}}
		if g := f.RowGroups(0, math.MaxInt64, p, lookup(columns)); g[0].Pruned == "" {
			t.Errorf("%s: no stored number can be it, and the row group is read", p)
		}
	}
}

// FuzzBloomHeader reads damaged filters.
func FuzzBloomHeader(f *testing.F) {
	batch := kernelstest.Random(kernelstest.Flat(true)[:3], 50, 0, 1, memory.DefaultAllocator)
	data := kernelstest.Write(f, batch, kernelstest.Layout{Options: []format.WriterProperty{format.WithBloomFilterEnabled(true)}})
	batch.Release()
	at := *openBytes(f, data).metadata.RowGroups[0].Columns[1].MetaData.BloomFilterOffset
	f.Add(data[at:at+bloomHeader], uint64(1))
	f.Fuzz(func(t *testing.T, head []byte, hash uint64) {
		if size, length, ok := readBloomHeader(head); ok && (size < 0 || length > int64(len(head))) {
			t.Errorf("%d bytes behind %d", size, length)
		}
		if n := len(head) / bloomBlock * bloomBlock; n > 0 {
			bloom(head[:n]).has(hash)
		}
	})
}
