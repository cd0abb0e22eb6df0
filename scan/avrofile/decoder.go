package avrofile

import (
	"encoding/binary"
	"math"

	"github.com/skua-data/skua/fault"
)

// Decoder reads Avro's binary form. The first error stays, and everything after it gives zero values. What it gives of bytes is Data's own.
type Decoder struct {
	Data []byte
	At   int // the next byte
	Err  error
}

// Fail keeps an error of kind Corrupt, unless there is one.
func (d *Decoder) Fail(format string, args ...any) {
	if d.Err == nil {
		d.Err = fault.New(fault.Corrupt, format, args...)
	}
	d.At = len(d.Data)
}

// Long reads a number; most take a byte.
func (d *Decoder) Long() int64 {
	if d.At < len(d.Data) {
		if b := d.Data[d.At]; b < 0x80 {
			d.At++
			return int64(b>>1) ^ -int64(b&1)
		}
	}
	return d.longer()
}

func (d *Decoder) longer() int64 {
	v, n := binary.Varint(d.Data[d.At:])
	if n <= 0 {
		d.Fail("a number has no end")
		return 0
	}
	d.At += n
	return v
}

// Int reads a number of 32 bits.
func (d *Decoder) Int() int32 {
	v := d.Long()
	if v != int64(int32(v)) {
		d.Fail("%d is no int", v)
		return 0
	}
	return int32(v)
}

// SkipLong steps over a number.
func (d *Decoder) SkipLong() {
	for i := d.At; i < len(d.Data) && i < d.At+binary.MaxVarintLen64; i++ {
		if d.Data[i] < 0x80 {
			d.At = i + 1
			return
		}
	}
	d.Fail("a number has no end")
}

// Boolean reads a truth value.
func (d *Decoder) Boolean() bool {
	b := d.Take(1)
	if d.Err == nil && b[0] > 1 {
		d.Fail("%d is no boolean", b[0])
	}
	return d.Err == nil && b[0] == 1
}

// Float reads a number of four bytes.
func (d *Decoder) Float() float32 {
	b := d.Take(4)
	if d.Err != nil {
		return 0
	}
	return math.Float32frombits(binary.LittleEndian.Uint32(b))
}

// Double reads a number of eight bytes.
func (d *Decoder) Double() float64 {
	b := d.Take(8)
	if d.Err != nil {
		return 0
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(b))
}

// Take gives the next n bytes.
func (d *Decoder) Take(n int64) []byte {
	if n < 0 || n > int64(len(d.Data)-d.At) {
		d.Fail("%d bytes are wanted where %d are left", n, len(d.Data)-d.At)
		return nil
	}
	d.At += int(n)
	return d.Data[d.At-int(n) : d.At : d.At]
}

// Advance steps over n bytes.
func (d *Decoder) Advance(n int64) {
	if n < 0 || n > int64(len(d.Data)-d.At) {
		d.Fail("%d bytes are wanted where %d are left", n, len(d.Data)-d.At)
		return
	}
	d.At += int(n)
}

// Bytes reads bytes, or the UTF-8 of a string, which is not checked.
func (d *Decoder) Bytes() []byte { return d.Take(d.Long()) }

// freeItems bounds a run of items that take no bytes, of which a count says nothing that the file's size could belie.
const freeItems = 1 << 20

// Run reads how many items of at least least bytes come next in an array or a map, and the bytes that they take where the writer says so, else
// -1; 0 items: none are left.
func (d *Decoder) Run(least int) (n, size int64) {
	n, size = d.Long(), -1
	if n < 0 {
		n, size = -n, d.Long()
		if size < 0 {
			d.Fail("a run of items of %d bytes", size)
			return 0, 0
		}
	}
	if left := int64(len(d.Data) - d.At); n < 0 || least > 0 && n > left/int64(least) || least == 0 && n > freeItems {
		d.Fail("%d items where %d bytes are left", n, left)
		return 0, 0
	}
	return n, size
}

// Branch reads which branch of a union comes next and gives its type and its number; nil: there is none. What is no union is its own branch.
func (d *Decoder) Branch(t *Type) (*Type, int) {
	if t.Kind != Union {
		return t, 0
	}
	i := d.Long()
	if d.Err != nil || i < 0 || i >= int64(len(t.Branches)) {
		d.Fail("branch %d of a union of %d", i, len(t.Branches))
		return nil, 0
	}
	return t.Branches[i], int(i)
}

// Value gives the type of the value that comes next, of whichever branch of a union; false: it is null, or there is none.
func (d *Decoder) Value(t *Type) (*Type, bool) {
	if t.Kind == Union {
		if t, _ = d.Branch(t); t == nil {
			return nil, false
		}
	}
	return t, t.Kind != Null
}

// Skip steps over a value.
func (d *Decoder) Skip(t *Type) {
	if t.Size >= 0 {
		d.Advance(t.Size)
		return
	}
	switch t.Kind {
	case Int, Long, Enum:
		d.SkipLong()
	case Bytes, String:
		d.Advance(d.Long())
	case Record:
		for i := 0; i < len(t.Fields) && d.Err == nil; i++ {
			d.Skip(t.Fields[i].Type)
		}
	case Array:
		d.skipItems(t.Items, false)
	case Map:
		d.skipItems(t.Items, true)
	case Union:
		if b, ok := d.Value(t); ok {
			d.Skip(b)
		}
	}
}

// skipItems steps over the items of an array or the entries of a map; a run whose size is told is not looked into.
func (d *Decoder) skipItems(item *Type, keyed bool) {
	least := item.Least
	if keyed {
		least++
	}
	for d.Err == nil {
		n, size := d.Run(least)
		switch {
		case n == 0:
			return
		case size >= 0:
			d.Advance(size)
			continue
		case least == 0:
			continue // they take no bytes
		}
		for ; n > 0 && d.Err == nil; n-- {
			if keyed {
				d.Advance(d.Long())
			}
			d.Skip(item)
		}
	}
}
