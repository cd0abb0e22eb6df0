// Package remote is what the stores behind a network share: files that are read by ranged requests, whole small files, listings; retries with
// back-off and jitter, a deadline for every request and for bodies that stall; the checks that make a short, mixed or foreign answer an error; and
// errors that hold no secret. What a store's protocol is like, it learns from an Objects, of which each kind of store has one.
package remote

import (
	"context"
	"io"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/resource"
	"github.com/skua-data/skua/storage"
)

// Objects is the protocol of one kind of store. It is safe for concurrent use. Its calls send one request each and try nothing again; their
// contexts bound the call and the reading of the body.
type Objects interface {
	// Name gives what a location names, in one spelling whatever its scheme, for the key of a file. A location that cannot be is fault.Invalid.
	Name(at storage.Location) (string, error)
	// Get asks for bytes of a file.
	Get(ctx context.Context, at storage.Location, ask Ask) (Answer, error)
	// List gives a page of what a folder holds, and the token of the next page; empty: it was the last. A folder that is missing gives nothing, or
	// an error that Judge calls fault.NotFound. Locations and the order are for the caller to make: a child's Info has its bare name in Location.
	List(ctx context.Context, folder storage.Location, token string) (page []storage.Info, next string, err error)
	// Judge says what an error of these calls, or of a body, means.
	Judge(err error) Verdict
}

// Ask is which bytes of a file are wanted, at least one.
type Ask struct {
	Offset  int64  // from the end where it is negative: the last -Offset bytes
	Length  int64  // without meaning where Offset is negative
	Version string // the version that it must be; empty: any
}

// Answer is what a store gives. The store says what it sends; the caller checks it.
type Answer struct {
	Body    io.ReadCloser
	Offset  int64  // of the body in the file
	Length  int64  // of the body
	Total   int64  // length of the file; -1: the store does not say
	Version string // empty: the store has none
}

// Verdict is what an error means.
type Verdict struct {
	Kind  fault.Kind
	Again bool          // another try may succeed
	After time.Duration // the store asks to wait so long first
	Empty bool          // the range lies behind the end of the file
	Other bool          // the file is not the one that was meant
	Text  string        // in a few words, without addresses or secrets; empty: the error's own
}

// Config is what a Store is made of. Objects and Identity are required.
type Config struct {
	Objects  Objects
	Identity string         // tells stores apart in a cache: kind, endpoint, and as whom; a digest where that is secret
	Access   storage.Access // zero fields: the package's own
	NoSuffix bool           // the store cannot be asked for the last bytes of a file
	Retry    Retry
	Secrets  []string // what no error may show
}

// Store is a storage.Store over Objects.
type Store struct{ config Config }

var _ storage.Store = (*Store)(nil)

// The defaults of Config.Access, for a store that is some tens of milliseconds away.
const (
	defaultTail     = 256 << 10
	defaultWhole    = 1 << 20
	defaultGap      = 512 << 10
	defaultRequest  = 32 << 20
	defaultParallel = 4
	defaultAhead    = 96 << 20
)

// New makes a store. It sends nothing.
func New(c Config) *Store {
	a := &c.Access
	for _, d := range []struct {
		field *int64
		value int64
	}{{&a.Tail, defaultTail}, {&a.Whole, defaultWhole}, {&a.Gap, defaultGap}, {&a.Request, defaultRequest}, {&a.Ahead, defaultAhead}} {
		if *d.field <= 0 {
			*d.field = d.value
		}
	}
	if a.Parallel <= 0 {
		a.Parallel = defaultParallel
	}
	c.Retry = c.Retry.filled()
	c.Secrets = slices.DeleteFunc(slices.Clone(c.Secrets), func(s string) bool { return len(s) < 4 })
	return &Store{c}
}

