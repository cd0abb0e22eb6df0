package resource

import (
	"bytes"
	"sync"
	"testing"
	"unsafe"
)

func TestRecyclerGivesFreedBuffersOutAgain(t *testing.T) {
	r := NewRecycler()
	for _, size := range []int{1, 4095, 4096, 5000, 100_000, 1 << 20, 32 << 20} {
		b := r.Allocate(size)
		if len(b) != size || uintptr(unsafe.Pointer(unsafe.SliceData(b)))%64 != 0 {
			t.Fatalf("%d bytes: %d, or not aligned", size, len(b))
		}
		for i := range b {
			b[i] = 0xaa
		}
		r.Free(b)
		again := r.Allocate(size)
		if !bytes.Equal(again, make([]byte, size)) {
			t.Errorf("%d bytes are not 0", size)
		}
		if same := unsafe.SliceData(b) == unsafe.SliceData(again); same != (size >= recycledLeast) {
			t.Errorf("%d bytes: the same memory: %t", size, same)
		}
		r.Free(again)
	}
	if got := r.Uncleared(5000); len(got) != 5000 {
		t.Errorf("%d bytes of 5000", len(got))
	}
}

func TestRecyclerKeepsWhatIsGrownAndClearsWhatComesNew(t *testing.T) {
	r := NewRecycler()
	dirty := r.Allocate(1 << 20)
	for i := range dirty {
		dirty[i] = 0xaa
	}
	r.Free(dirty)
	b := r.Allocate(10)
	copy(b, "0123456789")
	for _, size := range []int{100, 5000, 6000, 1 << 20, 40 << 20, 700} {
		b = r.Reallocate(size, b)
		if len(b) != size || string(b[:10]) != "0123456789" || !bytes.Equal(b[10:], make([]byte, size-10)) {
			t.Fatalf("grown to %d: %d bytes, %q", size, len(b), b[:10])
		}
	}
}

func TestRecyclerKeepsNoMoreThanItsBound(t *testing.T) {
	r := NewRecycler()
	var all [][]byte
	for range 100 {
		all = append(all, r.Allocate(1<<20))
	}
	for _, b := range all {
		r.Free(b)
	}
	r.Free(r.Allocate(recycledMost + 1))
	r.Free(make([]byte, 10, 5001)) // not of a class
	if idle := r.spare.Idle(); idle > recycledIdle || idle == 0 {
		t.Errorf("%d bytes are kept", idle)
	}
}

func TestNoTwoHoldTheSameBuffer(t *testing.T) {
	r := NewRecycler()
	var workers sync.WaitGroup
	for worker := range 4 {
		workers.Go(func() {
			for i := range 2000 {
				b := r.Uncleared(4096 + i%7*1000)
				for j := range b {
					b[j] = byte(worker)
				}
				if !bytes.Equal(b, bytes.Repeat([]byte{byte(worker)}, len(b))) {
					t.Error("another wrote here")
					return
				}
				r.Free(b)
			}
		})
	}
	workers.Wait()
}
