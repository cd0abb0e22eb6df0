package scantest

import (
	"bytes"
	le "encoding/binary"
	"encoding/json"
	"hash/crc32"
	"os"
	"strconv"
)

// vectorBlob is a deletion vector as it lies in a Puffin file: a 64-bit bitmap of array containers between length, magic and checksum.
func vectorBlob(positions []int64) []byte {
	inner := []byte{0xd1, 0xd3, 0x39, 0x64}
	inner = le.LittleEndian.AppendUint64(inner, 1) // positions are below 2^32: one bitmap
	inner = le.LittleEndian.AppendUint32(inner, 0)
	inner = append(inner, roaring(positions)...)
	out := append(le.BigEndian.AppendUint32(nil, uint32(len(inner))), inner...)
	return le.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(inner))
}

// roaring is a 32-bit bitmap in the portable form, without runs.
func roaring(positions []int64) []byte {
	var keys []uint16
	values := map[uint16][]uint16{}
	for _, p := range positions {
		key := uint16(p >> 16)
		if values[key] == nil {
			keys = append(keys, key)
		}
		values[key] = append(values[key], uint16(p))
	}
	const noRuns = 12346
	out := le.LittleEndian.AppendUint32(nil, noRuns)
	out = le.LittleEndian.AppendUint32(out, uint32(len(keys)))
	for _, k := range keys {
		out = le.LittleEndian.AppendUint16(out, k)
		out = le.LittleEndian.AppendUint16(out, uint16(len(values[k])-1))
	}
	at := len(out) + 4*len(keys)
	for _, k := range keys {
		out = le.LittleEndian.AppendUint32(out, uint32(at))
		at += 2 * len(values[k])
	}
	for _, k := range keys {
		for _, v := range values[k] {
			out = le.LittleEndian.AppendUint16(out, v)
		}
	}
	return out
}

// writePuffin writes vectors one after the other, tells each where it lies, and gives the file's size.
func writePuffin(name string, vectors []*deleteFile, blobs [][]byte) int64 {
	var out bytes.Buffer
	out.WriteString("PFA1")
	var list []any
	for i, d := range vectors {
		d.offset, d.length = int64(out.Len()), int64(len(blobs[i]))
		out.Write(blobs[i])
		list = append(list, map[string]any{"type": "deletion-vector-v1", "fields": []int{}, "snapshot-id": -1, "sequence-number": -1, "offset": d.offset,
			"length": d.length, "properties": map[string]string{"referenced-data-file": d.target.path, "cardinality": strconv.FormatInt(d.records, 10)}})
	}
	footer, err := json.Marshal(map[string]any{"blobs": list, "properties": map[string]string{}})
	if err != nil {
		panic(err)
	}
	out.WriteString("PFA1")
	out.Write(footer)
	out.Write(le.LittleEndian.AppendUint32(nil, uint32(len(footer))))
	out.Write([]byte{0, 0, 0, 0})
	out.WriteString("PFA1")
	if err := os.WriteFile(name, out.Bytes(), 0o600); err != nil {
		panic(err)
	}
	return int64(out.Len())
}
