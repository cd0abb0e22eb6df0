package scan

import (
	"context"
	"path/filepath"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/kernels/cpu"
	"github.com/skua-data/skua/predicate"
	"github.com/skua-data/skua/resource"
	"github.com/skua-data/skua/scan/parquet"
	"github.com/skua-data/skua/storage"
	"github.com/skua-data/skua/storage/local"
)

// watchedStore counts the files that are open and is asked at every call whether it works.
type watchedStore struct {
	storage.Store
	open  atomic.Int64
	calls atomic.Int64
	at    func(call int64) error // nil: it works
}

func (s *watchedStore) called() error {
	n := s.calls.Add(1)
	if s.at == nil {
		return nil
	}
	return s.at(n)
}

func (s *watchedStore) Open(ctx context.Context, at storage.Location, size int64) (storage.File, error) {
	if err := s.called(); err != nil {
		return nil, err
	}
	f, err := s.Store.Open(ctx, at, size)
	if err != nil {
		return nil, err
	}
	s.open.Add(1)
	return &watchedFile{File: f, store: s}, nil
}

type watchedFile struct {
	storage.File
	store  *watchedStore
	closed atomic.Bool
}

func (f *watchedFile) ReadAt(p []byte, off int64) (int, error) {
	if err := f.store.called(); err != nil {
		return 0, err
	}
	return f.File.ReadAt(p, off)
}

func (f *watchedFile) Close() error {
	if !f.closed.Swap(true) {
		f.store.open.Add(-1)
	}
	return f.File.Close()
}

// watched gives a scanner of the tables with known answers behind a watched store.
func watched(t *testing.T, decoder kernels.Decoder) (*Scanner, *watchedStore) {
	t.Helper()
	dir, err := filepath.Abs("testdata/oracle")
	if err != nil {
		t.Fatal(err)
	}
	locations, err := storage.NewMap([]storage.Mapping{{From: "file:/skua-oracle/", To: "file:" + dir + "/"}, {From: "file:///skua-oracle/", To: "file:" + dir + "/"}})
	if err != nil {
		t.Fatal(err)
	}
	s := &watchedStore{Store: local.Store{}}
	kind := storage.Kind{Schemes: local.Kind.Schemes, New: func(map[string]string, []storage.Credential) (storage.Store, error) { return s, nil }}
	return NewScanner(Config{Stores: storage.NewMux([]storage.Kind{kind}, locations), Decoder: decoder, MetadataCache: 1}), s
}

// settled waits for goroutines to end that were told to.
func settled(before int) int {
	for deadline := time.Now().Add(20 * time.Second); runtime.NumGoroutine() > before && time.Now().Before(deadline); {
		runtime.Gosched()
		time.Sleep(time.Millisecond)
	}
	return runtime.NumGoroutine()
}

// TestNothingIsLeftOfScansThatEndEarly cancels scans at every call to the store, lets every call fail, and abandons streams after some batches:
// no memory, no goroutine and no open file stays.
func TestNothingIsLeftOfScansThatEndEarly(t *testing.T) {
	decoder := kernels.Prefer(cpu.New(), parquet.NewFallback())
	defer decoder.Close()
	for _, d := range []struct {
		name    string
		decoder kernels.Decoder
	}{{"cpu", decoder}, {"fallback", parquet.NewFallback()}} {
		for _, name := range []string{"pos_v2", "eq_v2", "dv_v3"} {
			t.Run(d.name+"/"+name, func(t *testing.T) { endEarly(t, d.decoder, name) })
		}
	}
}

func endEarly(t *testing.T, decoder kernels.Decoder, name string) {
	scanner, store := watched(t, decoder)
	table := oracleTable(t, scanner, "testdata/oracle", []string{"deletes"}, name)
	source, err := table.Source(t.Context(), Reference{})
	if err != nil {
		t.Fatal(err)
	}
	first := source.Schema().Field(0)
	filter := predicate.Not{Expr: predicate.IsNull{Field: predicate.Field{ID: FieldID(first), Path: []string{first.Name}, Type: first.Type}}}
	request := Request{Fields: append(fieldIDs(source.Schema()), idPos), Filter: filter, Limit: -1,
		Options: []Option{{Name: "split-size", Value: "400"}, {Name: "file-open-cost", Value: "0"}, {Name: "batch-size", Value: "1"}}}
	// scan reads until batches were taken, or all; what happens at a call is up to at.
	scan := func(at func(call int64, cancel context.CancelFunc) error, take int) (calls int64, err error) {
		before := runtime.NumGoroutine()
		checked := memory.NewCheckedAllocator(memory.DefaultAllocator)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		ctx = resource.With(ctx, resource.NewPool(resource.Config{Cores: 3, Allocator: checked}).NewStatement("t"))
		store.calls.Store(0)
		store.at = nil
		if at != nil {
			store.at = func(call int64) error { return at(call, cancel) }
		}
		func() {
			plan, planErr := source.Plan(ctx, request)
			if err = planErr; err != nil {
				return
			}
			stream, openErr := plan.Open(ctx, 0, plan.Splits())
			if err = openErr; err != nil {
				return
			}
			defer stream.Release()
			for take != 0 && stream.Next() {
				take--
			}
			err = stream.Err()
		}()
		if n := settled(before); n > before {
			t.Errorf("%d goroutines, %d before", n, before)
		}
		if n := store.open.Load(); n != 0 {
			t.Errorf("%d files are open", n)
		}
		checked.AssertSize(t, 0)
		return store.calls.Load(), err
	}
	calls, err := scan(nil, -1)
	if err != nil || calls < 6 {
		t.Fatalf("%d calls, %v", calls, err)
	}
	kinds := map[fault.Kind]bool{}
	step := int64(1)
	if testing.Short() {
		step = 7
	}
	for at := int64(1); at <= calls; at += step {
		reached := atomic.Bool{} // how many calls there are depends on who reads first
		_, err := scan(func(call int64, _ context.CancelFunc) error {
			if call >= at {
				reached.Store(true)
				return fault.New(fault.Corrupt, "call %d fails", call)
			}
			return nil
		}, -1)
		if reached.Load() != (err != nil) {
			t.Errorf("call %d fails: %t, told: %v", at, reached.Load(), err)
		}
		if err != nil {
			kinds[fault.KindOf(err)] = true
		}
		scan(func(call int64, cancel context.CancelFunc) error {
			if call == at {
				cancel()
			}
			return nil
		}, -1)
		scan(nil, int(at)%5)
		if t.Failed() {
			t.Fatalf("at call %d of %d", at, calls)
		}
	}
	if !slices.Equal(keys(kinds), []fault.Kind{fault.Corrupt}) {
		t.Errorf("errors of the kinds %v", keys(kinds))
	}
}

func keys[K comparable](m map[K]bool) []K {
	var out []K
	for k := range m {
		out = append(out, k)
	}
	return out
}
