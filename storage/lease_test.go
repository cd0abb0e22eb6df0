package storage

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/skua-data/skua/fault"
)

// lender is a catalog that vends a numbered key at each load, for a minute of the test's clock.
type lender struct {
	now   time.Time
	loads int
	fail  error
}

func (l *lender) vend() []Credential {
	l.loads++
	return []Credential{{Prefix: "s3://x", Properties: map[string]string{"key": strconv.Itoa(l.loads)}, Expires: l.now.Add(time.Minute)}}
}

func (l *lender) renew(context.Context) (map[string]string, []Credential, error) {
	if l.fail != nil {
		return nil, nil, l.fail
	}
	return nil, l.vend(), nil
}

// keyed is a store whose files hold the key that it was made with.
type keyed struct {
	recorded
	key string
}

func (k keyed) Open(_ context.Context, at Location, _ int64) (File, error) {
	return &distant{Reader: newDistant(10).Reader, access: Access{Request: 1}}, nil
}

func (k keyed) ReadAll(context.Context, Location, int64) ([]byte, error) { return []byte(k.key), nil }

func (l *lender) store() (*Mux, *routed) {
	mux := NewMux([]Kind{{Schemes: []string{"s3"}, New: func(_ map[string]string, c []Credential) (Store, error) {
		if len(c) == 0 {
			return keyed{key: "none"}, nil
		}
		return keyed{key: c[0].Properties["key"]}, nil
	}}}, nil)
	r := mux.ForLease(nil, nil, nil, l.renew).(*routed)
	r.now = func() time.Time { return l.now }
	r.lease = newLease(nil, l.vend(), l.now)
	return mux, r
}

func TestCredentialsAreRenewedBeforeTheyExpire(t *testing.T) {
	l := &lender{now: time.Unix(1000, 0)}
	mux, store := l.store()
	for _, c := range []struct {
		after time.Duration
		fail  error
		key   string
		kind  fault.Kind
	}{
		{0, nil, "1", 0},
		{20 * time.Second, nil, "1", 0},
		{20 * time.Second, nil, "2", 0},
		{40 * time.Second, errors.New("the catalog is away"), "2", 0}, // the old ones are good for a while
		{time.Second, nil, "2", 0},                                    // and the catalog has a rest
		{10 * time.Second, nil, "3", 0},
		{70 * time.Second, fault.New(fault.Unavailable, "the catalog is away"), "", fault.Unavailable},
		{time.Second, nil, "4", 0},
	} {
		l.now, l.fail = l.now.Add(c.after), c.fail
		data, err := store.ReadAll(t.Context(), "s3://x/f", 1)
		if string(data) != c.key || (err != nil) != (c.key == "") || err != nil && !fault.Is(err, c.kind) {
			t.Errorf("after %v: %q, %v, want %q", c.after, data, err, c.key)
		}
	}
	if n := len(mux.stores.stores); n != 1 {
		t.Errorf("%d stores are kept, of which one can be used", n)
	}
	if data, err := store.ReadAll(t.Context(), "s3://y/f", 1); string(data) != "none" || err != nil {
		t.Errorf("elsewhere: %q, %v", data, err)
	}
}

func TestAFileOutlivesItsCredentials(t *testing.T) {
	l := &lender{now: time.Unix(1000, 0)}
	_, store := l.store()
	f, err := store.Open(t.Context(), "s3://x/f", 10)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		if _, err := f.ReadAt(make([]byte, 1), 0); err != nil {
			t.Fatal(err)
		}
		if AccessOf(f).Request != 1 {
			t.Error("how to read it is lost")
		}
		l.now = l.now.Add(25 * time.Second)
		if l.loads > i+1 {
			t.Errorf("%d loads", l.loads)
		}
	}
	if l.loads < 4 {
		t.Errorf("%d loads in four minutes", l.loads)
	}
	l.fail = fault.New(fault.Unavailable, "the catalog is away")
	l.now = l.now.Add(time.Hour)
	if _, err := f.ReadAt(make([]byte, 1), 0); !fault.Is(err, fault.Unavailable) {
		t.Errorf("got %v", err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

func TestExpiryInProperties(t *testing.T) {
	at := time.UnixMilli(1_700_000_000_000)
	for _, key := range []string{"s3.session-token-expires-at-ms", "gcs.oauth2.token-expires-at", "adls.sas-token-expires-at-ms.acct"} {
		p := map[string]string{key: fmt.Sprint(at.UnixMilli()), "other": "1"}
		if got := expiry(p); !got.Equal(at) {
			t.Errorf("%s: %v", key, got)
		}
		mux := NewMux([]Kind{(&recorder{}).kind("s3")}, nil)
		for _, store := range []Store{mux.For(p, nil), mux.For(nil, []Credential{{Prefix: "s3://", Properties: p}})} {
			if _, err := store.ReadAll(t.Context(), "s3://x", 1); !fault.Is(err, fault.Denied) || !strings.Contains(err.Error(), "expired") {
				t.Errorf("%s: %v", key, err)
			}
		}
	}
	if !expiry(map[string]string{"s3.session-token-expires-at-ms": "soon"}).IsZero() {
		t.Error("what is no number is no time")
	}
}
