package avro

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/storage"
)

const (
	syncSize    = 16
	headerMost  = 64 << 20  // a longer header is refused
	packedMost  = 512 << 20 // bytes of a block as it lies in the file
	blockHeader = 20        // two numbers of ten bytes at most
)

var magic = []byte("Obj\x01")

// Index is what a file says of itself: its schema and codec, and where its blocks lie. It is immutable.
type Index struct {
	schema *schema
	codec  string
	blocks []block
	rows   int64
}

// block is a run of records that is packed on its own.
type block struct {
	mark  int64 // offset of the sync marker in front, which decides whose block it is
	at    int64 // offset of its bytes
	size  int64
	first int64 // ordinal in the file of its first record
	rows  int64
}

// Size estimates the memory that the index takes, in bytes.
func (x *Index) Size() int64 { return 4096 + 40*int64(len(x.blocks)) }

// ReadIndex reads a file's header and steps over its blocks. Errors name the file by name.
func ReadIndex(ctx context.Context, f storage.File, name string) (_ *Index, err error) {
	defer func() { err = fault.Wrap(err, "open %s", name) }()
	defer fault.Recover(&err, fault.Corrupt, "read the header")
	x := &Index{}
	mark, end, err := x.header(f)
	if err != nil {
		return nil, err
	}
	var buffer [syncSize + blockHeader]byte
	for at := end; at < f.Size(); {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		b := block{mark: at - syncSize, first: x.rows}
		head := buffer[syncSize:]
		head = head[:min(int64(len(head)), f.Size()-at)]
		if err := readAt(f, head, at); err != nil {
			return nil, err
		}
		d := decoder{data: head}
		b.rows, b.size = d.long(), d.long()
		b.at = at + int64(d.at)
		if d.err != nil || b.rows < 0 || b.size < 0 || b.size > packedMost || b.size > f.Size()-b.at-syncSize || b.rows > 1<<40 {
			return nil, fault.New(fault.Corrupt, "the block at %d says %d records in %d bytes", at, b.rows, b.size)
		}
		at = b.at + b.size + syncSize
		if err := readAt(f, buffer[:syncSize], at-syncSize); err != nil {
			return nil, err
		}
		if !bytes.Equal(buffer[:syncSize], mark) {
			return nil, fault.New(fault.Corrupt, "the block at %d does not end where it says", b.at)
		}
		x.blocks, x.rows = append(x.blocks, b), x.rows+b.rows
	}
	return x, nil
}

// header reads what is in front of the blocks. It gives the sync marker and where the blocks begin.
func (x *Index) header(f storage.File) (mark []byte, end int64, err error) {
	for size := int64(64 << 10); ; size *= 8 {
		raw := make([]byte, min(size, f.Size()))
		if err := readAt(f, raw, 0); err != nil {
			return nil, 0, err
		}
		if !bytes.HasPrefix(raw, magic) {
			return nil, 0, fault.New(fault.Corrupt, "not an Avro file: it begins with %q", raw[:min(4, len(raw))])
		}
		meta, at, err := headerFields(raw)
		switch {
		case err == nil && at+syncSize <= len(raw):
			x.codec = string(meta["avro.codec"])
			x.schema, err = parseSchema(meta["avro.schema"])
			return raw[at : at+syncSize], int64(at + syncSize), err
		case int64(len(raw)) == f.Size() || size >= headerMost:
			return nil, 0, fault.New(fault.Corrupt, "the header has no end: %w", errors.Join(err, io.ErrUnexpectedEOF))
		}
	}
}

func headerFields(raw []byte) (map[string][]byte, int, error) {
	d := decoder{data: raw, at: len(magic)}
	out := map[string][]byte{}
	for {
		n := d.blockCount(2)
		if n == 0 || d.err != nil {
			return out, d.at, d.err
		}
		for ; n > 0 && d.err == nil; n-- {
			key := string(d.bytes())
			out[key] = d.bytes()
		}
	}
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
	if fault.KindOf(err) != fault.Internal {
		return err
	}
	return fault.As(fault.Unavailable, err)
}

// decoder reads Avro's binary form. The first error stays, and everything after it gives zero values.
type decoder struct {
	data []byte
	at   int
	err  error
}

func (d *decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = fault.New(fault.Corrupt, format, args...)
	}
	d.at = len(d.data)
}

func (d *decoder) long() int64 {
	v, n := binary.Varint(d.data[d.at:])
	if n <= 0 {
		d.fail("a number has no end")
		return 0
	}
	d.at += n
	return v
}

func (d *decoder) int() int32 {
	v := d.long()
	if v != int64(int32(v)) {
		d.fail("%d is no int", v)
		return 0
	}
	return int32(v)
}

// take gives the next n bytes, which stay the block's.
func (d *decoder) take(n int64) []byte {
	if n < 0 || n > int64(len(d.data)-d.at) {
		d.fail("%d bytes are wanted where %d are left", n, len(d.data)-d.at)
		return nil
	}
	d.at += int(n)
	return d.data[d.at-int(n) : d.at]
}

func (d *decoder) bytes() []byte { return d.take(d.long()) }

func (d *decoder) boolean() bool {
	b := d.take(1)
	if d.err == nil && b[0] > 1 {
		d.fail("%d is no boolean", b[0])
	}
	return d.err == nil && b[0] == 1
}

const freeItems = 1 << 20 // items that take no bytes

// blockCount reads how many items come next in an array or a map, each of least bytes or more; 0: none are left.
func (d *decoder) blockCount(least int) int64 {
	n := d.long()
	if n < 0 {
		if n = -n; d.err == nil {
			d.long() // the size in bytes
		}
	}
	left := int64(len(d.data) - d.at)
	if n < 0 || (least > 0 && n > left/int64(least)) || (least == 0 && n > freeItems) {
		d.fail("%d items where %d bytes are left", n, left)
		return 0
	}
	return n
}
