// Package servers reads a lake through real catalogs and stores, which package launch starts. Its tests run where SKUA_SERVERS names the servers: all, or
// some of them with commas.
package servers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skua-data/skua/conformance"
	"github.com/skua-data/skua/conformance/inprocess"
	"github.com/skua-data/skua/conformance/servers/launch"
	"github.com/skua-data/skua/plugins/sdk"
)

// asked reports whether SKUA_SERVERS names a server.
func asked(name string) bool {
	all := strings.Split(os.Getenv("SKUA_SERVERS"), ",")
	return slices.Contains(all, name) || slices.Contains(all, "all")
}

// wanted skips a test unless its servers are asked for.
func wanted(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		if !asked(name) {
			t.Skipf("set SKUA_SERVERS=%s (or all) to run it", strings.Join(names, ","))
		}
	}
}

// start starts a server for a test. Where the machine lacks a program for it the test is skipped with the reason.
func start(t *testing.T, name string, settings launch.Settings) *launch.Server {
	t.Helper()
	server, err := launch.Start(t.Context(), name, settings)
	if errors.Is(err, launch.ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	return server
}

// scratch is a folder that lives as long as the tests.
var scratch = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "skua-servers-") })

func TestMain(m *testing.M) {
	if sdk.Launched() {
		sdk.Serve(custom)
		return
	}
	status := m.Run()
	for _, s := range begun {
		_ = s.server.Stop()
	}
	if os.Getenv("SKUA_SERVERS") != "" {
		if dir, err := scratch(); err == nil {
			_ = os.RemoveAll(dir)
		}
	}
	os.Exit(status)
}

// plugins is the folder of a skua-catalog that is built once.
var plugins = sync.OnceValues(func() (string, error) {
	dir, err := scratch()
	if err != nil {
		return "", err
	}
	dir = filepath.Join(dir, "plugins")
	out, err := exec.Command("go", "build", "-o", filepath.Join(dir, "skua-catalog"), "github.com/skua-data/skua/cmd/skua-catalog").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	return dir, os.Symlink(self, filepath.Join(dir, "skua-catalog-CatalogImpl")) // see custom
})

// served is a server of ours and what it logged.
type served struct {
	*conformance.Client
	log *bytes.Buffer
}

// serve starts a server of ours with catalogs by name, each with its properties; the key "" of one is its class. Secrets must not be in its log.
func serve(t *testing.T, catalogs map[string]map[string]string, secrets ...string) served {
	t.Helper()
	settings := map[string]string{}
	for name, properties := range catalogs {
		prefix := "spark.sql.catalog." + name
		settings[prefix] = "org.apache.iceberg.spark.SparkCatalog"
		for k, v := range properties {
			if k == "" {
				settings[prefix] = v
			} else {
				settings[prefix+"."+k] = v
			}
		}
	}
	return serveSettings(t, settings, secrets...)
}

// serveSettings starts a server of ours with settings as they are.
func serveSettings(t *testing.T, settings map[string]string, secrets ...string) served {
	t.Helper()
	folder, err := plugins()
	if err != nil {
		t.Fatal(err)
	}
	settings["skua.plugin.folder"] = folder
	log := &bytes.Buffer{}
	r, err := inprocess.Start(t.Context(), inprocess.Config{Settings: settings, Log: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	if err != nil {
		t.Fatal(err)
	}
	client, err := r.Target().Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = client.Close()
		_ = r.Stop()
		if t.Failed() {
			t.Logf("the log ends in: %s", log.Bytes()[max(0, log.Len()-3000):])
		}
		for _, s := range append(secrets, "planted", launch.S3Secret, launch.AzureKey) {
			if strings.Contains(log.String(), s) {
				t.Errorf("the log holds %q", s)
			}
		}
	})
	return served{client, log}
}

// ask gives an answer's rows as text, or the error.
func ask(t *testing.T, c served, sql string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	answer, err := c.Ask(ctx, conformance.Question{SQL: sql, Path: conformance.PathQuery})
	if err != nil {
		if strings.Contains(err.Error(), "planted") || strings.Contains(err.Error(), launch.S3Secret) {
			t.Errorf("the error holds a secret: %v", err)
		}
		return "error: " + err.Error()
	}
	defer answer.Release()
	var b strings.Builder
	for _, batch := range answer.Batches {
		text, err := batch.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		b.Write(text)
	}
	return b.String()
}
