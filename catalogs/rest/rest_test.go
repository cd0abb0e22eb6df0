package rest

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/catalogs/catalogtest"
	"github.com/skua-data/skua/fault"
)

func TestSuite(t *testing.T) {
	ns := func(parts ...string) string { return strings.Join(parts, "\x1f") }
	for name, config := range map[string]map[string]any{
		"bare":     nil,
		"prefixed": {"defaults": map[string]string{}, "overrides": map[string]string{"prefix": "main|ware house"}, "endpoints": append(viewEndpoints(), "GET /v1/config")},
	} {
		t.Run(name, func(t *testing.T) {
			s := &service{
				namespaces: map[string]iceberg.Properties{ns("sales"): {"owner": "crew"}, ns("sales", "eu + us"): {}, ns("sales", "eu + us", "a/b?c%"): {}, ns("B"): {}, ns("empty.dotted"): {}},
				tables: map[string]string{ns("sales", "orders"): "s3://b/o.json", ns("sales", "Z & ☃"): "s3://b/z.json",
					ns("sales", "eu + us", "a/b?c%", "t#x"): "s3://b/t.json"},
				views: map[string]string{ns("sales", "recent"): "s3://b/v.json"}, config: config, pageSize: 2,
			}
			for i := range 7 {
				s.tables[ns("B", fmt.Sprint("t", i))] = fmt.Sprint("s3://b/", i)
			}
			url := newService(t, s)
			catalogtest.Run(t, func(t *testing.T) (catalogs.Catalog, catalogtest.Expected) {
				expected := catalogtest.Expected{
					Capabilities: catalogs.Capabilities{NestedNamespaces: true, Views: true, VendsCredentials: true, Unchanged: true, Reports: true},
					Namespaces: []catalogtest.Namespace{
						{Identifier: table.Identifier{"sales"}, Properties: iceberg.Properties{"owner": "crew"}}, {Identifier: table.Identifier{"sales", "eu + us"}},
						{Identifier: table.Identifier{"sales", "eu + us", "a/b?c%"}}, {Identifier: table.Identifier{"B"}}, {Identifier: table.Identifier{"empty.dotted"}}},
				}
				for id, at := range s.tables {
					expected.Tables = append(expected.Tables, catalogtest.Table{Identifier: strings.Split(id, "\x1f"), MetadataLocation: at})
				}
				if config != nil { // only a service that tells its endpoints has views
					expected.Tables = append(expected.Tables, catalogtest.Table{Identifier: table.Identifier{"sales", "recent"}, Kind: catalogs.KindView, MetadataLocation: "s3://b/v.json"})
				}
				return open(t, iceberg.Properties{"uri": url + "/", "rest.client.max-retries": "0"}), expected
			})
		})
	}
}

func viewEndpoints() []string {
	return []string{"GET /v1/{prefix}/namespaces/{namespace}/views", "GET /v1/{prefix}/namespaces/{namespace}/views/{view}"}
}

func TestMetadataComesAsTheServiceSpellsIt(t *testing.T) {
	loaded, err := load(open(t, iceberg.Properties{"uri": newService(t, small())}), t, orders...)
	if err != nil || string(loaded.Metadata) != metadata {
		t.Errorf("%s, %v", loaded.Metadata, err)
	}
}

func TestTheServicesConfigurationIsLaidOverOurs(t *testing.T) {
	s := small()
	s.config = map[string]any{"defaults": map[string]string{"s3.region": "theirs", "s3.endpoint": "http://theirs"},
		"overrides": map[string]string{"prefix": "w/1", "client.region": "forced", "header.x-over": "yes"}}
	s.loadConfig = map[string]string{"s3.path-style-access": "true", "token": "of-the-table"}
	c := open(t, iceberg.Properties{"uri": newService(t, s), "warehouse": "s3://w/a b", "s3.region": "ours", "client.region": "ours", "header.x-mine": "1"})
	loaded, err := load(c, t, orders...)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"s3.endpoint": "http://theirs", "client.region": "forced", "s3.path-style-access": "true", "prefix": "w/1"}
	if fmt.Sprint(loaded.Config) != fmt.Sprint(iceberg.Properties(want)) {
		t.Errorf("config %v, want %v", loaded.Config, want)
	}
	if s.count("/v1/config?warehouse=s3%3A%2F%2Fw%2Fa+b") != 1 || s.count("/v1/w/1/namespaces/sales/tables/orders") != 1 {
		t.Errorf("requests %q", s.requests)
	}
	r := s.last("/tables/orders")
	if r.Header.Get("x-over") != "yes" || r.Header.Get("x-mine") != "1" || r.Header.Get("X-Iceberg-Access-Delegation") != "vended-credentials" {
		t.Errorf("headers %v", r.Header)
	}
}

