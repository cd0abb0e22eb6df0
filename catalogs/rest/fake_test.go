package rest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sort"
	"strings"
	"sync"
	"testing"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/catalogs"
)

// service is a REST catalog in memory. It pages its listings in an order of its own, and tests change what it says.
type service struct {
	namespaces map[string]iceberg.Properties // by levels joined with 0x1F
	tables     map[string]string             // by path joined with 0x1F: the metadata location
	views      map[string]string
	config     map[string]any
	loadConfig map[string]string
	vended     []map[string]any
	pageSize   int
	token      func(form url.Values, r *http.Request) (int, any) // nil: there is no token endpoint
	check      func(r *http.Request) int                         // 0: pass

	mu       sync.Mutex
	requests []string
	seen     []*http.Request
}

const metadata = `{"format-version":2,"table-uuid":"9c12d441-03fe-4693-9a96-a0705ddf69c1","unknown-to-all":{"kept":true}}`

func newService(t testing.TB, s *service) string {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return server.URL
}

func (s *service) count(part string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, r := range s.requests {
		if strings.Contains(r, part) {
			n++
		}
	}
	return n
}

func (s *service) last(part string) *http.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := len(s.requests) - 1; i >= 0; i-- {
		if strings.Contains(s.requests[i], part) {
			return s.seen[i]
		}
	}
	return nil
}

func fail(w http.ResponseWriter, status int, typ string) {
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"error":{"message":"said %s","type":%q,"code":%d}}`, typ, typ, status)
}

func reply(w http.ResponseWriter, v any) { _ = json.NewEncoder(w).Encode(v) }

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.requests = append(s.requests, r.Method+" "+r.URL.EscapedPath()+"?"+r.URL.RawQuery)
	s.seen = append(s.seen, r.Clone(r.Context()))
	s.mu.Unlock()
	if s.token != nil && strings.HasSuffix(r.URL.Path, "/tokens") {
		_ = r.ParseForm()
		status, body := s.token(r.PostForm, r)
		w.WriteHeader(status)
		reply(w, body)
		return
	}
	if s.check != nil {
		if status := s.check(r); status != 0 {
			fail(w, status, "NotAuthorizedException")
			return
		}
	}
	if r.URL.Path == "/v1/config" {
		config := s.config
		if config == nil {
			config = map[string]any{"defaults": map[string]string{}, "overrides": map[string]string{}}
		}
		reply(w, config)
		return
	}
	prefix := ""
	if overrides, ok := s.config["overrides"].(map[string]string); ok && overrides["prefix"] != "" {
		prefix = escapePrefix(overrides["prefix"]) + "/"
	}
	rest, ok := strings.CutPrefix(r.URL.EscapedPath(), "/v1/"+prefix+"namespaces")
	if !ok {
		fail(w, 404, "NoSuchEndpoint")
		return
	}
	parts := strings.Split(strings.TrimPrefix(rest, "/"), "/")
	for i := range parts {
		parts[i], _ = url.PathUnescape(parts[i])
	}
	switch {
	case rest == "":
		s.list(w, r)
	case len(parts) == 1:
		p, ok := s.namespaces[parts[0]]
		if !ok {
			fail(w, 404, "NoSuchNamespaceException")
			return
		}
		reply(w, map[string]any{"namespace": strings.Split(parts[0], "\x1f"), "properties": p})
	case s.namespaces[parts[0]] == nil && !has(s.namespaces, parts[0]):
		fail(w, 404, "NoSuchNamespaceException")
	case len(parts) == 2:
		s.names(w, r, parts[0], map[string]map[string]string{"tables": s.tables, "views": s.views}[parts[1]])
	default:
		s.load(w, parts)
	}
}

func has[T any](m map[string]T, k string) bool { _, ok := m[k]; return ok }

func (s *service) list(w http.ResponseWriter, r *http.Request) {
	parent := r.URL.Query().Get("parent")
	if parent != "" && !has(s.namespaces, parent) {
		fail(w, 404, "NoSuchNamespaceException")
		return
	}
	var all []any
	for ns := range s.namespaces {
		levels := strings.Split(ns, "\x1f")
		if up := strings.Join(levels[:len(levels)-1], "\x1f"); up == parent {
			all = append(all, levels)
		}
	}
	s.page(w, r, "namespaces", all)
}

func (s *service) names(w http.ResponseWriter, r *http.Request, ns string, in map[string]string) {
	var all []any
	for id := range in {
		parts := strings.Split(id, "\x1f")
		if strings.Join(parts[:len(parts)-1], "\x1f") == ns {
			all = append(all, map[string]any{"namespace": parts[:len(parts)-1], "name": parts[len(parts)-1]})
		}
	}
	s.page(w, r, "identifiers", all)
}

// page answers in the reverse of byte order.
func (s *service) page(w http.ResponseWriter, r *http.Request, field string, all []any) {
	sort.Slice(all, func(i, j int) bool { return fmt.Sprint(all[i]) > fmt.Sprint(all[j]) })
	out := map[string]any{field: all}
	if s.pageSize > 0 && r.URL.Query().Has("pageToken") {
		var from int
		_, _ = fmt.Sscan(r.URL.Query().Get("pageToken"), &from)
		end := min(from+s.pageSize, len(all))
		out[field] = all[from:end]
		if end < len(all) {
			out["next-page-token"] = fmt.Sprint(end)
		}
	}
	reply(w, out)
}

func (s *service) load(w http.ResponseWriter, parts []string) {
	in := map[string]map[string]string{"tables": s.tables, "views": s.views}[parts[1]]
	at, ok := in[parts[0]+"\x1f"+parts[2]]
	if !ok {
		fail(w, 404, "NoSuchTableException")
		return
	}
	reply(w, map[string]any{"metadata-location": at, "metadata": json.RawMessage(metadata), "config": s.loadConfig, "storage-credentials": s.vended})
}

func open(t testing.TB, properties iceberg.Properties) catalogs.Catalog {
	t.Helper()
	c, err := New(nil)(t.Context(), catalogs.Config{Name: "lake", Properties: properties})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func load(c catalogs.Catalog, t testing.TB, id ...string) (*catalogs.Table, error) {
	return c.Load(t.Context(), catalogs.LoadRequest{Identifier: id})
}

func small() *service {
	return &service{namespaces: map[string]iceberg.Properties{"sales": {}}, tables: map[string]string{"sales\x1forders": "s3://b/m.json"}}
}

var orders = table.Identifier{"sales", "orders"}

func newHandler(t testing.TB, h http.Handler) string {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return server.URL
}
