package cpu

import (
	"encoding/binary"
	"math"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"

	"github.com/skua-data/skua/fault"
)

// dictionary is a chunk's dictionary, its values converted once into the form of the target.
type dictionary struct {
	n      int
	width  int     // bytes of a fixed value
	fixed  []byte  // fixed values
	failed []error // by value: why it has no such form; nil: all have

	bytes   []byte // of texts, with slack behind
	places  []byte // what spans lies in
	spans   []span
	longest int
}

type span struct{ from, length uint32 }

// indexBlock is how many indexes are unpacked at once.
const indexBlock = 1024

// indexes are a page's dictionary indexes. Whoever looks them up tests that they are in the dictionary: a page's padding need not be.
type indexes struct {
	hybrid hybrid
	most   int64    // that a page may have: the buffer of a small chunk is small
	buffer []uint32 // made for the first page
	at, n  int      // not consumed: buffer[at:n]
}

// open starts a page, which begins with the width of an index.
func (x *indexes) open(body []byte) error {
	x.at, x.n, x.hybrid = 0, 0, hybrid{}
	if len(body) == 0 {
		return nil // a page of nulls
	}
	if body[0] > 32 {
		return fault.New(fault.Corrupt, "dictionary indexes of %d bits", body[0])
	}
	x.hybrid = newHybrid(body[1:], int(body[0]))
	if x.buffer == nil {
		x.buffer = make([]uint32, max(8, min(indexBlock, (x.most+7)&^7)))
	}
	return nil
}

// next gives up to n indexes that come next, at least one, and consumes them. They are good until the next call.
func (x *indexes) next(n int) ([]uint32, error) {
	if x.at == x.n {
		got, err := x.hybrid.indexes(x.buffer[:min(len(x.buffer), x.hybrid.wholeGroups(n))])
		if err != nil {
			return nil, err
		}
		x.at, x.n = 0, got
	}
	out := x.buffer[x.at:min(x.n, x.at+n)]
	x.at += len(out)
	return out, nil
}

// repeated says how many of the next n indexes, 0 or more, are known to be equal without looking at each; it consumes them.
func (x *indexes) repeated(n int) (at uint32, length int, err error) {
	if x.at < x.n {
		return 0, 0, nil
	}
	length, at, err = x.hybrid.same(n)
	x.hybrid.drop(length)
	return at, length, err
}

func (x *indexes) skip(n int) error {
	buffered := min(n, x.n-x.at)
	x.at += buffered
	return x.hybrid.skip(n - buffered)
}

func indexError(at uint32, limit int) error {
	return fault.New(fault.Corrupt, "index %d in a dictionary of %d", at, limit)
}

// dictionaryValues are fixed values of a dictionary.
type dictionaryValues struct {
	indexes
	dictionary *dictionary
}

func (d *dictionaryValues) read(out []byte) error {
	if d.dictionary.failed != nil {
		return d.readTested(out)
	}
	switch d.dictionary.width {
	case 4:
		return gather(cast[uint32](out), cast[uint32](d.dictionary.fixed), &d.indexes)
	case 8:
		return gather(cast[uint64](out), cast[uint64](d.dictionary.fixed), &d.indexes)
	case 16:
		return gather(cast[[2]uint64](out), cast[[2]uint64](d.dictionary.fixed), &d.indexes)
	}
	return d.readTested(out)
}

// readTested is for odd widths, and for dictionaries with values that must not be met.
func (d *dictionaryValues) readTested(out []byte) error {
	w := d.dictionary.width
	for len(out) > 0 {
		next, err := d.next(len(out) / w)
		if err != nil {
			return err
		}
		for _, i := range next {
			if int64(i) >= int64(d.dictionary.n) {
				return indexError(i, d.dictionary.n)
			}
			if d.dictionary.failed != nil && d.dictionary.failed[i] != nil {
				return d.dictionary.failed[i]
			}
			out = out[copy(out, d.dictionary.fixed[int(i)*w:int(i+1)*w]):]
		}
	}
	return nil
}