func TestVendedCredentials(t *testing.T) {
	s := small()
	s.loadConfig = map[string]string{"s3.access-key-id": "k1", "s3.secret-access-key": "x", "s3.session-token": "t", "s3.session-token-expires-at-ms": "1900000000000", "s3.region": "r"}
	s.vended = []map[string]any{{"prefix": "s3://b/other", "config": map[string]string{"s3.access-key-id": "k2", "s3.session-token-expires-at-ms": "1800000000000"}},
		{"prefix": "abfss://c@a", "config": map[string]string{"adls.sas-token.a": "sas", "adls.sas-token-expires-at-ms.a": "1700000000000"}}}
	loaded, err := load(open(t, iceberg.Properties{"uri": newService(t, s), "s3.endpoint": "http://ours"}), t, orders...)
	if err != nil {
		t.Fatal(err)
	}
	if len(loaded.Config) != 1 || loaded.Config["s3.region"] != "r" {
		t.Errorf("config %v", loaded.Config)
	}
	var got []string
	for _, c := range loaded.Credentials {
		got = append(got, fmt.Sprint(c.Prefix, " ", len(c.Properties), " ", c.Expires.UnixMilli()))
	}
	if want := "[ 4 1900000000000 s3://b/other 2 1800000000000 abfss://c@a 2 1700000000000]"; fmt.Sprint(got) != want {
		t.Errorf("credentials %v, want %s", got, want)
	}
}

func TestWhatACatalogDemandsInVainIsNamed(t *testing.T) {
	for _, c := range []struct{ property, value, want string }{
		{"scan-planning-mode", "server", "plans the scans itself"}, {"s3.remote-signing-enabled", "true", "remote signing"},
	} {
		told, forced := small(), small()
		told.loadConfig = map[string]string{c.property: c.value}
		forced.config = map[string]any{"overrides": map[string]string{c.property: c.value}}
		for _, s := range []*service{told, forced} {
			_, err := load(open(t, iceberg.Properties{"uri": newService(t, s)}), t, orders...)
			if !fault.Is(err, fault.Unsupported) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.property) {
				t.Errorf("%s: %v", c.property, err)
			}
		}
		if _, err := New(nil)(t.Context(), catalogs.Config{Name: "lake", Properties: iceberg.Properties{"uri": "http://h", c.property: c.value}}); !fault.Is(err, fault.Unsupported) {
			t.Errorf("%s of ours: %v", c.property, err)
		}
	}
	for property, value := range map[string]string{"uri": "ftp://x", "rest.auth.type": "google", "token-expires-in-ms": "soon", "rest.client.max-retries": "many"} {
		p := iceberg.Properties{"uri": "http://h", "token": "t"}
		p[property] = value
		if _, err := New(nil)(t.Context(), catalogs.Config{Name: "lake", Properties: p}); err == nil || !strings.Contains(err.Error(), "spark.sql.catalog.lake."+property) {
			t.Errorf("%s=%s: %v", property, value, err)
		}
	}
}

