package gcs

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/storage"
	"github.com/skua-data/skua/storage/remote"
	"github.com/skua-data/skua/storage/storetest"
)

// hasty makes a store that does not wait long.
func hasty(t *testing.T, properties map[string]string) storage.Store {
	t.Helper()
	o := &objects{properties: properties}
	if err := o.check(); err != nil {
		t.Fatal(err)
	}
	return remote.New(remote.Config{Objects: o, Identity: identity(properties), Secrets: []string{properties[tokenKey]},
		Retry: remote.Retry{Least: time.Millisecond, Most: 20 * time.Millisecond, First: time.Second, Stall: time.Second}})
}

func TestSuite(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Setup {
		server := storetest.NewGCS(t)
		return storetest.Setup{Server: server, Store: hasty(t, map[string]string{hostKey: server.URL, tokenKey: storetest.Secret}), Base: "gs://bucket",
			Bucket: "bucket", Versions: true,
			Throttle: []storetest.Fault{storetest.Status(429, storetest.GCSError(429, "rateLimitExceeded")), storetest.Status(503, "")},
			Broken:   []storetest.Fault{storetest.Status(500, storetest.GCSError(500, "backendError")), storetest.Status(502, "<html>bad gateway</html>")}}
	})
}

func TestCredentials(t *testing.T) {
	for _, c := range []struct {
		properties map[string]string
		vended     map[string]string
		header     string
	}{
		{map[string]string{tokenKey: "t1"}, nil, "Bearer t1"},
		{map[string]string{tokenKey: "t1"}, map[string]string{tokenKey: "t2"}, "Bearer t2"},
		{map[string]string{"gcs.no-auth": "true"}, nil, ""},
	} {
		server := storetest.NewGCS(t)
		server.Put("bucket/k", []byte("1"))
		got, payer := "none", ""
		server.Refuse(func(r *http.Request) bool {
			got, payer = r.Header.Get("Authorization"), r.URL.Query().Get("userProject")
			return false
		})
		c.properties[hostKey], c.properties["gcs.user-project"] = server.URL, "who-pays"
		var vended []storage.Credential
		if c.vended != nil {
			vended = []storage.Credential{{Prefix: "gs://bucket", Properties: c.vended}}
		}
		store, err := New(c.properties, vended)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := store.ReadAll(t.Context(), "gs://bucket/k", 10); err != nil {
			t.Fatal(err)
		}
		if got != c.header || payer != "who-pays" {
			t.Errorf("%v: authorized by %q, paid by %q", c.properties, got, payer)
		}
	}
}

func TestKeyFileOfTheEnvironmentThatIsMissing(t *testing.T) {
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", "/nowhere/key.json")
	store, err := New(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = store.ReadAll(t.Context(), "gs://bucket/k", 10)
	if !fault.Is(err, fault.Denied) || !strings.Contains(err.Error(), tokenKey) {
		t.Errorf("got %v", err)
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		properties map[string]string
		kind       fault.Kind
		want       string
	}{
		{map[string]string{"gcs.impersonate.service-account": "x"}, fault.Unsupported, "impersonating"},
		{map[string]string{hostKey: "localhost"}, fault.Invalid, hostKey},
		{map[string]string{"gcs.no-auth": "true", tokenKey: "x"}, fault.Invalid, "gcs.no-auth"},
		{map[string]string{"gcs.decryption-key": "%"}, fault.Invalid, "gcs.decryption-key"},
	} {
		if _, err := New(c.properties, nil); !fault.Is(err, c.kind) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v", c.properties, err)
		}
	}
	got := strings.Join(idle(map[string]string{"gcs.project-id": "x", "gcs.user-project": "x", "gcs.no": "x", "s3.x": "x"}), "\n")
	if want := "gcs.no has no effect: the store does not know it\ngcs.project-id has no effect: reading needs no project; see gcs.user-project for who pays"; got != want {
		t.Errorf("got\n%s", got)
	}
}
