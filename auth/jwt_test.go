package auth

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/skua-data/skua/fault"
)

// provider is an identity provider with changing keys.
type provider struct {
	*httptest.Server
	mu      sync.Mutex
	keys    []map[string]any
	broken  bool
	fetches atomic.Int64
}

func newProvider(t *testing.T) *provider {
	p := &provider{}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		p.fetches.Add(1)
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.broken {
			http.Error(w, "no", http.StatusInternalServerError)
			return
		}
		json.NewEncoder(w).Encode(map[string]any{"keys": p.keys})
	}))
	t.Cleanup(p.Close)
	return p
}

func (p *provider) publish(keys ...map[string]any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.keys = keys
}

func (p *provider) fail(broken bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.broken = broken
}

func b64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func rsaKey(t *testing.T, id string, bits int) (*rsa.PrivateKey, map[string]any) {
	k, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		t.Fatal(err)
	}
	return k, map[string]any{"kid": id, "kty": "RSA", "use": "sig", "n": b64(k.N.Bytes()), "e": b64(big.NewInt(int64(k.E)).Bytes())}
}

func ecKey(t *testing.T, id string) (*ecdsa.PrivateKey, map[string]any) {
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	point, err := k.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return k, map[string]any{"kid": id, "kty": "EC", "crv": "P-256", "x": b64(point[1:33]), "y": b64(point[33:])}
}

var epoch = time.Unix(1_800_000_000, 0)

func claimsOf(change func(jwt.MapClaims)) jwt.MapClaims {
	c := jwt.MapClaims{"iss": "https://id.test", "aud": []string{"other", "skua"}, "sub": "ada", "email": "ada@x", "iat": epoch.Unix(), "nbf": epoch.Unix(),
		"exp": epoch.Add(time.Hour).Unix()}
	if change != nil {
		change(c)
	}
	return c
}

