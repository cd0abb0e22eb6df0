package adls

import (
	"encoding/base64"
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
func hasty(properties map[string]string) storage.Store {
	c := config(properties)
	c.Retry = remote.Retry{Least: time.Millisecond, Most: 20 * time.Millisecond, First: time.Second, Stall: time.Second}
	return remote.New(c)
}

const host = "acct.dfs.core.windows.net"

func TestSuite(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Setup {
		server := storetest.NewADLS(t)
		store := hasty(map[string]string{"adls.connection-string.acct": server.URL + "/acct", "adls.sas-token." + host: "sv=1&sig=" + storetest.Secret})
		return storetest.Setup{Server: server, Store: store, Base: "abfss://box@" + host, Bucket: "box", Versions: true,
			Throttle: []storetest.Fault{storetest.Status(503, storetest.S3Error("ServerBusy")), storetest.Status(429, "")},
			Broken:   []storetest.Fault{storetest.Status(500, storetest.S3Error("InternalError")), storetest.Status(502, "<html>bad gateway</html>")}}
	})
}

func TestCredentials(t *testing.T) {
	key := base64.StdEncoding.EncodeToString([]byte("secret"))
	for _, c := range []struct {
		name       string
		properties map[string]string
		vended     map[string]string
		header     string // what the authorization begins with
		signature  string // in the query
	}{
		{"shared key", map[string]string{"adls.auth.shared-key.account.name": "acct", "adls.auth.shared-key.account.key": key}, nil, "SharedKey acct:", ""},
		{"another account's key", map[string]string{"adls.auth.shared-key.account.name": "other", "adls.auth.shared-key.account.key": key, "adls.sas-token.acct": "sig=a"}, nil, "", "a"},
		{"hadoop's key", map[string]string{"hadoop.fs.azure.account.key." + host: key}, nil, "SharedKey acct:", ""},
		{"sas by host", map[string]string{"adls.sas-token." + host: "?sv=1&sig=a"}, nil, "", "a"},
		{"sas by name", map[string]string{"adls.sas-token.acct": "sv=1&sig=b", "adls.sas-token.other": "sig=c"}, nil, "", "b"},
		{"vended", map[string]string{"adls.sas-token.acct": "sig=b"}, map[string]string{"adls.sas-token.acct": "sig=v"}, "", "v"},
		{"hadoop's sas", map[string]string{"hadoop.fs.azure.sas.fixed.token": "sig=d"}, nil, "", "d"},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := storetest.NewADLS(t)
			server.Put("box/k", []byte("1"))
			header, signature := "", ""
			server.Refuse(func(r *http.Request) bool {
				header, signature = r.Header.Get("Authorization"), r.URL.Query().Get("sig")
				return false
			})
			c.properties["adls.connection-string.acct"] = server.URL + "/acct"
			var vended []storage.Credential
			if c.vended != nil {
				vended = []storage.Credential{{Prefix: "abfss://box@", Properties: c.vended}}
			}
			store, err := New(c.properties, vended)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := store.ReadAll(t.Context(), "wasb://box@acct.blob.core.windows.net/k", 10); err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(header, c.header) || c.header == "" && header != "" || signature != c.signature {
				t.Errorf("authorized by %q and %q", header, signature)
			}
		})
	}
}

func TestConnectionStrings(t *testing.T) {
	server := storetest.NewADLS(t)
	server.Put("box/k", []byte("1"))
	text := "DefaultEndpointsProtocol=http;AccountName=acct;AccountKey=" + base64.StdEncoding.EncodeToString([]byte("k")) + ";BlobEndpoint=" + server.URL + "/acct;"
	for _, key := range []string{"adls.connection-string.acct", "adls.connection-string." + host, "adls.connection-string"} {
		if _, err := hasty(map[string]string{key: text}).ReadAll(t.Context(), "abfs://box@"+host+"/k", 10); err != nil {
			t.Errorf("%s: %v", key, err)
		}
	}
	_, err := hasty(map[string]string{"adls.connection-string": "AccountKey=" + storetest.Secret + ";x"}).ReadAll(t.Context(), "abfs://box@"+host+"/k", 10)
	if !fault.Is(err, fault.Invalid) || strings.Contains(err.Error(), storetest.Secret) {
		t.Errorf("got %v", err)
	}
}

func TestLocations(t *testing.T) {
	o := &objects{}
	names := map[string]bool{}
	for _, at := range []string{"abfss://box@acct.dfs.core.windows.net/a/b", "abfs://box@acct.dfs.core.windows.net/a/b", "wasbs://box@acct.blob.core.windows.net/a/b"} {
		name, err := o.Name(at)
		if err != nil {
			t.Fatal(err)
		}
		names[name] = true
	}
	if len(names) != 1 {
		t.Errorf("one blob has the names %v", names)
	}
	for _, at := range []string{"abfs://acct.dfs.core.windows.net/a", "abfs://@acct/a", "abfs://box@/a", "abfs:/x"} {
		if _, err := o.Name(at); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", at, err)
		}
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		properties map[string]string
		kind       fault.Kind
		want       string
	}{
		{map[string]string{"adls.token-credential-provider": "com.example.P"}, fault.Unsupported, "com.example.P"},
		{map[string]string{"adls.auth.shared-key.account.name": "a"}, fault.Invalid, "shared-key"},
		{map[string]string{"hadoop.fs.azure.account.auth.type": "Custom"}, fault.Unsupported, "Custom"},
	} {
		if _, err := New(c.properties, nil); !fault.Is(err, c.kind) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v", c.properties, err)
		}
	}
	got := strings.Join(idle(map[string]string{"adls.write.block-size-bytes": "1", "adls.sas-token.a": "x", "adls.x": "y"}), "\n")
	if want := "adls.write.block-size-bytes has no effect: it concerns writing\nadls.x has no effect: the store does not know it"; got != want {
		t.Errorf("got\n%s", got)
	}
}
