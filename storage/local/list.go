package local

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/storage"
)

// List yields what a folder holds; links count as what they lead to. An entry that vanishes meanwhile is left out, and so are links that lead nowhere and
// those back to a folder on the way here, which would make a tree without an end.
func (Store) List(ctx context.Context, folder storage.Location) iter.Seq2[storage.Info, error] {
	return func(yield func(storage.Info, error) bool) {
		if err := list(ctx, folder, func(i storage.Info) bool { return yield(i, nil) }); err != nil {
			yield(storage.Info{}, err)
		}
	}
}

func list(ctx context.Context, folder storage.Location, yield func(storage.Info) bool) error {
	if err := ctx.Err(); err != nil {
		return fault.Wrap(err, "list %s", folder)
	}
	path, err := path(folder)
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(path) // in byte order
	if err != nil {
		return classify(err, "list", folder)
	}
	under, inside := strings.TrimRight(folder, "/")+"/", strings.TrimRight(path, "/")+"/"
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return fault.Wrap(err, "list %s", folder)
		}
		if e.IsDir() { // as the folder itself tells: it need not be looked at
			if !yield(storage.Info{Location: under + e.Name(), Folder: true}) {
				return nil
			}
			continue
		}
		info, err := os.Stat(inside + e.Name())
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ELOOP) {
			continue
		}
		if err != nil {
			return classify(err, "list", under+e.Name())
		}
		if e.Type()&fs.ModeSymlink != 0 && info.IsDir() && leadsBack(info, path) {
			continue
		}
		entry := storage.Info{Location: under + e.Name(), Folder: info.IsDir(), Modified: info.ModTime()}
		if !entry.Folder {
			entry.Size, entry.Version = info.Size(), versionOf(info)
		}
		if !yield(entry) {
			return nil
		}
	}
	return nil
}

// leadsBack reports whether what a link leads to is the folder at path or one above it.
func leadsBack(target fs.FileInfo, path string) bool {
	for at := filepath.Clean(path); ; at = filepath.Dir(at) {
		if info, err := os.Stat(at); err == nil && os.SameFile(target, info) {
			return true
		}
		if at == filepath.Dir(at) {
			return false
		}
	}
}
