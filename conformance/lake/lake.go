// Package lake writes the demo warehouse as it is at a location of a store, with its files in a folder: every path in its metadata is one of that location's. Tests
// copy the files to where the location says, or serve them from the folder. It is not part of the server.
package lake

import (
	"context"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/apache/iceberg-go"
	icebergio "github.com/apache/iceberg-go/io"

	"github.com/skua-data/skua/cmd/skua/demo"
)

// Lake is a warehouse of a few tables.
type Lake struct {
	Base   string            // location of the warehouse
	Folder string            // where its files are
	Tables map[string]string // metadata location by namespace.table
}

// Write writes the lake of a location into a folder of root. An empty location is that folder itself.
func Write(ctx context.Context, root, base string) (*Lake, error) {
	l := &Lake{Base: base, Folder: filepath.Join(root, "home"), Tables: map[string]string{}}
	if base == "" {
		l.Base = "file://" + filepath.ToSlash(l.Folder)
	} else {
		homes.Store(base, l.Folder)
		register()
	}
	if err := demo.Write(ctx, l.Base, iceberg.Properties{"allow-unsafe-commits": "true"}, func(string, ...any) {}); err != nil {
		return nil, err
	}
	hints, err := filepath.Glob(filepath.Join(l.Folder, "*", "*", "metadata", "version-hint.text"))
	if err != nil || len(hints) == 0 {
		return nil, fmt.Errorf("no tables in %s: %w", l.Folder, err)
	}
	for _, hint := range hints {
		version, err := os.ReadFile(hint)
		if err != nil {
			return nil, err
		}
		parts := strings.Split(filepath.ToSlash(strings.TrimPrefix(hint, l.Folder))[1:], "/")
		l.Tables[parts[0]+"."+parts[1]] = l.Base + "/" + strings.Join(parts[:3], "/") + "/v" + strings.TrimSpace(string(version)) + ".metadata.json"
	}
	return l, nil
}

// Namespaces are those of the tables.
func (l *Lake) Namespaces() map[string]bool {
	out := map[string]bool{}
	for name := range l.Tables {
		ns, _, _ := strings.Cut(name, ".")
		out[ns] = true
	}
	return out
}

// Each calls put with every file, by its path below the lake's location.
func (l *Lake) Each(put func(name string, data []byte) error) error {
	root := os.DirFS(l.Folder)
	return fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		return put(name, data)
	})
}

// homes are the folders of the lakes by location.
var homes sync.Map

// home is the folder or file that stands for a location of a store.
func home(location string) string {
	out := location
	homes.Range(func(base, folder any) bool {
		rest, under := strings.CutPrefix(location, base.(string))
		if under = under && (rest == "" || rest[0] == '/'); under {
			out = filepath.Join(folder.(string), filepath.FromSlash(rest))
		}
		return !under
	})
	return out
}

// register lets iceberg-go write to the stores' schemes.
var register = sync.OnceFunc(func() {
	for _, scheme := range []string{"s3", "gs", "abfss", "hdfs"} {
		icebergio.Register(scheme, func(context.Context, *url.URL, map[string]string) (icebergio.IO, error) { return away{}, nil })
	}
})

// away keeps the files of stores at home.
type away struct{ local icebergio.LocalFS }

func (a away) Open(name string) (icebergio.File, error)         { return a.local.Open(home(name)) }
func (a away) ReadFile(name string) ([]byte, error)             { return a.local.ReadFile(home(name)) }
func (a away) Create(name string) (icebergio.FileWriter, error) { return a.local.Create(home(name)) }
func (a away) WriteFile(name string, data []byte) error         { return a.local.WriteFile(home(name), data) }
func (a away) Remove(name string) error                         { return a.local.Remove(home(name)) }
func (a away) RemoveAll(name string) error                      { return a.local.RemoveAll(home(name)) }
func (a away) MkdirAll(name string) error                       { return a.local.MkdirAll(home(name)) }
func (a away) Stat(name string) (fs.FileInfo, error)            { return a.local.Stat(home(name)) }
func (a away) Rename(from, to string) error                     { return a.local.Rename(home(from), home(to)) }
func (a away) RenameNoReplace(from, to string) error {
	return a.local.RenameNoReplace(home(from), home(to))
}

// WalkDir tells the names as they are away.
func (a away) WalkDir(root string, f fs.WalkDirFunc) error {
	at := home(root)
	return a.local.WalkDir(at, func(path string, d fs.DirEntry, err error) error {
		return f(root+filepath.ToSlash(strings.TrimPrefix(path, at)), d, err)
	})
}