// gather fills out with a dictionary's values: a repeated index becomes a fill.
func gather[T any](out, dictionary []T, x *indexes) error {
	for len(out) > 0 {
		at, n, err := x.repeated(len(out))
		if err != nil {
			return err
		}
		if n > 0 {
			if uint64(at) >= uint64(len(dictionary)) {
				return indexError(at, len(dictionary))
			}
			fill(out[:n], dictionary[at])
			out = out[n:]
			continue
		}
		next, err := x.next(len(out))
		if err != nil {
			return err
		}
		to := out[:len(next)]
		for i, at := range next {
			if uint64(at) >= uint64(len(dictionary)) {
				return indexError(at, len(dictionary))
			}
			to[i] = dictionary[at]
		}
		out = out[len(next):]
	}
	return nil
}

// fill repeats a value. What is copied doubles each time.
func fill[T any](out []T, v T) {
	few := out[:min(len(out), 16)]
	for i := range few {
		few[i] = v
	}
	for n := len(few); n < len(out); n *= 2 {
		copy(out[n:], out[:n])
	}
}

// cast looks at bytes, which are aligned for it, as values.
func cast[T any](b []byte) []T {
	if len(b) == 0 {
		return nil
	}
	var zero T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(zero)))
}

// dictionaryTexts are byte strings of a dictionary.
type dictionaryTexts struct {
	indexes
	dictionary *dictionary
}

func (d *dictionaryTexts) read(out *texts, n int) error {
	short := d.dictionary.longest <= block
	for n > 0 {
		at, length, err := d.repeated(n)
		if err != nil {
			return err
		}
		if length > 0 {
			if err := d.repeat(out, at, length); err != nil {
				return err
			}
			n -= length
			continue
		}
		next, err := d.next(n)
		switch {
		case err != nil:
		case short:
			err = d.short(out, next)
		default:
			err = d.long(out, next)
		}
		if err != nil {
			return err
		}
		n -= len(next)
	}
	return nil
}

// repeat appends the same text n times.
func (d *dictionaryTexts) repeat(out *texts, at uint32, n int) error {
	if uint64(at) >= uint64(len(d.dictionary.spans)) {
		return indexError(at, len(d.dictionary.spans))
	}
	s := d.dictionary.spans[at]
	text := d.dictionary.bytes[s.from : s.from+s.length]
	if n > (math.MaxInt32-out.size)/max(len(text), 1) {
		return errTooMuchText
	}
	ends, end := out.values(n), out.size
	to, err := out.bytes(n * len(text))
	if err != nil {
		return err
	}
	to = to[:n*len(text)]
	for done := copy(to, text); done > 0 && done < len(to); done *= 2 {
		copy(to[done:], to[:done])
	}
	for i := range ends {
		end += len(text)
		ends[i] = int32(end)
	}
	return nil
}

// short copies texts of up to a block each, without looking how long they are. Every span has a block of bytes behind its begin, and to has
// room for a block behind the longest that the texts can be, so that no copy needs a test.
func (d *dictionaryTexts) short(out *texts, next []uint32) error {
	ends, start := out.values(len(next)), out.size
	to, err := out.bytes(len(next) * d.dictionary.longest)
	if err != nil {
		return err
	}
	spans, pos := d.dictionary.spans, 0
	from, into := unsafe.Pointer(unsafe.SliceData(d.dictionary.bytes)), unsafe.Pointer(unsafe.SliceData(to))
	if d.dictionary.longest <= block/2 {
		for i, at := range next {
			if uint64(at) >= uint64(len(spans)) {
				return indexError(at, len(spans))
			}
			s := spans[at]
			*(*[block / 2]byte)(unsafe.Add(into, pos)) = *(*[block / 2]byte)(unsafe.Add(from, s.from))
			pos += int(s.length)
			ends[i] = int32(start + pos)
		}
	} else {
		for i, at := range next {
			if uint64(at) >= uint64(len(spans)) {
				return indexError(at, len(spans))
			}
			s := spans[at]
			*(*[block]byte)(unsafe.Add(into, pos)) = *(*[block]byte)(unsafe.Add(from, s.from))
			pos += int(s.length)
			ends[i] = int32(start + pos)
		}
	}
	out.size = start + pos
	return nil
}

