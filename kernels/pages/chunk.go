package pages

import (
	"errors"
	"io"

	"github.com/skua-data/skua/fault"
)

const (
	wholeChunk = 8 << 20 // bytes of a column chunk up to which it is fetched in one request
	streamRead = 4 << 20 // bytes of a request for larger ones
)

// Slack is how many bytes behind a buffer's length may be read and written: block copies overrun.
const Slack = 64

// Buffers are where bytes of a chunk are kept.
type Buffers interface {
	// Get gives n bytes, with Slack behind them, that hold anything.
	Get(n int) []byte
	// Put takes a buffer back, which may be nil.
	Put(b []byte)
}

// Chunk is the bytes of a column chunk, read forward: a small one at once, a large one in pieces. Of a file that is near it holds no more than
// the page that is being unpacked: a wide table has a hundred chunks open at once.
type Chunk struct {
	file   io.ReaderAt
	pool   Buffers
	next   int64 // offset in the file after the window
	end    int64
	buffer []byte
	window []byte // read and not consumed, inside buffer
	near   int64  // bytes to read at least; more than 0: they may be read again rather than held

	Moves bool // a later fill may overwrite what was consumed
}

// Near says whether bytes may be read again for little.
func (c *Chunk) Near() bool { return c.near > 0 }

// Held is how many bytes of memory the chunk holds.
func (c *Chunk) Held() int { return cap(c.buffer) }

// seek goes to a page, and ends the chunk there.
func (c *Chunk) seek(at, length int64) { c.next, c.end, c.window = at, at+length, nil }

func newChunk(file io.ReaderAt, start, end, near int64, p Buffers) *Chunk {
	if end-start <= near {
		near = 0
	}
	return &Chunk{file: file, pool: p, next: start, end: end, Moves: near > 0 || end-start > wholeChunk, near: near}
}

// Left is how many bytes were not consumed.
func (c *Chunk) Left() int64 { return int64(len(c.window)) + c.end - c.next }

// fill gives at least n unread bytes, or all that are left.
func (c *Chunk) fill(n int64) ([]byte, error) {
	n = min(n, c.Left())
	if int64(len(c.window)) >= n {
		return c.window, nil
	}
	size := min(c.Left(), max(n, streamRead))
	switch {
	case c.near > 0:
		size = min(c.Left(), max(n, c.near))
	case !c.Moves:
		size = c.Left()
	}
	kept := len(c.window)
	if cap(c.buffer) < int(size)+Slack {
		larger := c.pool.Get(int(size))
		copy(larger, c.window)
		c.pool.Put(c.buffer)
		c.buffer = larger
	} else {
		copy(c.buffer[:size], c.window)
	}
	c.window = c.buffer[:size]
	if err := ReadAt(c.file, c.window[kept:], c.next); err != nil {
		c.window = nil
		return nil, err
	}
	c.next += size - int64(kept)
	return c.window, nil
}

// Take consumes n bytes. They stay as they are until the next fill, if the chunk moves.
func (c *Chunk) Take(n int64) ([]byte, error) {
	b, err := c.fill(n)
	if err != nil {
		return nil, err
	}
	if int64(len(b)) < n {
		return nil, fault.New(fault.Corrupt, "a page of %d bytes where %d are left", n, len(b))
	}
	c.window = b[n:]
	return b[:n], nil
}

// Pass leaves n bytes out, without reading those that were not.
func (c *Chunk) Pass(n int64) error {
	if n > c.Left() {
		return fault.New(fault.Corrupt, "a page of %d bytes where %d are left", n, c.Left())
	}
	inside := min(n, int64(len(c.window)))
	c.window = c.window[inside:]
	c.next += n - inside
	return nil
}

// Read consumes the bytes that fill out.
func (c *Chunk) Read(out []byte) error {
	have := copy(out, c.window)
	if err := ReadAt(c.file, out[have:], c.next); err != nil {
		return err
	}
	c.window = c.window[have:]
	c.next += int64(len(out) - have)
	return nil
}

// Offset is where in the file the next byte lies.
func (c *Chunk) Offset() int64 { return c.next - int64(len(c.window)) }

// At gives n bytes of a near file from an offset, in a buffer of the pool.
func (c *Chunk) At(offset, n int64) ([]byte, error) {
	out := c.pool.Get(int(n))
	if err := ReadAt(c.file, out, offset); err != nil {
		c.pool.Put(out)
		return nil, err
	}
	return out, nil
}

// Settle gives the buffer back if all of it was consumed and it can be read again for little.
func (c *Chunk) Settle() {
	if c.near > 0 && len(c.window) == 0 {
		c.Close()
	}
}

// Close gives the memory back.
func (c *Chunk) Close() {
	c.pool.Put(c.buffer)
	c.buffer, c.window = nil, nil
}

// ReadAt fills b, and tells a short file from a broken store.
func ReadAt(f io.ReaderAt, b []byte, at int64) error {
	n, err := f.ReadAt(b, at)
	if n == len(b) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fault.New(fault.Corrupt, "the file ends %d bytes early", len(b)-n)
	}
	return Classify(fault.Unavailable, err)
}

// Classify gives a kind to an error that has none; the end of a context is one.
func Classify(kind fault.Kind, err error) error {
	if fault.KindOf(err) != fault.Internal {
		return err
	}
	return fault.As(kind, err)
}