// tokens hands out numbered tokens and holds the service to the last one.
func tokens(s *service, lifetime int) (asked func() []url.Values) {
	var forms []url.Values
	var n atomic.Int32
	s.token = func(form url.Values, r *http.Request) (int, any) {
		form.Set("authorization", r.Header.Get("Authorization"))
		form.Set("path", r.URL.Path)
		s.mu.Lock()
		forms = append(forms, form)
		s.mu.Unlock()
		return 200, map[string]any{"access_token": fmt.Sprint("tok", n.Add(1)), "token_type": "bearer", "expires_in": lifetime}
	}
	s.check = func(r *http.Request) int {
		if r.Header.Get("Authorization") != fmt.Sprint("Bearer tok", n.Load()) {
			return 401
		}
		return 0
	}
	return func() []url.Values { s.mu.Lock(); defer s.mu.Unlock(); return forms }
}

func TestClientCredentials(t *testing.T) {
	s := small()
	asked := tokens(s, 3600)
	at := newService(t, s)
	c := open(t, iceberg.Properties{"uri": at, "credential": "id:se:cret", "scope": "PRINCIPAL_ROLE:ALL", "audience": "au", "oauth2-server-uri": at + "/elsewhere/tokens"})
	for range 3 {
		if _, err := load(c, t, orders...); err != nil {
			t.Fatal(err)
		}
	}
	forms := asked()
	if len(forms) != 1 {
		t.Fatalf("%d tokens were asked for", len(forms))
	}
	for k, want := range map[string]string{"grant_type": "client_credentials", "client_id": "id", "client_secret": "se:cret", "scope": "PRINCIPAL_ROLE:ALL", "audience": "au",
		"path": "/elsewhere/tokens", "authorization": ""} {
		if got := forms[0].Get(k); got != want {
			t.Errorf("%s is %q, want %q", k, got, want)
		}
	}
}

func TestTokensAreRenewedBeforeTheirEndAndWhenRefused(t *testing.T) {
	s := small()
	asked := tokens(s, 1) // a second: due after nine tenths of it
	c := open(t, iceberg.Properties{"uri": newService(t, s), "credential": "secret"})
	if _, err := load(c, t, orders...); err != nil {
		t.Fatal(err)
	}
	if f := asked()[0]; f.Has("client_id") || f.Get("client_secret") != "secret" || f.Get("path") != "/v1/oauth/tokens" || f.Get("scope") != "catalog" {
		t.Errorf("form %v", f)
	}
	for deadline := time.Now().Add(20 * time.Second); len(asked()) < 3 && time.Now().Before(deadline); {
		if _, err := load(c, t, orders...); err != nil {
			t.Fatal(err)
		}
	}
	if len(asked()) < 3 {
		t.Error("the token was not renewed")
	}

	s = small()
	asked = tokens(s, 3600)
	c = open(t, iceberg.Properties{"uri": newService(t, s), "credential": "secret"})
	if _, err := load(c, t, orders...); err != nil {
		t.Fatal(err)
	}
	s.token(url.Values{}, s.seen[0]) // somebody else's: ours is void now
	if _, err := load(c, t, orders...); err != nil || len(asked()) != 3 {
		t.Errorf("a refused token: %v, %d asked for", err, len(asked()))
	}
	s.token(url.Values{}, s.seen[0])
	s.token = func(url.Values, *http.Request) (int, any) { return 500, map[string]any{} }
	if _, err := load(c, t, orders...); !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "get a token") {
		t.Errorf("a refused token while no other can be got: %v", err)
	}
}

func TestATokenIsExchangedBeforeItsEnd(t *testing.T) {
	s := small()
	asked := tokens(s, 3600)
	s.check = nil
	jwt := "e30." + base64.RawURLEncoding.EncodeToString([]byte(fmt.Sprintf(`{"exp":%d}`, time.Now().Unix()-5))) + ".x"
	at := newService(t, s)
	if _, err := load(open(t, iceberg.Properties{"uri": at, "token": jwt}), t, orders...); err != nil {
		t.Fatal(err)
	}
	if f := asked()[0]; f.Get("grant_type") != "urn:ietf:params:oauth:grant-type:token-exchange" || f.Get("subject_token") != jwt || f.Get("authorization") != "Bearer "+jwt {
		t.Errorf("form %v", f)
	}
	if got := s.last("/tables/orders").Header.Get("Authorization"); got != "Bearer tok1" {
		t.Errorf("authorization %q", got)
	}
	if _, err := load(open(t, iceberg.Properties{"uri": at, "token": "opaque"}), t, orders...); err != nil || len(asked()) != 1 {
		t.Errorf("a token without an end: %v, %d exchanges", err, len(asked()))
	}
}

