package auth

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"io"
	"os"
	"time"
	"unicode/utf8"

	"github.com/golang-jwt/jwt/v5"

	"github.com/skua-data/skua/fault"
)

// MinKey is the least length of a key, in bytes.
const MinKey = 32

// Keyring signs what the server hands out and verifies what comes back. Servers that share a key accept each other's tokens and tickets. It is
// safe for concurrent use.
type Keyring struct {
	keys []key // the first signs
	now  func() time.Time
}

type key struct {
	id     [4]byte // of the key's hash: says which one signed
	secret []byte
}

// NewKeyring makes a keyring: the first key signs, all verify, so that keys can be rotated. Without a key it makes a random one, and what it
// signs dies with the process. now may be nil: time.Now.
func NewKeyring(now func() time.Time, secrets ...[]byte) (*Keyring, error) {
	if len(secrets) == 0 {
		secret := make([]byte, MinKey)
		rand.Read(secret)
		secrets = [][]byte{secret}
	}
	if now == nil {
		now = time.Now
	}
	k := &Keyring{now: now}
	for i, s := range secrets {
		if len(s) < MinKey {
			return nil, fault.New(fault.Invalid, "signing key %d has %d bytes, it must have %d", i+1, len(s), MinKey)
		}
		sum := sha256.Sum256(s)
		k.keys = append(k.keys, key{id: [4]byte(sum[:4]), secret: s})
	}
	return k, nil
}

// derive gives the key for one purpose and kind of signature, so that a signature made for one is worth nothing for another.
func (k key) derive(kind, purpose string) []byte {
	m := hmac.New(sha256.New, k.secret)
	io.WriteString(m, kind+"\x00"+purpose)
	return m.Sum(nil)
}

// sealed is version, key id and expiry in front of a payload; the signature follows it.
const (
	sealVersion = 1
	sealHead    = 1 + 4 + 8
)

// Seal signs a payload for a purpose. The payload can be read by everybody.
func (k *Keyring) Seal(purpose string, payload []byte, expires time.Time) []byte {
	out := make([]byte, 0, sealHead+len(payload)+sha256.Size)
	out = append(out, sealVersion)
	out = append(out, k.keys[0].id[:]...)
	out = binary.BigEndian.AppendUint64(out, uint64(expires.Unix()))
	out = append(out, payload...)
	m := hmac.New(sha256.New, k.keys[0].derive("seal", purpose))
	m.Write(out)
	return m.Sum(out)
}

// Open gives back the payload of what Seal made for the same purpose, and when it expires. Anything else is fault.Invalid; what has expired is fault.NotFound.
func (k *Keyring) Open(purpose string, sealed []byte) (payload []byte, expires time.Time, err error) {
	bad := fault.New(fault.Invalid, "the %s is not one of this server's", purpose)
	if len(sealed) < sealHead+sha256.Size || sealed[0] != sealVersion {
		return nil, time.Time{}, bad
	}
	body, mac := sealed[:len(sealed)-sha256.Size], sealed[len(sealed)-sha256.Size:]
	for _, key := range k.keys {
		if key.id != [4]byte(sealed[1:5]) {
			continue
		}
		m := hmac.New(sha256.New, key.derive("seal", purpose))
		m.Write(body)
		if !hmac.Equal(m.Sum(nil), mac) {
			continue
		}
		expires = time.Unix(int64(binary.BigEndian.Uint64(body[5:])), 0)
		if k.now().After(expires) {
			return nil, expires, fault.New(fault.NotFound, "the %s has expired", purpose)
		}
		return body[sealHead:], expires, nil
	}
	return nil, time.Time{}, bad
}

// Token is what a bearer token says.
type Token struct {
	Principal Principal
	Session   string // name of the session that it opens; empty: none
	Issued    time.Time
	Expires   time.Time
	Until     time.Time // the login that it was made of ends then, and no token after it: zero: no end of its own
	Proof     string    // of the password that it was made of: see Identity
}

