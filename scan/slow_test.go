package scan

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/resource"
)

// rowsOfPart emits n batches of one row, which tell their part and their place in it.
func rowsOfPart(schema *arrow.Schema, mem memory.Allocator, part, n int, emit func(arrow.RecordBatch) error) error {
	for at := range n {
		b := array.NewInt64Builder(mem)
		b.Append(int64(part*n + at))
		a := b.NewArray()
		b.Release()
		batch := array.NewRecordBatch(schema, []arrow.Array{a}, 1)
		a.Release()
		if err := emit(batch); err != nil {
			return err
		}
	}
	return nil
}

// TestPartsThatNobodyAsksForAreGivenUpAndReadAgain has a reader wait until all workers run, and then stop asking: what comes is every row once, in order.
func TestPartsThatNobodyAsksForAreGivenUpAndReadAgain(t *testing.T) {
	const parts, each, cores = 6, 5, 3
	schema := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}}, nil)
	checked := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer checked.AssertSize(t, 0)
	ctx := resource.With(t.Context(), resource.NewPool(resource.Config{Cores: cores, Allocator: checked}).NewStatement("t"))
	var begun atomic.Int64
	all := make(chan struct{})
	running := sync.OnceFunc(func() { close(all) })
	s := startStream(ctx, schema, parts, 0, -1, time.Millisecond, func(ctx context.Context, i int, emit func(arrow.RecordBatch) error) error {
		if begun.Add(1) == cores {
			running()
		}
		if i == 0 {
			<-all
		}
		return rowsOfPart(schema, checked, i, each, emit)
	})
	defer s.Release()
	for want := int64(0); s.Next(); want++ {
		if got := s.RecordBatch().Column(0).(*array.Int64).Value(0); got != want {
			t.Fatalf("row %d came where %d was to", got, want)
		}
		if want == 0 {
			for s.held() > 1 { // all but the part that is being delivered are given up
				time.Sleep(time.Millisecond)
			}
		}
		if want == parts*each-1 {
			defer func() {
				if n := begun.Load(); n <= parts {
					t.Errorf("%d parts were begun: none was given up", n)
				}
			}()
		}
	}
	if s.Err() != nil || s.at != parts {
		t.Errorf("%d of %d parts, %v", s.at, parts, s.Err())
	}
}

// held is how many parts are claimed and not delivered.
func (s *stream) held() int { return len(s.ahead) }

// TestOneWorkerBegins looks at a stream that nobody has asked for a batch: one part was begun, and its worker is full.
func TestOneWorkerBegins(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}}, nil)
	ctx := resource.With(t.Context(), resource.NewPool(resource.Config{Cores: 4}).NewStatement("t"))
	made := make(chan int, 100)
	s := endless(ctx, memory.DefaultAllocator, 5, made)
	defer s.Release()
	for len(s.slot(0).batches) == 0 || len(made) < 2 {
		time.Sleep(time.Millisecond)
	}
	if n := s.held(); n != 1 || !s.Schema().Equal(schema) {
		t.Errorf("%d parts were begun", n)
	}
}

// TestShortMemorySlowsAScanDown has a scan share a small limit with somebody who holds all of it: every row still comes.
func TestShortMemorySlowsAScanDown(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}}, nil)
	pool := resource.NewPool(resource.Config{Cores: 2, Memory: 1 << 20})
	other := pool.NewStatement("other")
	release := other.Charge(1<<20 + 1)
	defer release()
	statement := pool.NewStatement("t")
	ctx := resource.With(t.Context(), statement)
	s := newStream(ctx, schema, 4, 0, -1, func(_ context.Context, i int, emit func(arrow.RecordBatch) error) error {
		return rowsOfPart(schema, statement.Allocator(), i, 50, emit)
	})
	rows := 0
	for ; s.Next(); rows++ {
	}
	if rows != 200 || s.Err() != nil || statement.Err() != nil {
		t.Errorf("%d rows, %v, %v", rows, s.Err(), statement.Err())
	}
	s.Release()
	if statement.Used() != 0 {
		t.Errorf("%d bytes are left", statement.Used())
	}
}
