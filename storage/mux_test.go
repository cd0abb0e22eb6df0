package storage

import (
	"context"
	"fmt"
	"io"
	"iter"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skua-data/skua/fault"
)

// recorder is a kind of store that tells what it was made with and asked for.
type recorder struct {
	made []string
	bad  bool
}

func (r *recorder) kind(schemes ...string) Kind {
	return Kind{Schemes: schemes, New: func(p map[string]string, c []Credential) (Store, error) {
		if r.bad {
			return nil, fault.New(fault.Invalid, "the endpoint is bad")
		}
		r.made = append(r.made, fmt.Sprint(p["endpoint"], c))
		return recorded{fmt.Sprint(p["endpoint"])}, nil
	}}
}

type recorded struct{ name string }

func (s recorded) Open(_ context.Context, at Location, _ int64) (File, error) {
	if strings.HasSuffix(at, "missing") {
		return nil, fault.New(fault.NotFound, "open %s: no such file", at).In(at)
	}
	return opened{at}, nil
}

func (s recorded) ReadAll(_ context.Context, at Location, _ int64) ([]byte, error) {
	if strings.HasSuffix(at, "missing") {
		return nil, fault.New(fault.NotFound, "read %s: no such file", at).In(at).Change("some.key")
	}
	return []byte(s.name + " " + at), nil
}

func (s recorded) List(_ context.Context, folder Location) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		under := strings.TrimRight(folder, "/")
		_ = yield(Info{Location: under + "/a"}, nil) && yield(Info{Location: under + "/b"}, nil) &&
			yield(Info{}, fault.New(fault.Unavailable, "list %s: gone", folder))
	}
}

type opened struct{ at Location }

func (o opened) ReadAt(p []byte, off int64) (int, error) {
	if off > 0 {
		return 0, io.EOF
	}
	return 0, fault.New(fault.Unavailable, "read %s: gone", o.at)
}
func (o opened) Close() error { return fault.New(fault.Unavailable, "close %s: gone", o.at) }
func (o opened) Size() int64  { return 7 }
func (o opened) Key() string  { return "key of " + o.at }

func TestMuxKeepsTheSpellingThatWasAskedFor(t *testing.T) {
	var r recorder
	store := NewMux([]Kind{r.kind("", "file")}, Map{{From: "s3://lake", To: "/mirror/lake"}}).For(nil, nil)
	data, err := store.ReadAll(t.Context(), "s3://lake/x", 10)
	if err != nil || !strings.HasSuffix(string(data), " /mirror/lake/x") {
		t.Errorf("read %q, %v", data, err)
	}
	_, err = store.ReadAll(t.Context(), "s3://lake/missing", 10)
	if want := "read s3://lake/missing: no such file; see the setting some.key"; !fault.Is(err, fault.NotFound) || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if _, err = store.Open(t.Context(), "s3://lake/missing", -1); !fault.Is(err, fault.NotFound) || strings.Contains(err.Error(), "mirror") {
		t.Errorf("got %v", err)
	}
	file, err := store.Open(t.Context(), "s3://lake/f", -1)
	if err != nil {
		t.Fatal(err)
	}
	if file.Key() != "key of /mirror/lake/f" || file.Size() != 7 {
		t.Errorf("key %s, size %d", file.Key(), file.Size())
	}
	if _, err := file.ReadAt(nil, 1); err != io.EOF {
		t.Errorf("the end of a file must stay io.EOF, got %v", err)
	}
	if _, err := file.ReadAt(nil, 0); err == nil || err.Error() != "read s3://lake/f: gone" {
		t.Errorf("got %v", err)
	}
	if err := file.Close(); err == nil || err.Error() != "close s3://lake/f: gone" {
		t.Errorf("got %v", err)
	}
	var got []string
	for info, err := range store.List(t.Context(), "s3://lake/d/") {
		got = append(got, fmt.Sprint(info.Location, err))
	}
	if want := "[s3://lake/d/a<nil> s3://lake/d/b<nil> list s3://lake/d/: gone]"; fmt.Sprint(got) != want {
		t.Errorf("list %v, want %s", got, want)
	}
}

func TestMuxRefusesUnknownSchemes(t *testing.T) {
	var r recorder
	store := NewMux([]Kind{r.kind("file")}, nil).For(nil, nil)
	for at, scheme := range map[string]string{"s3://b/k": "s3", "/bare": "(none)", "A+B://x": "a+b"} {
		_, err := store.ReadAll(t.Context(), at, 1)
		if !fault.Is(err, fault.Unsupported) || !strings.Contains(err.Error(), "the scheme "+scheme+" is not supported") {
			t.Errorf("%s: %v", at, err)
		}
		n := 0
		for _, err := range store.List(t.Context(), at) {
			n++
			if !fault.Is(err, fault.Unsupported) {
				t.Errorf("%s: %v", at, err)
			}
		}
		if n != 1 {
			t.Errorf("%s: %d entries", at, n)
		}
	}
	r.bad = true
	if _, err := NewMux([]Kind{r.kind("file")}, nil).For(nil, nil).Open(t.Context(), "file:/x", -1); !fault.Is(err, fault.Invalid) {
		t.Errorf("a store that cannot be made: %v", err)
	}
}

