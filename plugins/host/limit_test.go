package host_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apache/iceberg-go"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/plugins/host"
)

func limited(properties iceberg.Properties) catalogs.Definition {
	d := definition("good")
	d.Properties = properties
	return d
}

func TestAShortBackOffIsWaitedFor(t *testing.T) {
	w := newWorld(t, func(c *host.Config) {
		c.Now, c.Backoff, c.MaxBackoff, c.Wait = time.Now, 50*time.Millisecond, 50*time.Millisecond, time.Minute
	})
	catalog := w.open(t, "good")
	for range 3 {
		if err := load(t, catalog, "crash"); !fault.Is(err, fault.Unavailable) {
			t.Fatal(err)
		}
		if err := load(t, catalog, "x"); err != nil {
			t.Errorf("the call after a death: %v", err)
		}
	}
	w = newWorld(t, func(c *host.Config) { c.Now, c.Backoff, c.Wait = time.Now, time.Hour, time.Second })
	catalog = w.open(t, "good")
	for range 2 {
		_ = load(t, catalog, "crash")
	}
	if err := load(t, catalog, "x"); !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "tried again in") {
		t.Errorf("a long back-off: %v", err)
	}
}

func TestPinnedPlugins(t *testing.T) {
	w := newWorld(t)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(text)
	good := hex.EncodeToString(sum[:])
	catalog, err := w.Open(t.Context(), limited(iceberg.Properties{"plugin.sha256": strings.ToUpper(good), "warehouse": "w"}), nil)
	if err != nil {
		t.Fatal(err)
	}
	if p, err := catalog.LoadNamespace(t.Context(), nil); err != nil || p["warehouse"] != "w" {
		t.Errorf("%v, %v", p, err)
	}
	for value, want := range map[string]string{strings.Repeat("0", 64): "its SHA-256 is " + good, "abc": "64 hexadecimal digits"} {
		_, err := w.Open(t.Context(), limited(iceberg.Properties{"plugin.sha256": value}), nil)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "plugin.sha256") {
			t.Errorf("%s: %v", value, err)
		}
	}
}

func TestAPluginThatEverybodyCanChangeIsRefused(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "skua-catalog")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o757); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, func(c *host.Config) { c.Folder = folder })
	if _, err := w.Open(t.Context(), definition("good"), nil); !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "everybody can write to it") {
		t.Errorf("%v", err)
	}
}

func TestAPluginThatEatsMemoryIsEnded(t *testing.T) {
	if _, err := os.Stat("/proc/self/statm"); err != nil {
		t.Skip("the system does not tell the memory of processes")
	}
	if raced {
		t.Skip("the race detector passes the hard limit before the watch looks")
	}
	w := newWorld(t)
	catalog, err := w.Open(t.Context(), limited(iceberg.Properties{"plugin.memory-bytes": "268435456"}), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := load(t, catalog, "eat"); !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "256 MiB are allowed by plugin.memory-bytes") {
		t.Errorf("%v", err)
	}
	if err := load(t, catalog, "x"); err != nil {
		t.Errorf("the next call: %v", err)
	}
}

func TestAPluginCannotGrowPastItsLimitAtOnce(t *testing.T) {
	if !hardLimits {
		t.Skip("the system does not bound the memory of other processes")
	}
	w := newWorld(t)
	catalog, err := w.Open(t.Context(), limited(iceberg.Properties{"plugin.memory-bytes": "268435456"}), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := load(t, catalog, "gulp"); !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "during the call") {
		t.Errorf("%v", err)
	}
	if strings.Contains(w.log.String(), "gulped") {
		t.Error("it got its memory")
	}
	w.pass(time.Minute)
	if err := load(t, catalog, "x"); err != nil {
		t.Errorf("the next call: %v", err)
	}
}

func TestACallsTimeIsLimited(t *testing.T) {
	w := newWorld(t)
	catalog, err := w.Open(t.Context(), limited(iceberg.Properties{"plugin.call-timeout-ms": "100"}), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := load(t, catalog, "hang"); !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "did not answer for 100ms") {
		t.Errorf("%v", err)
	}
	for property, value := range map[string]string{"plugin.memory-bytes": "1", "plugin.call-timeout-ms": "soon", "plugin.start-timeout-ms": "0"} {
		_, err := w.Open(context.Background(), limited(iceberg.Properties{property: value}), nil)
		if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "spark.sql.catalog.prod."+property) {
			t.Errorf("%s: %v", property, err)
		}
	}
}
