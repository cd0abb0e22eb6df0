package manifest

import (
	"bytes"

	"github.com/skua-data/skua/fault"
)

var magic = []byte("Obj\x01")

const syncSize = 16

// header reads what is in front of the blocks.
func (r *Reader) header() error {
	d := &r.file
	if !bytes.HasPrefix(d.data, magic) {
		return fault.New(fault.Corrupt, "not an Avro file: it begins with %q", d.data[:min(len(magic), len(d.data))])
	}
	d.at = len(magic)
	r.metadata = map[string][]byte{}
	for {
		n, _ := d.blockCount(2)
		if n == 0 || d.err != nil {
			break
		}
		for ; n > 0 && d.err == nil; n-- {
			key := string(d.bytes())
			r.metadata[key] = d.bytes()
		}
	}
	r.sync = d.take(syncSize)
	r.codec = string(r.metadata["avro.codec"])
	return d.err
}

// nextBlock unpacks the block at the file's cursor.
func (r *Reader) nextBlock() (err error) {
	d := &r.file
	at := d.at
	rows, packed := d.long(), d.bytes()
	end := d.take(syncSize)
	if d.err != nil {
		return fault.Wrap(d.err, "block at %d", at)
	}
	if !bytes.Equal(end, r.sync) {
		return fault.New(fault.Corrupt, "the block at %d does not end where it says", at)
	}
	plain, err := r.codecs.unpack(r.codec, packed, r.plain[:0])
	if err != nil {
		return fault.Wrap(err, "block at %d", at)
	}
	if r.codec != "" && r.codec != "null" {
		r.plain = plain
	}
	if r.total += int64(len(plain)); r.total > unpackedMost {
		return fault.New(fault.Exhausted, "the manifest unpacks to more than %d bytes", int64(unpackedMost))
	}
	if least := int64(r.layout.root.least); rows < 0 || rows > int64(len(plain))/max(least, 1) {
		return fault.New(fault.Corrupt, "the block at %d says %d entries in %d bytes", at, rows, len(plain))
	}
	r.block, r.left, r.opened = decoder{data: plain}, rows, true
	return nil
}