func TestMuxSharesStores(t *testing.T) {
	var r recorder
	mux := NewMux([]Kind{r.kind("s3"), r.kind("gs")}, nil)
	a, b := map[string]string{"endpoint": "a"}, map[string]string{"endpoint": "b"}
	key := func(prefix, secret string) Credential {
		return Credential{Prefix: prefix, Properties: map[string]string{"key": secret}}
	}
	for _, c := range []struct {
		store Store
		at    Location
		made  int
	}{
		{mux.For(a, nil), "s3://x/1", 1},
		{mux.For(a, nil), "s3://y/1", 1},
		{mux.For(b, nil), "s3://x/1", 2},
		{mux.For(a, nil), "gs://x/1", 3},
		{mux.For(a, []Credential{key("s3://x", "k1")}), "s3://y/1", 3}, // the credential does not apply
		{mux.For(a, []Credential{key("s3://x", "k1")}), "s3://x/1", 4},
		{mux.For(a, []Credential{key("s3://x", "k1")}), "s3://x/2", 4},
		{mux.For(a, []Credential{key("s3://x", "k2")}), "s3://x/1", 5},
		{mux.For(a, []Credential{key("s3://x", "k1"), key("s3://x/deep", "k3")}), "s3://x/deep/1", 6},
	} {
		if _, err := c.store.ReadAll(t.Context(), c.at, 1); err != nil {
			t.Fatal(err)
		}
		if len(r.made) != c.made {
			t.Errorf("%s: %d stores, want %d", c.at, len(r.made), c.made)
		}
	}
	if last := r.made[len(r.made)-1]; !strings.Contains(last, "k3") || strings.Contains(last, "k1") {
		t.Errorf("the longest prefix must win alone, got %s", last)
	}
}

func TestMuxIsBounded(t *testing.T) {
	var r recorder
	mux := NewMux([]Kind{r.kind("s3")}, nil)
	for i := range 3 * maxStores {
		if _, err := mux.For(map[string]string{"endpoint": fmt.Sprint(i)}, nil).ReadAll(t.Context(), "s3://x", 1); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(mux.stores.stores); n != maxStores || mux.stores.recent.Len() != maxStores {
		t.Errorf("%d stores are kept, want %d", n, maxStores)
	}
}

func TestExpiredCredentials(t *testing.T) {
	var r recorder
	mux := NewMux([]Kind{r.kind("s3")}, nil)
	for expires, ok := range map[time.Time]bool{{}: true, time.Now().Add(time.Hour): true, time.Now().Add(-time.Second): false} {
		_, err := mux.For(nil, []Credential{{Prefix: "s3://x", Expires: expires}}).ReadAll(t.Context(), "s3://x/1", 1)
		if ok && err != nil || !ok && !fault.Is(err, fault.Denied) {
			t.Errorf("expiring %v: %v", expires, err)
		}
	}
}

func TestMuxAtOnce(t *testing.T) {
	var r recorder
	mux := NewMux([]Kind{r.kind("s3")}, nil)
	var wait sync.WaitGroup
	for i := range 32 {
		wait.Go(func() {
			at := fmt.Sprint("s3://x/", i)
			data, err := mux.For(map[string]string{"endpoint": fmt.Sprint(i % 4)}, nil).ReadAll(t.Context(), at, 1)
			if want := fmt.Sprint(i%4, " ", at); err != nil || string(data) != want {
				t.Errorf("%q, %v, want %q", data, err, want)
			}
		})
	}
	wait.Wait()
	if len(r.made) != 4 {
		t.Errorf("%d stores were made, want 4", len(r.made))
	}
}

func TestScheme(t *testing.T) {
	for at, want := range map[string]string{"file:/a": "file", "S3A://b": "s3a", "/a:b": "", "a": "", "": "", ":x": "", "1a:b": "", "a b:c": "", "gs+x.y-z:": "gs+x.y-z"} {
		if got := Scheme(at); got != want {
			t.Errorf("Scheme(%q) = %q, want %q", at, got, want)
		}
	}
}

func TestMuxATablesOwnMapIsItsWholeWorld(t *testing.T) {
	r := &recorder{}
	m := NewMux([]Kind{r.kind("", "file")}, Map{{From: "/there", To: "/here"}})
	s := m.ForTable(nil, nil, Map{{From: "s3://old/a/", To: "/first/"}, {From: "s3://old/", To: "/there/"}, {From: "data/", To: "/data/"}})
	for at, want := range map[string]string{"s3://old/a/f": " /first/f", "s3://old/b/f": " /here/b/f", "data/x": " /data/x",
		"data/../../etc/passwd": "", "s3://other/f": "", "/there/f": "", "/etc/passwd": ""} {
		got, err := s.ReadAll(t.Context(), at, 100)
		if want == "" && !fault.Is(err, fault.Denied) {
			t.Errorf("%s: %q, %v, want denied", at, got, err)
		}
		if want != "" && (err != nil || !strings.HasSuffix(string(got), want)) {
			t.Errorf("%s: %q, %v, want %q", at, got, err, want)
		}
	}
}
