package parquet

import (
	"io"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/fault"
)

// chunk is the bytes of a column chunk, read forward: a small one at once, a large one in pieces.
type chunk struct {
	file   io.ReaderAt
	mem    memory.Allocator
	next   int64 // offset in the file after the window
	end    int64
	buffer *memory.Buffer
	window []byte // read and not consumed, inside buffer
	moves  bool   // a later fill may overwrite what was consumed
}

func newChunk(file io.ReaderAt, start, end int64, mem memory.Allocator) *chunk {
	return &chunk{file: file, mem: mem, next: start, end: end, buffer: memory.NewResizableBuffer(mem), moves: end-start > wholeChunk}
}

// seek goes to a page, and ends the chunk there.
func (c *chunk) seek(at, length int64) { c.next, c.end, c.window = at, at+length, nil }

func (c *chunk) left() int64 { return int64(len(c.window)) + c.end - c.next }

// fill gives at least n unread bytes, or all that are left.
func (c *chunk) fill(n int64) ([]byte, error) {
	n = min(n, c.left())
	if int64(len(c.window)) >= n {
		return c.window, nil
	}
	size := min(c.left(), max(n, streamRead))
	if !c.moves {
		size = c.left()
	}
	kept := len(c.window)
	if c.buffer.Len() < int(size) {
		larger := memory.NewResizableBuffer(c.mem)
		larger.Resize(int(size))
		copy(larger.Bytes(), c.window)
		c.buffer.Release()
		c.buffer = larger
	} else {
		copy(c.buffer.Bytes(), c.window)
	}
	c.window = c.buffer.Bytes()[:size]
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

func (c *chunk) close() {
	c.buffer.Release()
	c.window = nil
}
