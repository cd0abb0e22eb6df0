package cpu

import (
	"errors"
	"io"

	"github.com/skua-data/skua/fault"
)

const (
	wholeChunk = 8 << 20  // bytes of a column chunk up to which it is fetched in one request
	streamRead = 4 << 20  // bytes of a request for larger ones
	nearRead   = 64 << 10 // bytes read at least of a file that is near
)

// chunk is the bytes of a column chunk, read forward: a small one at once, a large one in pieces. Of a file that is near it holds no more than
// the page that is being unpacked: a wide table has a hundred chunks open at once.
type chunk struct {
	file   io.ReaderAt
	pool   *scratch
	next   int64 // offset in the file after the window
	end    int64
	buffer []byte
	window []byte // read and not consumed, inside buffer
	moves  bool   // a later fill may overwrite what was consumed
	near   int64  // bytes to read at least; more than 0: they may be read again rather than held
}

// seek goes to a page, and ends the chunk there.
func (c *chunk) seek(at, length int64) { c.next, c.end, c.window = at, at+length, nil }

func newChunk(file io.ReaderAt, start, end, near int64, p *scratch) *chunk {
	if end-start <= near {
		near = 0
	}
	return &chunk{file: file, pool: p, next: start, end: end, moves: near > 0 || end-start > wholeChunk, near: near}
}

func (c *chunk) left() int64 { return int64(len(c.window)) + c.end - c.next }

// fill gives at least n unread bytes, or all that are left.
func (c *chunk) fill(n int64) ([]byte, error) {
	n = min(n, c.left())
	if int64(len(c.window)) >= n {
		return c.window, nil
	}
	size := min(c.left(), max(n, streamRead))
	switch {
	case c.near > 0:
		size = min(c.left(), max(n, c.near))
	case !c.moves:
		size = c.left()
	}
	kept := len(c.window)
	if cap(c.buffer) < int(size)+slack {
		larger := c.pool.get(int(size))
		copy(larger, c.window)
		c.pool.put(c.buffer)
		c.buffer = larger
	} else {
		copy(c.buffer[:size], c.window)
	}
	c.window = c.buffer[:size]
	if err := readAt(c.file, c.window[kept:], c.next); err != nil {
		c.window = nil
		return nil, err
	}
	c.next += size - int64(kept)
	return c.window, nil
}

// take consumes n bytes. They stay as they are until the next fill, if the chunk moves.
func (c *chunk) take(n int64) ([]byte, error) {
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

// pass leaves n bytes out, without reading those that were not.
func (c *chunk) pass(n int64) error {
	if n > c.left() {
		return fault.New(fault.Corrupt, "a page of %d bytes where %d are left", n, c.left())
	}
	inside := min(n, int64(len(c.window)))
	c.window = c.window[inside:]
	c.next += n - inside
	return nil
}

// read consumes the bytes that fill out.
func (c *chunk) read(out []byte) error {
	have := copy(out, c.window)
	if err := readAt(c.file, out[have:], c.next); err != nil {
		return err
	}
	c.window = c.window[have:]
	c.next += int64(len(out) - have)
	return nil
}

// offset is where in the file the next byte lies.
func (c *chunk) offset() int64 { return c.next - int64(len(c.window)) }

// at gives n bytes of a near file from an offset, in a buffer of the pool.
func (c *chunk) at(offset, n int64) ([]byte, error) {
	out := c.pool.get(int(n))
	if err := readAt(c.file, out, offset); err != nil {
		c.pool.put(out)
		return nil, err
	}
	return out, nil
}

// settle gives the buffer back if all of it was consumed and it can be read again for little.
func (c *chunk) settle() {
	if c.near > 0 && len(c.window) == 0 {
		c.close()
	}
}

func (c *chunk) close() {
	c.pool.put(c.buffer)
	c.buffer, c.window = nil, nil
}

// readAt fills b, and tells a short file from a broken store.
func readAt(f io.ReaderAt, b []byte, at int64) error {
	n, err := f.ReadAt(b, at)
	if n == len(b) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fault.New(fault.Corrupt, "the file ends %d bytes early", len(b)-n)
	}
	return classify(fault.Unavailable, err)
}

// classify gives a kind to an error that has none; the end of a context is one.
func classify(kind fault.Kind, err error) error {
	if fault.KindOf(err) != fault.Internal {
		return err
	}
	return fault.As(kind, err)
}
