package cpu

import (
	"encoding/binary"

	"github.com/skua-data/skua/fault"
)

func shortPage(need, have int) error {
	return fault.New(fault.Corrupt, "%d bytes of values where %d are left", need, have)
}

// plain are fixed values one after the other.
type plain struct {
	body  []byte
	width int
}

func newPlain(body []byte, s stored) (fixedStream, error) { return &plain{body, s.width}, nil }

func (p *plain) read(out []byte) error {
	b, err := p.take(len(out))
	copy(out, b)
	return err
}

// take gives the next bytes where they are.
func (p *plain) take(bytes int) ([]byte, error) {
	if bytes > len(p.body) {
		return nil, shortPage(bytes, len(p.body))
	}
	b := p.body[:bytes]
	p.body = p.body[bytes:]
	return b, nil
}

func (p *plain) skip(n int) error {
	_, err := p.take(n * p.width)
	return err
}

// plainBits are booleans, one bit each.
type plainBits struct {
	body []byte
	bit  int
}

func newPlainBits(body []byte) (bitStream, error) { return &plainBits{body: body}, nil }

func (p *plainBits) read(out []byte, at, n int) error {
	from := p.bit
	if err := p.skip(n); err != nil {
		return err
	}
	copyBits(out, at, p.body, from, n)
	return nil
}

func (p *plainBits) skip(n int) error {
	if left := len(p.body)*8 - p.bit; n > left {
		return shortPage((n+7)/8, left/8)
	}
	p.bit += n
	return nil
}

// plainTexts are byte strings, each after its length of four bytes.
type plainTexts struct{ body []byte }

func newPlainTexts(body []byte) (textStream, error) { return &plainTexts{body}, nil }

func (p *plainTexts) skip(n int) error {
	b := p.body
	for range n {
		if len(b) < 4 {
			return shortPage(4, len(b))
		}
		length := int64(binary.LittleEndian.Uint32(b)) + 4
		if length > int64(len(b)) {
			return shortPage(int(length), len(b))
		}
		b = b[length:]
	}
	p.body = b
	return nil
}

// read copies each text as it comes, a block at a time where both sides have room for one.
func (p *plainTexts) read(out *texts, n int) error {
	ends := out.values(n)
	b, from, at := p.body, 0, out.size
	to := out.room()
	readable := len(b) - 2*block
	for i := range ends {
		if from+4 > len(b) {
			return shortPage(4, len(b)-from)
		}
		length := int(binary.LittleEndian.Uint32(b[from:]))
		if from += 4; length > len(b)-from {
			return shortPage(length, len(b)-from)
		}
		if at+length+slack > len(to) {
			if err := out.extend(at, at+length); err != nil {
				return err
			}
			to = out.room()
		}
		switch {
		case length <= block && from <= readable:
			copyBlock(to[at:], b[from:])
		case length <= 2*block && from <= readable:
			copyBlock(to[at:], b[from:])
			copyBlock(to[at+block:], b[from+block:])
		default:
			copy(to[at:at+length], b[from:from+length])
		}
		from, at = from+length, at+length
		ends[i] = int32(at)
	}
	out.filled(at)
	p.body = b[from:]
	return nil
}

const block = 32 // bytes copied at once for short texts; at most slack

// copyBlock copies a block whatever the text's length is: what comes after it is overwritten by the next.
func copyBlock(to, from []byte) { *(*[block]byte)(to) = *(*[block]byte)(from) }
