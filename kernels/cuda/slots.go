package cuda

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/skua-data/skua/kernels/cuda/device"
)

// slots are the slots of a device, made when they are first needed and kept.
type slots struct {
	device device.Device
	room   device.Room
	most   int

	mu     sync.Mutex
	idle   []device.Slot
	made   int
	closed bool
}

// acquire gives a slot, nil where all are in use: whoever wants one does without rather than wait.
func (s *slots) acquire() (device.Slot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.idle); n > 0 {
		out := s.idle[n-1]
		s.idle = s.idle[:n-1]
		return out, nil
	}
	if s.closed || s.made == s.most {
		return nil, nil
	}
	out, err := s.device.NewSlot(s.room)
	if err == nil {
		s.made++
	}
	return out, err
}

func (s *slots) release(slot device.Slot) {
	slot.Reset()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		_ = slot.Close() // nobody is left to tell
		return
	}
	s.idle = append(s.idle, slot)
}

func (s *slots) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, slot := range s.idle {
		errs = append(errs, slot.Close())
	}
	s.idle, s.closed = nil, true
	return errors.Join(errs...)
}

// lease holds a slot for as long as somebody uses what lies in its memory. As an allocator it only takes back.
type lease struct {
	slots *slots
	slot  device.Slot
	refs  atomic.Int64
}

func newLease(s *slots, slot device.Slot) *lease {
	l := &lease{slots: s, slot: slot}
	l.refs.Store(1)
	return l
}

// Allocate is never called: Arrow allocates nothing in a buffer that cannot change.
func (l *lease) Allocate(int) []byte {
	panic("a lease allocates nothing") // buffers of a lease are immutable
}

// Reallocate is never called, for the same reason.
func (l *lease) Reallocate(int, []byte) []byte {
	panic("a lease allocates nothing") // buffers of a lease are immutable
}

// Free drops one use; the last gives the slot back.
func (l *lease) Free([]byte) {
	if l.refs.Add(-1) == 0 {
		l.slots.release(l.slot)
	}
}
