package cpu

import (
	"context"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	format "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"

	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/kernels/kernelstest"
	"github.com/skua-data/skua/resource"
)

// TestParkedReadersGoOn reads row groups in steps, parked between them, and compares with a reader that is not. Of a file that is near parking gives memory back.
func TestParkedReadersGoOn(t *testing.T) {
	fields := []arrow.Field{
		kernelstest.Field(1, "i", arrow.PrimitiveTypes.Int64, true), kernelstest.Field(2, "s", arrow.BinaryTypes.String, true),
		kernelstest.Field(3, "b", arrow.FixedWidthTypes.Boolean, false),
		kernelstest.Field(4, "l", arrow.ListOfField(kernelstest.Field(5, "element", arrow.BinaryTypes.String, true)), true),
	}
	batch := kernelstest.Random(fields, 20_000, 0.1, 1, memory.DefaultAllocator)
	defer batch.Release()
	all, gaps := kernels.All(20_000), kernels.NewSelection([]kernels.Run{{From: 7, To: 3000}, {From: 9000, To: 9001}, {From: 12_000, To: 19_999}})
	for _, dictionary := range []bool{false, true} {
		groups, err := groupsOf(kernelstest.Write(t, batch, kernelstest.Layout{RowGroup: 20_000, Options: []format.WriterProperty{
			format.WithDictionaryDefault(dictionary), format.WithDataPageSize(3000), format.WithCompression(compress.Codecs.Snappy)}}))
		if err != nil {
			t.Fatal(err)
		}
		for _, near := range []bool{true, false} {
			for _, sel := range []*kernels.Selection{all, gaps} {
				groups[0].Near = near
				plain, _ := stepwise(t, groups[0], sel, false)
				parked, freed := stepwise(t, groups[0], sel, true)
				for i := range plain {
					if !array.RecordEqual(plain[i], parked[i]) {
						t.Errorf("dictionary %t, near %t: step %d differs", dictionary, near, i)
					}
					plain[i].Release()
					parked[i].Release()
				}
				if near != (freed > 0) {
					t.Errorf("dictionary %t, near %t: parking gave %d bytes back", dictionary, near, freed)
				}
			}
		}
	}
}

// stepwise reads columns in steps, and tells how much parking gave back.
func stepwise(t *testing.T, g *kernels.RowGroup, sel *kernels.Selection, park bool) (out []arrow.RecordBatch, freed int64) {
	t.Helper()
	d := New()
	defer d.Close()
	statement := resource.NewPool(resource.Config{}).NewStatement("t")
	ctx := resource.With(context.Background(), statement)
	r, err := d.Open(ctx, g)
	if err != nil {
		t.Fatal(err)
	}
	const step = 777
	for from := int64(0); from < sel.Count(); from += step {
		batch, err := r.Read(ctx, []int{0, 1, 2, 3}, sel, from, min(step, sel.Count()-from))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, batch)
		if park {
			before := statement.Used()
			kernels.Park(r)
			freed += before - statement.Used()
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return out, freed
}
