package local

import (
	"context"
	"io"
	"os"
	"sync/atomic"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/storage"
)

// chunk is how much one read takes before it looks at its context again.
const chunk = 8 << 20

// file is an open local file. It keeps the context of Open because storage.File ties every later read to it.
type file struct {
	ctx    context.Context
	at     storage.Location
	handle *os.File
	size   int64
	key    string

	requests *atomic.Int64
}

// Size is the length at the time of opening.
func (f *file) Size() int64 { return f.size }

// Key names path, length and modification time.
func (f *file) Key() string { return f.key }

// ReadAt reads at an offset, in pieces so that a cancelled statement does not wait for a large read.
func (f *file) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, fault.New(fault.Invalid, "read %s: the offset %d is negative", f.at, off).In(f.at)
	}
	total := 0
	for {
		f.requests.Add(1)
		if err := f.ctx.Err(); err != nil {
			return total, fault.Wrap(err, "read %s", f.at)
		}
		n, err := f.handle.ReadAt(p[total:min(len(p), total+chunk)], off+int64(total))
		total += n
		if err == io.EOF {
			return total, io.EOF
		}
		if err != nil {
			return total, classify(err, "read", f.at)
		}
		if total == len(p) {
			return total, nil
		}
	}
}

// Close closes the file.
func (f *file) Close() error {
	if err := f.handle.Close(); err != nil {
		return classify(err, "close", f.at)
	}
	return nil
}
