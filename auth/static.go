package auth

import (
	"bufio"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/skua-data/skua/fault"
)

// Static authenticates the users of a file. It is safe for concurrent use.
type Static struct {
	users   map[string]hash
	decoy   hash          // what an unknown user's password is compared with, so that it takes as long
	workers chan struct{} // bounds the cores that passwords can burn
	proof   []byte        // key of seen
	backoff *backoff

	mu   sync.Mutex
	seen map[string][sha256.Size]byte // user → HMAC of the password that matched last: Basic on every call must not cost a hash each
}

var _ Authenticator = (*Static)(nil)

// NewStatic reads users: a line each, name:hash, the hash as Hash makes it. Empty lines and lines that begin with # are skipped. Error texts name
// the line and never quote it.
func NewStatic(r io.Reader) (*Static, error) {
	s := &Static{users: map[string]hash{}, workers: make(chan struct{}, 2), proof: make([]byte, 32), seen: map[string][sha256.Size]byte{},
		backoff: newBackoff(time.Now)}
	rand.Read(s.proof)
	s.decoy = hash{iterations: iterations, salt: s.proof[:16], key: make([]byte, sha256.Size)}
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		if err := s.add(line); err != nil {
			return nil, fault.Wrap(err, "users, line %d", n)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fault.New(fault.Invalid, "read users: %w", err)
	}
	if len(s.users) == 0 {
		return nil, fault.New(fault.Invalid, "there is no user")
	}
	return s, nil
}

func (s *Static) add(line string) error {
	name, text, ok := strings.Cut(line, ":")
	if !ok || name == "" {
		return fault.New(fault.Invalid, "not of the form name:hash")
	}
	if name == Anonymous.Name {
		return fault.New(fault.Invalid, "the name %s is reserved", name)
	}
	if _, twice := s.users[name]; twice {
		return fault.New(fault.Invalid, "user %s is there twice", name)
	}
	h, err := parseHash(text)
	if err != nil {
		return err
	}
	s.users[name] = h
	s.decoy.iterations = h.iterations
	return nil
}

// Authenticate compares the password. At most two are hashed at once; the others wait, or give up with ctx. A user whose passwords were wrong too
// often is not tried for a while, and the refusal costs no hash; the password that matched last still lets its user in.
func (s *Static) Authenticate(ctx context.Context, c Credentials) (Identity, error) {
	if c.Scheme != Basic {
		return Identity{}, fault.New(fault.Unauthenticated, "log in with user and password")
	}
	if s.proven(c) {
		return Identity{Principal: Principal{Name: c.User}}, nil
	}
	if err := s.backoff.check(c.User); err != nil {
		return Identity{}, err
	}
	select {
	case s.workers <- struct{}{}:
		defer func() { <-s.workers }()
	case <-ctx.Done():
		return Identity{}, ctx.Err()
	}
	if err := s.backoff.check(c.User); err != nil { // others failed while this one waited
		return Identity{}, err
	}
	h, known := s.users[c.User]
	if !known {
		h = s.decoy
	}
	if !h.matches(c.Password) || !known {
		s.backoff.failed(c.User)
		return Identity{}, fault.New(fault.Unauthenticated, "wrong user or password")
	}
	s.backoff.passed(c.User)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen[c.User] = s.sum(c.Password)
	return Identity{Principal: Principal{Name: c.User}}, nil
}

func (s *Static) proven(c Credentials) bool {
	sum := s.sum(c.Password)
	s.mu.Lock()
	defer s.mu.Unlock()
	seen, ok := s.seen[c.User]
	return ok && hmac.Equal(seen[:], sum[:])
}

func (s *Static) sum(password string) (out [sha256.Size]byte) {
	m := hmac.New(sha256.New, s.proof)
	io.WriteString(m, password)
	m.Sum(out[:0])
	return out
}

// LoadStatic reads the users of a file: see NewStatic.
func LoadStatic(path string) (*Static, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fault.New(fault.Invalid, "read the users: %w", err).Change("skua.auth.users-file")
	}
	defer f.Close()
	users, err := NewStatic(f)
	if err != nil {
		return nil, fault.Wrap(err, "read %s", path)
	}
	return users, nil
}
