package host_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/plugins/host"
)

// TestWhatAPluginStartedEndsWithIt: a process that a plugin left behind goes with it, however it ends.
func TestWhatAPluginStartedEndsWithIt(t *testing.T) {
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		t.Skip("there is no /proc here")
	}
	for _, how := range []string{"crashes", "is closed"} {
		t.Run(how, func(t *testing.T) {
			w := newWorld(t)
			catalog := w.open(t, "good")
			loaded, err := catalog.Load(t.Context(), catalogs.LoadRequest{Identifier: table.Identifier{"fork"}})
			if err != nil {
				t.Fatal(err)
			}
			child, err := strconv.Atoi(loaded.MetadataLocation)
			if err != nil || !alive(child) {
				t.Fatalf("the child %d: %v", child, err)
			}
			if how == "is closed" {
				_ = w.Close()
			} else if err := load(t, catalog, "crash"); !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "prod") {
				t.Errorf("the plugin that crashes: %v", err)
			}
			gone(t, child)
			if how == "crashes" {
				w.pass(time.Minute)
				if err := load(t, catalog, "x"); err != nil {
					t.Errorf("the next call: %v", err)
				}
			}
		})
	}
}

// TestNothingIsLeftOfPluginsThatFail starts bad plugins again and again: no file, process or folder of theirs stays.
func TestNothingIsLeftOfPluginsThatFail(t *testing.T) {
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		t.Skip("there is no /proc here")
	}
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	files := func() int {
		open, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(open)
	}
	children := func() (n int) {
		stats, _ := filepath.Glob("/proc/[0-9]*/stat")
		for _, stat := range stats {
			text, _ := os.ReadFile(stat)
			_, rest, _ := strings.Cut(string(text), ") ")
			if fields := strings.Fields(rest); len(fields) > 1 && fields[1] == strconv.Itoa(os.Getpid()) {
				n++
			}
		}
		return n
	}
	w := newWorld(t, func(c *host.Config) { c.StartTimeout = 5 * time.Second })
	round := func() {
		for _, typ := range []string{"exits", "garbage", "flood", "refuses", "dies"} {
			if _, err := w.Open(t.Context(), definition(typ), nil); err == nil || !strings.Contains(err.Error(), "open catalog prod") {
				t.Errorf("%s: %v", typ, err)
			}
			w.pass(time.Minute)
		}
		catalog := w.open(t, "good")
		for range 2 {
			_ = load(t, catalog, "crash")
			w.pass(time.Minute)
		}
		if err := catalog.Close(); err != nil {
			t.Error(err)
		}
	}
	round()
	before, running := files(), children()
	for range 2 {
		round()
	}
	eventually(t, "files and processes to go", func() bool { return files() <= before && children() <= running })
	left, err := os.ReadDir(temporary)
	if err != nil || len(left) > 1 {
		t.Errorf("%d folders are left: %v, %v", len(left), left, err)
	}
}
