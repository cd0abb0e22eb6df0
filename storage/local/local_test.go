package local

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/storage"
)

func put(t *testing.T, path string, data string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestSpellingsOfOneFile(t *testing.T) {
	for _, name := range []string{"plain", "sp ace", "per%20cent", "100%", "uni ☃", "tick`s", "q?a=b#c", "a:b", "back\\slash", "plus+amp&"} {
		path := put(t, filepath.Join(t.TempDir(), name, "x"), name)
		keys := map[string]bool{}
		for _, at := range []string{path, "file:" + path, "file://" + path, "FILE:" + path, "file://localhost" + path} {
			f, err := Store{}.Open(t.Context(), at, -1)
			if err != nil {
				t.Fatalf("%s: %v", at, err)
			}
			data := make([]byte, f.Size())
			if _, err := f.ReadAt(data, 0); err != nil || string(data) != name {
				t.Errorf("%s: read %q, %v", at, data, err)
			}
			keys[f.Key()] = true
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		}
		if len(keys) != 1 {
			t.Errorf("%s: one file has the keys %v", name, keys)
		}
	}
}

func TestKeyChangesWithTheFile(t *testing.T) {
	path := put(t, filepath.Join(t.TempDir(), "x"), "one")
	key := func() string {
		f, err := Store{}.Open(t.Context(), path, -1)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		return f.Key()
	}
	first := key()
	if key() != first {
		t.Error("the key of an unchanged file changed")
	}
	if err := os.Chtimes(path, time.Unix(9, 9), time.Unix(9, 9)); err != nil {
		t.Fatal(err)
	}
	touched := key()
	put(t, path, "other")
	if err := os.Chtimes(path, time.Unix(9, 9), time.Unix(9, 9)); err != nil {
		t.Fatal(err)
	}
	if touched == first || key() == touched {
		t.Error("the key must tell modification times and lengths apart")
	}
}

func TestFaults(t *testing.T) {
	dir := t.TempDir()
	path := put(t, filepath.Join(dir, "x"), "data")
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o644); err != nil {
		t.Fatal(err)
	}
	loop := filepath.Join(dir, "loop")
	if err := os.Symlink(loop, loop); err != nil {
		t.Fatal(err)
	}
	for at, kind := range map[string]fault.Kind{
		dir + "/missing": fault.NotFound, "file:" + dir: fault.NotFound, path + "/under": fault.NotFound, dir + "/" + strings.Repeat("n", 300): fault.NotFound,
		"relative/x": fault.Invalid, "file:relative/x": fault.Invalid, "": fault.Invalid, "file:": fault.Invalid, dir + "/a\x00b": fault.Invalid,
		"file://other/x": fault.Unsupported, "file://": fault.Unsupported, pipe: fault.Invalid, "/dev/null": fault.Invalid, loop: fault.NotFound,
	} {
		if _, err := (Store{}).Open(t.Context(), at, -1); !fault.Is(err, kind) {
			t.Errorf("open %q: %v, want %s", at, err, kind)
		} else if at != "" && !strings.ContainsRune(at, 0) && !strings.Contains(err.Error(), at) {
			t.Errorf("open %q: the error does not name it: %v", at, err)
		}
	}
	if os.Geteuid() != 0 {
		if err := os.Chmod(path, 0); err != nil {
			t.Fatal(err)
		}
		if _, err := (Store{}).Open(t.Context(), path, -1); !fault.Is(err, fault.Denied) {
			t.Errorf("a file that may not be read: %v", err)
		}
	}
	if err := classify(&os.PathError{Op: "open", Path: "/p", Err: syscall.EACCES}, "open", "file:/x"); !fault.Is(err, fault.Denied) ||
		err.Error() != "open file:/x: permission denied" {
		t.Errorf("got %v", err)
	}
}

func TestReadAll(t *testing.T) {
	path := put(t, filepath.Join(t.TempDir(), "x"), "12345")
	for limit, ok := range map[int64]bool{0: false, 4: false, 5: true, 1 << 40: true} {
		data, err := Store{}.ReadAll(t.Context(), path, limit)
		if ok && (err != nil || string(data) != "12345") {
			t.Errorf("limit %d: %q, %v", limit, data, err)
		}
		if !ok && !fault.Is(err, fault.Exhausted) {
			t.Errorf("limit %d: %v, want exhausted", limit, err)
		}
	}
	if data, err := (Store{}).ReadAll(t.Context(), put(t, path, ""), 0); err != nil || len(data) != 0 {
		t.Errorf("empty file: %q, %v", data, err)
	}
}

