package cuda

import (
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/kernels/cpu"
	"github.com/skua-data/skua/kernels/cuda/ptx"
)

// leaf is a leaf column that the kernels can decode.
type leaf struct {
	index      int
	column     *schema.Column
	field      arrow.Field
	form       cpu.Form
	stored     int    // bytes of a stored fixed value
	conversion uint64 // of the kernels
	back       int    // bytes of a value that come back; 0: texts and bits
	widened    bool   // the host makes decimals of 16 bytes of what comes back
	codec      compress.Compression
	rows       int64
	packed     int64 // bytes of the chunk
	size       int64 // bytes of its pages, unpacked
	dictionary bool  // the chunk says that it has one
	encodings  []parquet.Encoding
	nest       *nesting // nil: it is read as it lies, with no more levels than say which values are null
	values     int64    // nulls included; more or fewer than rows in a list
}

// newLeaf looks at a node outside of lists; it says why the kernels cannot decode it.
func newLeaf(rg *kernels.RowGroup, n *kernels.Node) (*leaf, string) { return leafOf(rg, n, 0) }

// leafOf looks at a leaf in so many lists.
func leafOf(rg *kernels.RowGroup, n *kernels.Node, lists int) (*leaf, string) {
	switch {
	case n.Kind != kernels.Leaf || int(n.Rep) != lists:
		return nil, "a nested column"
	case rg.Rows >= math.MaxInt32:
		return nil, "a row group of more than 2 billion rows"
	case rg.Ordinal < 0 || rg.Ordinal >= len(rg.Metadata.RowGroups):
		return nil, "no such row group"
	}
	chunks := rg.Metadata.RowGroups[rg.Ordinal].Columns
	if n.Leaf < 0 || n.Leaf >= len(chunks) || chunks[n.Leaf].MetaData == nil {
		return nil, "no such column chunk"
	}
	m, c := chunks[n.Leaf].MetaData, rg.Metadata.Schema.Column(n.Leaf)
	l := &leaf{index: n.Leaf, column: c, field: n.Field, codec: compress.Compression(m.Codec), rows: rg.Rows, packed: m.TotalCompressedSize,
		size: m.TotalUncompressedSize, dictionary: m.DictionaryPageOffset != nil, values: m.NumValues}
	for _, e := range m.Encodings {
		l.encodings = append(l.encodings, parquet.Encoding(e))
	}
	if int(c.MaxRepetitionLevel()) != lists || c.MaxDefinitionLevel() > 120 || m.NumValues >= math.MaxInt32-32*1<<20 {
		return nil, "a nested column"
	}
	l.form, l.stored = cpu.FormOf(c, n.Field.Type)
	return l, l.fit()
}

// fit chooses the kernels' conversion; it says why there is none.
func (l *leaf) fit() string {
	l.back = l.stored
	switch {
	case l.form == cpu.TextForm || l.form == cpu.BitForm:
		l.back = 0
	case l.form == cpu.SameBytes && l.stored == 4:
		l.conversion = ptx.Copy4
	case l.form == cpu.SameBytes && l.stored == 8:
		l.conversion = ptx.Copy8
	case l.form == cpu.SameBytes && l.stored == 16:
		l.conversion = ptx.Copy16
	case l.form == cpu.SameBytes && l.stored <= 256:
	case l.form == cpu.Widened:
		l.conversion, l.back = ptx.Widen, 8
	case l.form == cpu.DecimalInt && l.stored == 4:
		l.conversion, l.back, l.widened = ptx.Widen, 8, true
	case l.form == cpu.DecimalInt:
		l.conversion, l.back, l.widened = ptx.Copy8, 8, true
	case l.form == cpu.DecimalFixed && l.stored <= 8:
		l.conversion, l.back, l.widened = ptx.Big8, 8, true
	case l.form == cpu.DecimalFixed:
		l.conversion, l.back = ptx.Big16, 16
	default:
		return l.column.PhysicalType().String() + " as " + l.field.Type.String()
	}
	return ""
}

// gatherKernel is what gathers the leaf's fixed values.
func (l *leaf) gatherKernel() ptx.Kernel {
	switch {
	case l.form == cpu.BitForm:
		return ptx.GatherBits
	case l.form == cpu.SameBytes && l.stored != 4 && l.stored != 8 && l.stored != 16:
		return ptx.GatherBytes
	}
	return ptx.GatherFixed
}

// backBytes is how much comes back for n slots, texts aside.
func (l *leaf) backBytes(n int) int {
	switch l.form {
	case cpu.BitForm:
		return words(n)
	case cpu.TextForm:
		return 4 * (n + 1)
	}
	return n * l.back
}

// words is the bytes of n bits in whole words.
func words(n int) int { return (n + 31) / 32 * 4 }

func (l *leaf) integers() bool {
	t := l.column.PhysicalType()
	return t == parquet.Types.Int32 || t == parquet.Types.Int64
}

// encoding gives the kernels' number of a page's encoding, false where they do not know it.
func (l *leaf) encoding(e parquet.Encoding) (uint64, bool) {
	switch e {
	case parquet.Encodings.Plain:
		return ptx.Plain, true
	case parquet.Encodings.PlainDict, parquet.Encodings.RLEDict:
		return ptx.Dictionary, l.form != cpu.BitForm
	case parquet.Encodings.RLE:
		return ptx.RLE, l.form == cpu.BitForm
	case parquet.Encodings.DeltaBinaryPacked:
		return ptx.Delta, l.integers()
	case parquet.Encodings.DeltaLengthByteArray:
		return ptx.DeltaLength, l.form == cpu.TextForm
	case parquet.Encodings.DeltaByteArray:
		return ptx.DeltaText, l.form == cpu.TextForm || l.column.PhysicalType() == parquet.Types.FixedLenByteArray
	case parquet.Encodings.ByteStreamSplit:
		return ptx.Split, l.form != cpu.BitForm && l.form != cpu.TextForm
	}
	return 0, false
}
