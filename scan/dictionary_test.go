package scan

import (
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	pq "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/iceberg-go"

	"github.com/skua-data/skua/kernels/kernelstest"
	"github.com/skua-data/skua/predicate"
	"github.com/skua-data/skua/resource"
)

// TestDictionariesRuleOutRowGroups scans two row groups, of which one alone has the value that is looked for, though both have smaller and greater
// ones, and one row that has it is deleted by its place.
func TestDictionariesRuleOutRowGroups(t *testing.T) {
	const rows, group = 800_000, 400_000
	field := withID(1, "s", arrow.BinaryTypes.String)
	b := array.NewStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	for i := range rows {
		b.Append(fmt.Sprintf("v%05d", 2*(i*7919%1500)+i/group)) // the second row group has the odd numbers
	}
	a := b.NewArray()
	defer a.Release()
	batch := array.NewRecordBatch(arrow.NewSchema([]arrow.Field{field}, nil), []arrow.Array{a}, rows)
	defer batch.Release()
	raw := kernelstest.Write(t, batch, kernelstest.Layout{RowGroup: group, Options: []pq.WriterProperty{pq.WithDictionaryCostFallbackFor("s", false)}})
	m := makeTable(t, `{"id":1,"name":"s","type":"string","required":false}`)
	m.commit(madeFile{raw: raw, format: iceberg.ParquetFile, records: rows})
	first := int64(group)
	for a.(*array.String).Value(int(first)) != "v00901" {
		first++
	}
	m.commit(madeFile{positions: true, fields: positionFields(), rows: fmt.Sprintf(`[{"file_path": %q, "pos": %d}]`, m.location("00001.parquet"), first)})
	source, err := m.open().Source(t.Context(), Reference{})
	if err != nil {
		t.Fatal(err)
	}
	statement := resource.NewPool(resource.Config{Cores: 1}).NewStatement("")
	ctx := resource.With(t.Context(), statement)
	f := predicate.Field{ID: 1, Path: []string{"s"}, Type: arrow.BinaryTypes.String}
	plan, err := source.Plan(ctx, Request{Fields: []int{m.idOf(source, "_pos")}, Limit: -1,
		Filter: predicate.Comparison{Op: predicate.Eq, Field: f, Value: predicate.Literal{Type: f.Type, Value: "v00901"}}})
	if err != nil {
		t.Fatal(err)
	}
	reader, err := plan.Open(ctx, 0, plan.Splits())
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Release()
	var got []int64
	for reader.Next() {
		got = append(got, reader.RecordBatch().Column(0).(*array.Int64).Int64Values()...)
	}
	if reader.Err() != nil {
		t.Fatal(reader.Err())
	}
	var want []int64
	for i := first + 1; i < rows; i++ {
		if a.(*array.String).Value(int(i)) == "v00901" {
			want = append(want, i)
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) || len(want) < 200 {
		t.Errorf("%d rows from %v, want %d from %v", len(got), got[:1], len(want), want[:1])
	}
	seen := plan.Explain().RowGroups
	if n := statement.Counters.RowGroupsPruned.Load(); n != 1 || seen.Total != 2 || len(seen.Pruned) != 1 {
		t.Errorf("%d row groups are pruned: %v", n, seen)
	}
	for reason := range seen.Pruned {
		if !strings.HasPrefix(reason, "dictionary: `s` = ") {
			t.Errorf("pruned by %q", reason)
		}
	}
	if n := statement.Counters.DataBytes.Load(); n >= int64(len(raw))*3/2 { // the fallback reads a filter's column twice
		t.Errorf("%d bytes of %d are read", n, len(raw))
	}
}