func signed(t *testing.T, method jwt.SigningMethod, id string, key crypto.PrivateKey, c jwt.MapClaims) string {
	t.Helper()
	token := jwt.NewWithClaims(method, c)
	if id != "" {
		token.Header["kid"] = id
	}
	text, err := token.SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func (p *provider) authenticator(t *testing.T, clock *time.Time, change func(*JWTConfig)) *JWT {
	t.Helper()
	c := JWTConfig{Keys: p.URL + "/keys", Issuer: "https://id.test", Audience: "skua", Now: func() time.Time { return *clock }}
	if change != nil {
		change(&c)
	}
	j, err := NewJWT(c)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func bearer(token string) Credentials { return Credentials{Scheme: Bearer, Token: token} }

func TestTokensOfAProvider(t *testing.T) {
	p := newProvider(t)
	r, rPublic := rsaKey(t, "r", 2048)
	weak, weakPublic := rsaKey(t, "weak", 1024)
	e, ePublic := ecKey(t, "e")
	edPublic, ed, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	encryption, encryptionPublic := rsaKey(t, "enc", 2048)
	encryptionPublic["use"] = "enc"
	p.publish(rPublic, weakPublic, ePublic, encryptionPublic, map[string]any{"kid": "o", "kty": "OKP", "crv": "Ed25519", "x": b64(edPublic)},
		map[string]any{"kid": "s", "kty": "oct", "k": b64([]byte(strings.Repeat("k", 32)))}, map[string]any{"kty": 7})
	clock := epoch.Add(time.Minute)
	j := p.authenticator(t, &clock, nil)
	byEmail := p.authenticator(t, &clock, func(c *JWTConfig) { c.UserClaim, c.Algorithms = "email", []string{"RS256"} })
	pem, err := json.Marshal(rPublic)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		by    *JWT
		token string
		want  string
	}{
		"RSA":               {j, signed(t, jwt.SigningMethodRS256, "r", r, claimsOf(nil)), "ada"},
		"PSS":               {j, signed(t, jwt.SigningMethodPS384, "r", r, claimsOf(nil)), "ada"},
		"EC":                {j, signed(t, jwt.SigningMethodES256, "e", e, claimsOf(nil)), "ada"},
		"EdDSA":             {j, signed(t, jwt.SigningMethodEdDSA, "o", ed, claimsOf(nil)), "ada"},
		"no id, one fits":   {j, signed(t, jwt.SigningMethodES256, "", e, claimsOf(nil)), "ada"},
		"claim":             {byEmail, signed(t, jwt.SigningMethodRS256, "r", r, claimsOf(nil)), "ada@x"},
		"within the leeway": {j, signed(t, jwt.SigningMethodRS256, "r", r, claimsOf(func(c jwt.MapClaims) { c["exp"] = epoch.Add(40 * time.Second).Unix() })), "ada"},

		"algorithm not listed": {byEmail, signed(t, jwt.SigningMethodRS384, "r", r, claimsOf(nil)), ""},
		"shared key":           {j, signed(t, jwt.SigningMethodHS256, "s", []byte(strings.Repeat("k", 32)), claimsOf(nil)), ""},
		"public key as shared": {j, signed(t, jwt.SigningMethodHS256, "r", pem, claimsOf(nil)), ""},
		"none":                 {j, signed(t, jwt.SigningMethodNone, "r", jwt.UnsafeAllowNoneSignatureType, claimsOf(nil)), ""},
		"weak key":             {j, signed(t, jwt.SigningMethodRS256, "weak", weak, claimsOf(nil)), ""},
		"key for encryption":   {j, signed(t, jwt.SigningMethodRS256, "enc", encryption, claimsOf(nil)), ""},
		"another's key":        {j, signed(t, jwt.SigningMethodRS256, "r", encryption, claimsOf(nil)), ""},
		"id of another kind":   {j, signed(t, jwt.SigningMethodRS256, "e", r, claimsOf(nil)), ""},
		"expired":              {j, signed(t, jwt.SigningMethodRS256, "r", r, claimsOf(func(c jwt.MapClaims) { c["exp"] = epoch.Unix() })), ""},
		"without an end":       {j, signed(t, jwt.SigningMethodRS256, "r", r, claimsOf(func(c jwt.MapClaims) { delete(c, "exp") })), ""},
		"not yet":              {j, signed(t, jwt.SigningMethodRS256, "r", r, claimsOf(func(c jwt.MapClaims) { c["nbf"] = epoch.Add(2 * time.Minute).Unix() })), ""},
		"audience":             {j, signed(t, jwt.SigningMethodRS256, "r", r, claimsOf(func(c jwt.MapClaims) { c["aud"] = "other" })), ""},
		"no audience":          {j, signed(t, jwt.SigningMethodRS256, "r", r, claimsOf(func(c jwt.MapClaims) { delete(c, "aud") })), ""},
		"issuer":               {j, signed(t, jwt.SigningMethodRS256, "r", r, claimsOf(func(c jwt.MapClaims) { c["iss"] = "https://id.test.evil" })), ""},
		"nobody":               {j, signed(t, jwt.SigningMethodRS256, "r", r, claimsOf(func(c jwt.MapClaims) { delete(c, "sub") })), ""},
		"a number":             {j, signed(t, jwt.SigningMethodRS256, "r", r, claimsOf(func(c jwt.MapClaims) { c["sub"] = 7 })), ""},
		"reserved":             {j, signed(t, jwt.SigningMethodRS256, "r", r, claimsOf(func(c jwt.MapClaims) { c["sub"] = "anonymous" })), ""},
		"control character":    {j, signed(t, jwt.SigningMethodRS256, "r", r, claimsOf(func(c jwt.MapClaims) { c["sub"] = "ada\n" })), ""},
		"too long":             {j, signed(t, jwt.SigningMethodRS256, "r", r, claimsOf(func(c jwt.MapClaims) { c["sub"] = strings.Repeat("a", 513) })), ""},
		"junk":                 {j, "a.b.c", ""},
		"nothing":              {j, "", ""},
	} {
		got, err := c.by.Authenticate(context.Background(), bearer(c.token))
		if c.want == "" {
			if !fault.Is(err, fault.Unauthenticated) || strings.Contains(err.Error(), "ada") {
				t.Errorf("%s: %v, %v", name, got, err)
			}
			continue
		}
		if err != nil || got.Principal.Name != c.want || got.Until.Before(clock) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestKeysAreCachedAndRotatedAndAskedForSeldom(t *testing.T) {
	p := newProvider(t)
	old, oldPublic := ecKey(t, "old")
	young, youngPublic := ecKey(t, "young")
	p.publish(oldPublic)
	clock := epoch.Add(time.Minute)
	j := p.authenticator(t, &clock, nil)
	try := func(id string, key *ecdsa.PrivateKey, ok bool, fetches int64) {
		t.Helper()
		_, err := j.Authenticate(context.Background(), bearer(signed(t, jwt.SigningMethodES256, id, key, claimsOf(nil))))
		if (err == nil) != ok || p.fetches.Load() != fetches {
			t.Errorf("key %s: %v, %d fetches, want %d", id, err, p.fetches.Load(), fetches)
		}
	}
	try("old", old, true, 1)
	try("old", old, true, 1)
	try("young", young, false, 1) // unknown, but the keys were asked for just now
	clock = clock.Add(fetchPause)
	p.publish(oldPublic, youngPublic)
	try("young", young, true, 2)
	clock = clock.Add(fetchPause)
	for range 5 {
		try("made-up", old, false, 3)
	}
	p.publish(youngPublic)
	try("old", old, true, 3)
	clock = clock.Add(16 * time.Minute)
	try("old", old, false, 4)
	p.fail(true)
	clock = clock.Add(16 * time.Minute)
	try("young", young, true, 5) // keys outlive the provider
	try("young", young, true, 5)
}

func TestAProviderThatDoesNotAnswerIsNotTheTokensFault(t *testing.T) {
	p := newProvider(t)
	key, public := ecKey(t, "k")
	p.publish(public)
	p.fail(true)
	clock := epoch.Add(time.Minute)
	j := p.authenticator(t, &clock, nil)
	token := bearer(signed(t, jwt.SigningMethodES256, "k", key, claimsOf(nil)))
	for range 3 {
		if _, err := j.Authenticate(context.Background(), token); !fault.Is(err, fault.Unavailable) || strings.Contains(err.Error(), p.URL) {
			t.Fatal(err)
		}
	}
	if p.fetches.Load() != 1 {
		t.Errorf("%d fetches", p.fetches.Load())
	}
	p.fail(false)
	clock = clock.Add(fetchPause)
	var calls sync.WaitGroup
	for range 20 {
		calls.Go(func() {
			if _, err := j.Authenticate(context.Background(), token); err != nil {
				t.Error(err)
			}
		})
	}
	calls.Wait()
	if p.fetches.Load() != 2 {
		t.Errorf("%d fetches by 20 calls at once", p.fetches.Load()-1)
	}
}

func TestWhereKeysMayComeFrom(t *testing.T) {
	_, public := ecKey(t, "k")
	text, err := json.Marshal(map[string]any{"keys": []any{public}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "keys.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		config JWTConfig
		want   string
	}{
		{JWTConfig{Keys: file}, ""},
		{JWTConfig{Keys: "file://" + file}, ""},
		{JWTConfig{Keys: "https://id.test/keys"}, ""},
		{JWTConfig{Keys: "http://127.0.0.1:1/keys"}, ""},
		{JWTConfig{Keys: "http://[::1]:1/keys"}, ""},
		{JWTConfig{Keys: "http://id.test/keys"}, "https"},
		{JWTConfig{Keys: file + ".none"}, "skua.auth.jwt.keys"},
		{JWTConfig{Keys: ""}, "skua.auth.jwt.keys"},
		{JWTConfig{Keys: file, Algorithms: []string{"HS256"}}, "skua.auth.jwt.algorithms"},
		{JWTConfig{Keys: file, Algorithms: []string{"none"}}, "skua.auth.jwt.algorithms"},
	} {
		c.config.Issuer, c.config.Audience = "i", "a"
		if _, err := NewJWT(c.config); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.config, err)
		}
	}
	for _, c := range []JWTConfig{{Keys: file, Issuer: "i"}, {Keys: file, Audience: "a"}} {
		if _, err := NewJWT(c); !fault.Is(err, fault.Invalid) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	for _, set := range []string{"", "[]", "{}", `{"keys":[]}`, `{"keys":[{"kty":"RSA","n":"AQ","e":"Aw"}]}`, `{"keys":[{"kty":"EC","crv":"P-256","x":"AQ","y":"AQ"}]}`,
		`{"keys":[` + strings.Repeat(`{},`, maxKeys) + `{}]}`} {
		if keys, err := parseKeySet([]byte(set)); err == nil {
			t.Errorf("%.40q: %d keys", set, len(keys))
		}
	}
}

func TestRedirectsMayNotLeaveHTTPS(t *testing.T) {
	away := httptest.NewServer(http.RedirectHandler("http://id.test/keys", http.StatusFound))
	t.Cleanup(away.Close)
	huge := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write(make([]byte, maxKeySet+1)) }))
	t.Cleanup(huge.Close)
	for _, address := range []string{away.URL, huge.URL} {
		if text, err := fetcher(address)(context.Background()); err == nil {
			t.Errorf("%s: %d bytes", address, len(text))
		}
	}
}
