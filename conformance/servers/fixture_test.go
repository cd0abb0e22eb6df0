// Package servers runs the bundled catalogs against real servers, which the scripts beside it start. Its tests run where SKUA_SERVERS names the servers: all, or
// some of them with commas.
package servers

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skua-data/skua/cmd/skua/demo"
	"github.com/skua-data/skua/conformance"
	"github.com/skua-data/skua/conformance/inprocess"
)

// wanted skips a test unless its server is asked for.
func wanted(t *testing.T, name string) {
	t.Helper()
	asked := strings.Split(os.Getenv("SKUA_SERVERS"), ",")
	if !slices.Contains(asked, name) && !slices.Contains(asked, "all") {
		t.Skipf("set SKUA_SERVERS=%s (or all) to run it", name)
	}
}

// script starts a server by its script, in a state of its own that is new, and stops it at the end. Settings are NAME=value.
func script(t *testing.T, name string, settings ...string) {
	t.Helper()
	run := func(verb string) {
		c := exec.Command("bash", name+".sh", verb)
		c.Env = append(append(os.Environ(), "INSTANCE="+state(t, name)), settings...)
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%s %s: %v\n%s", name, verb, err, out)
		}
	}
	t.Cleanup(func() { run("stop") }) // whatever becomes of the start
	run("start")
}

// state is a server's state folder, below that of all servers.
func state(t *testing.T, name string) string {
	return fmt.Sprintf("test-%d/%s-%s", os.Getpid(), strings.ReplaceAll(t.Name(), "/", "-"), name)
}

// lake is the tables that every catalog serves: the demo warehouse, by its own catalog.
var lake = sync.OnceValues(func() (map[string]string, error) {
	dir, err := os.MkdirTemp("", "skua-servers-")
	if err != nil {
		return nil, err
	}
	if _, err := demo.Make(context.Background(), filepath.Join(dir, "lake"), func(string, ...any) {}); err != nil {
		return nil, err
	}
	found, err := filepath.Glob(filepath.Join(dir, "lake", "*", "*", "metadata", "version-hint.text"))
	if err != nil {
		return nil, err
	}
	out := map[string]string{"": filepath.Join(dir, "lake")}
	for _, hint := range found {
		version, err := os.ReadFile(hint)
		if err != nil {
			return nil, err
		}
		folder := filepath.Dir(hint)
		parts := strings.Split(folder, string(filepath.Separator))
		out[strings.Join(parts[len(parts)-3:len(parts)-1], ".")] = "file://" + filepath.Join(folder, "v"+strings.TrimSpace(string(version))+".metadata.json")
	}
	return out, nil
})

// tables gives the metadata location of each table, by namespace.table, and the warehouse's folder.
func tables(t *testing.T) (map[string]string, string) {
	t.Helper()
	all, err := lake()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for k, v := range all {
		if k != "" {
			out[k] = v
		}
	}
	if len(out) < 3 {
		t.Fatalf("tables %v", out)
	}
	return out, all[""]
}

func TestMain(m *testing.M) {
	status := m.Run()
	if all, err := lake(); os.Getenv("SKUA_SERVERS") != "" && err == nil {
		_ = os.RemoveAll(filepath.Dir(all[""]))
	}
	os.Exit(status)
}

// questions are asked of every catalog; what the demo warehouse's own catalog answers is right.
var questions = []string{
	"SHOW NAMESPACES IN %s LIKE 'shop|web'", "SHOW TABLES IN %s.shop", "SELECT count(*) FROM %s.shop.sales", "DESCRIBE %s.shop.sales",
	"SELECT sale_id, sold_on, quantity, amount FROM %s.shop.sales WHERE sold_on = DATE '2025-06-01' AND amount > 2400 ORDER BY sale_id LIMIT 5",
	"SELECT count(*) FROM %s.web.events VERSION AS OF 'launch'", "SELECT count(*) FROM %s.shop.sales.snapshots", "SELECT count(*) FROM %s.web.events",
}

// open starts a server with the warehouse's own catalog, demo, and one of the settings, real.
func open(t *testing.T, settings map[string]string) *conformance.Client {
	t.Helper()
	_, folder := tables(t)
	all := map[string]string{"skua.plugin.folder": plugins(t)}
	for k, v := range demo.Settings(folder) {
		all[k] = v
	}
	const prefix = "spark.sql.catalog.real"
	all[prefix] = "org.apache.iceberg.spark.SparkCatalog"
	for k, v := range settings {
		all[prefix+"."+k] = v
	}
	var log bytes.Buffer
	r, err := inprocess.Start(t.Context(), inprocess.Config{Settings: all, Log: slog.New(slog.NewTextHandler(&log, nil))})
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
			t.Log(log.String())
		}
		for _, planted := range []string{"skuasecret", "planted"} {
			if strings.Contains(log.String(), planted) {
				t.Errorf("the log holds %q", planted)
			}
		}
	})
	return client
}

// check runs the questions on a catalog of the settings and compares the answers with those of the warehouse's own. It gives the client for more.
func check(t *testing.T, settings map[string]string) *conformance.Client {
	t.Helper()
	client := open(t, settings)
	for _, q := range questions {
		got, want := ask(t, client, fmt.Sprintf(q, "real")), ask(t, client, fmt.Sprintf(q, "demo"))
		if got != want || strings.HasPrefix(want, "error") {
			t.Errorf("%s:\n%s\nwant\n%s", q, got, want)
		}
	}
	if got := ask(t, client, "SELECT * FROM real.shop.no_such"); !strings.Contains(got, "TABLE_OR_VIEW_NOT_FOUND") {
		t.Errorf("a table that is missing: %s", got)
	}
	return client
}

// ask gives an answer's rows as text, or the error.
func ask(t *testing.T, c *conformance.Client, sql string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	answer, err := c.Ask(ctx, conformance.Question{SQL: sql, Path: conformance.PathQuery})
	if err != nil {
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

// built is the folder of a skua-catalog that is built once.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "skua-plugins-")
	if err != nil {
		return "", err
	}
	out, err := exec.Command("go", "build", "-o", filepath.Join(dir, "skua-catalog"), "github.com/skua-data/skua/cmd/skua-catalog").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return dir, nil
})

func plugins(t *testing.T) string {
	t.Helper()
	dir, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// post sends JSON and gives the answer's.
func post(t *testing.T, method, url string, body any, headers ...string) map[string]any {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), method, url, bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	said, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode >= 300 {
		t.Fatalf("%s %s: %s, %s, %v", method, url, response.Status, said, err)
	}
	out := map[string]any{}
	_ = json.Unmarshal(said, &out)
	return out
}

func decode(r io.Reader, into any) error { return json.NewDecoder(r).Decode(into) }