// claims is a Token on the wire.
type claims struct {
	Session string           `json:"sid,omitempty"`
	Until   *jwt.NumericDate `json:"until,omitempty"`
	Proof   string           `json:"pwd,omitempty"`
	jwt.RegisteredClaims
}

const (
	issuer   = "skua"
	audience = "skua-session"
)

// SignToken makes a bearer token: a JWT. Issued is set to now, and it expires with the login at the latest.
func (k *Keyring) SignToken(t Token) (string, error) {
	if !t.Until.IsZero() && t.Until.Before(t.Expires) {
		t.Expires = t.Until
	}
	c := claims{Session: t.Session, Proof: t.Proof, RegisteredClaims: jwt.RegisteredClaims{Issuer: issuer, Audience: jwt.ClaimStrings{audience}, Subject: t.Principal.Name,
		IssuedAt: jwt.NewNumericDate(k.now()), ExpiresAt: jwt.NewNumericDate(t.Expires)}}
	if !t.Until.IsZero() {
		c.Until = jwt.NewNumericDate(t.Until)
	}
	token := jwt.NewWithClaims(jwt.SigningMethodHS256, c)
	token.Header["kid"] = hex.EncodeToString(k.keys[0].id[:])
	text, err := token.SignedString(k.keys[0].derive("token", audience))
	if err != nil {
		return "", fault.New(fault.Internal, "sign a token: %w", err)
	}
	return text, nil
}

// ParseToken verifies a bearer token. mine tells whether it claims to be from here at all: a token of somebody else's is another
// Authenticator's business. A token of ours that is forged or expired is fault.Unauthenticated.
func (k *Keyring) ParseToken(text string) (t Token, mine bool, err error) {
	parser := jwt.NewParser(jwt.WithValidMethods([]string{"HS256"}), jwt.WithIssuer(issuer), jwt.WithAudience(audience),
		jwt.WithExpirationRequired(), jwt.WithTimeFunc(k.now))
	var c claims
	if _, _, err := parser.ParseUnverified(text, &c); err != nil || c.Issuer != issuer {
		return Token{}, false, fault.New(fault.Unauthenticated, "the bearer token is not one of this server's")
	}
	if _, err := parser.ParseWithClaims(text, &c, k.verificationKey); err != nil {
		return Token{}, true, fault.New(fault.Unauthenticated, "the bearer token is not valid or has expired; log in again")
	}
	t = Token{Principal: Principal{Name: c.Subject}, Session: c.Session, Expires: c.ExpiresAt.Time, Proof: c.Proof}
	if c.IssuedAt != nil {
		t.Issued = c.IssuedAt.Time
	}
	if c.Until != nil {
		t.Until = c.Until.Time
	}
	return t, true, nil
}

func (k *Keyring) verificationKey(t *jwt.Token) (any, error) {
	id, _ := t.Header["kid"].(string)
	for _, key := range k.keys {
		if id == hex.EncodeToString(key.id[:]) {
			return key.derive("token", audience), nil
		}
	}
	return nil, jwt.ErrTokenUnverifiable
}

// NewRandomKeyring makes a keyring whose signatures die with the process.
func NewRandomKeyring() (*Keyring, error) { return NewKeyring(nil) }

// LoadKeyring reads the keys of a file, one a line, at least MinKey bytes each; the first signs, all verify. Empty lines
// are skipped; a file that is not text is one key. Servers with
// the same file accept each other's tokens and tickets.
func LoadKeyring(path string) (*Keyring, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fault.New(fault.Invalid, "read the signing keys: %w", err).Change("skua.auth.key-file")
	}
	if !utf8.Valid(text) { // random bytes: one key
		return NewKeyring(nil, text)
	}
	var secrets [][]byte
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) > 0 {
			secrets = append(secrets, line)
		}
	}
	if len(secrets) == 0 {
		return nil, fault.New(fault.Invalid, "%s holds no key", path).Change("skua.auth.key-file")
	}
	return NewKeyring(nil, secrets...)
}
