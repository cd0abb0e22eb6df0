package scan

import (
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// TestPathsOfPositionsOutliveTheirBatch overwrites the memory of each batch once it was read, as an allocator does that uses it again.
func TestPathsOfPositionsOutliveTheirBatch(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "file_path", Type: arrow.BinaryTypes.String}, {Name: "pos", Type: arrow.PrimitiveTypes.Int64}}, nil)
	out := map[string]*[]int64{}
	for n := range 3 {
		b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		for i, path := range []string{"a", "b", "a"} {
			b.Field(0).(*array.StringBuilder).Append(path)
			b.Field(1).(*array.Int64Builder).Append(int64(3*n + i))
		}
		batch := b.NewRecordBatch()
		if err := collectPositions(batch, "deletes.parquet", out); err != nil {
			t.Fatal(err)
		}
		for _, buffer := range batch.Column(0).Data().Buffers() {
			if buffer != nil {
				copy(buffer.Bytes(), slices.Repeat([]byte("x"), buffer.Len()))
			}
		}
	}
	for path, want := range map[string][]int64{"a": {0, 2, 3, 5, 6, 8}, "b": {1, 4, 7}} {
		if list := out[path]; list == nil || !slices.Equal(*list, want) {
			t.Errorf("positions of %s: %v, want %v; of all: %v", path, list, want, out)
		}
	}
}
