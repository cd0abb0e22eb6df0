package resource

import (
	"runtime"
	"testing"
	"time"
)

func TestSpareLetsGoOfWhatWasNotUsed(t *testing.T) {
	s := NewSpare(1 << 20)
	for range 4 {
		s.Put(make([]byte, 8192))
	}
	s.Put(make([]byte, 4096))
	s.trim() // they came since the last time
	if got := s.Idle(); got != 4*8192+4096 {
		t.Fatalf("%d bytes are kept", got)
	}
	a, b := s.Take(8192), s.Take(8192)
	if a == nil || b == nil || s.Take(5000) != nil {
		t.Fatal("a buffer is missing, or one came from nowhere")
	}
	s.Put(a)
	s.Put(b)
	s.trim()
	if got := s.Idle(); got != 2*8192 {
		t.Errorf("%d bytes are kept where two buffers of 8192 were used", got)
	}
	s.trim()
	if got := s.Idle(); got != 0 {
		t.Errorf("%d bytes are kept and nobody used any", got)
	}
}

func TestSpareIsTrimmedByCollections(t *testing.T) {
	s := NewSpare(1 << 20)
	s.Put(make([]byte, 8192))
	for start := time.Now(); s.Idle() > 0; {
		if runtime.GC(); time.Since(start) > 30*time.Second {
			t.Fatal("collections let go of nothing")
		}
		time.Sleep(time.Millisecond)
	}
}

func TestSpareKeepsNoMoreThanItsBound(t *testing.T) {
	s := NewSpare(10_000)
	for range 3 {
		s.Put(make([]byte, 4096))
	}
	if got := s.Idle(); got != 8192 {
		t.Errorf("%d bytes are kept", got)
	}
	s.Drop()
	if s.Idle() != 0 || s.Take(4096) != nil {
		t.Error("something is left")
	}
}
