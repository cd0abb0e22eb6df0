package manifest

import (
	"bytes"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/scan/avrofile"
)

// nextBlock unpacks the block at the file's cursor.
func (r *Reader) nextBlock() (err error) {
	d := &r.file
	at := d.At
	rows, packed := d.Long(), d.Bytes()
	end := d.Take(avrofile.SyncSize)
	if d.Err != nil {
		return fault.Wrap(d.Err, "block at %d", at)
	}
	if !bytes.Equal(end, r.header.Sync) {
		return fault.New(fault.Corrupt, "the block at %d does not end where it says", at)
	}
	plain, err := r.codecs.Unpack(r.header.Codec, packed, r.plain[:0])
	if err != nil {
		return fault.Wrap(err, "block at %d", at)
	}
	if avrofile.IsPacked(r.header.Codec) {
		r.plain = plain
	}
	if r.total += int64(len(plain)); r.total > unpackedMost {
		return fault.New(fault.Exhausted, "the manifest unpacks to more than %d bytes", int64(unpackedMost))
	}
	if least := int64(r.layout.root.Least); rows < 0 || rows > int64(len(plain))/max(least, 1) {
		return fault.New(fault.Corrupt, "the block at %d says %d entries in %d bytes", at, rows, len(plain))
	}
	r.block, r.left, r.opened = avrofile.Decoder{Data: plain}, rows, true
	return nil
}
