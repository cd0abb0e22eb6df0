package nessie

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"sort"
	"strings"
	"sync"
	"testing"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/catalogs/catalogtest"
	"github.com/skua-data/skua/fault"
)

// server is a Nessie server in memory: contents by reference and key. It filters nothing and pages by two.
type server struct {
	references map[string]map[string]content // by reference as paths spell it, then key joined with 0x01
	token      string                        // wanted; empty: none
	base       string

	mu    sync.Mutex
	asked []string
}

const commit = "1234567890abcdef"

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.asked = append(s.asked, r.URL.EscapedPath()+"?"+r.URL.RawQuery)
	s.mu.Unlock()
	switch r.URL.Path {
	case "/.well-known/openid-configuration":
		fmt.Fprintf(w, `{"token_endpoint":"%s/token"}`, s.base)
		return
	case "/token":
		if user, password, _ := r.BasicAuth(); user != "id" || password != "planted" || r.FormValue("grant_type") != "client_credentials" || r.FormValue("scope") != "a b" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		fmt.Fprintf(w, `{"access_token":%q,"expires_in":300}`, s.token)
		return
	}
	if s.token != "" && r.Header.Get("Authorization") != "Bearer "+s.token {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	parts := strings.Split(strings.TrimPrefix(r.URL.EscapedPath(), "/api/v2/trees/"), "/")
	name, _ := url.PathUnescape(parts[0])
	contents, ok := s.references[name]
	if !ok || len(parts) != 2 {
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprintf(w, `{"status":404,"reason":"Not Found","message":"Named reference %s not found","errorCode":"REFERENCE_NOT_FOUND"}`, name)
		return
	}
	if parts[1] == "contents" {
		var asked struct{ RequestedKeys []path }
		_ = json.NewDecoder(r.Body).Decode(&asked)
		found := []any{}
		for _, k := range asked.RequestedKeys {
			if c, ok := contents[strings.Join(k.Elements, "\x01")]; ok {
				found = append(found, map[string]any{"key": k, "content": c})
			}
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"contents": found})
		return
	}
	var all []entry
	for k, c := range contents {
		all = append(all, entry{path{strings.Split(k, "\x01")}, c.Type})
	}
	sort.Slice(all, func(i, j int) bool { return fmt.Sprint(all[i]) > fmt.Sprint(all[j]) })
	from := 0
	_, _ = fmt.Sscan(r.URL.Query().Get("page-token"), &from)
	end := min(from+2, len(all))
	_ = json.NewEncoder(w).Encode(map[string]any{"entries": all[from:end], "hasMore": end < len(all), "token": fmt.Sprint(end)})
}

func start(t testing.TB, s *server) string {
	t.Helper()
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	s.base = h.URL
	return h.URL + "/api/v2"
}

