package storage

import (
	"context"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/skua-data/skua/fault"
)

// Factory makes a Store of one kind for one set of properties (a catalog's configuration, Iceberg's names) and vended credentials. It does no
// request: a wrong key shows itself at the first use.
type Factory func(properties map[string]string, credentials []Credential) (Store, error)

// Kind binds URI schemes to a Factory: {"file", ""} to local.New.
type Kind struct {
	Schemes []string
	New     Factory
	Idle    func(properties map[string]string) []string // which properties of its own have no effect; nil: it has none
}

// Mux opens locations in the store of their scheme. It is safe for concurrent use.
type Mux struct {
	kinds     []Kind
	locations Map
	stores    pool
}

// NewMux makes a Mux of the kinds given; the first kind that names a scheme serves it. Every location passes the map before a store is chosen
// for it, and errors and listings come back in the spelling that was asked for.
func NewMux(kinds []Kind, locations Map) *Mux {
	return &Mux{kinds: slices.Clone(kinds), locations: locations}
}

// For gives the Store for one table: properties are the catalog's with Table.Config over them. Of the credentials, the one with the longest
// prefix of a location, as metadata spells it, goes to the store that opens it. A scheme that no kind serves is fault.Unsupported at the first use.
func (m *Mux) For(properties map[string]string, credentials []Credential) Store {
	return m.ForTable(properties, credentials, nil)
}

// ForTable is For with a map of the table's own in front of the Mux's. Unless it is nil, a location that none of its prefixes fits is refused.
func (m *Mux) ForTable(properties map[string]string, credentials []Credential, own Map) Store {
	return m.ForLease(properties, credentials, own, nil)
}

// ForLease is ForTable for a table that renew loads anew where what opens its files is about to expire; nil: they are read until then.
func (m *Mux) ForLease(properties map[string]string, credentials []Credential, own Map, renew Renew) Store {
	return &routed{mux: m, own: own, renew: renew, now: time.Now, lease: newLease(properties, credentials, time.Now())}
}

func (m *Mux) kind(scheme string) int {
	return slices.IndexFunc(m.kinds, func(k Kind) bool { return slices.Contains(k.Schemes, scheme) })
}

// Scheme gives a location's scheme in lower case; empty for a bare path.
func Scheme(at Location) string {
	colon := strings.IndexByte(at, ':')
	if colon < 1 {
		return ""
	}
	scheme := strings.ToLower(at[:colon])
	for i, r := range scheme {
		letter := r >= 'a' && r <= 'z'
		if !letter && (i == 0 || !strings.ContainsRune("0123456789+-.", r)) {
			return ""
		}
	}
	return scheme
}

// routed is the Store of one table: it sends each location to the store of its scheme.
type routed struct {
	mux   *Mux
	own   Map // the table's; nil: none
	renew Renew
	now   func() time.Time

	mu    sync.Mutex
	lease *lease    // what opens files at present
	tried time.Time // when it was last to be renewed
}

var (
	_ Store  = (*routed)(nil)
	_ Prober = (*routed)(nil)
)

// route gives the store for a location, the location under which to open it there, and how long that is good.
func (r *routed) route(ctx context.Context, at Location) (Store, Location, term, error) {
	opened, fits := r.own.Lookup(at)
	if r.own != nil && (!fits || leavesFolder(opened)) {
		return nil, "", term{}, fault.New(fault.Denied, "open %s: it lies outside of the locations that the catalog gives the table", at).In(at)
	}
	opened = r.mux.locations.Open(opened)
	scheme := Scheme(opened)
	k := r.mux.kind(scheme)
	if k < 0 {
		if scheme == "" {
			scheme = "(none)"
		}
		return nil, "", term{}, fault.New(fault.Unsupported, "open %s: the scheme %s is not supported", at, scheme).In(at)
	}
	l, credential, good, err := r.leaseFor(ctx, at)
	if err != nil {
		return nil, "", term{}, fault.Wrap(err, "open %s", at)
	}
	store, err := r.mux.stores.get(poolKey{kind: k, properties: l.print, credential: fingerprintOf(credential)}, good.expires, r.now(), func() (Store, error) {
		var vended []Credential
		if credential != nil {
			vended = []Credential{*credential}
		}
		return r.mux.kinds[k].New(l.properties, vended)
	})
	if err != nil {
		return nil, "", term{}, fault.Wrap(err, "open %s", at)
	}
	return store, opened, good, nil
}

// leavesFolder reports whether a location goes up on its way.
func leavesFolder(at Location) bool {
	return slices.Contains(strings.Split(at, "/"), "..")
}

// Probe asks the store of a location's scheme, where that is a Prober.
func (r *routed) Probe(ctx context.Context, at Location) bool {
	store, opened, _, err := r.route(ctx, at)
	p, ok := store.(Prober)
	return ok && err == nil && p.Probe(ctx, opened)
}

// Open opens a file in the store of its scheme.
func (r *routed) Open(ctx context.Context, at Location, size int64) (File, error) {
	file, good, err := r.open(ctx, at, size)
	if err != nil || good.expires.IsZero() || r.renew == nil {
		return file, err
	}
	return &leased{store: r, ctx: ctx, at: at, file: file, good: good}, nil
}

func (r *routed) open(ctx context.Context, at Location, size int64) (File, term, error) {
	store, opened, good, err := r.route(ctx, at)
	if err != nil {
		return nil, term{}, err
	}
	file, err := store.Open(ctx, opened, size)
	if err != nil {
		return nil, term{}, respell(err, opened, at)
	}
	if opened != at {
		file = &mapped{File: file, opened: opened, at: at}
	}
	return file, good, nil
}

// ReadAll reads a whole file from the store of its scheme.
func (r *routed) ReadAll(ctx context.Context, at Location, limit int64) ([]byte, error) {
	store, opened, _, err := r.route(ctx, at)
	if err != nil {
		return nil, err
	}
	data, err := store.ReadAll(ctx, opened, limit)
	return data, respell(err, opened, at)
}

// List lists a folder of the store of its scheme.
func (r *routed) List(ctx context.Context, folder Location) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		store, opened, _, err := r.route(ctx, folder)
		if err != nil {
			yield(Info{}, err)
			return
		}
		from, to := strings.TrimRight(opened, "/"), strings.TrimRight(folder, "/")
		for info, err := range store.List(ctx, opened) {
			if err != nil {
				yield(Info{}, respell(err, opened, folder))
				return
			}
			if rest, ok := strings.CutPrefix(info.Location, from); ok {
				info.Location = to + rest
			}
			if !yield(info, nil) {
				return
			}
		}
	}
}