func TestReadAt(t *testing.T) {
	content := bytes.Repeat([]byte("0123456789"), (chunk+chunk/2)/10) // more than one piece
	path := put(t, filepath.Join(t.TempDir(), "x"), string(content))
	ctx, cancel := context.WithCancel(t.Context())
	f, err := Store{}.Open(ctx, path, 3) // a wrong size from metadata does not count
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if f.Size() != int64(len(content)) {
		t.Errorf("size %d", f.Size())
	}
	var wait sync.WaitGroup
	for i := range 4 {
		wait.Go(func() {
			got := make([]byte, len(content)-i)
			if n, err := f.ReadAt(got, int64(i)); n != len(got) || (err != nil && err != io.EOF) || !bytes.Equal(got, content[i:]) {
				t.Errorf("read from %d: %d, %v", i, n, err)
			}
		})
	}
	wait.Wait()
	if n, err := f.ReadAt(make([]byte, 20), f.Size()-5); n != 5 || err != io.EOF {
		t.Errorf("across the end: %d, %v, want 5 and EOF itself", n, err)
	}
	if n, err := f.ReadAt(nil, 0); n != 0 || err != nil {
		t.Errorf("nothing: %d, %v", n, err)
	}
	if _, err := f.ReadAt(make([]byte, 1), -1); !fault.Is(err, fault.Invalid) {
		t.Errorf("a negative offset: %v", err)
	}
	cancel()
	if _, err := f.ReadAt(make([]byte, 1), 0); !fault.Is(err, fault.Canceled) {
		t.Errorf("after the end of its context: %v", err)
	}
	if _, err := (Store{}).Open(ctx, path, -1); !fault.Is(err, fault.Canceled) {
		t.Errorf("open after the end: %v", err)
	}
	for _, err := range (Store{}).List(ctx, filepath.Dir(path)) {
		if !fault.Is(err, fault.Canceled) {
			t.Errorf("list after the end: %v", err)
		}
	}
}

func TestList(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b", "B", "a b", "é", "a/inside", "_x", ".y"} {
		put(t, filepath.Join(dir, name), "12")
	}
	if err := os.Symlink("a", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere", filepath.Join(dir, "dangling")); err != nil {
		t.Fatal(err)
	}
	for _, folder := range []storage.Location{dir, dir + "/", "file:" + dir, "file://" + dir + "//"} {
		var got []string
		under := strings.TrimRight(folder, "/") + "/"
		for info, err := range (Store{}).List(t.Context(), folder) {
			if err != nil {
				t.Fatal(err)
			}
			name, ok := strings.CutPrefix(info.Location, under)
			if !ok {
				t.Errorf("%s is not spelled like %s", info.Location, folder)
			}
			if info.Folder {
				name += "/"
			} else if info.Size != 2 || info.Modified.IsZero() {
				t.Errorf("%s: size %d, modified %v", name, info.Size, info.Modified)
			}
			got = append(got, name)
		}
		if want := ".y B _x a/ a b b link/ é"; strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", folder, got, want)
		}
	}
	n := 0
	for range (Store{}).List(t.Context(), dir) {
		n++
		break
	}
	if n != 1 {
		t.Errorf("a stopped listing gave %d", n)
	}
	for _, folder := range []storage.Location{dir + "/missing", dir + "/b"} {
		n := 0
		for _, err := range (Store{}).List(t.Context(), folder) {
			n++
			if !fault.Is(err, fault.NotFound) {
				t.Errorf("list %s: %v", folder, err)
			}
		}
		if n != 1 {
			t.Errorf("list %s gave %d entries", folder, n)
		}
	}
	if _, err := os.Stat("/"); err == nil {
		for info, err := range (Store{}).List(t.Context(), "file:///") {
			if err != nil || !strings.HasPrefix(info.Location, "file:/") || strings.HasPrefix(info.Location, "file://") {
				t.Errorf("the root lists %s, %v", info.Location, err)
			}
			break
		}
	}
}

func TestClosedFile(t *testing.T) {
	f, err := Store{}.Open(t.Context(), put(t, filepath.Join(t.TempDir(), "x"), "1"), -1)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := f.ReadAt(make([]byte, 1), 0); !errors.Is(err, os.ErrClosed) {
		t.Errorf("read of a closed file: %v", err)
	}
}

func TestAVersionIsExpected(t *testing.T) {
	at := filepath.Join(t.TempDir(), "f")
	put(t, at, "one")
	version := ""
	for info, err := range (Store{}).List(t.Context(), filepath.Dir(at)) {
		if version = info.Version; err != nil {
			t.Fatal(err)
		}
	}
	f, err := (Store{}).Open(t.Context(), at, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	known := storage.VersionedOf(f)
	if known == nil || known.Version() != version || version == "" {
		t.Fatalf("%v, the listing tells %q", known, version)
	}
	p := make([]byte, 3)
	known.Expect(version)
	if _, err := f.ReadAt(p, 0); err != nil || string(p) != "one" {
		t.Fatalf("%s, %v", p, err)
	}
	put(t, at, "two")
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(at, later, later); err != nil {
		t.Fatal(err)
	}
	if _, err := f.ReadAt(p, 0); !fault.Is(err, fault.Unavailable) || !errors.Is(err, storage.ErrChanged) {
		t.Errorf("written to meanwhile: %v", err)
	}
}
