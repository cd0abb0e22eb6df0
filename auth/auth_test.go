package auth

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skua-data/skua/fault"
)

func secret(c string) []byte { return []byte(strings.Repeat(c, MinKey)) }

func ring(t *testing.T, now *time.Time, secrets ...[]byte) *Keyring {
	t.Helper()
	k, err := NewKeyring(func() time.Time { return *now }, secrets...)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestSealsOpenForTheirPurposeKeyAndTime(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	a, b := ring(t, &now, secret("a")), ring(t, &now, secret("b"))
	rotated := ring(t, &now, secret("c"), secret("a"))
	sealed := a.Seal("ticket", []byte("payload"), now.Add(time.Hour))
	for _, k := range []*Keyring{a, rotated} {
		if got, expires, err := k.Open("ticket", sealed); err != nil || string(got) != "payload" || !expires.Equal(now.Add(time.Hour)) {
			t.Fatalf("%q, %s, %v", got, expires, err)
		}
	}
	if _, _, err := a.Open("other", sealed); !fault.Is(err, fault.Invalid) {
		t.Errorf("another purpose: %v", err)
	}
	if _, _, err := b.Open("ticket", sealed); !fault.Is(err, fault.Invalid) {
		t.Errorf("another key: %v", err)
	}
	for i := range sealed {
		bad := bytes.Clone(sealed)
		bad[i] ^= 1
		if _, _, err := a.Open("ticket", bad); !fault.Is(err, fault.Invalid) {
			t.Fatalf("byte %d changed: %v", i, err)
		}
		if _, _, err := a.Open("ticket", sealed[:i]); !fault.Is(err, fault.Invalid) {
			t.Fatalf("cut to %d bytes: %v", i, err)
		}
	}
	now = now.Add(2 * time.Hour)
	if _, _, err := a.Open("ticket", sealed); !fault.Is(err, fault.NotFound) {
		t.Errorf("expired: %v", err)
	}
	if _, err := NewKeyring(nil, []byte("short")); !fault.Is(err, fault.Invalid) {
		t.Errorf("a short key: %v", err)
	}
}

func TestTokensSayWhoAndWhere(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	a, b := ring(t, &now, secret("a")), ring(t, &now, secret("b"))
	text, err := a.SignToken(Token{Principal: Principal{"alice"}, Session: "s1", Expires: now.Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	got, mine, err := a.ParseToken(text)
	if err != nil || !mine || got.Principal.Name != "alice" || got.Session != "s1" || !got.Issued.Equal(now) || !got.Expires.Equal(now.Add(time.Hour)) {
		t.Fatalf("%+v, %v, %v", got, mine, err)
	}
	head, rest, _ := strings.Cut(text, ".")
	claims, signature, _ := strings.Cut(rest, ".")
	none := "eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0." + claims + "."
	for name, bad := range map[string]string{"cut": text[:len(text)-2], "other claims": head + "." + strings.ToUpper(claims) + "." + signature, "no algorithm": none, "noise": "no.such.token", "empty": ""} {
		if _, _, err := a.ParseToken(bad); !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, mine, err := b.ParseToken(text); !mine || !fault.Is(err, fault.Unauthenticated) {
		t.Errorf("another server's: %v, %v", mine, err)
	}
	now = now.Add(2 * time.Hour)
	if _, _, err := a.ParseToken(text); !fault.Is(err, fault.Unauthenticated) {
		t.Errorf("expired: %v", err)
	}
}

func TestKeysFromAFile(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		ok   bool
	}{
		"two lines": {string(secret("a")) + "\n\n" + string(secret("b")) + "\n", true}, "random bytes": {strings.Repeat("\xff\n", 32), true},
		"short": {"abc\n", false}, "empty": {"\n", false},
	} {
		path := filepath.Join(t.TempDir(), "keys")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadKeyring(path); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := LoadKeyring(filepath.Join(t.TempDir(), "none")); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "skua.auth.key-file") {
		t.Errorf("no file: %v", err)
	}
}

func TestUsersAndPasswords(t *testing.T) {
	quick := hash{iterations: 10, salt: []byte("saltsalt")}
	line, err := Hash("pass:word")
	if err != nil {
		t.Fatal(err)
	}
	if h, err := parseHash(line); err != nil || h.iterations != iterations || !h.matches("pass:word") || h.matches("pass") {
		t.Fatalf("%s, %v", line, err)
	}
	users, err := NewStatic(strings.NewReader("# people\n\nalice:" + written(t, quick, "wonder:land") + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		given Credentials
		want  string
	}{
		{Credentials{Scheme: Basic, User: "alice", Password: "wonder:land"}, "alice"},
		{Credentials{Scheme: Basic, User: "alice", Password: "wonder:land"}, "alice"}, // the quick way
		{Credentials{Scheme: Basic, User: "alice", Password: "wonder"}, ""},
		{Credentials{Scheme: Basic, User: "bob", Password: "wonder:land"}, ""},
		{Credentials{}, ""},
		{Credentials{Scheme: Bearer, Token: "x"}, ""},
	} {
		got, err := users.Authenticate(context.Background(), c.given)
		if got.Principal.Name != c.want || (err == nil) != (c.want != "") || err != nil && !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("%+v: %q, %v", c.given, got.Principal.Name, err)
		}
	}
}

func TestBadUsersFilesNameTheLineAndQuoteNothing(t *testing.T) {
	good := written(t, hash{iterations: 1, salt: []byte("saltsalt")}, "x")
	for _, text := range []string{"", "alice", ":x", "alice:hunter2", "alice:$pbkdf2-sha256$0$c2FsdHNhbHQ$AAAA", "anonymous:" + good, "a:" + good + "\na:" + good} {
		_, err := NewStatic(strings.NewReader(text))
		if !fault.Is(err, fault.Invalid) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := LoadStatic(filepath.Join(t.TempDir(), "none"), nil); !fault.Is(err, fault.Invalid) {
		t.Errorf("no file: %v", err)
	}
}

func TestAUsersFileIsReadAgainWhenItChanges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "users")
	at := time.Unix(1_000_000, 0)
	write := func(lines ...string) {
		t.Helper()
		at = at.Add(time.Second) // a file system may be too coarse to tell two writes apart
		if err := errors.Join(os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600), os.Chtimes(path, at, at)); err != nil {
			t.Fatal(err)
		}
	}
	line := func(user, salt, password string) string {
		return user + ":" + written(t, hash{iterations: 10, salt: []byte(salt)}, password)
	}
	write(line("ana", "salt of a", "one"), line("bob", "salt of b", "two"))
	var log bytes.Buffer
	users, err := LoadStatic(path, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	gate := Login{Users: users}
	in := func(user, password string) Identity {
		got, _ := gate.Authenticate(context.Background(), Credentials{Scheme: Basic, User: user, Password: password})
		return got
	}
	ana, bob := in("ana", "one"), in("bob", "two")
	if ana.Proof == "" || ana.Proof == bob.Proof || gate.Stands(ana.Principal, ana.Proof) != nil || gate.Stands(ana.Principal, bob.Proof) == nil {
		t.Fatalf("%+v, %+v", ana, bob)
	}

	write("ana:half a li")
	if in("ana", "one") != ana || in("bob", "two") != bob || gate.Stands(ana.Principal, ana.Proof) != nil {
		t.Error("a file that cannot be read changed the users")
	}
	if n := strings.Count(log.String(), "cannot be read"); n != 1 || strings.Contains(log.String(), "half") {
		t.Errorf("%d lines: %s", n, log.String())
	}

	write(line("ana", "salt of a", "new"), line("cat", "salt of c", "three"))
	if in("ana", "one") != (Identity{}) || in("bob", "two") != (Identity{}) {
		t.Error("an old password lets in")
	}
	if in("ana", "new").Principal.Name != "ana" || in("cat", "three").Principal.Name != "cat" {
		t.Error("a new password does not let in")
	}
	for _, old := range []Identity{ana, bob} {
		if err := gate.Stands(old.Principal, old.Proof); !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("%s: a login of an old password stands: %v", old.Principal.Name, err)
		}
	}
	if now := in("ana", "new"); gate.Stands(now.Principal, now.Proof) != nil {
		t.Error("a login of the new password does not stand")
	}
}

func TestAnonymousTakesPasswordsAndNoForeignTokens(t *testing.T) {
	for shown, ok := range map[Credentials]bool{
		{}: true, {Scheme: Basic, User: "ana", Password: "x"}: true, {Scheme: Bearer, Token: "foreign"}: false, {Scheme: Bearer, Token: "none"}: false,
		{Scheme: Bearer}: true, {Scheme: Bearer, Token: noToken}: true,
	} {
		if got, err := (AnonymousOnly{}).Authenticate(context.Background(), shown); (err == nil) != ok || ok && got.Principal != Anonymous {
			t.Errorf("%+v: %v, %v", shown, got, err)
		}
	}
}

func written(t *testing.T, h hash, password string) string {
	t.Helper()
	text, err := h.text(password)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
