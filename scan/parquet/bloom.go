package parquet

import (
	"encoding/binary"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/cespare/xxhash/v2"

	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/kernels/convert"
)

const (
	bloomMost   = 4 << 20 // bytes of a filter; a longer one is not read
	bloomHeader = 64      // bytes that hold a filter's header
	bloomBlock  = 32      // bytes of a block, eight words of 32 bits
)

// bloomSalt is the format's: one odd number for each word of a block (BloomFilter.md).
var bloomSalt = [8]uint32{0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31}

// bloom is a split block Bloom filter of a column chunk.
type bloom []byte

// has says whether a value with this hash may be in the chunk.
func (b bloom) has(hash uint64) bool {
	block := b[(hash>>32)*uint64(len(b)/bloomBlock)>>32*bloomBlock:][:bloomBlock]
	for i, salt := range bloomSalt {
		if binary.LittleEndian.Uint32(block[4*i:])>>(uint32(hash)*salt>>27)&1 == 0 {
			return false
		}
	}
	return true
}

// absence gives the test whether a literal's value is surely in no row of a column chunk; nil where the file cannot tell. The filter is read when
// the test is called first.
func (f *File) absence(ordinal int, n *kernels.Node, target arrow.DataType) func(value any) bool {
	column, meta := f.metadata.Schema.Column(n.Leaf), f.metadata.RowGroups[ordinal].Columns[n.Leaf].MetaData
	hashes := bloomHashes(column, target)
	if meta.BloomFilterOffset == nil || hashes == nil {
		return nil
	}
	var filter bloom
	read := false
	return func(value any) bool {
		plain, known := hashes(value)
		if !known {
			return false
		}
		if !read {
			filter, read = f.bloom(*meta.BloomFilterOffset, meta.BloomFilterLength), true
		}
		if filter == nil {
			return false
		}
		for _, b := range plain {
			if filter.has(xxhash.Sum64(b)) {
				return false
			}
		}
		return true
	}
}

// bloom reads a filter; nil where it is not one that is known here.
func (f *File) bloom(at int64, length *int32) bloom {
	want := int64(bloomHeader)
	if length != nil {
		want = int64(*length)
	}
	head, ok := f.piece(at, min(want, f.size-at, bloomMost))
	if !ok {
		return nil
	}
	size, headSize, ok := readBloomHeader(head)
	if !ok || size < bloomBlock || size%bloomBlock != 0 || size > bloomMost {
		return nil
	}
	if headSize+size <= int64(len(head)) {
		return head[headSize : headSize+size]
	}
	body, ok := f.piece(at+headSize, size)
	if !ok {
		return nil
	}
	return body
}

// readBloomHeader reads the thrift structure BloomFilterHeader: split blocks, xxHash and no compression are the first members of their unions.
func readBloomHeader(b []byte) (size, length int64, ok bool) {
	w := &thriftWalk{b: b}
	var known [5]bool
	ok = w.structure(0, func(field int16, typ byte, depth int) bool {
		switch {
		case field == 1 && typ == thriftI32:
			known[1] = true
			return w.number(&size)
		case field >= 2 && field <= 4 && typ == thriftStruct:
			return w.structure(depth, func(member int16, typ byte, depth int) bool {
				known[field] = member == 1
				return w.skip(typ, depth)
			})
		}
		return w.skip(typ, depth)
	})
	return size, int64(len(b) - len(w.b)), ok && known[1] && known[2] && known[3] && known[4]
}

// bloomHashes gives the stored forms of a literal's value, all of which must be absent; none where no stored value can equal it, and false where
// equal values may be stored in more forms than can be told. nil: the column's values are not the target's one by one.
func bloomHashes(c *schema.Column, target arrow.DataType) func(value any) (plain [][]byte, known bool) {
	if to, _ := conversionOf(c, target); to == nil {
		return nil
	}
	switch c.PhysicalType() {
	case parquet.Types.Int32, parquet.Types.Int64:
		if !sameNumber(c, target) {
			return nil
		}
		return func(value any) ([][]byte, bool) {
			v, ok := value.(int64)
			switch {
			case !ok:
				return nil, false
			case c.PhysicalType() == parquet.Types.Int64:
				return [][]byte{binary.LittleEndian.AppendUint64(nil, uint64(v))}, true
			case v != int64(int32(v)):
				return nil, true
			}
			return [][]byte{binary.LittleEndian.AppendUint32(nil, uint32(v))}, true
		}
	case parquet.Types.Float, parquet.Types.Double:
		return func(value any) ([][]byte, bool) { return floatForms(c.PhysicalType(), value) }
	case parquet.Types.ByteArray, parquet.Types.FixedLenByteArray:
		return bytesForms(target)
	}
	return nil
}

// sameNumber says that a stored number is the target's number, in the same unit.
func sameNumber(c *schema.Column, target arrow.DataType) bool {
	if t, ok := c.LogicalType().(schema.IntLogicalType); ok && !t.IsSigned() {
		return false
	}
	switch t := target.(type) {
	case *arrow.Int32Type, *arrow.Int64Type:
		return true
	case *arrow.Date32Type:
		return true
	case *arrow.TimestampType:
		stored, ok := c.LogicalType().(schema.TimestampLogicalType)
		return ok && convert.UnitOf(stored.TimeUnit()) == convert.UnitsPerSecond(t.Unit)
	case *arrow.Time64Type:
		stored, ok := c.LogicalType().(schema.TimeLogicalType)
		return ok && convert.UnitOf(stored.TimeUnit()) == convert.UnitsPerSecond(t.Unit)
	}
	return false
}

// floatForms knows that the zeros are equal, and that NaNs have many forms.
func floatForms(physical parquet.Type, value any) ([][]byte, bool) {
	v, ok := value.(float64)
	if !ok || math.IsNaN(v) {
		return nil, false
	}
	forms := []float64{v}
	if v == 0 {
		forms = []float64{0, math.Copysign(0, -1)}
	}
	var out [][]byte
	for _, v := range forms {
		if physical == parquet.Types.Double {
			out = append(out, binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)))
			continue
		}
		if float64(float32(v)) != v {
			return nil, true
		}
		out = append(out, binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(v))))
	}
	return out, true
}

// bytesForms is for values that are equal where their bytes are. Decimals are not among them: their bytes may begin with any number of signs.
func bytesForms(target arrow.DataType) func(value any) ([][]byte, bool) {
	switch target.(type) {
	case *arrow.StringType, *arrow.BinaryType, *arrow.FixedSizeBinaryType, *extensions.UUIDType:
		return func(value any) ([][]byte, bool) {
			switch v := value.(type) {
			case string:
				return [][]byte{[]byte(v)}, true
			case []byte:
				return [][]byte{v}, true
			}
			return nil, false
		}
	}
	return nil
}
