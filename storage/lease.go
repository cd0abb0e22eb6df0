package storage

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/skua-data/skua/fault"
)

// Renew asks the catalog anew for what opens a table's files: the properties of its store and the credentials, as For takes them.
type Renew func(ctx context.Context) (properties map[string]string, credentials []Credential, err error)

const (
	renewBefore = 5 * time.Minute // before credentials expire they are renewed, or at half their life if that is shorter
	renewAgain  = 5 * time.Second // after a renewal that failed, while the old ones are good
)

// expiryKeys are the properties that tell when others expire, in milliseconds since 1970; one that ends in a dot stands for a family.
var expiryKeys = []string{"s3.session-token-expires-at-ms", "gcs.oauth2.token-expires-at", "adls.sas-token-expires-at-ms."}

// term is how long something is good.
type term struct{ renew, expires time.Time } // zero: for ever

func newTerm(from, expires time.Time) term {
	if expires.IsZero() {
		return term{}
	}
	return term{expires.Add(-min(renewBefore, expires.Sub(from)/2)), expires}
}

// lease is what opens a table's files.
type lease struct {
	properties  map[string]string
	credentials []Credential
	print       string
	from        time.Time
	expires     time.Time // of what the properties hold; zero: never
}

func newLease(properties map[string]string, credentials []Credential, from time.Time) *lease {
	l := &lease{properties: maps.Clone(properties), credentials: slices.Clone(credentials), print: fingerprint(properties), from: from}
	l.expires = expiry(properties)
	for i := range l.credentials {
		if c := &l.credentials[i]; c.Expires.IsZero() {
			c.Expires = expiry(c.Properties)
		}
	}
	return l
}

// expiry gives the earliest time that properties name; zero: they name none.
func expiry(properties map[string]string) (first time.Time) {
	for k, v := range properties {
		if !slices.ContainsFunc(expiryKeys, func(e string) bool { return k == e || strings.HasSuffix(e, ".") && strings.HasPrefix(k, e) }) {
			continue
		}
		ms, err := strconv.ParseInt(strings.TrimSpace(v), 10, 64)
		if at := time.UnixMilli(ms); err == nil && ms > 0 && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	return first
}

// of gives what opens a location: the vended credential with the longest prefix of it (nil: none applies), and how long that is good.
func (l *lease) of(at Location) (*Credential, term) {
	var best *Credential
	for i := range l.credentials {
		c := &l.credentials[i]
		if strings.HasPrefix(at, c.Prefix) && (best == nil || len(c.Prefix) > len(best.Prefix)) {
			best = c
		}
	}
	if best != nil {
		return best, newTerm(l.from, best.Expires)
	}
	return nil, newTerm(l.from, l.expires)
}

// leaseFor gives what opens a location, renewed where it is about to expire.
func (r *routed) leaseFor(ctx context.Context, at Location) (*lease, *Credential, term, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	credential, good := r.lease.of(at)
	now := r.now()
	if good.expires.IsZero() || now.Before(good.renew) {
		return r.lease, credential, good, nil
	}
	var failed error
	if r.renew != nil && (now.After(good.expires) || now.Sub(r.tried) > renewAgain) {
		r.tried = now
		properties, credentials, err := r.renew(ctx)
		if failed = err; err == nil {
			r.lease = newLease(properties, credentials, now)
			credential, good = r.lease.of(at)
		}
	}
	if !good.expires.IsZero() && now.After(good.expires) {
		if failed != nil {
			return nil, nil, term{}, fault.Wrap(failed, "renew the credentials that the catalog vended")
		}
		return nil, nil, term{}, fault.New(fault.Denied, "the credentials that the catalog vended for it have expired").In(at)
	}
	return r.lease, credential, good, nil
}

// leased is a file that outlives the credentials it was opened with: it is opened anew with others before they expire.
type leased struct {
	store *routed
	ctx   context.Context // of Open, which bounds every later read
	at    Location

	mu    sync.Mutex
	file  File
	good  term
	spent []File
}

// Unwrap gives the file as it is open now.
func (l *leased) Unwrap() File { return l.now() }

func (l *leased) now() File {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.file
}

// Size is the file's length.
func (l *leased) Size() int64 { return l.now().Size() }

// Key names the file's bytes.
func (l *leased) Key() string { return l.now().Key() }

// ReadAt reads, with credentials that are good.
func (l *leased) ReadAt(p []byte, off int64) (int, error) {
	if err := l.renew(); err != nil {
		return 0, err
	}
	return l.now().ReadAt(p, off)
}

// renew opens the file anew where it is time to. Where that fails and the old credentials are good, it goes on with them.
func (l *leased) renew() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.store.now()
	if now.Before(l.good.renew) {
		return nil
	}
	file, good, err := l.store.open(l.ctx, l.at, l.file.Size())
	if err != nil {
		if now.Before(l.good.expires) {
			return nil
		}
		return err
	}
	if old, next := RemoteOf(l.file), RemoteOf(file); old != nil && next != nil {
		next.Expect(old.Version())
	}
	l.spent, l.file, l.good = append(l.spent, l.file), file, good
	if good.expires.IsZero() {
		l.good.renew = now.Add(24 * time.Hour)
	}
	return nil
}

// Close closes the file as often as it was opened.
func (l *leased) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	err := l.file.Close()
	for _, f := range l.spent {
		f.Close()
	}
	return err
}
