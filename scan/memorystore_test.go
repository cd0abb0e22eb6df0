package scan

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"sync"
	"sync/atomic"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/storage"
)

// memoryStore holds files in memory under mem: and counts those that are open.
type memoryStore struct {
	mu    sync.Mutex
	files map[string][]byte
	open  atomic.Int64
	reads atomic.Int64
	// fail, if set, is asked before every read; what it returns fails the read.
	fail func(at string, reads int64) error
}

func newMemoryStore() *memoryStore { return &memoryStore{files: map[string][]byte{}} }

func (s *memoryStore) put(at string, raw []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files[at] = raw
}

func (s *memoryStore) mux() *storage.Mux {
	locations, _ := storage.NewMap(nil)
	return storage.NewMux([]storage.Kind{{Schemes: []string{"mem"}, New: func(map[string]string, []storage.Credential) (storage.Store, error) { return s, nil }}}, locations)
}

func (s *memoryStore) Open(_ context.Context, at storage.Location, _ int64) (storage.File, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	raw, ok := s.files[at]
	if !ok {
		return nil, fault.New(fault.NotFound, "no file %s", at)
	}
	s.open.Add(1)
	return &heldFile{Reader: bytes.NewReader(raw), store: s, at: at, key: fmt.Sprintf("%s %p", at, &raw)}, nil
}

func (s *memoryStore) ReadAll(ctx context.Context, at storage.Location, limit int64) ([]byte, error) {
	f, err := s.Open(ctx, at, -1)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if f.Size() > limit {
		return nil, fault.New(fault.Exhausted, "%s is too large", at)
	}
	return io.ReadAll(io.NewSectionReader(f, 0, f.Size()))
}

func (s *memoryStore) List(context.Context, storage.Location) iter.Seq2[storage.Info, error] {
	return func(yield func(storage.Info, error) bool) {
		yield(storage.Info{}, fault.New(fault.Unsupported, "files in memory are not listed"))
	}
}

// heldFile is an open file of a memoryStore.
type heldFile struct {
	*bytes.Reader
	store  *memoryStore
	at     string
	key    string
	closed atomic.Bool
}

func (f *heldFile) Key() string { return f.key }

func (f *heldFile) ReadAt(p []byte, off int64) (int, error) {
	n := f.store.reads.Add(1)
	if f.store.fail != nil {
		if err := f.store.fail(f.at, n); err != nil {
			return 0, err
		}
	}
	return f.Reader.ReadAt(p, off)
}

func (f *heldFile) Close() error {
	if !f.closed.Swap(true) {
		f.store.open.Add(-1)
	}
	return nil
}
