// Package local is the store of the machine's own file system. A location is file:/a/b, file:///a/b, file://localhost/a/b or the bare
// absolute path /a/b, and what follows is the path letter by letter: a space or a percent sign stands for itself, as in the
// locations that Hadoop writes. It does not keep readers inside any folder: the files are the operator's own.
package local

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/resource"
	"github.com/skua-data/skua/storage"
)

// Kind serves the scheme file and bare paths.
var Kind = storage.Kind{Schemes: []string{"", "file"}, New: New}

// Store reads local files. The zero Store is ready.
type Store struct{}

var (
	_ storage.Store  = Store{}
	_ storage.Prober = Store{}
)

// New gives the local store; it has no properties and no credentials.
func New(map[string]string, []storage.Credential) (storage.Store, error) { return Store{}, nil }

// path gives the path of a location.
func path(at storage.Location) (string, error) {
	path := at
	if len(path) >= 5 && strings.EqualFold(path[:5], "file:") {
		path = path[5:]
		if rest, ok := strings.CutPrefix(path, "//"); ok {
			slash := strings.IndexByte(rest, '/')
			if slash < 0 || (slash > 0 && rest[:slash] != "localhost") {
				return "", fault.New(fault.Unsupported, "open %s: files of another host are not supported", at).In(at)
			}
			path = rest[slash:]
		}
	}
	if !strings.HasPrefix(path, "/") {
		return "", fault.New(fault.Invalid, "open %s: the path is relative; give an absolute one or map its prefix", at).In(at).
			Change("skua.location-map.<n>.from")
	}
	if strings.IndexByte(path, 0) >= 0 {
		return "", fault.New(fault.Invalid, "open %q: the path holds a NUL", at)
	}
	return path, nil
}

// Probe looks at a file without opening it.
func (Store) Probe(ctx context.Context, at storage.Location) bool {
	path, err := path(at)
	if err != nil || ctx.Err() != nil {
		return false
	}
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// Open opens a regular file. The length is the file's own, whatever size says.
func (Store) Open(ctx context.Context, at storage.Location, _ int64) (storage.File, error) {
	return open(ctx, at)
}

func open(ctx context.Context, at storage.Location) (*file, error) {
	if err := ctx.Err(); err != nil {
		return nil, fault.Wrap(err, "open %s", at)
	}
	path, err := path(at)
	if err != nil {
		return nil, err
	}
	// Looked at before it is opened: opening a named pipe waits for a writer.
	info, err := os.Stat(path)
	if err != nil {
		return nil, classify(err, "open", at)
	}
	if info.IsDir() {
		return nil, fault.New(fault.NotFound, "open %s: it is a folder, not a file", at).In(at)
	}
	if !info.Mode().IsRegular() {
		return nil, fault.New(fault.Invalid, "open %s: it is not a regular file", at).In(at)
	}
	handle, err := os.Open(path)
	if err != nil {
		return nil, classify(err, "open", at)
	}
	if info, err = handle.Stat(); err != nil {
		_ = handle.Close()
		return nil, classify(err, "open", at)
	}
	key := fmt.Sprintf("file\x00%s\x00%d\x00%d", path, info.Size(), info.ModTime().UnixNano())
	return &file{ctx: ctx, at: at, handle: handle, size: info.Size(), key: key, version: versionOf(info), requests: &resource.From(ctx).Counters.Requests}, nil
}

// ReadAll reads a whole file.
func (Store) ReadAll(ctx context.Context, at storage.Location, limit int64) ([]byte, error) {
	f, err := open(ctx, at)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if f.size > limit {
		return nil, tooLarge(at, limit)
	}
	data := make([]byte, f.size, f.size+1)
	n, err := f.ReadAt(data[:cap(data)], 0) // one byte more than it had: a file that grows under us must not come back cut off
	switch {
	case int64(n) > f.size && f.size == limit:
		return nil, tooLarge(at, limit)
	case int64(n) > f.size:
		return nil, fault.New(fault.Unavailable, "read %s: it changed while it was read", at).In(at)
	case err == io.EOF && int64(n) < f.size:
		return nil, fault.New(fault.Unavailable, "read %s: it was cut off while it was read", at).In(at)
	case err != nil && err != io.EOF:
		return nil, err
	}
	return data[:n], nil
}

func tooLarge(at storage.Location, limit int64) error {
	return fault.New(fault.Exhausted, "read %s: larger than the limit of %d bytes", at, limit).In(at)
}
