package manifest

import (
	"encoding/binary"

	"github.com/skua-data/skua/fault"
)

// decoder reads Avro's binary form. The first error stays, and everything after it gives zero values.
type decoder struct {
	data []byte
	at   int
	err  error
}

func (d *decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = fault.New(fault.Corrupt, format, args...)
	}
	d.at = len(d.data)
}

// long reads a number; most take a byte.
func (d *decoder) long() int64 {
	if d.at < len(d.data) {
		if b := d.data[d.at]; b < 0x80 {
			d.at++
			return int64(b>>1) ^ -int64(b&1)
		}
	}
	return d.longer()
}

func (d *decoder) longer() int64 {
	v, n := binary.Varint(d.data[d.at:])
	if n <= 0 {
		d.fail("a number has no end")
		return 0
	}
	d.at += n
	return v
}

// skipLong steps over a number.
func (d *decoder) skipLong() {
	for i := d.at; i < len(d.data) && i < d.at+binary.MaxVarintLen64; i++ {
		if d.data[i] < 0x80 {
			d.at = i + 1
			return
		}
	}
	d.fail("a number has no end")
}

// take gives the next n bytes, which stay the file's.
func (d *decoder) take(n int64) []byte {
	if n < 0 || n > int64(len(d.data)-d.at) {
		d.fail("%d bytes are wanted where %d are left", n, len(d.data)-d.at)
		return nil
	}
	d.at += int(n)
	return d.data[d.at-int(n) : d.at : d.at]
}

func (d *decoder) advance(n int64) {
	if n < 0 || n > int64(len(d.data)-d.at) {
		d.fail("%d bytes are wanted where %d are left", n, len(d.data)-d.at)
		return
	}
	d.at += int(n)
}

func (d *decoder) bytes() []byte { return d.take(d.long()) }

// blockCount reads how many items of at least least bytes come next in an array or a map, and the bytes they take where the writer says so, else
// -1; 0 items: none are left.
func (d *decoder) blockCount(least int) (n, size int64) {
	n, size = d.long(), -1
	if n < 0 {
		n, size = -n, d.long()
		if size < 0 {
			d.fail("a run of items of %d bytes", size)
			return 0, 0
		}
	}
	if left := int64(len(d.data) - d.at); n < 0 || least > 0 && n > left/int64(least) {
		d.fail("%d items where %d bytes are left", n, left)
		return 0, 0
	}
	return n, size
}

// value reads which branch of a union comes next. It gives the type of the value; false: null.
func (d *decoder) value(n *node) (*node, bool) {
	if n.kind != kindUnion {
		return n, n.kind != kindNull
	}
	i := d.long()
	if i < 0 || i >= int64(len(n.branches)) {
		d.fail("branch %d of a union of %d", i, len(n.branches))
		return n, false
	}
	b := n.branches[i]
	return b, b.kind != kindNull
}

// skip steps over a value.
func (d *decoder) skip(n *node) {
	if n.fixed >= 0 {
		d.advance(n.fixed)
		return
	}
	switch n.kind {
	case kindInt, kindLong, kindEnum:
		d.skipLong()
	case kindBytes, kindString:
		d.advance(d.long())
	case kindRecord:
		for i := 0; i < len(n.fields) && d.err == nil; i++ {
			d.skip(n.fields[i].typ)
		}
	case kindArray:
		d.skipItems(n.items, false)
	case kindMap:
		d.skipItems(n.items, true)
	case kindUnion:
		if b, ok := d.value(n); ok {
			d.skip(b)
		}
	}
}

// skipItems steps over the items of an array or the entries of a map; a run whose size is told is not looked into.
func (d *decoder) skipItems(item *node, keyed bool) {
	least := item.least
	if keyed {
		least++
	}
	for d.err == nil {
		n, size := d.blockCount(least)
		switch {
		case n == 0:
			return
		case size >= 0:
			d.advance(size)
			continue
		case least == 0:
			continue // they take no bytes
		}
		for ; n > 0 && d.err == nil; n-- {
			if keyed {
				d.advance(d.long())
			}
			d.skip(item)
		}
	}
}
