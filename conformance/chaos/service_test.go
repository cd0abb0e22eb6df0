package chaos

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skua-data/skua/conformance/lake"
)

// service is a REST catalog of a lake. It wants tokens, which end soon, vends keys to the store, which end too, and drops connections on demand.
type service struct {
	lake     *lake.Lake
	lifetime time.Duration // of the keys

	mu      sync.Mutex
	tokens  map[string]bool // that were handed out: whether they are good
	handed  int             // tokens and keys
	keys    map[string]key  // that were vended, by session token
	drops   int             // connections still to be dropped
	dropped int
	refused int // tokens that were revoked and then used
}

// key opens a table's folder until its end.
type key struct {
	folder string
	end    time.Time
}

func newService(t *testing.T, l *lake.Lake, lifetime time.Duration) (*service, string) {
	t.Helper()
	s := &service{lake: l, lifetime: lifetime, tokens: map[string]bool{}, keys: map[string]key{}}
	h := httptest.NewServer(s)
	t.Cleanup(func() {
		h.CloseClientConnections()
		h.Close()
	})
	return s, h.URL
}

// revoke makes all tokens void.
func (s *service) revoke() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for token := range s.tokens {
		s.tokens[token] = false
	}
}

// drop breaks the connections of the next requests.
func (s *service) drop(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drops += n
}

// left is how many connections are still to be dropped.
func (s *service) left() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.drops
}

// spent is how many keys have ended.
func (s *service) spent() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range s.keys {
		if time.Now().After(k.end) {
			n++
		}
	}
	return n
}

// lets reports whether a session token opens a path of the store now.
func (s *service) lets(token, path string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, ok := s.keys[token]
	return ok && strings.Contains(path, k.folder) && time.Now().Before(k.end)
}

// enter counts a request and says what becomes of it: 0 to serve it, else the status; -1: the connection breaks.
func (s *service) enter(r *http.Request) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.drops > 0:
		s.drops--
		s.dropped++
		return -1
	case strings.HasSuffix(r.URL.Path, "/oauth/tokens"):
		return 0
	}
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	good, known := s.tokens[token]
	if good {
		return 0
	}
	if known { // it counts once, however many requests bear it
		s.refused++
		delete(s.tokens, token)
	}
	return http.StatusUnauthorized
}

// ServeHTTP answers what Iceberg's protocol asks of a catalog that is read.
func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch status := s.enter(r); {
	case status < 0:
		panic(http.ErrAbortHandler)
	case status > 0:
		s.fail(w, status)
		return
	}
	path := strings.TrimPrefix(r.URL.Path, "/v1/")
	parts := strings.Split(path, "/")
	switch {
	case path == "oauth/tokens":
		s.mu.Lock()
		s.handed++
		token := fmt.Sprint("planted-token-", s.handed)
		s.tokens[token] = true
		answer := map[string]any{"access_token": token, "token_type": "bearer", "expires_in": 3600}
		s.mu.Unlock()
		s.reply(w, answer)
	case path == "config":
		s.reply(w, map[string]any{"defaults": map[string]string{}, "overrides": map[string]string{}})
	case len(parts) == 4 && parts[2] == "tables":
		s.table(w, parts[1]+"."+parts[3])
	default:
		s.fail(w, http.StatusNotFound)
	}
}

func (s *service) fail(w http.ResponseWriter, status int) {
	w.WriteHeader(status)
	s.reply(w, map[string]any{"error": map[string]any{"message": http.StatusText(status), "type": "Failed", "code": status}})
}

func (s *service) reply(w http.ResponseWriter, v any) { _ = json.NewEncoder(w).Encode(v) }

func (s *service) table(w http.ResponseWriter, name string) {
	at, ok := s.lake.Tables[name]
	if !ok {
		s.fail(w, http.StatusNotFound)
		return
	}
	metadata, err := os.ReadFile(filepath.Join(s.lake.Folder, strings.TrimPrefix(at, s.lake.Base)))
	if err != nil {
		s.fail(w, http.StatusInternalServerError)
		return
	}
	s.mu.Lock()
	s.handed++
	token, end := fmt.Sprint("planted-key-", s.handed), time.Now().Add(s.lifetime)
	s.keys[token] = key{"/" + strings.ReplaceAll(name, ".", "/") + "/", end}
	s.mu.Unlock()
	keys := map[string]string{"s3.access-key-id": "vended", "s3.secret-access-key": "planted-secret", "s3.session-token": token,
		"s3.session-token-expires-at-ms": fmt.Sprint(end.UnixMilli())}
	s.reply(w, map[string]any{"metadata-location": at, "metadata": json.RawMessage(metadata), "config": map[string]string{},
		"storage-credentials": []any{map[string]any{"prefix": s.lake.Base, "config": keys}}})
}