func TestARefusedCredentialIsDeniedAndKeepsItsSecret(t *testing.T) {
	s := small()
	s.token = func(url.Values, *http.Request) (int, any) {
		return 404, map[string]any{"error": "invalid_client", "error_description": "no such client"}
	}
	_, err := load(open(t, iceberg.Properties{"uri": newService(t, s), "credential": "id:planted"}), t, orders...)
	if !fault.Is(err, fault.Denied) || !strings.Contains(err.Error(), "invalid_client: no such client") || strings.Contains(err.Error(), "planted") {
		t.Errorf("%v", err)
	}
}

func TestSigV4(t *testing.T) {
	s := small()
	asked := tokens(s, 3600)
	s.check = nil
	c := open(t, iceberg.Properties{"uri": newService(t, s), "rest.sigv4-enabled": "true", "rest.signing-region": "eu-west-1", "rest.signing-name": "glue",
		"rest.access-key-id": "AKID", "rest.secret-access-key": "planted", "rest.session-token": "st", "credential": "a:b"})
	if _, err := load(c, t, orders...); err != nil {
		t.Fatal(err)
	}
	r := s.last("/tables/orders")
	if got := r.Header.Get("Authorization"); !strings.HasPrefix(got, "AWS4-HMAC-SHA256 Credential=AKID/") || !strings.Contains(got, "/eu-west-1/glue/aws4_request") {
		t.Errorf("authorization %q", got)
	}
	if r.Header.Get("Original-Authorization") != "Bearer tok1" || r.Header.Get("X-Amz-Security-Token") != "st" || len(asked()) != 1 {
		t.Errorf("headers %v", r.Header)
	}
}

func TestAServiceThatFailsForAWhileIsAskedAgain(t *testing.T) {
	s := small()
	var n atomic.Int32
	s.check = func(*http.Request) int { return []int{503, 429, 502, 0}[min(n.Add(1)-1, 3)] }
	if _, err := load(open(t, iceberg.Properties{"uri": newService(t, s)}), t, orders...); err != nil {
		t.Fatal(err)
	}
	s.check = func(*http.Request) int { return 500 }
	_, err := load(open(t, iceberg.Properties{"uri": newService(t, s)}), t, orders...)
	if !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "said NotAuthorizedException (500") {
		t.Errorf("%v", err)
	}
}

func TestReportsOfScansArePosted(t *testing.T) {
	const path = "/v1/w/namespaces/sales/tables/orders/metrics"
	for name, c := range map[string]struct {
		endpoints []string
		posted    bool
	}{
		"a service that does not tell its endpoints":  {nil, true},
		"one that takes reports":                      {[]string{"POST /v1/{prefix}/namespaces/{namespace}/tables/{table}/metrics"}, true},
		"one that tells its endpoints, without these": {[]string{"GET /v1/{prefix}/namespaces/{namespace}/tables/{table}"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			config := map[string]any{"overrides": map[string]string{"prefix": "w"}}
			if c.endpoints != nil {
				config["endpoints"] = c.endpoints
			}
			at := newHandler(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/v1/config" {
					reply(w, config)
					return
				}
				body, _ := io.ReadAll(r.Body)
				got = append(got, fmt.Sprint(r.Method, " ", r.URL.Path, " ", r.Header.Get("Content-Type"), " ", string(body)))
				w.WriteHeader(http.StatusNoContent)
			}))
			reporter := open(t, iceberg.Properties{"uri": at}).(catalogs.Reporter)
			if err := reporter.Report(t.Context(), orders, []byte(`{"report-type":"scan-report"}`)); err != nil {
				t.Fatal(err)
			}
			want := []string{"POST " + path + ` application/json {"report-type":"scan-report"}`}
			if !c.posted {
				want = nil
			}
			if !slices.Equal(got, want) {
				t.Errorf("%q, want %q", got, want)
			}
			if err := reporter.Report(t.Context(), table.Identifier{"sales"}, nil); !fault.Is(err, fault.NotFound) {
				t.Errorf("a report of no table: %v", err)
			}
		})
	}
}

