package cpu

import (
	"github.com/apache/arrow-go/v18/parquet"

	"github.com/skua-data/skua/fault"
)

// A stream gives the values of one page, one after the other and without nulls. There is one kind for each shape of values.
type (
	// fixedStream gives values of one width.
	fixedStream interface {
		read(out []byte) error // fills out, which holds whole values
		skip(n int) error
	}
	// textStream gives byte strings.
	textStream interface {
		read(out *texts, n int) error // appends n
		skip(n int) error
	}
	// bitStream gives booleans.
	bitStream interface {
		read(out []byte, at, n int) error // writes n bits from bit at on
		skip(n int) error
	}
)

// shape is a stream's kind.
type shape uint8

const (
	fixedShape shape = iota
	textShape
	bitShape
)

// stored is how a leaf's values lie in the file.
type stored struct {
	physical parquet.Type
	width    int // bytes of a fixed value
}

func (s stored) shape() shape {
	switch s.physical {
	case parquet.Types.Boolean:
		return bitShape
	case parquet.Types.ByteArray:
		return textShape
	}
	return fixedShape
}

// encoding is a row of the table of encodings: what makes a stream of a page's values, for each shape that it can have; nil: none.
type encoding struct {
	id    parquet.Encoding
	fixed func(body []byte, s stored) (fixedStream, error)
	texts func(body []byte) (textStream, error)
	bits  func(body []byte) (bitStream, error)
	only  []parquet.Type // nil: every type of the shape
}

// encodings are all but those that need a dictionary.
var encodings = []encoding{
	{id: parquet.Encodings.Plain, fixed: newPlain, texts: newPlainTexts, bits: newPlainBits},
	{id: parquet.Encodings.RLE, bits: newBooleans},
	{id: parquet.Encodings.DeltaBinaryPacked, fixed: newDelta, only: []parquet.Type{parquet.Types.Int32, parquet.Types.Int64}},
	{id: parquet.Encodings.DeltaLengthByteArray, texts: newDeltaLength},
	{id: parquet.Encodings.DeltaByteArray, texts: newDeltaTexts, fixed: newDeltaFixed, only: []parquet.Type{parquet.Types.ByteArray, parquet.Types.FixedLenByteArray}},
	{id: parquet.Encodings.ByteStreamSplit, fixed: newSplit, only: []parquet.Type{parquet.Types.Int32, parquet.Types.Int64,
		parquet.Types.Float, parquet.Types.Double, parquet.Types.FixedLenByteArray}},
}

// encodingOf finds the encoding of a page for values as they are stored.
func encodingOf(id parquet.Encoding, s stored) (*encoding, error) {
	for i := range encodings {
		e := &encodings[i]
		if e.id != id || !e.takes(s) {
			continue
		}
		return e, nil
	}
	return nil, fault.New(fault.Unsupported, "%s values encoded as %s are not supported", s.physical, id)
}

func (e *encoding) takes(s stored) bool {
	known := e.only == nil
	for _, t := range e.only {
		known = known || t == s.physical
	}
	switch s.shape() {
	case bitShape:
		return known && e.bits != nil
	case textShape:
		return known && e.texts != nil
	}
	return known && e.fixed != nil
}

// isDictionary says whether a page's values are indexes into the chunk's dictionary.
func isDictionary(id parquet.Encoding) bool {
	return id == parquet.Encodings.PlainDict || id == parquet.Encodings.RLEDict
}
