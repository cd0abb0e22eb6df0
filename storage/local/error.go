package local

import (
	"errors"
	"io/fs"
	"syscall"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/storage"
)

// classify gives the system's error its kind and the location in place of the system's path.
func classify(err error, doing string, at storage.Location) error {
	kind := fault.Unavailable
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.ENAMETOOLONG),
		errors.Is(err, syscall.ELOOP): // links in a circle lead nowhere
		kind = fault.NotFound
	case errors.Is(err, fs.ErrPermission):
		kind = fault.Denied
	}
	cause := err
	var path *fs.PathError
	if errors.As(err, &path) {
		cause = path.Err
	}
	return fault.New(kind, "%s %s: %w", doing, at, cause).In(at)
}
