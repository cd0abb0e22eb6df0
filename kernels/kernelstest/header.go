package kernelstest

import (
	"encoding/binary"

	"github.com/skua-data/skua/kernels/pages"
)

// EncodeHeader writes a page header in thrift's compact protocol, without a checksum.
func EncodeHeader(h pages.Header) []byte {
	const i32, structure, no = 5, 12, 2 // thrift's types
	var b []byte
	field := func(delta byte, v int64) { b = binary.AppendVarint(append(b, delta<<4|i32), v) }
	for _, v := range []int64{h.Kind, h.Uncompressed, h.Compressed} {
		field(1, v)
	}
	var inner []int64
	switch h.Kind {
	case pages.Data:
		b, inner = append(b, 2<<4|structure), []int64{h.Values, h.Encoding, h.DefEncoding, h.RepEncoding}
	case pages.Dictionary:
		b, inner = append(b, 4<<4|structure), []int64{h.Values, h.Encoding}
	case pages.DataV2:
		b, inner = append(b, 5<<4|structure), []int64{h.Values, h.Nulls, h.Rows, h.Encoding, h.DefLength, h.RepLength}
	}
	for _, v := range inner {
		field(1, v)
	}
	if h.Unpacked {
		b = append(b, 1<<4|no)
	}
	return append(b, 0, 0)
}