func TestWhatConcernsATableGoesWithItsToken(t *testing.T) {
	s := small()
	s.loadConfig = map[string]string{"token": "of-the-table"}
	c := open(t, iceberg.Properties{"uri": newService(t, s), "header.authorization": "Bearer ours"})
	loaded, err := load(c, t, orders...)
	if err != nil {
		t.Fatal(err)
	}
	if _, told := loaded.Config["token"]; told {
		t.Errorf("the store gets the token: %v", loaded.Config)
	}
	report := func(want string) {
		t.Helper()
		_ = c.(catalogs.Reporter).Report(t.Context(), orders, []byte("{}"))
		if got := s.last("/orders/metrics").Header.Get("Authorization"); got != want {
			t.Errorf("authorization %q, want %q", got, want)
		}
	}
	report("Bearer of-the-table")
	again := func(want string, refused ...string) {
		t.Helper()
		s.check = func(r *http.Request) int {
			if slices.Contains(refused, r.Header.Get("Authorization")) {
				return http.StatusUnauthorized
			}
			return 0
		}
		if _, err := load(c, t, orders...); err != nil {
			t.Fatal(err)
		}
		if got := s.last("/tables/orders?").Header.Get("Authorization"); got != want {
			t.Errorf("loaded with %q, want %q", got, want)
		}
		s.check = nil
	}
	s.loadConfig = map[string]string{"token": "renewed"}
	again("Bearer of-the-table")
	report("Bearer renewed")
	s.loadConfig = nil
	again("Bearer renewed")
	again("Bearer ours", "Bearer renewed")
	report("Bearer ours")
	s.loadConfig = map[string]string{"token": "next"}
	again("Bearer ours")
	report("Bearer next")
	if _, err := load(c, t, "sales", "none"); !fault.Is(err, fault.NotFound) || s.last("/tables/none").Header.Get("Authorization") != "Bearer ours" {
		t.Errorf("another table: %v", err)
	}
	var many tableTokens
	for i := range maxTokens + 5 {
		many.keep(table.Identifier{"ns", fmt.Sprint(i)}, "x")
	}
	if len(many.held) > maxTokens {
		t.Errorf("%d tokens are kept", len(many.held))
	}
}

func TestEndlessAndForeignListings(t *testing.T) {
	s := small()
	mux := http.NewServeMux()
	mux.HandleFunc("/v1/namespaces", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"namespaces":[["a"],["a","deeper"],[]],"next-page-token":"again"}`)
	})
	mux.Handle("/", s)
	at := newHandler(t, mux)
	for _, err := range open(t, iceberg.Properties{"uri": at}).Namespaces(t.Context(), nil) {
		if !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "again and again") {
			t.Errorf("%v", err)
		}
	}
}

func TestRedirectionsToOtherHostsAreNotFollowed(t *testing.T) {
	var reached atomic.Bool
	other := newHandler(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Store(true) }))
	at := newHandler(t, http.RedirectHandler(other, http.StatusFound))
	_, err := load(open(t, iceberg.Properties{"uri": at, "header.x-key": "planted"}), t, orders...)
	if !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "redirection") || reached.Load() {
		t.Errorf("%v, reached %v", err, reached.Load())
	}
}

func TestAnEmptyCatalog(t *testing.T) {
	url := newService(t, &service{})
	catalogtest.Run(t, func(t *testing.T) (catalogs.Catalog, catalogtest.Expected) {
		return open(t, iceberg.Properties{"uri": url}), catalogtest.Expected{Capabilities: catalogs.Capabilities{NestedNamespaces: true, Views: true, VendsCredentials: true, Unchanged: true, Reports: true}}
	})
}
