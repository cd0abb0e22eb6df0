package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/resource"
	"github.com/skua-data/skua/storage"
)

// file is an open file. It keeps the context of Open because storage.File ties every later read to it.
type file struct {
	store    *Store
	ctx      context.Context
	at       storage.Location
	name     string
	key      string
	counters *resource.Counters
	size     int64

	kept   []byte // what came with the first answer
	keptAt int64

	mu      sync.Mutex
	version string
	closed  bool
}

var _ storage.Remote = (*file)(nil)

// Size is the length that Open was given or that the store told.
func (f *file) Size() int64 { return f.size }

// Key names the store, the file, its length and, where Open asked, its version.
func (f *file) Key() string { return f.key }

// Access says how the store is best read.
func (f *file) Access() storage.Access { return f.store.config.Access }

// Version is what the store says of the bytes read so far.
func (f *file) Version() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.version
}

// Expect lets later reads fail where the store has another version.
func (f *file) Expect(version string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.version == "" {
		f.version = version
	}
}

// Close lets later reads fail. There is nothing to give back.
func (f *file) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	return nil
}

// ReadAt reads with one request, or with none where the bytes came with the first answer.
func (f *file) ReadAt(p []byte, off int64) (int, error) {
	f.mu.Lock()
	closed := f.closed
	f.mu.Unlock()
	switch {
	case off < 0:
		return 0, fault.New(fault.Invalid, "read %s: the offset %d is negative", f.at, off).In(f.at)
	case closed:
		return 0, fault.New(fault.Internal, "read %s: the file is closed", f.at).In(f.at)
	}
	if err := f.ctx.Err(); err != nil {
		return 0, fault.Wrap(err, "read %s", f.at)
	}
	if off >= f.size {
		if len(p) == 0 {
			return 0, nil
		}
		return 0, io.EOF
	}
	wanted := p[:min(int64(len(p)), f.size-off)]
	n, err := f.read(wanted, off)
	if err == nil && len(wanted) < len(p) {
		err = io.EOF
	}
	return n, err
}

// read gives what was kept of p, and asks for the rest.
func (f *file) read(p []byte, off int64) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	keptEnd := f.keptAt + int64(len(f.kept))
	if off >= f.keptAt && off+int64(len(p)) <= keptEnd {
		return copy(p, f.kept[off-f.keptAt:]), nil
	}
	// Of kept bytes in the middle nothing is made: readers ask for one end or for all.
	front, back := p[:0], p[len(p):]
	if off >= f.keptAt && off < keptEnd {
		front = p[:keptEnd-off]
	} else if end := off + int64(len(p)); end == keptEnd && off < f.keptAt {
		back = p[f.keptAt-off:]
	}
	copy(front, f.kept[min(max(off-f.keptAt, 0), int64(len(f.kept))):])
	copy(back, f.kept)
	asked := p[len(front) : len(p)-len(back)]
	n, err := f.ask(asked, off+int64(len(front)))
	if err != nil {
		return len(front) + n, err
	}
	return len(p), nil
}

// ask fills p. A request that breaks off is followed by one for what is missing.
func (f *file) ask(p []byte, off int64) (done int, err error) {
	err = f.store.tries(f.ctx, f.counters, func(ctx context.Context) error {
		n, err := f.get(ctx, p[done:], off+int64(done))
		done += n
		return err
	})
	if err != nil {
		return done, f.store.explain(err, "read", f.at)
	}
	return done, nil
}

// get sends one request and gives how many bytes of its answer are good.
func (f *file) get(ctx context.Context, p []byte, off int64) (int, error) {
	answer, err := f.store.config.Objects.Get(ctx, f.at, Ask{Offset: off, Length: int64(len(p)), Version: f.Version()})
	if err != nil {
		if v := f.store.judge(err); v.Empty {
			return 0, &failure{kind: fault.Corrupt, final: true, other: true, text: fmt.Sprintf("the file is shorter than the %d bytes that its metadata says", f.size)}
		}
		return 0, err
	}
	defer answer.Body.Close()
	if err := f.check(answer, off, int64(len(p))); err != nil {
		return 0, err
	}
	return f.store.readFull(ctx, answer.Body, p)
}

// check compares an answer with what was asked for.
func (f *file) check(a Answer, off, length int64) error {
	switch {
	case a.Total >= 0 && a.Total != f.size:
		return &failure{kind: fault.Corrupt, final: true, other: true, text: fmt.Sprintf("the file has %d bytes and not the %d that its metadata says", a.Total, f.size)}
	case a.Offset != off || a.Length != length:
		return &failure{kind: fault.Unavailable, text: fmt.Sprintf("the store answered with %d bytes at %d where %d at %d were asked for", a.Length, a.Offset, length, off)}
	}
	return f.see(a.Version)
}

// see notes the version of an answer, which must be that of all others.
func (f *file) see(version string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.version == "" {
		f.version = version
	}
	if f.version != version {
		return errChanged()
	}
	return nil
}

// errChanged says that the store has another version than the one that was read before.
func errChanged() error {
	return &failure{kind: fault.Unavailable, final: true, other: true, text: "the file was changed while it was read"}
}

// Changed is the verdict of an answer to Ask.Version that says that there is another version now.
func Changed() Verdict {
	return Verdict{Kind: fault.Unavailable, Other: true, Text: errChanged().Error()}
}

// discover asks for the end or the beginning of a file of unknown length, and keeps it.
func (f *file) discover() error {
	access := f.store.config.Access
	ask := Ask{Offset: -access.Whole}
	if f.store.config.NoSuffix {
		ask = Ask{Length: access.Whole}
	}
	err := f.store.tries(f.ctx, f.counters, func(ctx context.Context) error {
		f.version = ""
		answer, err := f.store.config.Objects.Get(ctx, f.at, ask)
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		if answer.Total < 0 {
			return &failure{kind: fault.Unavailable, final: true, text: "the store does not say how long the file is"}
		}
		want := storage.Range{Length: min(access.Whole, answer.Total)}
		if ask.Offset < 0 {
			want.Offset = answer.Total - want.Length
		}
		f.size = answer.Total
		if answer.Length == answer.Total && answer.Offset == 0 && answer.Total <= 2*access.Whole {
			want = storage.Range{Length: answer.Total} // a store that gives all of a small file
		}
		if err := f.check(answer, want.Offset, want.Length); err != nil {
			return err
		}
		f.kept, f.keptAt = make([]byte, want.Length), want.Offset
		_, err = f.store.readFull(ctx, answer.Body, f.kept)
		return err
	})
	if err != nil && f.store.judge(err).Empty && !isContext(err) {
		f.size, f.kept = 0, nil
		return nil
	}
	if err != nil {
		return f.store.explain(err, "open", f.at)
	}
	return nil
}

func isContext(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
