package kernelstest

import "github.com/apache/arrow-go/v18/arrow/memory"

// Soiled is a checked allocator whose memory is never as somebody may hope: what need not be cleared holds rubbish, and so does what was
// freed. A test that passes on it reads no byte before it was written and none after it was given back.
type Soiled struct{ *memory.CheckedAllocator }

var _ memory.Allocator = Soiled{}

// NewSoiled makes one. Call AssertSize at the end.
func NewSoiled() Soiled { return Soiled{memory.NewCheckedAllocator(memory.DefaultAllocator)} }

// Uncleared gives rubbish.
func (s Soiled) Uncleared(size int) []byte {
	b := s.Allocate(size)
	soil(b)
	return b
}

// Free leaves rubbish.
func (s Soiled) Free(b []byte) {
	soil(b)
	s.CheckedAllocator.Free(b)
}

func soil(b []byte) {
	for i := range b {
		b[i] = 0xa5
	}
}
