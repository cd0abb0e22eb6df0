package parquet

import (
	"encoding/binary"
	"errors"
	"io"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/skua-data/skua/fault"
)

// The limits of a page. Legal files stay far below; without them a page header of a few bytes could ask for all memory, which ends the
// process.
const (
	pageValues = 64 << 20 // values of a page
	deltaBlock = 1 << 20  // values of a block of a delta encoding; the common writers have 128
)

// guardedPages checks what page headers claim against what the pages hold, before decoders believe it.
type guardedPages struct {
	file.PageReader
	column *schema.Column
	left   int64 // values that the chunk still owes
	err    error
}

// Next fetches the next page.
func (g *guardedPages) Next() bool {
	if g.err != nil || !g.PageReader.Next() {
		return false
	}
	if g.err = g.check(g.Page()); g.err != nil {
		return false
	}
	return true
}

// Err tells why Next gave nothing.
func (g *guardedPages) Err() error {
	if g.err != nil {
		return g.err
	}
	return g.PageReader.Err()
}

// GetDictionaryPage gives the chunk's dictionary.
func (g *guardedPages) GetDictionaryPage() (*file.DictionaryPage, error) {
	p, err := g.PageReader.GetDictionaryPage()
	if err == nil && p != nil {
		err = g.check(p)
	}
	return p, err
}

func (g *guardedPages) check(p file.Page) error {
	n := int64(p.NumValues())
	switch p := p.(type) {
	case *file.DictionaryPage:
		if n*g.leastBytes() > int64(len(p.Data())) {
			return fault.New(fault.Corrupt, "a dictionary of %d values in %d bytes", n, len(p.Data()))
		}
	case file.DataPage:
		if n > g.left {
			return fault.New(fault.Corrupt, "pages hold more values than the column")
		}
		if g.left -= n; n > pageValues {
			return fault.New(fault.Unsupported, "Parquet pages of %d values are not supported", n)
		}
		return g.checkDelta(p)
	}
	return nil
}

// leastBytes is how many bytes a plain value takes at least; 0 for bits.
func (g *guardedPages) leastBytes() int64 {
	switch g.column.PhysicalType() {
	case parquet.Types.Boolean:
		return 0
	case parquet.Types.ByteArray:
		return 4
	case parquet.Types.FixedLenByteArray:
		return int64(g.column.TypeLength())
	}
	return int64(g.column.PhysicalType().ByteSize())
}

// checkDelta looks into the headers of delta encodings, which say how large the decoder's buffers are.
func (g *guardedPages) checkDelta(p file.DataPage) error {
	streams := 0
	switch parquet.Encoding(p.Encoding()) {
	case parquet.Encodings.DeltaBinaryPacked, parquet.Encodings.DeltaLengthByteArray:
		streams = 1
	case parquet.Encodings.DeltaByteArray:
		streams = 2
	}
	if streams == 0 {
		return nil
	}
	data, ok := g.valuesOf(p)
	for ; ok && streams > 0 && len(data) > 0; streams-- {
		data, ok = skipDelta(data)
	}
	if !ok {
		return fault.New(fault.Corrupt, "malformed delta encoding")
	}
	return nil
}

// valuesOf gives a page's bytes after its levels.
func (g *guardedPages) valuesOf(p file.DataPage) ([]byte, bool) {
	data := p.Data()
	if v2, ok := p.(*file.DataPageV2); ok {
		n := int64(v2.DefinitionLevelByteLen()) + int64(v2.RepetitionLevelByteLen())
		if n > int64(len(data)) {
			return nil, false
		}
		return data[n:], true
	}
	for _, most := range []int16{g.column.MaxRepetitionLevel(), g.column.MaxDefinitionLevel()} {
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
	if block == 0 || block > deltaBlock || minis == 0 || minis > block || block%minis != 0 || total > pageValues {
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

// source is the file as the page reader wants it. It tells the store's errors from a file that ends early.
type source struct{ io.ReaderAt }

// ReadAt reads all of b or says why not.
func (s source) ReadAt(b []byte, at int64) (int, error) {
	n, err := s.ReaderAt.ReadAt(b, at)
	switch {
	case n == len(b):
		return n, nil
	case err == nil, errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return n, err
	}
	return n, fault.As(fault.Unavailable, err)
}

// Seek is what an interface asks for; footers are read elsewhere, so nobody seeks.
func (source) Seek(int64, int) (int64, error) {
	return 0, fault.New(fault.Internal, "seek in a file of ranges")
}
