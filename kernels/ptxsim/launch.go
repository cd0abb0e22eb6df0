package ptxsim

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
)

// Launch describes a kernel launch. All arguments are 8-byte values; smaller parameters take the low bytes.
type Launch struct {
	Grid, Block int // one dimension
	Shared      int // bytes of dynamic shared memory
	Args        []uint64
	Options
}

// Options of a run. The zero value checks everything.
type Options struct {
	Seed        uint64 // order of warps and blocks
	Resident    int    // blocks interleaved on a worker (default 4)
	Workers     int    // goroutines (default 1; more switch off the races between global accesses)
	NoRaces     bool   // skip the race checks
	NoUnwritten bool   // allow reads of memory and registers never written
	AllowEnded  bool   // allow threads that ended before a barrier of their block
	MaxSteps    uint64 // warp instructions of the launch (default 2^32)
	MaxFaults   int    // stop after so many different ones (default 20)
}

func (o Options) withDefaults() Options {
	if o.Resident < 1 {
		o.Resident = 4
	}
	o.Workers = max(o.Workers, 1)
	if o.MaxSteps == 0 {
		o.MaxSteps = 1 << 32
	}
	if o.MaxFaults == 0 {
		o.MaxFaults = 20
	}
	return o
}

// run is a launch under way.
type run struct {
	k      *kernel
	d      *Device
	l      Launch
	launch uint64 // its number on the device
	args   []byte
	vars   map[string]uint64
	stop   atomic.Bool
	steps  atomic.Uint64
	next   atomic.Int64
	races  bool // between global accesses

	mu     sync.Mutex
	seen   map[string]int
	result Result
}

// Run launches a kernel and waits for its end. The error is about the launch itself; faults of the kernel are in the result.
func (m *Module) Run(d *Device, name string, l Launch) (*Result, error) {
	k := m.kernels[name]
	switch {
	case k == nil:
		return nil, fmt.Errorf("no kernel %q", name)
	case l.Grid < 1 || l.Block < 1 || l.Block > 1024:
		return nil, fmt.Errorf("%s: grid %d, block %d", name, l.Grid, l.Block)
	case len(l.Args) != len(k.params):
		return nil, fmt.Errorf("%s takes %d arguments, got %d", name, len(k.params), len(l.Args))
	case !k.dynShared && l.Shared > 0:
		return nil, fmt.Errorf("%s has no dynamic shared memory", name)
	}
	l.Options = l.withDefaults()
	r := &run{k: k, d: d, l: l, launch: d.launches.Add(1), seen: map[string]int{}, vars: map[string]uint64{}, races: !l.NoRaces && l.Workers == 1}
	if err := r.fillArgs(); err != nil {
		return nil, err
	}
	for _, v := range m.vars {
		b := d.Upload(v.name, v.data)
		b.readOnly = v.readOnly
		r.vars[v.name] = b.addr
	}
	var wg sync.WaitGroup
	for i := range l.Workers {
		wg.Go(func() { r.worker(rand.New(rand.NewPCG(l.Seed, uint64(i)))) })
	}
	wg.Wait()
	return &r.result, nil
}

func (r *run) fillArgs() error {
	r.args = make([]byte, r.k.paramBytes)
	for i, p := range r.k.params {
		if p.size > 8 {
			return fmt.Errorf("parameter %s has %d bytes", p.name, p.size)
		}
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], r.l.Args[i])
		copy(r.args[p.offset:p.offset+p.size], b[:])
	}
	return nil
}

// worker interleaves a few resident blocks.
func (r *run) worker(rnd *rand.Rand) {
	var resident []*block
	for {
		for len(resident) < r.l.Resident {
			n := int(r.next.Add(1)) - 1
			if n >= r.l.Grid {
				break
			}
			resident = append(resident, r.newBlock(n))
		}
		if len(resident) == 0 || r.stop.Load() {
			return
		}
		i := rnd.IntN(len(resident))
		b := resident[i]
		b.step(rnd)
		if b.live == 0 {
			r.count(b)
			resident = append(resident[:i], resident[i+1:]...)
		}
	}
}

// count adds what a block did.
func (r *run) count(b *block) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, w := range b.warps {
		r.result.WarpInstructions += w.steps
		r.result.LaneInstructions += w.lanes
		r.result.GlobalAccesses += w.globalAccesses
		r.result.GlobalSectors += w.globalSectors
	}
	r.result.Barriers += uint64(b.epoch)
}
