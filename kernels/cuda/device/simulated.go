package device

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/kernels/ptxsim"
)

// Cost is what the launches of one kernel did.
type Cost struct {
	Launches                      int
	Warp, Lane                    uint64 // instructions
	GlobalAccesses, GlobalSectors uint64
}

// Simulated is a device on the CPU. Every piece is an allocation of its own, so that an access beside it is a fault.
type Simulated struct {
	Options ptxsim.Options // of every launch

	kernels map[string]*ptxsim.Module

	mu     sync.Mutex
	costs  map[string]Cost
	faults []string
}

var _ Device = (*Simulated)(nil)

// NewSimulated makes a device of PTX texts.
func NewSimulated(texts ...string) (*Simulated, error) {
	s := &Simulated{kernels: map[string]*ptxsim.Module{}, costs: map[string]Cost{}}
	for _, text := range texts {
		m, err := ptxsim.Parse(text)
		if err != nil {
			return nil, err
		}
		for _, name := range m.Kernels() {
			s.kernels[name] = m
		}
	}
	return s, nil
}

// Info says that the device is none.
func (s *Simulated) Info() Info {
	return Info{Name: "simulated device", Memory: 1 << 30, Processors: 1, Capability: "8.0", Simulated: true}
}

// Close does nothing.
func (s *Simulated) Close() error { return nil }

// Costs gives what each kernel did so far.
func (s *Simulated) Costs() map[string]Cost {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]Cost{}
	for k, c := range s.costs {
		out[k] = c
	}
	return out
}

// Faults tells all faults of kernels so far, nil where there are none.
func (s *Simulated) Faults() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.faults) == 0 {
		return nil
	}
	return fault.New(fault.Internal, "%s", strings.Join(s.faults, "\n"))
}

func (s *Simulated) failed(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, err.Error())
	return fault.New(fault.Internal, "%w", err)
}

// NewSlot makes a slot with a memory of its own.
func (s *Simulated) NewSlot(room Room) (Slot, error) {
	return &simulatedSlot{device: s, memory: ptxsim.NewDevice(), room: room}, nil
}

// simulatedPiece is a piece with its buffer.
type simulatedPiece struct {
	Piece
	buffer *ptxsim.Buffer
}

// simulatedSlot does what is queued at once.
type simulatedSlot struct {
	device              *Simulated
	memory              *ptxsim.Device
	room                Room
	in, out             []simulatedPiece
	used                Room
	uploaded, downloads int
}

// take gives a piece out of room that ends at limit.
func (s *simulatedSlot) take(name string, n, limit int, used *int, host bool) (simulatedPiece, bool) {
	size := (n + 255) &^ 255
	if n < 0 || size > limit-*used {
		return simulatedPiece{}, false
	}
	*used += size
	p := simulatedPiece{buffer: s.memory.Alloc(name, n)}
	p.Addr = p.buffer.Addr()
	if host {
		p.Bytes = make([]byte, n)
	}
	return p, true
}

func (s *simulatedSlot) In(n int) (Piece, bool) {
	p, ok := s.take(fmt.Sprintf("in%d", len(s.in)), n, s.room.In, &s.used.In, true)
	if ok {
		for i := range p.Bytes {
			p.Bytes[i] = 0xee // what is not filled in shows
		}
		s.in = append(s.in, p)
	}
	return p.Piece, ok
}

func (s *simulatedSlot) Scratch(n int) (Piece, bool) {
	p, ok := s.take("scratch", n, s.room.Scratch, &s.used.Scratch, false)
	return p.Piece, ok
}

func (s *simulatedSlot) Out(n int) (Piece, bool) {
	p, ok := s.take(fmt.Sprintf("out%d", len(s.out)), n, s.room.Out, &s.used.Out, true)
	if ok {
		s.out = append(s.out, p)
	}
	return p.Piece, ok
}

func (s *simulatedSlot) Upload() error {
	for _, p := range s.in[s.uploaded:] {
		p.buffer.Write(0, p.Bytes)
		p.buffer.Freeze() // no kernel writes what came up
	}
	s.uploaded = len(s.in)
	return nil
}

func (s *simulatedSlot) Zero(p Piece) error {
	b := s.memory.Find(p.Addr, len(p.Bytes))
	if b == nil {
		return s.device.failed(fault.New(fault.Internal, "zero of memory that is none"))
	}
	b.Write(0, make([]byte, len(p.Bytes)))
	return nil
}

func (s *simulatedSlot) Launch(kernel string, blocks, threads int, args ...uint64) error {
	m := s.device.kernels[kernel]
	if m == nil {
		return s.device.failed(fault.New(fault.Internal, "no kernel %s", kernel))
	}
	res, err := m.Run(s.memory, kernel, ptxsim.Launch{Grid: blocks, Block: threads, Args: args, Options: s.device.Options})
	if err != nil {
		return s.device.failed(err)
	}
	if err := res.Err(); err != nil {
		return s.device.failed(fmt.Errorf("%s: %w", kernel, err))
	}
	s.device.count(kernel, res)
	return nil
}

func (s *Simulated) count(kernel string, res *ptxsim.Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.costs[kernel]
	c.Launches++
	c.Warp += res.WarpInstructions
	c.Lane += res.LaneInstructions
	c.GlobalAccesses += res.GlobalAccesses
	c.GlobalSectors += res.GlobalSectors
	s.costs[kernel] = c
}

func (s *simulatedSlot) Download() error {
	for i, p := range s.out[s.downloads:] {
		if at := p.buffer.FirstUnwritten(len(p.Bytes)); at >= 0 {
			return s.device.failed(fault.New(fault.Internal, "piece %d comes back with byte %d of %d unwritten", s.downloads+i, at, len(p.Bytes)))
		}
		copy(p.Bytes, p.buffer.Bytes())
	}
	s.downloads = len(s.out)
	return nil
}

func (s *simulatedSlot) Wait(context.Context) error { return nil }

func (s *simulatedSlot) Reset() {
	s.memory.Reset()
	s.in, s.out, s.used, s.uploaded, s.downloads = nil, nil, Room{}, 0, 0
}

func (s *simulatedSlot) Close() error { return nil }
