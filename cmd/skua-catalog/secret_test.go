package main

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/plugins/host"
)

// locked is a buffer that several may write to.
type locked struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *locked) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// TestNoSecretIsToldWhateverAServerSays gives every type planted secrets and a server that throws back all it was sent, and looks for them in errors and logs.
func TestNoSecretIsToldWhateverAServerSays(t *testing.T) {
	const planted = "pl4nted-s3cret"
	if testing.Short() {
		t.Skip("it starts dozens of processes")
	}
	for i, status := range []int{http.StatusUnauthorized, http.StatusBadRequest, http.StatusOK} {
		echo := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			w.WriteHeader(status)
			fmt.Fprintf(w, `{"error":{"message":"you sent %s %q %q","type":"Echo"},"message":"you sent %q %q"}`, r.URL, fmt.Sprint(r.Header), body, fmt.Sprint(r.Header), body)
		}))
		t.Cleanup(echo.Close)
		raw := echoing(t)
		for name, d := range map[string]catalogs.Definition{
			"rest with a credential": {Type: "rest", Properties: iceberg.Properties{"uri": echo.URL, "credential": "id:" + planted, "header.x-api-key": planted}},
			"rest with a token":      {Type: "rest", Properties: iceberg.Properties{"uri": echo.URL, "token": planted, "header.authorization": "Bearer " + planted}},
			"rest, basic":            {Type: "rest", Properties: iceberg.Properties{"uri": echo.URL, "rest.auth.type": "basic", "rest.auth.basic.username": "u", "rest.auth.basic.password": planted}},
			"rest, signed":           {Type: "rest", Properties: iceberg.Properties{"uri": echo.URL, "rest.sigv4-enabled": "true", "rest.signing-region": "r", "rest.access-key-id": "a", "rest.secret-access-key": planted, "rest.session-token": planted}},
			"nessie":                 {Type: "nessie", Properties: iceberg.Properties{"uri": echo.URL + "/api/v2", "authentication.type": "BEARER", "authentication.token": planted}},
			"nessie, OAuth2": {Type: "nessie", Properties: iceberg.Properties{"uri": echo.URL + "/api/v2", "authentication.type": "OAUTH2", "authentication.oauth2.token-endpoint": echo.URL,
				"authentication.oauth2.client-id": "c", "authentication.oauth2.client-secret": planted}},
			"glue":     {Type: "glue", Properties: iceberg.Properties{"glue.endpoint": echo.URL, "client.region": "r", "glue.access-key-id": "a", "glue.secret-access-key": planted, "glue.session-token": planted}},
			"postgres": {Type: "jdbc", Properties: iceberg.Properties{"uri": "jdbc:postgresql://" + raw + "/db?sslmode=disable&password=" + planted}},
			"mysql":    {Type: "jdbc", Properties: iceberg.Properties{"uri": "jdbc:mysql://" + raw + "/db?useSSL=false&socketTimeout=300", "jdbc.user": "u", "jdbc.password": planted}},
			"sqlite":   {Type: "jdbc", Properties: iceberg.Properties{"uri": "jdbc:sqlite:/nowhere/x.db?password=" + planted}},
			"hive":     {Type: "hive", Properties: iceberg.Properties{"uri": "thrift://" + raw, "hadoop.javax.jdo.option.ConnectionPassword": planted}},
			// The stores that a catalog reads itself.
			"hadoop on S3": {Type: "hadoop", Properties: iceberg.Properties{"warehouse": "s3://b/w", "s3.endpoint": echo.URL, "s3.path-style-access": "true", "s3.access-key-id": "a",
				"s3.secret-access-key": planted, "s3.session-token": planted}},
			"hadoop on S3 by Hadoop's keys": {Type: "hadoop", Properties: iceberg.Properties{"warehouse": "s3a://b/w", "hadoop.fs.s3a.endpoint": echo.URL, "hadoop.fs.s3a.path.style.access": "true",
				"hadoop.fs.s3a.access.key": "a", "hadoop.fs.s3a.secret.key": planted}},
			"hadoop on GCS": {Type: "hadoop", Properties: iceberg.Properties{"warehouse": "gs://b/w", "gcs.service.host": echo.URL, "gcs.oauth2.token": planted}},
			"hadoop on Azure by a key": {Type: "hadoop", Properties: iceberg.Properties{"warehouse": "abfss://c@acct.dfs.core.windows.net/w", "adls.connection-string.acct": echo.URL + "/acct",
				"adls.auth.shared-key.account.name": "acct", "adls.auth.shared-key.account.key": base64.StdEncoding.EncodeToString([]byte(planted))}},
			"hadoop on Azure by a signature": {Type: "hadoop", Properties: iceberg.Properties{"warehouse": "abfss://c@acct.dfs.core.windows.net/w", "adls.connection-string.acct": echo.URL + "/acct",
				"adls.sas-token.acct": "sv=2024-01-01&sig=" + planted}},
			"static": {Type: "static", Properties: iceberg.Properties{"uri": "/nowhere/" + planted + ".json", "token": planted}},
		} {
			store := strings.HasPrefix(name, "hadoop on ")
			if i > 0 && !strings.Contains(d.Properties["uri"], echo.URL) && !store || store && status == http.StatusOK {
				continue // no status concerns it, or it would be asked again for long
			}
			t.Run(fmt.Sprint(name, " ", status), func(t *testing.T) {
				log := &locked{}
				h := launched(t, slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})))
				d.Name = "lake"
				if d.Type == "rest" {
					d.Properties["rest.client.max-retries"] = "0"
				}
				said := ""
				catalog, err := h.Open(t.Context(), d, nil)
				if err != nil {
					said = err.Error()
				} else {
					_, err = catalog.Load(t.Context(), catalogs.LoadRequest{Identifier: table.Identifier{"a", "b"}})
					said += fmt.Sprint(err)
					_, err = catalog.LoadNamespace(t.Context(), table.Identifier{"a"})
					said += fmt.Sprint(err)
					for _, err := range catalog.Tables(t.Context(), table.Identifier{"a"}) {
						said += fmt.Sprint(err)
					}
				}
				if err := h.Close(); err != nil {
					said += err.Error()
				}
				for what, text := range map[string]string{"the errors": said, "the log": log.String()} {
					if strings.Contains(text, planted) || strings.Contains(text, base64.StdEncoding.EncodeToString([]byte("u:"+planted))) ||
						strings.Contains(text, base64.StdEncoding.EncodeToString([]byte("c:"+planted))) ||
						strings.Contains(text, base64.StdEncoding.EncodeToString([]byte(planted))) {
						t.Errorf("%s hold the secret:\n%s", what, text)
					}
				}
				if said == "" {
					t.Error("nothing failed")
				}
			})
		}
	}
}

// echoing is a server that sends back whatever comes, in no protocol.
func echoing(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				b := make([]byte, 4096)
				if n, err := c.Read(b); err == nil {
					_, _ = c.Write(b[:n])
				}
			}()
		}
	}()
	return l.Addr().String()
}

// launched is a host whose plugin folder holds the test binary as skua-catalog, with a log.
func launched(t *testing.T, log *slog.Logger) *host.Host {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := os.Symlink(program, filepath.Join(folder, "skua-catalog")); err != nil {
		t.Fatal(err)
	}
	h, err := host.New(host.Config{Folder: folder, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	return h
}
