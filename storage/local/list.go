package local

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"os"
	"strings"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/storage"
)

// List yields what a folder holds; links count as what they lead to, and an entry that vanishes meanwhile is left out.
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
		info, err := os.Stat(inside + e.Name())
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return classify(err, "list", under+e.Name())
		}
		entry := storage.Info{Location: under + e.Name(), Folder: info.IsDir(), Modified: info.ModTime()}
		if !entry.Folder {
			entry.Size = info.Size()
		}
		if !yield(entry) {
			return nil
		}
	}
	return nil
}
