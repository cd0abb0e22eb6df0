package auth

import (
	"context"
	"crypto/x509"
	"crypto/x509/pkix"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/skua-data/skua/fault"
)

func certificate(name string) *x509.Certificate {
	return &x509.Certificate{Subject: pkix.Name{CommonName: name, Organization: []string{"Org"}}, DNSNames: []string{"d.test"}, EmailAddresses: []string{"e@x"},
		URIs: []*url.URL{{Scheme: "spiffe", Host: "x", Path: "/w"}}, NotAfter: epoch}
}

func TestAWayToLogInForEachScheme(t *testing.T) {
	p := newProvider(t)
	key, public := ecKey(t, "k")
	p.publish(public)
	clock := epoch.Add(time.Minute)
	users, err := NewStatic(strings.NewReader("alice:" + written(t, hash{iterations: 10, salt: []byte("saltsalt")}, "pw")))
	if err != nil {
		t.Fatal(err)
	}
	certificates, err := NewCertificates(CommonName)
	if err != nil {
		t.Fatal(err)
	}
	tokens := p.authenticator(t, &clock, nil)
	all := Login{users, tokens, certificates}
	token := signed(t, jwt.SigningMethodES256, "k", key, claimsOf(nil))
	carl := certificate("carl")
	for name, c := range map[string]struct {
		by    Login
		shown Credentials
		want  string
	}{
		"password":                         {all, Credentials{Scheme: Basic, User: "alice", Password: "pw"}, "alice"},
		"token":                            {all, bearer(token), "ada"},
		"token as a password":              {all, Credentials{Scheme: Basic, User: "token", Password: token}, "ada"},
		"certificate":                      {all, Credentials{Certificate: carl}, "carl"},
		"password over a certificate":      {all, Credentials{Scheme: Basic, User: "alice", Password: "pw", Certificate: carl}, "alice"},
		"bad password beside certificate":  {all, Credentials{Scheme: Basic, User: "alice", Password: "no", Certificate: carl}, ""},
		"any password, certificates only":  {Login{Certificates: certificates}, Credentials{Scheme: Basic, User: "x", Certificate: carl}, "carl"},
		"bad token beside a certificate":   {Login{Certificates: certificates}, Credentials{Scheme: Bearer, Token: "x", Certificate: carl}, ""},
		"nothing":                          {all, Credentials{}, ""},
		"token where there are users only": {Login{Users: users}, bearer(token), ""},
		"password where there are tokens":  {Login{Tokens: tokens}, Credentials{Scheme: Basic, User: "alice", Password: "pw"}, ""},
		"certificate that names nobody":    {all, Credentials{Certificate: certificate("")}, ""},
		"certificate of the reserved name": {all, Credentials{Certificate: certificate("anonymous")}, ""},
	} {
		got, err := c.by.Authenticate(context.Background(), c.shown)
		if got.Principal.Name != c.want || (err == nil) != (c.want != "") || err != nil && !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if got, err := certificates.Authenticate(context.Background(), Credentials{Certificate: carl}); err != nil || !got.Until.Equal(epoch) {
		t.Errorf("a login outlives its certificate: %+v, %v", got, err)
	}
	for field, want := range map[string]string{CommonName: "carl", Subject: "CN=carl,O=Org", DNSName: "d.test", Email: "e@x", URI: "spiffe://x/w"} {
		m, err := NewCertificates(field)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := m.Authenticate(context.Background(), Credentials{Certificate: carl}); err != nil || got.Principal.Name != want {
			t.Errorf("%s: %+v, %v", field, got, err)
		}
		if _, err := m.Authenticate(context.Background(), Credentials{Certificate: &x509.Certificate{}}); err == nil {
			t.Errorf("%s: an empty certificate is somebody", field)
		}
	}
	if _, err := NewCertificates("x"); err == nil {
		t.Error("field x is taken")
	}
}

func TestWhoGuessesWaits(t *testing.T) {
	users, err := NewStatic(strings.NewReader("alice:" + written(t, hash{iterations: 10, salt: []byte("saltsalt")}, "pw")))
	if err != nil {
		t.Fatal(err)
	}
	clock := epoch
	users.backoff.now = func() time.Time { return clock }
	try := func(user, password, want string) {
		t.Helper()
		_, err := users.Authenticate(context.Background(), Credentials{Scheme: Basic, User: user, Password: password})
		if (err == nil) != (want == "") || err != nil && (!fault.Is(err, fault.Unauthenticated) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s/%s: %v, want %q", user, password, err, want)
		}
	}
	for range freeFailures {
		try("alice", "x", "wrong user or password")
		try("nobody", "x", "wrong user or password")
	}
	try("alice", "pw", "try again in 1s")
	try("nobody", "x", "try again in 1s") // who does not exist is treated alike
	clock = clock.Add(time.Second)
	try("alice", "x", "wrong user or password")
	try("alice", "pw", "try again in 2s")
	clock = clock.Add(2 * time.Second)
	try("alice", "pw", "")
}

func TestAFloodOfGuessesDoesNotLockOutWhoIsIn(t *testing.T) {
	users, err := NewStatic(strings.NewReader("alice:" + written(t, hash{iterations: 10, salt: []byte("saltsalt")}, "pw")))
	if err != nil {
		t.Fatal(err)
	}
	good := Credentials{Scheme: Basic, User: "alice", Password: "pw"}
	if _, err := users.Authenticate(context.Background(), good); err != nil {
		t.Fatal(err)
	}
	for range 50 {
		users.Authenticate(context.Background(), Credentials{Scheme: Basic, User: "alice", Password: "x"})
	}
	if _, err := users.Authenticate(context.Background(), good); err != nil {
		t.Errorf("the owner is locked out: %v", err)
	}
}

func TestGuessedNamesAreBounded(t *testing.T) {
	clock := epoch
	b := newBackoff(func() time.Time { return clock })
	for i := range maxGuessed + 100 {
		b.failed(strings.Repeat("u", i%2000) + time.Duration(i).String())
	}
	if len(b.users) > maxGuessed {
		t.Errorf("%d names", len(b.users))
	}
	if p := pause(1000); p != longestPause {
		t.Errorf("%s", p)
	}
}
