package cpu

import (
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/fault"
)

const extrapolatedMost = 4 << 20 // bytes set aside on the first strings' word

var errTooMuchText = fault.New(fault.Exhausted, "a batch with more than 2 GiB in one column")

// texts are byte strings as Arrow has them, in the making: offsets and bytes.
type texts struct {
	mem     memory.Allocator
	over    func() error // tells that the statement has used up its memory
	offsets *memory.Buffer
	data    *memory.Buffer
	n       int // strings
	size    int // bytes
	most    int // bytes of room that were asked for
	hint    int // bytes to expect
}

// reserve makes room for n strings in all.
func (t *texts) reserve(n int) {
	if t.offsets == nil {
		t.offsets = memory.NewResizableBuffer(t.mem)
		t.offsets.Resize(4 * (n + 1))
		t.ends()[0] = 0
		return
	}
	if need := 4 * (n + 1); need > t.offsets.Cap() {
		t.offsets.Reserve(max(need, 2*t.offsets.Cap()))
	}
	t.offsets.ResizeNoShrink(max(4*(n+1), t.offsets.Len()))
}

func (t *texts) ends() []int32 { return arrow.Int32Traits.CastFromBytes(t.offsets.Bytes()) }

// values appends n strings, whose ends the caller fills in.
func (t *texts) values(n int) []int32 {
	t.reserve(t.n + n)
	t.n += n
	return t.ends()[t.n-n+1 : t.n+1]
}

// bytes appends n bytes, behind which a block may be written.
func (t *texts) bytes(n int) ([]byte, error) {
	if n > math.MaxInt32-t.size {
		return nil, errTooMuchText
	}
	need := t.size + n + slack
	if t.data == nil || need > t.data.Cap() {
		if err := t.grow(need); err != nil {
			return nil, err
		}
	}
	t.most = max(t.most, need)
	out := t.data.Buf()[t.size : t.size+n+slack]
	t.size += n
	return out, nil
}

// room gives all bytes there are, those of the strings first; filled says how many are the strings' by now.
func (t *texts) room() []byte {
	if t.data == nil {
		return nil
	}
	return t.data.Buf()
}

func (t *texts) filled(size int) { t.size, t.most = size, max(t.most, size+slack) }

// extend makes room for need bytes and a block behind them, size of which hold strings by now.
func (t *texts) extend(size, need int) error {
	if need > math.MaxInt32 {
		return errTooMuchText
	}
	t.filled(size)
	if t.data == nil && t.hint == 0 { // all strings may be as long as the first one
		need = max(need, min(need*(t.offsets.Len()/4), extrapolatedMost))
	}
	return t.grow(need + slack)
}

func (t *texts) grow(need int) error {
	if t.data == nil {
		t.data = memory.NewResizableBuffer(t.mem)
		need = max(need, t.hint, t.extrapolated(need))
	} else {
		need = max(need, t.data.Cap()+t.data.Cap()/2)
		t.data.ResizeNoShrink(t.size) // what is to be kept
	}
	t.data.Reserve(need)
	if t.over == nil {
		return nil
	}
	return t.over()
}

// extrapolated gives the bytes that all strings reserved may take if they are as long as the first ones.
func (t *texts) extrapolated(need int) int {
	if t.hint > 0 || t.n == 0 {
		return need
	}
	return min(need/t.n*(t.offsets.Len()/4), extrapolatedMost)
}

// spread makes the last present strings lie where valid has a bit, among the last slots; others become empty.
func (t *texts) spread(present, slots int, valid []byte, at int) {
	first := t.n - present
	t.values(slots - present)
	ends := t.ends()[first : t.n+1] // ends[0] is where they begin
	j := present
	for i := slots; i > j; i-- {
		bit := at + i - 1
		ends[i] = ends[j]
		j -= int(valid[bit>>3] >> (bit & 7) & 1)
	}
}

// take gives the buffers to an array and starts afresh.
func (t *texts) take() []*memory.Buffer {
	if t.offsets == nil {
		t.reserve(0)
	}
	if t.data == nil {
		t.data = memory.NewResizableBuffer(t.mem)
	}
	t.offsets.ResizeNoShrink(4 * (t.n + 1))
	t.data.ResizeNoShrink(t.size)
	t.hint = t.most + t.most/16
	out := []*memory.Buffer{t.offsets, t.data}
	t.offsets, t.data, t.n, t.size, t.most = nil, nil, 0, 0, 0
	return out
}

func (t *texts) drop() {
	for _, b := range t.take() {
		b.Release()
	}
}

// clear forgets the strings and keeps the memory.
func (t *texts) clear() {
	t.n, t.size = 0, 0
	if t.data == nil {
		t.data = memory.NewResizableBuffer(t.mem)
	}
}
