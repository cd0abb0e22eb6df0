package server

import (
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// TestTokensOfAProviderOpenTheServer: as a bearer token, and as the password of a tool that knows only passwords.
func TestTokensOfAProviderOpenTheServer(t *testing.T) {
	a := newAuthority(t)
	dir := t.TempDir()
	certificate, key, keys := filepath.Join(dir, "server.pem"), filepath.Join(dir, "server.key"), filepath.Join(dir, "keys.json")
	c, k := a.issue("server")
	write(t, certificate, c)
	write(t, key, k)
	signer := newKey(t)
	point, err := signer.PublicKey.Bytes()
	must(t, err)
	b64 := base64.RawURLEncoding.EncodeToString
	set, err := json.Marshal(map[string]any{"keys": []any{map[string]string{"kid": "k", "kty": "EC", "crv": "P-256", "x": b64(point[1:33]), "y": b64(point[33:])}}})
	must(t, err)
	write(t, keys, set)
	token := func(audience string) string {
		made := jwt.NewWithClaims(jwt.SigningMethodES256, jwt.MapClaims{"iss": "https://id.test", "aud": audience, "preferred_username": "ada", "exp": time.Now().Add(time.Hour).Unix()})
		made.Header["kid"] = "k"
		text, err := made.SignedString(signer)
		must(t, err)
		return text
	}
	address := serveWith(t, "skua.tls.certificate-file="+certificate, "skua.tls.key-file="+key, "skua.auth.jwt.keys="+keys, "skua.auth.jwt.issuer=https://id.test",
		"skua.auth.jwt.audience=skua", "skua.auth.jwt.user-claim=preferred_username")
	secure := &tls.Config{RootCAs: a.pool()}
	good := token("skua")
	for _, header := range []string{"Bearer " + good, "Basic " + base64.StdEncoding.EncodeToString([]byte("token:"+good))} {
		if who, err := whoAmI(t, address, secure, "authorization", header); err != nil || who != "ada" {
			t.Errorf("%q, %v", who, err)
		}
	}
	for _, header := range []string{"Bearer " + token("other"), "Bearer x", "Basic " + base64.StdEncoding.EncodeToString([]byte("ada:"+good))} {
		if who, err := whoAmI(t, address, secure, "authorization", header); err == nil {
			t.Errorf("%.20s lets in %q", header, who)
		}
	}
}
