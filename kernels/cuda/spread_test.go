package cuda

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/kernels/cpu"
	"github.com/skua-data/skua/kernels/cuda/device"
	"github.com/skua-data/skua/kernels/kernelstest"
	"github.com/skua-data/skua/resource"
)

// failing is a device that breaks when it is told to.
type failing struct {
	device.Device
	mu     sync.Mutex
	broken bool
}

func (f *failing) fail() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.broken = true
}

// NewSlot gives a slot whose uploads fail once the device is broken.
func (f *failing) NewSlot(r device.Room) (device.Slot, error) {
	s, err := f.Device.NewSlot(r)
	return failingSlot{s, f}, err
}

type failingSlot struct {
	device.Slot
	device *failing
}

// Upload fails once the device is broken.
func (s failingSlot) Upload() error {
	s.device.mu.Lock()
	defer s.device.mu.Unlock()
	if s.device.broken {
		return errors.New("an illegal address was met")
	}
	return s.Slot.Upload()
}

// spreadOver gives decoders of n devices in a mode.
func spreadOver(t *testing.T, n int, mode Mode, costs Costs) (devices []*failing, decoders []*Decoder) {
	t.Helper()
	base := cpu.New()
	t.Cleanup(func() { base.Close() })
	for range n {
		sim, err := device.NewSimulated(texts(t)...)
		if err != nil {
			t.Fatal(err)
		}
		devices = append(devices, &failing{Device: sim})
		decoders = append(decoders, New(Config{Device: devices[len(devices)-1], Base: base, Pages: base, Room: testRoom, Slots: 20, Costs: costs}).With(mode))
	}
	return devices, decoders
}

// TestRowGroupsAreSpreadOverDevices reads row groups at once: each device has its share; one that breaks is left out and its rows are read all
// the same; when all broke, the CPU reads, and EXPLAIN says so.
func TestRowGroupsAreSpreadOverDevices(t *testing.T) {
	fields := kernelstest.Flat(true)[:3]
	batch := kernelstest.Random(fields, 900, 0.1, 1, memory.DefaultAllocator)
	defer batch.Release()
	groups := openGroups(t, kernelstest.Write(t, batch, kernelstest.Layout{RowGroup: 75}), fields)
	devices, decoders := spreadOver(t, 3, Force, Costs{})
	d := Spread(decoders...)
	defer d.Close()
	read := func() (chunks []int64) {
		before := make([]int64, 3)
		for i, d := range decoders {
			before[i] = d.Stats().Chunks.Load()
		}
		var all sync.WaitGroup
		for _, g := range groups {
			all.Go(func() {
				r, err := d.Open(context.Background(), g)
				if err != nil {
					t.Error(err)
					return
				}
				defer r.Close()
				got, err := r.Read(context.Background(), []int{0, 1, 2}, kernels.All(g.Rows), 0, g.Rows)
				if err != nil {
					t.Error(err)
					return
				}
				defer got.Release()
				want := batch.NewSlice(g.FirstRow, g.FirstRow+g.Rows)
				defer want.Release()
				kernelstest.Compare(t, got, g, []int{0, 1, 2}, want, kernels.All(g.Rows), "spread")
			})
		}
		all.Wait()
		for i, d := range decoders {
			chunks = append(chunks, d.Stats().Chunks.Load()-before[i])
		}
		return chunks
	}
	if got := fmt.Sprint(read()); got != "[12 12 12]" {
		t.Errorf("the devices decoded %s chunks of 36", got)
	}
	devices[1].fail()
	read() // notices
	if got := read(); got[1] != 0 || got[0]+got[2] != 36 || decoders[1].Broken() == nil || decoders[0].Broken() != nil {
		t.Errorf("with a broken device: %v, %v", got, decoders[1].Broken())
	}
	devices[0].fail()
	devices[2].fail()
	read()
	if got := fmt.Sprint(read()); got != "[0 0 0]" {
		t.Errorf("without devices: %s", got)
	}
	if r := d.Route(groups[0])[0]; r.Decoder != "cpu" || !strings.Contains(r.Reason, "the device failed") {
		t.Errorf("%+v", r)
	}
}

