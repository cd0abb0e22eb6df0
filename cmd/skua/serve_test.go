package main

import (
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// taken is an address that somebody listens on.
func taken(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l.Addr().String()
}

func TestTakenPortIsToldBeforeTheDemoIsMade(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "lake")
	_, err := call(t, "serve", "--demo", "--demo-dir", dir, "--listen", taken(t))
	if err == nil || !strings.Contains(err.Error(), "--listen 127.0.0.1:0") {
		t.Errorf("the error: %v", err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the demo was made all the same: %v", err)
	}
}

func TestWarningsAreLogLinesWhereTheLogIsJSON(t *testing.T) {
	const key = "spark.sql.catalog.lake"
	args := []string{"serve", "--listen", taken(t), "--conf", key + "=org.apache.iceberg.spark.SparkCatalog", "--conf", key + ".type=hadoop",
		"--conf", key + ".warehouse=" + t.TempDir(), "--conf", "spark.sql.extensions=x"}
	out, err := call(t, args...)
	if err == nil || !strings.Contains(out, "skua: warning: spark.sql.extensions") {
		t.Errorf("as text: %v\n%s", err, out)
	}
	out, err = call(t, append(args, "--conf", "skua.log.format=json")...)
	if err == nil {
		t.Error("no error although the port is taken")
	}
	warned := false
	for line := range strings.Lines(out) {
		var record struct{ Level, Msg string }
		if err := json.Unmarshal([]byte(line), &record); err != nil {
			t.Errorf("no JSON: %s", line)
		}
		warned = warned || record.Level == "WARN" && strings.HasPrefix(record.Msg, "spark.sql.extensions")
	}
	if !warned {
		t.Errorf("no warning in\n%s", out)
	}
}

func TestPropertiesWithoutEffectAreSaidOnceAtStart(t *testing.T) {
	const key = "spark.sql.catalog.lake"
	args := []string{"serve", "--listen", taken(t), "--conf", key + "=org.apache.iceberg.spark.SparkCatalog", "--conf", key + ".type=hadoop",
		"--conf", key + ".warehouse=" + t.TempDir()}
	idle := []string{key + ".lock-impl", key + ".lock.table", key + ".table-default.write.format.default", key + ".table-override.x", key + ".view-default.x",
		key + ".unique-table-location", key + ".rest-catalog-purge", key + ".io.manifest.cache-enabled", key + ".http-client.type", key + ".glue.skip-archive",
		key + ".s3.acl", key + ".metrics-reporter-impl", "spark.hadoop.fs.s3a.fast.upload"}
	for _, k := range idle {
		args = append(args, "--conf", k+"=planted")
	}
	for _, format := range []string{"text", "json"} {
		out, err := call(t, append(args, "--conf", "skua.log.format="+format)...)
		if err == nil {
			t.Error("no error although the port is taken")
		}
		for _, k := range idle {
			if n := strings.Count(out, k+" has no effect"); n != 1 {
				t.Errorf("%s: %s is said %d times in\n%s", format, k, n, out)
			}
		}
		if !strings.Contains(out, "http-client.type has no effect: it chooses a Java client") || strings.Contains(out, "planted") || strings.Contains(out, ".warehouse has no effect") {
			t.Errorf("%s: a reason is missing, or a value or a property that works is said in\n%s", format, out)
		}
	}
}

func TestReadyFileGoesWithItsServer(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ready")
	if err := ready(path, "127.0.0.1:1"); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "127.0.0.1:1\n" {
		t.Errorf("%q, %v", text, err)
	}
	if err := unready(path, "127.0.0.1:2"); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Errorf("another server's file is gone: %v", err)
	}
	for range 2 {
		if err := unready(path, "127.0.0.1:1"); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the file stays: %v", err)
	}
	if err := ready(filepath.Join(path, "no", "folder"), "x"); err == nil {
		t.Error("a folder that is not there")
	}
}
