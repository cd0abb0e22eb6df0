package inprocess

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/skua-data/skua/conformance"
)

// damaged is the fixture warehouse in a folder where it may be spoiled, and a server that reads it.
type damaged struct {
	dir    string
	target conformance.Target
}

func newDamaged(t *testing.T) *damaged {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "testdata", "warehouse"))); err != nil {
		t.Fatal(err)
	}
	settings := lake(t)
	settings["skua.location-map.short.to"], settings["skua.location-map.long.to"] = dir, dir
	return &damaged{dir, start(t, settings).Target()}
}

// find gives the only file of a table whose name matches.
func (d *damaged) find(t *testing.T, table, pattern string) string {
	t.Helper()
	found := d.glob(t, table, pattern)
	if len(found) != 1 {
		t.Fatalf("%s in %s: %v", pattern, table, found)
	}
	return found[0]
}

func change(t *testing.T, path string, f func([]byte) []byte) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, f(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func truncated(b []byte) []byte { return b[:len(b)/2] }

func zeroed(b []byte) []byte { return make([]byte, len(b)) }

// pagesSpoiled overwrites all that lies between the first four bytes of a Parquet file and its footer.
func pagesSpoiled(b []byte) []byte {
	out := bytes.Repeat([]byte{0xff}, len(b))
	footer := 8 + int(b[len(b)-8]) | int(b[len(b)-7])<<8
	copy(out, b[:4])
	copy(out[len(b)-footer:], b[len(b)-footer:])
	return out
}

// TestDamage: what cannot be read fails the statement with an error that names the file. Nothing partial looks whole.
func TestDamage(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts a server for each damage")
	}
	noLeaks(t)
	const lastDelete = "00001-2214-a05d5ef8-77f3-46ff-a827-7349abe94b3d-00003-deletes.parquet"
	corrupt, gone := []codes.Code{codes.DataLoss}, []codes.Code{codes.DataLoss, codes.NotFound}
	for _, c := range []struct {
		name, table, file string
		spoil             func([]byte) []byte // nil: the file is removed
		codes             []codes.Code
	}{
		{"data file is cut", "session/t", "*.parquet", truncated, corrupt},
		{"data file is empty", "session/t", "*.parquet", func([]byte) []byte { return nil }, corrupt},
		{"data file is zeros", "session/t", "*.parquet", zeroed, corrupt},
		{"pages are garbage", "session/t", "*.parquet", pagesSpoiled, corrupt},
		{"data file is missing", "session/t", "*.parquet", nil, gone},
		{"data file among others is missing", "deletes/pos_v2", "00001-2214-a05d5ef8-77f3-46ff-a827-7349abe94b3d-00004.parquet", nil, gone},
		{"delete file is cut", "deletes/pos_v2", lastDelete, truncated, corrupt},
		{"delete file is missing", "deletes/pos_v2", lastDelete, nil, gone},
		{"manifest is cut", "session/t", "*-m0.avro", truncated, corrupt},
		{"manifest is zeros", "session/t", "*-m0.avro", zeroed, corrupt},
		{"manifest is missing", "session/t", "*-m0.avro", nil, gone},
		{"manifest list is cut", "session/t", "snap-*.avro", truncated, corrupt},
		{"manifest list is missing", "session/t", "snap-*.avro", nil, gone},
		{"metadata is cut", "session/t", "v2.metadata.json", truncated, corrupt},
		{"metadata is no table's", "session/t", "v2.metadata.json", func([]byte) []byte { return []byte("{}") }, corrupt},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDamaged(t)
			file := d.find(t, c.table, c.file)
			if c.spoil == nil {
				if err := os.Remove(file); err != nil {
					t.Fatal(err)
				}
			} else {
				change(t, file, c.spoil)
			}
			sql := "SELECT * FROM lake." + strings.ReplaceAll(c.table, "/", ".")
			n, err := ask(t, connect(t, d.target), sql)
			if err == nil {
				t.Fatalf("%d rows came", n)
			}
			if !slices.Contains(c.codes, status.Code(err)) {
				t.Errorf("the code is %v, expected one of %v: %v", status.Code(err), c.codes, err)
			}
			if !strings.Contains(err.Error(), filepath.Base(file)) {
				t.Errorf("the error does not name %s: %v", filepath.Base(file), err)
			}
			if n, err := ask(t, connect(t, d.target), "SELECT * FROM lake.evolve.columns"); err != nil || n != 7 {
				t.Errorf("another table gives %d rows, %v", n, err)
			}
		})
	}
}

// TestMissingMetadata: without its newest metadata a table is not there, or is as it was before; what it never is, is empty.
func TestMissingMetadata(t *testing.T) {
	noLeaks(t)
	d := newDamaged(t)
	metadata := filepath.Join(d.dir, "session", "t", "metadata")
	files, err := filepath.Glob(filepath.Join(metadata, "*.metadata.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, f := range files {
		if err := os.Remove(f); err != nil {
			t.Fatal(err)
		}
	}
	n, err := ask(t, connect(t, d.target), "SELECT * FROM lake.session.t")
	if code := status.Code(err); code != codes.NotFound && code != codes.DataLoss {
		t.Errorf("%d rows and %v", n, err)
	}
}

// TestRandomDamage: whatever the bytes of a file are, a statement ends in rows or in an error of its own, and the server lives on.
func TestRandomDamage(t *testing.T) {
	if testing.Short() {
		t.Skip("it spoils many files")
	}
	noLeaks(t)
	d := newDamaged(t)
	client := connect(t, d.target)
	for table, patterns := range map[string][]string{
		"session/t":         {"*.parquet", "*-m0.avro", "snap-*.avro"},
		"types/nested_deep": {"*.parquet"},
		"deletes/pos_v2":    {"*-00003-deletes.parquet", "*-m0.avro"},
	} {
		var files []string
		for _, pattern := range patterns {
			files = append(files, d.glob(t, table, pattern)...)
		}
		for _, file := range files {
			whole, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for seed := range uint64(8) {
				change(t, file, func(b []byte) []byte { return flipped(b, seed) })
				n, err := ask(t, client, "SELECT * FROM lake."+strings.ReplaceAll(table, "/", "."))
				if code := status.Code(err); code == codes.Internal || code == codes.Unknown || code == codes.DeadlineExceeded {
					t.Errorf("%s with seed %d: %d rows, %v", filepath.Base(file), seed, n, err)
				}
			}
			change(t, file, func([]byte) []byte { return whole })
		}
		if _, err := ask(t, client, fmt.Sprintf("SELECT * FROM lake.%s", strings.ReplaceAll(table, "/", "."))); err != nil {
			t.Errorf("%s, whole again: %v", table, err)
		}
	}
}

// glob gives the files of a table whose names match.
func (d *damaged) glob(t *testing.T, table, pattern string) (out []string) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(d.dir, table), func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			if ok, _ := filepath.Match(pattern, filepath.Base(path)); ok {
				out = append(out, path)
			}
		}
		return err
	})
	if err != nil || len(out) == 0 {
		t.Fatalf("%s in %s: %v", pattern, table, err)
	}
	return out
}

// flipped changes a few bytes, here and there.
func flipped(b []byte, seed uint64) []byte {
	out := bytes.Clone(b)
	random := rand.New(rand.NewPCG(seed, 7))
	for range 1 + random.IntN(8) {
		out[random.IntN(len(out))] = byte(random.Uint32())
	}
	return out
}
