package scan

import (
	"sync/atomic"

	"github.com/skua-data/skua/storage"
)

// countedFile counts what is read of a file on a statement's account.
type countedFile struct {
	storage.File
	bytes, requests *atomic.Int64
}

// ReadAt reads and counts.
func (f countedFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.File.ReadAt(p, off)
	f.bytes.Add(int64(n))
	f.requests.Add(1)
	return n, err
}
