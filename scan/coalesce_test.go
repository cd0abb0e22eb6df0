package scan

import (
	"errors"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/skua-data/skua/kernels/kernelstest"
)

// joinedFields are columns whose batches can be joined.
func joinedFields() []arrow.Field {
	out := kernelstest.Flat(true)
	for _, f := range kernelstest.Nested() {
		if joinable(f.Type) {
			out = append(out, f)
		}
	}
	return out
}

func TestSmallBatchesAreSentTogetherInOrder(t *testing.T) {
	checked := kernelstest.NewSoiled()
	defer checked.AssertSize(t, 0)
	fields := joinedFields()
	for _, c := range []struct {
		what        string
		steps       []int64 // rows of the batches that come, again and again
		most, limit int64
		batches     int // that leave
	}{
		{"small ones, as many as two megabytes hold", []int64{100}, 1 << 18, -1, 4},
		{"small ones, a bound of rows", []int64{100}, 1000, -1, 30},
		{"small and large ones", []int64{100, 9000, 50}, 1 << 18, -1, 8},
		{"a limit", []int64{100}, 1 << 18, 250, 100},
	} {
		var got []arrow.RecordBatch
		j := &coalescer{mem: checked, most: c.most, limit: c.limit, joins: true, emit: func(b arrow.RecordBatch) error {
			got = append(got, b)
			return nil
		}}
		var parts []arrow.RecordBatch
		for rows, i := int64(30_000), 0; rows > 0; i++ {
			n := min(c.steps[i%len(c.steps)], rows)
			parts, rows = append(parts, kernelstest.Random(fields, int(n), 0.1, int64(i), checked)), rows-n
			parts[i].Retain()
			if err := j.take(parts[i]); err != nil {
				t.Fatal(err)
			}
		}
		if err := j.flush(); err != nil {
			t.Fatal(err)
		}
		if c.batches != len(got) {
			t.Errorf("%s: %d batches leave, not %d", c.what, len(got), c.batches)
		}
		for _, b := range got {
			for at := int64(0); at < b.NumRows() && len(parts) > 0; parts = parts[1:] {
				same := b.NewSlice(at, at+parts[0].NumRows())
				if !array.RecordEqual(same, parts[0]) {
					t.Errorf("%s: other rows", c.what)
				}
				at += same.NumRows()
				same.Release()
				parts[0].Release()
			}
			b.Release()
		}
		if len(parts) > 0 {
			t.Errorf("%s: %d batches are missing", c.what, len(parts))
		}
	}
}

func TestWhatIsHeldIsFreedWhenNobodyTakesIt(t *testing.T) {
	checked := kernelstest.NewSoiled()
	defer checked.AssertSize(t, 0)
	gone := errors.New("gone")
	j := &coalescer{mem: checked, most: 250, limit: -1, joins: true, emit: func(b arrow.RecordBatch) error {
		b.Release()
		return gone
	}}
	defer j.drop()
	var err error
	for i := range 4 {
		if err = j.take(kernelstest.Random(joinedFields(), 100, 0.1, int64(i), checked)); err != nil {
			break
		}
	}
	if !errors.Is(err, gone) {
		t.Errorf("got %v", err)
	}
}

func TestMapsAreNotJoined(t *testing.T) {
	m := arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int64)
	for _, typ := range []arrow.DataType{m, arrow.ListOf(m), arrow.StructOf(arrow.Field{Name: "m", Type: m})} {
		if joinable(typ) {
			t.Errorf("%s is joined", typ)
		}
	}
	if !joinable(arrow.ListOf(arrow.StructOf(arrow.Field{Name: "x", Type: arrow.BinaryTypes.String}))) {
		t.Error("a list of structs is not joined")
	}
}
