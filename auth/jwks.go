package auth

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/skua-data/skua/fault"
)

const (
	maxKeySet    = 1 << 20          // bytes of a key set
	maxKeys      = 256              // in one
	fetchTimeout = 10 * time.Second // for one fetch
	fetchPause   = 10 * time.Second // between two fetches: tokens with made-up key ids must not become requests to the provider
)

var (
	errUnknownKey = errors.New("unknown key")
	errKeyMisuse  = errors.New("the key is for another use or algorithm")
)

// keysUnreachable says that there are no keys at all, which is not the token's fault.
type keysUnreachable struct{ cause error }

func (e *keysUnreachable) Error() string { return "keys: " + e.cause.Error() }

// keySet holds the keys of a provider: fetched when first needed, again when they are old, and once more when a token names one that is not
// among them. Keys outlive a provider that does not answer.
type keySet struct {
	config JWTConfig
	read   func(ctx context.Context) ([]byte, error)

	fetching sync.Mutex // held by the one call that fetches
	tried    time.Time  // when keys were last asked for
	last     error      // of that try

	mu      sync.Mutex
	keys    []webKey
	fetched time.Time // when the keys came
}

func newKeySet(c JWTConfig) (*keySet, error) {
	if c.Refresh <= 0 {
		c.Refresh = 15 * time.Minute
	}
	s := &keySet{config: c}
	address, err := url.Parse(c.Keys)
	switch {
	case c.Keys == "":
		return nil, fault.New(fault.Invalid, "the keys that verify bearer tokens are not set").Change("skua.auth.jwt.keys")
	case err == nil && (address.Scheme == "https" || address.Scheme == "http"):
		if !secureEnough(address) {
			return nil, fault.New(fault.Invalid, "keys from another machine must come over https").Change("skua.auth.jwt.keys")
		}
		s.read = fetcher(c.Keys)
	default:
		path := strings.TrimPrefix(c.Keys, "file://")
		if _, err := os.Stat(path); err != nil {
			return nil, fault.New(fault.Invalid, "read the keys of bearer tokens: %w", err).Change("skua.auth.jwt.keys")
		}
		s.read = func(context.Context) ([]byte, error) { return readFile(path) }
	}
	return s, nil
}

// secureEnough takes https, and http to this machine.
func secureEnough(u *url.URL) bool {
	if u.Scheme == "https" {
		return true
	}
	ip := net.ParseIP(u.Hostname())
	return u.Scheme == "http" && (u.Hostname() == "localhost" || ip != nil && ip.IsLoopback())
}

func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readBounded(f)
}

func readBounded(r io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxKeySet+1))
	if err == nil && len(text) > maxKeySet {
		err = errors.New("the key set is larger than 1 MiB")
	}
	return text, err
}

// fetcher gets a URL. A redirect may not lead to a place that is less secure.
func fetcher(address string) func(context.Context) ([]byte, error) {
	client := &http.Client{Timeout: fetchTimeout, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		if len(via) >= 3 || !secureEnough(r.URL) {
			return errors.New("redirected too often, or away from https")
		}
		return nil
	}}
	return func(ctx context.Context) ([]byte, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			return nil, err
		}
		request.Header.Set("Accept", "application/jwk-set+json, application/json")
		response, err := client.Do(request)
		if err != nil {
			return nil, err
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return nil, errors.New("the provider answered " + response.Status)
		}
		return readBounded(response.Body)
	}
}

// find gives the public key of an id for an algorithm. A token without an id is verified with the only key that fits.
func (s *keySet) find(ctx context.Context, id, algorithm string) (any, error) {
	keys, fetched := s.current()
	if old := s.config.Now().Sub(fetched) > s.config.Refresh; fetched.IsZero() || old {
		if err := s.refresh(ctx, fetched, fetched.IsZero()); err != nil {
			return nil, err
		}
		keys, fetched = s.current()
	}
	key, err := choose(keys, id, algorithm)
	if !errors.Is(err, errUnknownKey) {
		return key, err
	}
	if err := s.refresh(ctx, fetched, true); err != nil {
		return nil, err
	}
	keys, _ = s.current()
	return choose(keys, id, algorithm)
}

func (s *keySet) current() ([]webKey, time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.keys, s.fetched
}

// refresh asks for the keys, unless they came since the caller looked or were just asked for. Calls that cannot do without wait for the one that
// fetches; the others go on with the keys that there are. It fails only where there are none.
func (s *keySet) refresh(ctx context.Context, seen time.Time, wait bool) error {
	if wait {
		s.fetching.Lock()
	} else if !s.fetching.TryLock() {
		return nil
	}
	defer s.fetching.Unlock()
	keys, fetched := s.current()
	if fetched != seen {
		return nil
	}
	if now := s.config.Now(); s.tried.IsZero() || now.Sub(s.tried) >= fetchPause {
		s.tried = now
		s.last = s.fetch(ctx, now)
		if s.last == nil {
			return nil
		}
		s.config.Log.Warn("the keys of bearer tokens cannot be read", "error", s.last.Error(), "in_use", len(keys))
	}
	if fetched.IsZero() {
		return &keysUnreachable{s.last}
	}
	return nil
}

func (s *keySet) fetch(ctx context.Context, now time.Time) error {
	// The fetch is for everybody who waits: it does not end with the call that began it.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), fetchTimeout)
	defer cancel()
	text, err := s.read(ctx)
	if err != nil {
		return err
	}
	keys, err := parseKeySet(text)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys, s.fetched = keys, now
	return nil
}

func choose(keys []webKey, id, algorithm string) (any, error) {
	var found *webKey
	for i := range keys {
		k := &keys[i]
		switch {
		case id != "" && k.ID == id && !k.fits(algorithm):
			return nil, errKeyMisuse
		case id != "" && k.ID == id:
			return k.public, nil
		case id == "" && k.fits(algorithm) && found != nil:
			return nil, errKeyMisuse // two could be meant
		case id == "" && k.fits(algorithm):
			found = k
		}
	}
	if found == nil {
		return nil, errUnknownKey
	}
	return found.public, nil
}

// parseKeySet reads a JSON Web Key Set. Keys of kinds that cannot verify here are left out, as providers publish others beside them.
func parseKeySet(text []byte) ([]webKey, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(text, &set); err != nil || set.Keys == nil {
		return nil, errors.New("it is no JSON Web Key Set")
	}
	if len(set.Keys) > maxKeys {
		return nil, errors.New("the key set has too many keys")
	}
	var keys []webKey
	for _, raw := range set.Keys {
		var k webKey
		if json.Unmarshal(raw, &k) != nil {
			continue
		}
		if k.read() == nil {
			keys = append(keys, k)
		}
	}
	if len(keys) == 0 {
		return nil, errors.New("no key in the set can verify a token")
	}
	return keys, nil
}