// long adds up the lengths first.
func (d *dictionaryTexts) long(out *texts, next []uint32) error {
	ends, start, sum, spans := out.values(len(next)), out.size, 0, d.dictionary.spans
	for i, at := range next {
		if uint64(at) >= uint64(len(spans)) {
			return indexError(at, len(spans))
		}
		sum += int(spans[at].length)
		ends[i] = int32(start + sum)
	}
	if sum > math.MaxInt32-start {
		return errTooMuchText
	}
	to, err := out.bytes(sum)
	if err != nil {
		return err
	}
	bytes, pos := d.dictionary.bytes, 0
	for _, at := range next {
		s := spans[at]
		if s.length <= block {
			copyBlock(to[pos:], bytes[s.from:])
		} else {
			copy(to[pos:], bytes[s.from:s.from+s.length])
		}
		pos += int(s.length)
	}
	return nil
}

// openTexts keeps the body and where its texts lie.
func (d *dictionary) openTexts(body []byte, s stored, p *scratch) error {
	d.bytes, d.places = p.Get(len(body)), p.Get(d.n*int(unsafe.Sizeof(span{})))
	d.spans = cast[span](d.places)
	copy(d.bytes, body)
	d.bytes = d.bytes[:len(body)+slack]
	if s.shape() == fixedShape {
		for i := range d.spans {
			d.spans[i] = span{uint32(i * s.width), uint32(s.width)}
		}
		d.longest = s.width
		return nil
	}
	at := 0
	for i := range d.spans {
		if at+4 > len(body) {
			return shortPage(4, len(body)-at)
		}
		length := int(binary.LittleEndian.Uint32(body[at:]))
		if at += 4; length > len(body)-at {
			return shortPage(length, len(body)-at)
		}
		d.spans[i] = span{uint32(at), uint32(length)}
		d.longest = max(d.longest, length)
		at += length
	}
	return nil
}

// openFixed converts all values. Where one has no such form, that is an error only for the rows that have it.
func (d *dictionary) openFixed(body []byte, v *conversion, p *scratch) error {
	stream, err := v.openFixed(parquet.Encodings.Plain, body)
	if err != nil {
		return err
	}
	d.fixed = p.Get(d.n * d.width)
	if err := stream.read(d.fixed); err == nil {
		return nil
	}
	if stream, err = v.openFixed(parquet.Encodings.Plain, body); err != nil {
		return err
	}
	d.failed = make([]error, d.n)
	for i := range d.failed {
		d.failed[i] = stream.read(d.fixed[i*d.width : (i+1)*d.width])
	}
	return nil
}

// array views the entries in the target type. It is good until the dictionary is closed.
func (d *dictionary) array(v *conversion) arrow.Array {
	buffers := []*memory.Buffer{nil, memory.NewBufferBytes(d.fixed)}
	if v.shape == textShape {
		size := 0
		for _, s := range d.spans {
			size += int(s.length)
		}
		ends, bytes := make([]int32, d.n+1), make([]byte, 0, size)
		for i, s := range d.spans {
			bytes = append(bytes, d.bytes[s.from:s.from+s.length]...)
			ends[i+1] = int32(len(bytes))
		}
		buffers = []*memory.Buffer{nil, memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(ends)), memory.NewBufferBytes(bytes)}
	}
	data := array.NewData(v.target, d.n, buffers, nil, 0, 0)
	defer data.Release()
	return array.MakeFromData(data)
}

func (d *dictionary) close(p *scratch) {
	if d != nil {
		p.Put(d.fixed)
		p.Put(d.bytes)
		p.Put(d.places)
		d.fixed, d.bytes, d.places, d.spans = nil, nil, nil, nil
	}
}
