package auth

import (
	"bufio"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/skua-data/skua/fault"
)

// Static authenticates the users of a file, which may change while it runs: see LoadStatic. It is safe for concurrent use.
type Static struct {
	current atomic.Pointer[users]
	file    *usersFile    // nil: the users stay as they are
	workers chan struct{} // bounds the cores that passwords can burn
	proof   []byte        // key of seen
	backoff *backoff

	mu   sync.Mutex
	seen map[string]matched // by user: Basic on every call must not cost a hash each
}

var _ Gate = (*Static)(nil)

// users are what a file holds.
type users struct {
	hashes map[string]hash
	decoy  hash // what an unknown user's password is compared with, so that it takes as long
}

// matched is the password that let a user in last, as an HMAC, and the hash that it matched.
type matched struct {
	password [sha256.Size]byte
	proof    string
}

// NewStatic reads users: a line each, name:hash, the hash as Hash makes it. Empty lines and lines that begin with # are skipped. Error texts name
// the line and never quote it.
func NewStatic(r io.Reader) (*Static, error) {
	s := &Static{workers: make(chan struct{}, 2), proof: make([]byte, 32), seen: map[string]matched{}, backoff: newBackoff(time.Now)}
	rand.Read(s.proof)
	read, err := s.read(r)
	if err != nil {
		return nil, err
	}
	s.current.Store(read)
	return s, nil
}

func (s *Static) read(r io.Reader) (*users, error) {
	out := &users{hashes: map[string]hash{}, decoy: hash{iterations: iterations, salt: s.proof[:16], key: make([]byte, sha256.Size)}}
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		if err := out.add(line); err != nil {
			return nil, fault.Wrap(err, "users, line %d", n)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fault.New(fault.Invalid, "read users: %w", err)
	}
	if len(out.hashes) == 0 {
		return nil, fault.New(fault.Invalid, "there is no user")
	}
	return out, nil
}

func (u *users) add(line string) error {
	name, text, ok := strings.Cut(line, ":")
	if !ok || name == "" {
		return fault.New(fault.Invalid, "not of the form name:hash")
	}
	if name == Anonymous.Name {
		return fault.New(fault.Invalid, "the name %s is reserved", name)
	}
	if _, twice := u.hashes[name]; twice {
		return fault.New(fault.Invalid, "user %s is there twice", name)
	}
	h, err := parseHash(text)
	if err != nil {
		return err
	}
	u.hashes[name] = h
	u.decoy.iterations = h.iterations
	return nil
}

// Authenticate compares the password. At most two are hashed at once; the others wait, or give up with ctx. A user whose passwords were wrong too
// often is not tried for a while, and the refusal costs no hash; the password that matched last still lets its user in.
func (s *Static) Authenticate(ctx context.Context, c Credentials) (Identity, error) {
	if c.Scheme != Basic {
		return Identity{}, fault.New(fault.Unauthenticated, "log in with user and password")
	}
	known := s.now()
	if proof, ok := s.proven(known, c); ok {
		return Identity{Principal: Principal{Name: c.User}, Proof: proof}, nil
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
	h, user := known.hashes[c.User]
	if !user {
		h = known.decoy
	}
	if !h.matches(c.Password) || !user {
		s.backoff.failed(c.User)
		return Identity{}, fault.New(fault.Unauthenticated, "wrong user or password")
	}
	s.backoff.passed(c.User)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen[c.User] = matched{s.sum(c.Password), h.proof()}
	return Identity{Principal: Principal{Name: c.User}, Proof: h.proof()}, nil
}

// Stands is true as long as the user's line in the file is the one that the password matched.
func (s *Static) Stands(p Principal, proof string) error {
	h, known := s.now().hashes[p.Name]
	if !known || subtle.ConstantTimeCompare([]byte(h.proof()), []byte(proof)) != 1 {
		return fault.New(fault.Unauthenticated, "the user's password changed or the user is gone; log in again")
	}
	return nil
}

// proven reports whether a password is the one that matched last, and what it matched is still the user's hash.
func (s *Static) proven(known *users, c Credentials) (proof string, ok bool) {
	h, user := known.hashes[c.User]
	if !user {
		return "", false
	}
	sum := s.sum(c.Password)
	s.mu.Lock()
	defer s.mu.Unlock()
	last, ok := s.seen[c.User]
	return last.proof, ok && last.proof == h.proof() && hmac.Equal(last.password[:], sum[:])
}

func (s *Static) sum(password string) (out [sha256.Size]byte) {
	m := hmac.New(sha256.New, s.proof)
	io.WriteString(m, password)
	m.Sum(out[:0])
	return out
}

// proof names a hash without telling it: its digest, of which a token holds the first bytes.
func (h hash) proof() string {
	sum := sha256.New()
	sum.Write(h.salt)
	sum.Write(h.key)
	return hex.EncodeToString(sum.Sum(nil)[:12])
}
