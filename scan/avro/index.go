package avro

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/scan/avrofile"
	"github.com/skua-data/skua/storage"
)

const (
	headerMost  = 64 << 20  // a longer header is refused
	packedMost  = 512 << 20 // bytes of a block as it lies in the file
	plainMost   = 512 << 20 // and unpacked
	blockHeader = 20        // two numbers of ten bytes at most
)

// Index is what a file says of itself: its schema and codec, and where its blocks lie. It is immutable.
type Index struct {
	schema *avrofile.Type
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
	var buffer [avrofile.SyncSize + blockHeader]byte
	for at := end; at < f.Size(); {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		b := block{mark: at - avrofile.SyncSize, first: x.rows}
		head := buffer[avrofile.SyncSize:]
		head = head[:min(int64(len(head)), f.Size()-at)]
		if err := readAt(f, head, at); err != nil {
			return nil, err
		}
		d := avrofile.Decoder{Data: head}
		b.rows, b.size = d.Long(), d.Long()
		b.at = at + int64(d.At)
		if d.Err != nil || b.rows < 0 || b.size < 0 || b.size > packedMost || b.size > f.Size()-b.at-avrofile.SyncSize || b.rows > 1<<40 {
			return nil, fault.New(fault.Corrupt, "the block at %d says %d records in %d bytes", at, b.rows, b.size)
		}
		at = b.at + b.size + avrofile.SyncSize
		if err := readAt(f, buffer[:avrofile.SyncSize], at-avrofile.SyncSize); err != nil {
			return nil, err
		}
		if !bytes.Equal(buffer[:avrofile.SyncSize], mark) {
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
		d := avrofile.Decoder{Data: raw}
		h, err := avrofile.ReadHeader(&d)
		switch {
		case err == nil:
			x.codec = h.Codec
			x.schema, err = h.Schema()
			return h.Sync, int64(d.At), err
		case !bytes.HasPrefix(raw, []byte(avrofile.Magic)):
			return nil, 0, err
		case int64(len(raw)) == f.Size() || size >= headerMost:
			return nil, 0, fault.New(fault.Corrupt, "the header has no end: %w", errors.Join(err, io.ErrUnexpectedEOF))
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
