package httpapi

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/skua-data/skua/fault"
)

// endpoint is a token endpoint that breaks the connection of its next requests.
type endpoint struct {
	breaks, asked atomic.Int32
	refresh       bool // its answers hold a refresh token
}

func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.asked.Add(1)
	if e.breaks.Add(-1) >= 0 {
		panic(http.ErrAbortHandler)
	}
	answer := fmt.Sprintf(`{"access_token": "planted-%d", "expires_in": 3600`, e.asked.Load())
	if e.refresh {
		answer += `, "refresh_token": "planted-refresh"`
	}
	_, _ = fmt.Fprint(w, answer+"}")
}

// TestATokenIsAskedForAgainWhenTheConnectionBreaks: not with a refresh token, which may be good once only.
func TestATokenIsAskedForAgainWhenTheConnectionBreaks(t *testing.T) {
	for _, c := range []struct {
		name    string
		refresh bool
		breaks  int32
		asked   int32 // for the second token
		fails   bool
	}{
		{"it breaks once", false, 1, 2, false}, {"it breaks twice", false, 2, 3, false}, {"it breaks always", false, 100, 3, true}, {"a refresh token", true, 1, 1, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := &endpoint{refresh: c.refresh}
			server := httptest.NewServer(e)
			defer server.Close()
			client, err := New(Config{Base: server.URL, Retries: 2, Pause: time.Millisecond, Transport: &http.Transport{DisableKeepAlives: true}})
			if err != nil {
				t.Fatal(err)
			}
			o, err := NewOAuth(OAuthConfig{Endpoint: server.URL, Secret: "planted", Renew: true}, client)
			if err != nil {
				t.Fatal(err)
			}
			first, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := o.Authorize(t.Context(), first, nil); err != nil {
				t.Fatal(err)
			}
			e.asked.Store(0)
			e.breaks.Store(c.breaks)
			another, err := o.Renew(t.Context(), first)
			if another == c.fails || fault.Is(err, fault.Unavailable) != c.fails || e.asked.Load() != c.asked {
				t.Errorf("another %v, %v, asked %d times", another, err, e.asked.Load())
			}
		})
	}
}
