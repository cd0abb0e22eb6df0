package local

import (
	"context"
	"fmt"
	"io"
	"io/fs"
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

	version  string
	expected string // empty: any

	requests *atomic.Int64
}

// Size is the length at the time of opening.
func (f *file) Size() int64 { return f.size }

// Key names path, length and modification time.
func (f *file) Key() string { return f.key }

// Version is size and modification time when the file was opened.
func (f *file) Version() string { return f.version }

// Expect lets reads fail where the file was written to meanwhile.
func (f *file) Expect(version string) { f.expected = version }

// versionOf names a file's version.
func versionOf(info fs.FileInfo) string {
	return fmt.Sprintf("%d.%d", info.Size(), info.ModTime().UnixNano())
}

// ReadAt reads at an offset. Where a version is expected, the file is looked at after its bytes were read.
func (f *file) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.read(p, off)
	if f.expected == "" {
		return n, err
	}
	info, failed := f.handle.Stat()
	if failed != nil {
		return 0, classify(failed, "read", f.at)
	}
	if versionOf(info) != f.expected {
		return 0, fault.New(fault.Unavailable, "read %s: %w", f.at, storage.ErrChanged).In(f.at)
	}
	return n, err
}

// read reads in pieces, so that a cancelled statement does not wait for a large read.
func (f *file) read(p []byte, off int64) (int, error) {
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
