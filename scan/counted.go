package scan

import (
	"sync/atomic"

	"github.com/skua-data/skua/storage"
)

// countedFile counts the bytes that are read of a file on a statement's account; its store counts the requests.
type countedFile struct {
	storage.File
	bytes *atomic.Int64
}

// Unwrap gives the file itself.
func (f countedFile) Unwrap() storage.File { return f.File }

// ReadAt reads and counts.
func (f countedFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.File.ReadAt(p, off)
	f.bytes.Add(int64(n))
	return n, err
}
