package cpu

import (
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/kernels/pages"
)

// convertBlock is how many values are converted at once where they cannot be read in place.
const convertBlock = 1024

// openFixed makes a stream of fixed target values of a page's body.
func (v *conversion) openFixed(id parquet.Encoding, body []byte) (fixedStream, error) {
	e, err := encodingOf(id, v.stored)
	if err != nil {
		return nil, err
	}
	if v.text != nil {
		inner, err := e.texts(body)
		return &fixedOfTexts{inner: inner, conversion: v, scratch: texts{mem: memory.NewGoAllocator()}}, err
	}
	inner, err := e.fixed(body, v.stored)
	if err != nil || v.fixed == nil {
		return inner, err
	}
	if p, ok := inner.(*plain); ok {
		return &convertedPlain{p, v}, nil
	}
	return &converted{inner: inner, conversion: v}, nil
}

// openTexts makes a stream of byte strings.
func (v *conversion) openTexts(id parquet.Encoding, body []byte) (textStream, error) {
	e, err := encodingOf(id, v.stored)
	if err != nil {
		return nil, err
	}
	if v.stored.shape() == textShape {
		return e.texts(body)
	}
	inner, err := e.fixed(body, v.stored)
	return &textsOfFixed{inner: inner, width: v.stored.width}, err
}

// convertedPlain converts plain values where they lie.
type convertedPlain struct {
	*plain
	conversion *conversion
}

func (c *convertedPlain) read(out []byte) error {
	v := c.conversion
	in, err := c.take(len(out) / v.width * v.stored.width)
	if err != nil {
		return err
	}
	if bad := v.fixed(out, in); bad >= 0 {
		return v.failure(in[bad*v.stored.width : (bad+1)*v.stored.width])
	}
	return nil
}

// converted converts what another stream gives, a block at a time.
type converted struct {
	inner      fixedStream
	conversion *conversion
	scratch    []byte
}

func (c *converted) read(out []byte) error {
	v := c.conversion
	if c.scratch == nil {
		c.scratch = make([]byte, min(convertBlock, max(1, 64<<10/v.stored.width))*v.stored.width)
	}
	for len(out) > 0 {
		n := min(len(out)/v.width, len(c.scratch)/v.stored.width)
		in := c.scratch[:n*v.stored.width]
		if err := c.inner.read(in); err != nil {
			return err
		}
		if bad := v.fixed(out[:n*v.width], in); bad >= 0 {
			return v.failure(in[bad*v.stored.width : (bad+1)*v.stored.width])
		}
		out = out[n*v.width:]
	}
	return nil
}

func (c *converted) skip(n int) error { return c.inner.skip(n) }

// fixedOfTexts converts byte strings to fixed values.
type fixedOfTexts struct {
	inner      textStream
	conversion *conversion
	scratch    texts
}

func (f *fixedOfTexts) read(out []byte) error {
	v := f.conversion
	for len(out) > 0 {
		n := min(len(out)/v.width, convertBlock)
		f.scratch.clear()
		if err := f.inner.read(&f.scratch, n); err != nil {
			return err
		}
		from := int32(0)
		for i, end := range f.scratch.ends()[1 : n+1] {
			text := f.scratch.data.Buf()[from:end]
			if !v.text(out[i*v.width:(i+1)*v.width], text) {
				return v.failure(text)
			}
			from = end
		}
		out = out[n*v.width:]
	}
	return nil
}

func (f *fixedOfTexts) skip(n int) error { return f.inner.skip(n) }

// textsOfFixed gives fixed values as byte strings.
type textsOfFixed struct {
	inner fixedStream
	width int
}

func (t *textsOfFixed) read(out *texts, n int) error {
	if n > (1<<31-1)/t.width {
		return errTooMuchText
	}
	start := out.size
	to, err := out.bytes(n * t.width)
	if err != nil {
		return err
	}
	for i, ends := 0, out.values(n); i < n; i++ {
		ends[i] = int32(start + (i+1)*t.width)
	}
	return t.inner.read(to[:n*t.width])
}

func (t *textsOfFixed) skip(n int) error { return t.inner.skip(n) }

// openDictionary makes a chunk's dictionary of its page.
func (v *conversion) openDictionary(h *pages.Header, body []byte, p *scratch) (*dictionary, error) {
	id := parquet.Encoding(h.Encoding)
	if id != parquet.Encodings.Plain && id != parquet.Encodings.PlainDict {
		return nil, fault.New(fault.Unsupported, "a dictionary encoded as %s is not supported", id)
	}
	least := int64(v.stored.width)
	if v.stored.shape() == textShape {
		least = 4
	}
	if h.Values*least > int64(len(body)) {
		return nil, fault.New(fault.Corrupt, "a dictionary of %d values in %d bytes", h.Values, len(body))
	}
	d := &dictionary{n: int(h.Values), width: v.width}
	switch v.shape {
	case textShape:
		return d, d.openTexts(body, v.stored, p)
	case fixedShape:
		return d, d.openFixed(body, v, p)
	}
	return nil, fault.New(fault.Unsupported, "a dictionary of booleans is not supported")
}
