package cpu

import (
	"math"

	"github.com/skua-data/skua/fault"
)

// deltaTexts are byte strings, each stored as the length of what it shares with the one before, and the rest.
type deltaTexts struct {
	prefixes deltas
	suffixes deltaLength
	last     []byte
}

func newDeltaTexts(body []byte) (textStream, error) {
	d := &deltaTexts{}
	return d, d.open(body)
}

func (d *deltaTexts) open(body []byte) error {
	if len(body) == 0 {
		return nil // a page of nulls
	}
	if err := d.prefixes.open(body); err != nil {
		return err
	}
	rest, err := d.prefixes.after()
	if err != nil {
		return err
	}
	return d.suffixes.open(rest)
}

// next gives the next string, good until the next call.
func (d *deltaTexts) next() ([]byte, error) {
	prefix, err := d.prefixes.next(1)
	if err != nil {
		return nil, err
	}
	if prefix[0] < 0 || prefix[0] > int64(len(d.last)) {
		return nil, fault.New(fault.Corrupt, "a text shares %d bytes with one of %d", prefix[0], len(d.last))
	}
	_, suffix, err := d.suffixes.next(1)
	if err != nil {
		return nil, err
	}
	d.last = append(d.last[:prefix[0]], suffix...)
	return d.last, nil
}

// read copies what strings share from where the one before was put.
func (d *deltaTexts) read(out *texts, n int) error {
	for n > 0 {
		prefixes, err := d.prefixes.peek(n)
		if err != nil {
			return err
		}
		lengths, bytes, err := d.suffixes.next(len(prefixes))
		if err != nil {
			return err
		}
		d.prefixes.at += len(lengths)
		if err := d.join(out, prefixes[:len(lengths)], lengths, bytes); err != nil {
			return err
		}
		n -= len(lengths)
	}
	return nil
}

func (d *deltaTexts) join(out *texts, prefixes, lengths []int64, bytes []byte) error {
	before, end := int64(len(d.last)), int64(out.size)
	ends := out.values(len(lengths))
	for i, prefix := range prefixes {
		if prefix < 0 || prefix > before {
			return fault.New(fault.Corrupt, "a text shares %d bytes with one of %d", prefix, before)
		}
		before = prefix + lengths[i]
		end += before
		ends[i] = int32(end)
	}
	if end > math.MaxInt32 {
		return errTooMuchText
	}
	to, err := out.bytes(int(end) - out.size)
	if err != nil {
		return err
	}
	last := d.last
	for i, prefix := range prefixes {
		length := int(prefix + lengths[i])
		copy(to, last[:prefix])
		copy(to[prefix:], bytes[:lengths[i]])
		last, to, bytes = to[:length], to[length:], bytes[lengths[i]:]
	}
	d.last = append(d.last[:0], last...)
	return nil
}

func (d *deltaTexts) skip(n int) error {
	for range n {
		if _, err := d.next(); err != nil {
			return err
		}
	}
	return nil
}

// deltaFixed are fixed values stored as deltaTexts are.
type deltaFixed struct {
	deltaTexts
	width int
}

func newDeltaFixed(body []byte, s stored) (fixedStream, error) {
	d := &deltaFixed{width: s.width}
	return d, d.open(body)
}

func (d *deltaFixed) read(out []byte) error {
	for len(out) > 0 {
		text, err := d.next()
		if err != nil {
			return err
		}
		if len(text) != d.width {
			return fault.New(fault.Corrupt, "a value of %d bytes where all have %d", len(text), d.width)
		}
		out = out[copy(out, text):]
	}
	return nil
}
