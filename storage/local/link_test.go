package local

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skua-data/skua/fault"
)

// link makes links in dir, from → to.
func link(t *testing.T, dir string, links map[string]string) {
	t.Helper()
	for from, to := range links {
		if err := os.Symlink(to, filepath.Join(dir, from)); err != nil {
			t.Fatal(err)
		}
	}
}

// walk lists a tree to its end, or to a depth that no tree of these tests has.
func walk(t *testing.T, folder string, depth int) (names []string) {
	t.Helper()
	if depth > 8 {
		t.Fatalf("%s: the tree has no end", folder)
	}
	for info, err := range (Store{}).List(t.Context(), folder) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, info.Location)
		if info.Folder {
			names = append(names, walk(t, info.Location, depth+1)...)
		}
	}
	return names
}

func TestLinksInACircleLeadNowhere(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "x"), "1")
	link(t, dir, map[string]string{"self": "self", "ping": "pong", "pong": "ping"})
	if got := walk(t, dir, 0); len(got) != 1 || got[0] != dir+"/x" {
		t.Errorf("listed %q", got)
	}
	if _, err := (Store{}).Open(t.Context(), dir+"/self", -1); !fault.Is(err, fault.NotFound) || !strings.Contains(err.Error(), dir+"/self") {
		t.Errorf("open a circle: %v", err)
	}
	for _, err := range (Store{}).List(t.Context(), dir+"/self/metadata") {
		if !fault.Is(err, fault.NotFound) {
			t.Errorf("list below a circle: %v", err)
		}
	}
}

func TestLinksBackMakeNoEndlessTree(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "a/x"), "1")
	put(t, filepath.Join(dir, "b/y"), "1")
	link(t, dir, map[string]string{"here": ".", "up": "..", "a/home": dir, "a/there": "../b", "b/back": "../a"})
	want := []string{"a", "a/there", "a/there/y", "a/x", "b", "b/back", "b/back/x", "b/y"}
	var got []string
	for _, at := range walk(t, dir, 0) {
		got = append(got, strings.TrimPrefix(at, dir+"/"))
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("listed %q, want %q", got, want)
	}
}
