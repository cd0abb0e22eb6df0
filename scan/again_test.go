package scan

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/kernels/cpu"
	"github.com/skua-data/skua/kernels/kernelstest"
	"github.com/skua-data/skua/resource"
	"github.com/skua-data/skua/scan/parquet"
	"github.com/skua-data/skua/storage"
)

// TestOnlyWhatHasNotLeftIsReadAgain tries readings that fail in each way before or after a batch.
func TestOnlyWhatHasNotLeftIsReadAgain(t *testing.T) {
	away := fault.New(fault.Unavailable, "the store is away")
	for _, c := range []struct {
		name         string
		batches      int // that leave before the error
		errs         []error
		tries, leave int
		ok           bool
	}{
		{"at once", 1, []error{nil}, 1, 1, true},
		{"second try", 0, []error{away, nil}, 2, 0, true},
		{"wrapped, third try", 0, []error{fault.Wrap(away, "read a"), away, nil}, 3, 0, true},
		{"never", 0, []error{away, away, away, nil}, 3, 0, false},
		{"after a batch", 1, []error{away, nil}, 1, 1, false},
		{"damage", 0, []error{fault.New(fault.Corrupt, "spoilt"), nil}, 1, 0, false},
		{"unknown", 0, []error{errors.New("what"), nil}, 1, 0, false},
	} {
		tries, left := 0, 0
		err := again(t.Context(), func(b arrow.RecordBatch) error { left++; b.Release(); return nil }, func(emit func(arrow.RecordBatch) error) error {
			tries++
			for range c.batches {
				if err := emit(array.NewRecordBatch(arrow.NewSchema(nil, nil), nil, 1)); err != nil {
					return err
				}
			}
			return c.errs[tries-1]
		})
		if tries != c.tries || left != c.leave || (err == nil) != c.ok {
			t.Errorf("%s: %d tries, %d batches, %v", c.name, tries, left, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	tries := 0
	err := again(ctx, nil, func(func(arrow.RecordBatch) error) error { tries++; cancel(); return away })
	if tries != 1 || err == nil {
		t.Errorf("cancelled: %d tries, %v", tries, err)
	}
}

// flakyStore fails some of the calls that touch Parquet files, counted from 1.
type flakyStore struct {
	storage.Store
	calls *atomic.Int64
	fails func(call int64) bool
}

type flakyFile struct {
	storage.File
	store *flakyStore
}

func (s *flakyStore) call() error {
	if n := s.calls.Add(1); s.fails(n) {
		return fault.New(fault.Unavailable, "call %d: the store is away", n)
	}
	return nil
}

func (s *flakyStore) Open(ctx context.Context, at storage.Location, size int64) (storage.File, error) {
	f, err := s.Store.Open(ctx, at, size)
	if err != nil || !strings.HasSuffix(at, ".parquet") {
		return f, err
	}
	if err := s.call(); err != nil {
		f.Close()
		return nil, err
	}
	return flakyFile{f, s}, nil
}

func (f flakyFile) ReadAt(p []byte, off int64) (int, error) {
	if err := f.store.call(); err != nil {
		return 0, err
	}
	return f.File.ReadAt(p, off)
}

// TestStoreThatFailsOnceCostsNoRow lets each call to a file of data or deletes fail in its turn. Every split gives one batch, so that all failures
// come before it.
func TestStoreThatFailsOnceCostsNoRow(t *testing.T) {
	config := oracleScanner(t, "testdata/oracle").config
	config.Decoder, config.Fallback = kernels.Prefer(cpu.New(), parquet.NewFallback()), parquet.NewFallback()
	defer config.Decoder.Close()
	defer config.Fallback.Close()
	step := int64(1)
	if testing.Short() {
		step = 7
	}
	for _, name := range []string{"pos_v2", "eq_v2"} {
		for _, native := range []string{"true", "false"} {
			read := func(fails func(int64) bool) (string, int64, error) {
				table := oracleTable(t, NewScanner(config), "testdata/oracle", []string{"deletes"}, name)
				store := &flakyStore{table.store, &atomic.Int64{}, fails}
				table.store = store
				source, err := table.Source(t.Context(), Reference{})
				if err != nil {
					t.Fatal(err)
				}
				checked := kernelstest.NewSoiled()
				defer checked.AssertSize(t, 0)
				ctx := resource.With(t.Context(), resource.NewPool(resource.Config{Cores: 1, Allocator: checked}).NewStatement("t"))
				batch, err := readAll(ctx, source, Request{Fields: fieldIDs(source.Schema()), Limit: -1,
					Options: []Option{{Name: "split-size", Value: "1"}, {Name: "native-decoder", Value: native}}})
				if err != nil {
					return "", store.calls.Load(), err
				}
				defer batch.Release()
				text, err := array.RecordToStructArray(batch).MarshalJSON()
				return string(text), store.calls.Load(), err
			}
			want, calls, err := read(func(int64) bool { return false })
			if err != nil || calls < 10 {
				t.Fatalf("%d calls, %v", calls, err)
			}
			for n := int64(1); n <= calls; n += step {
				if got, _, err := read(func(call int64) bool { return call == n }); err != nil || got != want {
					t.Errorf("%s, native %s: call %d of %d failed once: %v\n%s\nwant\n%s", name, native, n, calls, err, got, want)
				}
			}
			if _, calls, err := read(func(int64) bool { return true }); !fault.Is(err, fault.Unavailable) || calls < 1+moreTries {
				t.Errorf("%s: a store that is away: %v after %d calls", name, err, calls)
			}
		}
	}
}