// Open opens a file. With a size it sends nothing and trusts it: a file of another length fails when it is read. Without one it asks for the end of
// the file, where the store can be asked for it, or for the beginning, and keeps what came.
func (s *Store) Open(ctx context.Context, at storage.Location, size int64) (storage.File, error) {
	f, err := s.open(ctx, at, size)
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (s *Store) open(ctx context.Context, at storage.Location, size int64) (*file, error) {
	if err := ctx.Err(); err != nil {
		return nil, fault.Wrap(err, "open %s", at)
	}
	name, err := s.config.Objects.Name(at)
	if err != nil {
		return nil, err
	}
	f := &file{store: s, ctx: ctx, at: at, name: name, size: size, counters: &resource.From(ctx).Counters}
	if size < 0 {
		if err := f.discover(); err != nil {
			return nil, err
		}
	}
	f.key = s.key(name, f.size, f.version)
	return f, nil
}

func (s *Store) key(name string, size int64, version string) string {
	return strings.Join([]string{s.config.Identity, name, itoa(size), version}, "\x00")
}

// ReadAll reads a whole file, a small one with one request.
func (s *Store) ReadAll(ctx context.Context, at storage.Location, limit int64) ([]byte, error) {
	f, err := s.open(ctx, at, -1)
	if err != nil {
		return nil, err
	}
	if f.size > limit {
		return nil, fault.New(fault.Exhausted, "read %s: larger than the limit of %d bytes", at, limit).In(at)
	}
	if f.keptAt == 0 && int64(len(f.kept)) == f.size {
		return f.kept, nil
	}
	out := make([]byte, f.size)
	if n, err := f.ReadAt(out, 0); n < len(out) {
		return nil, err
	}
	return out, nil
}

// mostListed bounds a listing.
const mostListed = 1_000_000

// List lists a folder. The stores' order is that of whole keys, so that it is put in order here, at the end of its last page.
func (s *Store) List(ctx context.Context, folder storage.Location) iter.Seq2[storage.Info, error] {
	return func(yield func(storage.Info, error) bool) {
		entries, err := s.list(ctx, folder)
		if err != nil {
			yield(storage.Info{}, err)
			return
		}
		under := strings.TrimRight(folder, "/") + "/"
		for _, e := range entries {
			if e.Location = under + e.Location; !yield(e, nil) {
				return
			}
		}
	}
}

func (s *Store) list(ctx context.Context, folder storage.Location) ([]storage.Info, error) {
	if err := ctx.Err(); err != nil {
		return nil, fault.Wrap(err, "list %s", folder)
	}
	if _, err := s.config.Objects.Name(folder); err != nil {
		return nil, err
	}
	var out []storage.Info
	for token := ""; ; {
		var page []storage.Info
		var next string
		err := s.tries(ctx, &resource.From(ctx).Counters, func(ctx context.Context) (err error) {
			page, next, err = s.config.Objects.List(ctx, folder, token)
			return err
		})
		if err != nil {
			return nil, s.explain(err, "list", folder)
		}
		out = append(out, page...)
		if len(out) > mostListed {
			return nil, fault.New(fault.Exhausted, "list %s: it has more than %d entries", folder, mostListed).In(folder)
		}
		if next == "" {
			break
		}
		if next == token {
			return nil, fault.New(fault.Unavailable, "list %s: the store gives the same page over and over", folder).In(folder)
		}
		token = next
	}
	return inOrder(folder, out)
}

// inOrder sorts entries by name and joins those that came twice: a folder may stand for itself as an empty object.
func inOrder(folder storage.Location, entries []storage.Info) ([]storage.Info, error) {
	if len(entries) == 0 {
		return nil, fault.New(fault.NotFound, "list %s: no such folder", folder).In(folder)
	}
	entries = slices.DeleteFunc(entries, func(e storage.Info) bool { return e.Location == "" || strings.Contains(e.Location, "/") })
	slices.SortStableFunc(entries, func(a, b storage.Info) int { return strings.Compare(a.Location, b.Location) })
	return slices.CompactFunc(entries, func(a, b storage.Info) bool { return a.Location == b.Location && a.Folder == b.Folder }), nil
}
