package avrofile

import (
	"bytes"

	"github.com/skua-data/skua/fault"
)

// Magic is what a file begins with.
const Magic = "Obj\x01"

// SyncSize is the size of the marker behind the header and each block, in bytes.
const SyncSize = 16

// Header is what stands in front of a file's blocks. Its bytes are those that it was read from.
type Header struct {
	Metadata map[string][]byte
	Sync     []byte
	Codec    string // of the blocks; empty or "null": they are not packed
}

// ReadHeader reads a header and leaves d in front of the first block. The schema is read apart, by Schema. An error may mean that d ends within the
// header.
func ReadHeader(d *Decoder) (Header, error) {
	if !bytes.HasPrefix(d.Data, []byte(Magic)) {
		return Header{}, fault.New(fault.Corrupt, "not an Avro file: it begins with %q", d.Data[:min(len(Magic), len(d.Data))])
	}
	d.At = len(Magic)
	h := Header{Metadata: map[string][]byte{}}
	for {
		n, _ := d.Run(2)
		if n == 0 || d.Err != nil {
			break
		}
		for ; n > 0 && d.Err == nil; n-- {
			key := string(d.Bytes())
			h.Metadata[key] = d.Bytes()
		}
	}
	h.Sync = d.Take(SyncSize)
	h.Codec = string(h.Metadata["avro.codec"])
	return h, d.Err
}

// Schema parses the file's schema.
func (h Header) Schema() (*Type, error) { return ParseSchema(h.Metadata["avro.schema"]) }

// IsPacked says whether blocks of a codec have to be unpacked.
func IsPacked(codec string) bool { return codec != "" && codec != "null" }
