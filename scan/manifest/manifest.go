// Package manifest reads the entries of Iceberg manifests from the bytes of their Avro files, as far as planning needs them: one entry at a time into a
// value that is used again, fields found by id in the writer's schema, and what a plan does not ask for stepped over. It knows nothing of tables, of what
// entries inherit, or of filters; whole entries for metadata tables come from elsewhere.
package manifest

import (
	"io"
	"strconv"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/scan/avrofile"
)

// Field is a field of the partition spec that a manifest was written with.
type Field struct {
	ID   int
	Name string
}

// Reader reads the entries of one manifest. It is for one goroutine.
type Reader struct {
	codecs *avrofile.Codecs
	header avrofile.Header
	file   avrofile.Decoder // over the whole file
	layout *layout

	block  avrofile.Decoder // over one unpacked block
	left   int64            // entries of it that were not read
	opened bool
	plain  []byte // buffer of the block
	total  int64  // bytes unpacked so far
}

// BlockMost bounds what a block unpacks to, in bytes: the codecs of NewReader want it. Writers pack some ten thousand bytes into one, a few a whole manifest.
const BlockMost = 128 << 20

// unpackedMost bounds what a manifest unpacks to, in bytes.
const unpackedMost = 1 << 30

// NewReader reads the header of a manifest. spec, which may be empty, is what finds partition values whose fields carry no ids. The bytes stay the
// caller's and must not change while the reader is used; Close gives back what it borrowed.
func NewReader(raw []byte, spec []Field, codecs *avrofile.Codecs) (*Reader, error) {
	r := &Reader{codecs: codecs, file: avrofile.Decoder{Data: raw}}
	var err error
	if r.header, err = avrofile.ReadHeader(&r.file); err != nil {
		return nil, err
	}
	root, err := r.header.Schema()
	if err != nil {
		return nil, err
	}
	if r.layout, err = newLayout(root, spec); err != nil {
		return nil, err
	}
	return r, nil
}

// Version is the format version that the manifest states; 1 where it states none.
func (r *Reader) Version() (int, error) {
	text := string(r.header.Metadata["format-version"])
	if text == "" {
		return 1, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, fault.New(fault.Corrupt, "the format version %q is no version", text)
	}
	return n, nil
}

// Content is what the manifest says that it lists, data or deletes; empty: it does not say.
func (r *Reader) Content() string { return string(r.header.Metadata["content"]) }

// SpecID is the partition spec that the manifest states; false: it states none.
func (r *Reader) SpecID() (int, bool) {
	n, err := strconv.Atoi(string(r.header.Metadata["partition-spec-id"]))
	return n, err == nil
}

// Next reads the next entry into e; io.EOF: there is none. What e holds is good until the next call.
func (r *Reader) Next(e *Entry) error {
	for r.left == 0 {
		if r.opened && r.block.At != len(r.block.Data) {
			return fault.New(fault.Corrupt, "%d bytes are left in a block after its last entry", len(r.block.Data)-r.block.At)
		}
		if r.file.At == len(r.file.Data) {
			return io.EOF
		}
		if err := r.nextBlock(); err != nil {
			return err
		}
	}
	r.left--
	return r.layout.read(&r.block, e)
}

// Close gives back the reader's buffer. Entries read before are not good any more.
func (r *Reader) Close() {
	r.codecs.GiveBack(r.plain)
	r.plain, r.block, r.left = nil, avrofile.Decoder{}, 0
}
