//go:build cuda

package driver

import (
	"context"
	"errors"
	"fmt"
	"time"
	"unsafe"

	"gorgonia.org/cu"

	"github.com/skua-data/skua/kernels/cuda/device"
	"github.com/skua-data/skua/kernels/cuda/driver/cudart"
)

const pieceAlignment = 256

// area is device memory handed out from its front, with host memory of the same layout where it is copied.
type area struct {
	base   cu.DevicePtr
	size   int
	host   []byte
	used   int
	copied int // from the front
}

func (a *area) take(n int) (device.Piece, bool) {
	size := (n + pieceAlignment - 1) &^ (pieceAlignment - 1)
	if n < 0 || size > a.size-a.used {
		return device.Piece{}, false
	}
	p := device.Piece{Addr: uint64(a.base) + uint64(a.used)}
	if a.host != nil {
		p.Bytes = a.host[a.used : a.used+n : a.used+n]
	}
	a.used += size
	return p, true
}

// pending gives the stretch that was handed out since the last copy.
func (a *area) pending() (at cu.DevicePtr, host unsafe.Pointer, n int64) {
	from, to := a.copied, a.used
	a.copied = to
	if from == to {
		return 0, nil, 0
	}
	return a.base + cu.DevicePtr(from), unsafe.Pointer(&a.host[from]), int64(to - from)
}

// slot is memory of a device with a stream.
type slot struct {
	gpu              *gpu
	stream           cu.Stream
	event            cu.Event
	in, scratch, out area
}

// NewSlot makes a slot, or nothing where the memory is short.
func (g *gpu) NewSlot(room device.Room) (device.Slot, error) {
	s := &slot{gpu: g}
	err := g.do(func() (err error) {
		if s.stream, err = cu.MakeStream(cu.NonBlocking); err != nil {
			return fmt.Errorf("make a stream: %w", err)
		}
		if s.event, err = cu.MakeEvent(cu.DisableTiming); err != nil {
			return fmt.Errorf("make an event: %w", err)
		}
		for _, a := range []struct {
			area *area
			size int
			host bool
		}{{&s.in, room.In, true}, {&s.scratch, room.Scratch, false}, {&s.out, room.Out, true}} {
			if err := a.area.allocate(a.size, a.host); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (a *area) allocate(size int, host bool) (err error) {
	if a.base, err = cu.MemAlloc(int64(size)); err != nil {
		return fmt.Errorf("allocate %d bytes on the device: %w", size, err)
	}
	a.size = size
	if host {
		a.host, err = cudart.HostAlloc(size)
	}
	return err
}

func (a *area) free() (err error) {
	if a.base != 0 {
		err = cu.MemFree(a.base)
	}
	if a.host != nil {
		err = errors.Join(err, cudart.HostFree(a.host))
	}
	*a = area{}
	return err
}

func (s *slot) In(n int) (device.Piece, bool)      { return s.in.take(n) }
func (s *slot) Scratch(n int) (device.Piece, bool) { return s.scratch.take(n) }
func (s *slot) Out(n int) (device.Piece, bool)     { return s.out.take(n) }

func (s *slot) Upload() error {
	at, host, n := s.in.pending()
	if n == 0 {
		return nil
	}
	return s.gpu.do(func() error { return cu.MemcpyHtoDAsync(at, host, n, s.stream) })
}

func (s *slot) Download() error {
	at, host, n := s.out.pending()
	if n == 0 {
		return nil
	}
	return s.gpu.do(func() error { return cu.MemcpyDtoHAsync(host, at, n, s.stream) })
}

func (s *slot) Zero(p device.Piece) error {
	if len(p.Bytes) == 0 {
		return nil
	}
	return s.gpu.do(func() error { return cu.MemsetD8Async(cu.DevicePtr(p.Addr), 0, int64(len(p.Bytes)), s.stream) })
}

func (s *slot) Launch(kernel string, blocks, threads int, args ...uint64) error {
	f, ok := s.gpu.kernels[kernel]
	if !ok {
		return fmt.Errorf("there is no kernel %s", kernel)
	}
	params := make([]unsafe.Pointer, len(args)) // the binding reads eight bytes of each
	for i := range args {
		params[i] = unsafe.Pointer(&args[i])
	}
	return s.gpu.do(func() error {
		if err := f.Launch(blocks, 1, 1, threads, 1, 1, 0, s.stream, params); err != nil {
			return fmt.Errorf("launch %s: %w", kernel, err)
		}
		return nil
	})
}

// Wait asks again and again, so that the device's thread serves other slots meanwhile.
func (s *slot) Wait(context.Context) error {
	if err := s.gpu.do(func() error { return s.event.Record(s.stream) }); err != nil {
		return err
	}
	for pause := 10 * time.Microsecond; ; pause = min(2*pause, time.Millisecond) {
		err := s.gpu.do(s.event.Query)
		if !errors.Is(err, cu.NotReady) {
			return err
		}
		time.Sleep(pause)
	}
}

func (s *slot) Reset() {
	for _, a := range []*area{&s.in, &s.scratch, &s.out} {
		a.used, a.copied = 0, 0
	}
}

func (s *slot) Close() error {
	return s.gpu.do(func() error {
		return errors.Join(s.in.free(), s.scratch.free(), s.out.free(), cu.DestroyEvent(&s.event), s.stream.Destroy())
	})
}