func open(t testing.TB, more ...string) catalogs.Catalog {
	t.Helper()
	p := iceberg.Properties{"warehouse": "s3://w/"}
	for i := 0; i < len(more); i += 2 {
		p[more[i]] = more[i+1]
	}
	c, err := New(nil)(t.Context(), catalogs.Config{Name: "lake", Properties: p})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func keyOf(parts ...string) string { return strings.Join(parts, "\x01") }

func tbl(at string) content { return content{Type: "ICEBERG_TABLE", Location: at} }

func sample() *server {
	ns := content{Type: "NAMESPACE"}
	return &server{references: map[string]map[string]content{
		"-": {
			keyOf("sales"): {Type: "NAMESPACE", Properties: iceberg.Properties{"owner": "crew"}}, keyOf("sales", "e.u"): ns, keyOf("empty"): ns, keyOf("sales", "e.u", "it's"): ns,
			keyOf("sales", "orders"): tbl("s3://b/o"), keyOf("sales", "a@b"): tbl("s3://b/ab"), keyOf("sales", "e.u", "t ☃"): tbl("s3://b/t"),
			keyOf("sales", "recent"): {Type: "ICEBERG_VIEW", Location: "s3://b/v"}, keyOf("sales", "fn"): {Type: "UDF"},
		},
		"dev/x": {keyOf("sales", "orders"): tbl("s3://dev")}, "main@" + commit: {keyOf("sales", "orders"): tbl("s3://at-commit")},
		"@" + commit: {keyOf("sales", "orders"): tbl("s3://detached")}, "dev/x@" + commit: {keyOf("sales", "orders"): tbl("s3://dev-commit")},
		"-*2026-01-31T00:00:00Z": {keyOf("sales", "orders"): tbl("s3://january")}, "-@" + commit: {keyOf("sales", "orders"): tbl("s3://default-commit")},
	}}
}

func TestSuite(t *testing.T) {
	uri := start(t, sample())
	catalogtest.Run(t, func(t *testing.T) (catalogs.Catalog, catalogtest.Expected) {
		at := func(location string, kind catalogs.Kind, parts ...string) catalogtest.Table {
			return catalogtest.Table{Identifier: parts, Kind: kind, MetadataLocation: location, LocationOnly: true}
		}
		return open(t, "uri", uri), catalogtest.Expected{
			Capabilities: catalogs.Capabilities{NestedNamespaces: true, Views: true, Files: true, References: true},
			Namespaces: []catalogtest.Namespace{{Identifier: table.Identifier{"sales"}, Properties: iceberg.Properties{"owner": "crew", "location": "s3://w/sales"}},
				{Identifier: table.Identifier{"sales", "e.u"}}, {Identifier: table.Identifier{"sales", "e.u", "it's"}}, {Identifier: table.Identifier{"empty"}}},
			Tables: []catalogtest.Table{at("s3://b/o", catalogs.KindTable, "sales", "orders"), at("s3://b/ab", catalogs.KindTable, "sales", "a@b"),
				at("s3://b/t", catalogs.KindTable, "sales", "e.u", "t ☃"), at("s3://b/v", catalogs.KindView, "sales", "recent")},
		}
	})
}

func TestReferences(t *testing.T) {
	s := sample()
	uri := start(t, s)
	c := open(t, "uri", uri)
	for _, q := range []struct{ name, reference, want string }{
		{"orders", "", "s3://b/o"}, {"orders", "dev/x", "s3://dev"}, {"orders", "dev/x#" + commit, "s3://dev-commit"}, {"orders", "dev/x@" + commit, "s3://dev-commit"},
		{"orders", commit, "s3://detached"}, {"orders@dev/x", "", "s3://dev"}, {"orders@dev/x#" + commit, "", "s3://dev-commit"}, {"orders@" + commit, "", "s3://detached"},
		{"orders#2026-01-31", "", "s3://january"}, {"orders#" + commit, "", "s3://default-commit"}, {"a@b", "", "s3://b/ab"},
		{"orders@gone", "", "no reference \"gone\""}, {"orders#when", "", "neither a commit nor a time"}, {"orders", "gone", "no reference \"gone\""}, {"@dev/x", "", "names no table"},
	} {
		loaded, err := c.Load(t.Context(), catalogs.LoadRequest{Identifier: table.Identifier{"sales", q.name}, Reference: q.reference})
		if err != nil {
			if !strings.Contains(err.Error(), q.want) || fault.Is(err, fault.NotFound) {
				t.Errorf("%s at %q: %v", q.name, q.reference, err)
			}
			continue
		}
		if loaded.MetadataLocation != q.want || loaded.Identifier[1] != q.name {
			t.Errorf("%s at %q: %s as %v, want %s", q.name, q.reference, loaded.MetadataLocation, loaded.Identifier, q.want)
		}
	}
	for _, q := range []struct {
		want       string
		properties []string
	}{{"s3://dev", []string{"ref", "dev/x"}}, {"s3://dev", []string{"nessie.ref", "dev/x"}}, {"s3://at-commit", []string{"ref", "main", "ref.hash", commit}}, {"s3://detached", []string{"ref.hash", commit}}} {
		loaded, err := open(t, append(q.properties, "uri", uri)...).Load(t.Context(), catalogs.LoadRequest{Identifier: table.Identifier{"sales", "orders"}})
		if err != nil || loaded.MetadataLocation != q.want {
			t.Errorf("%v: %+v, %v", q.properties, loaded, err)
		}
	}
	if !slices.ContainsFunc(s.asked, func(a string) bool { return strings.HasPrefix(a, "/api/v2/trees/dev%2Fx/contents") }) {
		t.Errorf("a slash in a branch's name must be escaped: %q", s.asked)
	}
}

func TestAuthentication(t *testing.T) {
	s := sample()
	s.token = "planted-token"
	uri := start(t, s)
	load := func(more ...string) error {
		_, err := open(t, append(more, "uri", uri)...).Load(t.Context(), catalogs.LoadRequest{Identifier: table.Identifier{"sales", "orders"}})
		return err
	}
	oauth := []string{"authentication.type", "OAUTH2", "authentication.oauth2.issuer-url", s.base, "authentication.oauth2.client-id", "id", "authentication.oauth2.client-scopes", "a b"}
	if err := load("authentication.type", "BEARER", "authentication.token", s.token); err != nil {
		t.Error(err)
	}
	if err := load(append(oauth, "nessie.authentication.oauth2.client-secret", "planted")...); err != nil {
		t.Error(err)
	}
	for _, more := range [][]string{{}, {"authentication.type", "BEARER", "authentication.token", "stale-planted"}, append(slices.Clone(oauth), "authentication.oauth2.client-secret", "wrong-planted")} {
		if err := load(more...); !fault.Is(err, fault.Denied) || strings.Contains(err.Error(), "planted") {
			t.Errorf("%v: %v", more, err)
		}
	}
}

func TestProperties(t *testing.T) {
	for want, p := range map[string]iceberg.Properties{
		"address of its API": {}, "version 2 ends in /api/v2": {"uri": "http://h/api/v1"}, "AWS of Nessie": {"uri": "http://h", "authentication.type": "AWS"},
		"needs a token": {"uri": "http://h", "authentication.type": "BEARER"}, "client-secret": {"uri": "http://h", "authentication.type": "OAUTH2", "authentication.oauth2.token-endpoint": "http://t"},
		"issuer-url": {"uri": "http://h", "authentication.type": "oauth2"}, "device_code": {"uri": "http://h", "authentication.type": "OAUTH2", "authentication.oauth2.issuer-url": "http://t",
			"authentication.oauth2.grant-type": "device_code", "authentication.oauth2.client-secret": "s"}, "ref.hash": {"uri": "http://h", "ref.hash": "main"},
	} {
		_, err := New(nil)(t.Context(), catalogs.Config{Name: "lake", Properties: p})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "spark.sql.catalog.lake.") {
			t.Errorf("%v: %v, want %q", p, err, want)
		}
	}
}

func TestAnEmptyCatalog(t *testing.T) {
	uri := start(t, &server{references: map[string]map[string]content{"-": {}}})
	catalogtest.Run(t, func(t *testing.T) (catalogs.Catalog, catalogtest.Expected) {
		return open(t, "uri", uri), catalogtest.Expected{Capabilities: catalogs.Capabilities{NestedNamespaces: true, Views: true, Files: true, References: true}}
	})
}
