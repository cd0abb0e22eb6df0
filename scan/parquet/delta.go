package parquet

import (
	"encoding/binary"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/kernels/pages"
)

// deltaBlock is the most values of a block of a delta encoding; the common writers have 128. Decoders allocate a block at once.
const deltaBlock = 1 << 20

// checkDelta looks into the headers of delta encodings, which say how large the decoder's buffers are. data is a page's body, with levels of
// a known length (V2) or of one that it begins with (V1: -1).
func checkDelta(c *schema.Column, encoding parquet.Encoding, data []byte, levels int) error {
	streams := 0
	switch encoding {
	case parquet.Encodings.DeltaBinaryPacked, parquet.Encodings.DeltaLengthByteArray:
		streams = 1
	case parquet.Encodings.DeltaByteArray:
		streams = 2
	}
	if streams == 0 {
		return nil
	}
	data, ok := afterLevels(c, data, levels)
	for ; ok && streams > 0 && len(data) > 0; streams-- {
		data, ok = skipDelta(data)
	}
	if !ok {
		return fault.New(fault.Corrupt, "malformed delta encoding")
	}
	return nil
}

// afterLevels gives a page's bytes after its levels.
func afterLevels(c *schema.Column, data []byte, levels int) ([]byte, bool) {
	if levels >= 0 {
		return data[min(levels, len(data)):], levels <= len(data)
	}
	for _, most := range []int16{c.MaxRepetitionLevel(), c.MaxDefinitionLevel()} {
		if most == 0 {
			continue
		}
		if len(data) < 4 {
			return nil, false
		}
		n := int64(binary.LittleEndian.Uint32(data)) + 4
		if n > int64(len(data)) {
			return nil, false
		}
		data = data[n:]
	}
	return data, true
}

// skipDelta walks one stream of delta-packed integers and gives what follows it.
func skipDelta(b []byte) ([]byte, bool) {
	var head [4]uint64 // values in a block, miniblocks in a block, values in all, the first one
	for i := range head {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			return nil, false
		}
		head[i], b = v, b[n:]
	}
	block, minis, total := head[0], head[1], head[2]
	if block == 0 || block > deltaBlock || minis == 0 || minis > block || block%minis != 0 || total > pages.MostValues {
		return nil, false
	}
	perMini := block / minis
	for left := int64(total) - 1; left > 0; {
		_, n := binary.Uvarint(b)
		if n <= 0 || uint64(len(b)-n) < minis {
			return nil, false
		}
		widths := b[n : n+int(minis)]
		b = b[n+int(minis):]
		for _, width := range widths {
			if left <= 0 {
				break
			}
			size := perMini * uint64(width) / 8
			if size > uint64(len(b)) {
				if left -= int64(perMini); left <= 0 { // some writers cut the last miniblock short
					return nil, true
				}
				return nil, false
			}
			b, left = b[size:], left-int64(perMini)
		}
	}
	return b, true
}
