package cpu

import "github.com/skua-data/skua/fault"

// deltaLength are byte strings whose lengths come first, delta encoded, then all their bytes.
type deltaLength struct {
	lengths deltas
	bytes   []byte
}

func newDeltaLength(body []byte) (textStream, error) {
	d := &deltaLength{}
	return d, d.open(body)
}

func (d *deltaLength) open(body []byte) error {
	if len(body) == 0 {
		return nil // a page of nulls
	}
	if err := d.lengths.open(body); err != nil {
		return err
	}
	var err error
	d.bytes, err = d.lengths.after()
	return err
}

// next gives up to n lengths and the bytes of them all.
func (d *deltaLength) next(n int) (lengths []int64, bytes []byte, err error) {
	if lengths, err = d.lengths.next(n); err != nil {
		return nil, nil, err
	}
	sum := int64(0)
	for _, l := range lengths {
		if l < 0 || l > int64(len(d.bytes))-sum {
			return nil, nil, fault.New(fault.Corrupt, "a text of %d bytes where %d are left", l, int64(len(d.bytes))-sum)
		}
		sum += l
	}
	bytes, d.bytes = d.bytes[:sum], d.bytes[sum:]
	return lengths, bytes, nil
}

func (d *deltaLength) read(out *texts, n int) error {
	for n > 0 {
		lengths, bytes, err := d.next(n)
		if err != nil {
			return err
		}
		end := out.size
		for i, ends := 0, out.values(len(lengths)); i < len(ends); i++ {
			end += int(lengths[i])
			ends[i] = int32(end)
		}
		to, err := out.bytes(len(bytes))
		if err != nil {
			return err
		}
		copy(to, bytes)
		n -= len(lengths)
	}
	return nil
}

func (d *deltaLength) skip(n int) error {
	for n > 0 {
		lengths, _, err := d.next(n)
		if err != nil {
			return err
		}
		n -= len(lengths)
	}
	return nil
}