// TestRouteIsOfADeviceThatWorks: a broken first device does not speak for the others.
func TestRouteIsOfADeviceThatWorks(t *testing.T) {
	fields := kernelstest.Flat(false)[1:2]
	batch := kernelstest.Random(fields, 50, 0, 1, memory.DefaultAllocator)
	defer batch.Release()
	g := openGroups(t, kernelstest.Write(t, batch, kernelstest.Layout{}), fields)[0]
	_, decoders := spreadOver(t, 2, Force, Costs{})
	d := Spread(decoders...)
	defer d.Close()
	decoders[0].shared.disable(errors.New("gone"))
	if r := d.Route(g)[0]; r.Decoder != decoderName {
		t.Errorf("%+v", r)
	}
	if one := Spread(decoders[1]); one != kernels.Decoder(decoders[1]) {
		t.Errorf("one decoder is %v", one)
	}
}

// TestALongQueueIsLeftToTheCPU: where the router has the choice, a batch does not wait behind two others.
func TestALongQueueIsLeftToTheCPU(t *testing.T) {
	fields := kernelstest.Flat(false)[1:2]
	batch := kernelstest.Random(fields, 500, 0, 1, memory.DefaultAllocator)
	defer batch.Release()
	g := openGroups(t, kernelstest.Write(t, batch, kernelstest.Layout{}), fields)[0]
	costs := CostsOf(device.Info{Name: "NVIDIA H200"})
	costs.Least, costs.Launch = 0, 0
	costs.CPU[listedNumbers], costs.CPU[plainNumbers] = 1000, 1000
	for _, c := range []struct {
		mode   Mode
		queued int64
		sent   int64
	}{{Auto, 0, 1}, {Auto, 1, 1}, {Auto, 2, 0}, {Force, 2, 1}} {
		_, decoders := spreadOver(t, 1, c.mode, costs)
		d := decoders[0]
		d.shared.queue.Store(c.queued)
		got, err := outcome(context.Background(), d, g, 0, kernels.All(g.Rows), g.Rows)
		if err != nil {
			t.Fatal(err)
		}
		got[0].Release()
		if n := d.Stats().Chunks.Load(); n != c.sent || d.Stats().Busy.Load() != 1-c.sent || d.shared.queue.Load() != c.queued {
			t.Errorf("mode %d behind %d: %s, then %d", c.mode, c.queued, d.Stats(), d.shared.queue.Load())
		}
		d.Close()
	}
}

// TestABusyServerSendsMore: the fewer cores are free, the longer a column takes on the CPU.
func TestABusyServerSendsMore(t *testing.T) {
	field := kernelstest.Field(1, "c", arrow.PrimitiveTypes.Int64, false)
	batch := kernelstest.Random([]arrow.Field{field}, 4000, 0, 1, memory.DefaultAllocator)
	defer batch.Release()
	g := openGroups(t, kernelstest.Write(t, batch, kernelstest.Layout{}), []arrow.Field{field})[0]
	costs := CostsOf(device.Info{Name: "NVIDIA L4"})
	costs.Cores, costs.Least, costs.Launch = 16, 0, 0
	costs.CPU[listedNumbers], costs.CPU[plainNumbers] = 0.5, 0.5 // a fast core: with all of them free the CPU wins
	_, decoders := spreadOver(t, 1, Auto, costs)
	d := decoders[0]
	defer d.Close()
	for _, c := range []struct {
		busy int
		sent int64
	}{{0, 0}, {15, 1}} {
		s := resource.NewPool(resource.Config{Cores: 16}).NewStatement("test")
		ctx := resource.With(context.Background(), s)
		for range c.busy {
			if _, err := s.Core(ctx); err != nil {
				t.Fatal(err)
			}
		}
		before := d.Stats().Chunks.Load()
		got, err := outcome(ctx, d, g, 0, kernels.All(g.Rows), g.Rows)
		if err != nil {
			t.Fatal(err)
		}
		got[0].Release()
		if n := d.Stats().Chunks.Load() - before; n != c.sent {
			t.Errorf("with %d of 16 cores busy %d chunks were sent", c.busy, n)
		}
	}
}
