package cuda

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/kernels/cpu"
	"github.com/skua-data/skua/kernels/cuda/device"
	"github.com/skua-data/skua/kernels/cuda/ptx"
)

// Sizes of the calibration, which takes well under a second on a GPU.
const (
	calibratePages = 256
	calibrateRows  = 20_000 // of a page, as writers of tables make them
	calibrateTurns = 3
)

// calibrateTime is how long a calibration takes at most, of each device; what was not measured by then keeps its default.
const calibrateTime = time.Second

// Calibrate measures a device's link both ways and how fast its kernels give plain numbers; then, on samples of every class of chunks, how
// long a core and the kernels take, and how fast a core unpacks. What cannot be measured keeps its default. An error is the device's, which is
// not to be used then, or the context's.
func Calibrate(ctx context.Context, d device.Device, pages *cpu.Decoder, c Costs) (Costs, error) {
	m := &calibration{device: d, pages: pages, samples: usualSamples, now: time.Now}
	m.onCPU, m.unpacking = m.timeOnCPU, m.timeUnpacking
	return m.run(ctx, c)
}

// calibration is a measurement. Tests have clocks and cores of their own.
type calibration struct {
	device           device.Device
	pages            *cpu.Decoder
	samples          samples
	now              func() time.Time
	onCPU, unpacking func(context.Context, *kernels.RowGroup) (time.Duration, error)
}

func (m *calibration) run(ctx context.Context, c Costs) (Costs, error) {
	end := m.now().Add(calibrateTime)
	c, err := m.link(ctx, c)
	if err != nil {
		return c, err
	}
	s, err := m.device.NewSlot(device.Room{In: 80 << 20, Scratch: 160 << 20, Out: 80 << 20})
	if err != nil {
		return c, err
	}
	defer func() { _ = s.Close() }() // the measurement counts
	for k := range classes {
		if m.now().After(end) || ctx.Err() != nil {
			return c, ctx.Err()
		}
		s.Reset()
		var broken driverError
		if err := m.learn(ctx, s, &c, k); errors.As(err, &broken) {
			return c, fmt.Errorf("measure a sample: %w", err)
		}
	}
	return c, nil
}

// learn measures a class. The first turn of each measurement warms up.
func (m *calibration) learn(ctx context.Context, s device.Slot, c *Costs, k class) error {
	rg, err := m.samples.make(k)
	if err != nil {
		return err
	}
	many, err := repeat(rg, m.samples.times)
	if err != nil {
		return err
	}
	f, reason := newLeaf(many, &many.Columns[0].Node)
	if reason != "" {
		return leave{reason}
	}
	if f.class() != k {
		return leave{"the sample is of another class"}
	}
	was := *c
	was.CPU[k], was.GPU[k] = 1, 1
	assumed := was.estimate(f, many.Rows, many.Rows)
	var onCPU, unpacking, onGPU time.Duration
	for range calibrateTurns {
		if onCPU, err = m.onCPU(ctx, rg); err != nil {
			return err
		}
		if unpacking, err = m.unpacking(ctx, rg); err != nil {
			return err
		}
		s.Reset()
		if onGPU, err = m.onGPU(ctx, s, many, f); err != nil {
			return err
		}
	}
	times := float64(m.samples.times)
	c.CPU[k] = timesAs(float64(onCPU)*times, assumed.cpu, c.CPU[k])
	c.GPU[k] = timesAs(float64(onGPU), assumed.arrow/c.Kernel, c.GPU[k])
	if k == plainTexts { // the one that is packed most and the longest
		c.Unpack = rate(float64(f.size)/times, unpacking, c.Unpack)
	}
	return nil
}

// mostFaster is how many times as fast as assumed anything may turn out: a clock that stands still, or goes back, measures nothing.
const mostFaster = 1000

// timesAs gives how many times as long as assumed something took, or what was there before where that cannot be.
func timesAs(took, assumed, before float64) float64 {
	if v := took / assumed; v >= 1.0/mostFaster && v <= math.MaxFloat64 {
		return v
	}
	return before
}

// rate gives bytes a nanosecond, or the assumed rate where the time cannot be.
func rate(bytes float64, took time.Duration, assumed float64) float64 {
	if v := bytes / float64(took); took > 0 && v <= mostFaster*assumed {
		return v
	}
	return assumed
}

// timeOnCPU reads a row group's only column as a core does.
func (m *calibration) timeOnCPU(ctx context.Context, rg *kernels.RowGroup) (time.Duration, error) {
	start := m.now()
	r, err := m.pages.Open(ctx, rg)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	batch, err := r.Read(ctx, []int{0}, kernels.All(rg.Rows), 0, rg.Rows)
	if err != nil {
		return 0, err
	}
	batch.Release()
	return m.now().Sub(start), nil
}

// timeUnpacking unpacks the pages alone.
func (m *calibration) timeUnpacking(_ context.Context, rg *kernels.RowGroup) (time.Duration, error) {
	walk, err := m.pages.OpenPages(rg, 0)
	if err != nil {
		return 0, err
	}
	defer walk.Close()
	var into []byte
	var spent time.Duration
	for {
		h, more, err := walk.Next()
		if err != nil || !more {
			return spent, err
		}
		if err := walk.Fetch(&h); err != nil {
			return 0, err
		}
		into = slices.Grow(into[:0], h.Size)[:h.Size]
		start := m.now()
		if err := walk.Unpack(&h, into); err != nil {
			return 0, err
		}
		spent += m.now().Sub(start)
	}
}

// onGPU decodes the column and gives the time of the kernels, without copies.
func (m *calibration) onGPU(ctx context.Context, slot device.Slot, rg *kernels.RowGroup, f *leaf) (spent time.Duration, err error) {
	s := &shared{config: Config{Pages: m.pages}}
	b, err := newBatch(ctx, s, slot, rg, []*leaf{f}, kernels.All(rg.Rows))
	if err != nil {
		return 0, err
	}
	outs, err := b.outputs()
	if err != nil {
		return 0, err
	}
	if err := b.begin(); err != nil {
		return 0, err
	}
	if err := slot.Wait(ctx); err != nil {
		return 0, deviceError(err)
	}
	start := m.now()
	texts, err := b.queue(outs)
	if err != nil {
		return 0, err
	}
	if err := slot.Wait(ctx); err != nil {
		return 0, deviceError(err)
	}
	spent = m.now().Sub(start)
	if err := b.finish(ctx); err != nil {
		return 0, err
	}
	if err := b.check(); err != nil {
		return 0, err
	}
	if texts { // with their way back, which is little of it
		start = m.now()
		if err := b.copyTexts(ctx, outs); err != nil {
			return 0, err
		}
		spent += m.now().Sub(start)
	}
	return spent, nil
}

// link measures the link, and the kernels with plain numbers.
func (m *calibration) link(ctx context.Context, c Costs) (Costs, error) {
	bytes := calibratePages * (calibrateRows*8 + 512)
	s, err := m.device.NewSlot(device.Room{In: bytes + 1<<20, Scratch: 1 << 20, Out: bytes + 1<<20})
	if err != nil {
		return c, err
	}
	defer func() { _ = s.Close() }() // the measurement counts
	out := c
	for range calibrateTurns {
		s.Reset()
		up, kernels, down, err := m.once(ctx, s)
		if err != nil {
			return c, err
		}
		const size = calibratePages * calibrateRows * 8
		out.Up, out.Down, out.Kernel = rate(size, up, c.Up), rate(size, down, c.Down), rate(size, kernels, c.Kernel) // the last turn: the first ones warm up
	}
	return out, nil
}

// once decodes pages of plain values and times the three stages.
func (m *calibration) once(ctx context.Context, s device.Slot) (up, kernels, down time.Duration, err error) {
	column, gather := calibrationColumn(s)
	stage := func(queue func() error) (time.Duration, error) {
		start := m.now()
		if err := queue(); err != nil {
			return 0, err
		}
		err := s.Wait(ctx)
		return m.now().Sub(start), err
	}
	if up, err = stage(s.Upload); err != nil {
		return 0, 0, 0, err
	}
	kernels, err = stage(func() error {
		if err := s.Launch(ptx.OpenPages.Name, perThread(calibratePages), ptx.OpenPages.Threads, column); err != nil {
			return err
		}
		return s.Launch(ptx.GatherFixed.Name, tiles(calibratePages*calibrateRows), ptx.GatherFixed.Threads, gather)
	})
	if err != nil {
		return 0, 0, 0, err
	}
	down, err = stage(s.Download)
	return up, kernels, down, err
}

// calibrationColumn puts pages of plain values into a slot, which has room for them.
func calibrationColumn(s device.Slot) (column, gather uint64) {
	var pages []byte
	for i := range calibratePages {
		body, _ := s.In(calibrateRows*8 + ptx.Padding)
		pages = ptx.Encode(pages, ptx.Page{Version: 1, Body: body.Addr, BodyLen: calibrateRows * 8, Rows: calibrateRows, Row0: uint64(i * calibrateRows)})
	}
	put := func(b []byte) uint64 {
		p, _ := s.In(len(b))
		copy(p.Bytes, b)
		return p.Addr
	}
	states, _ := s.Scratch(calibratePages * ptx.StateBytes)
	status := put(make([]byte, 4*calibratePages))
	out, _ := s.Out(calibratePages * calibrateRows * 8)
	column = put(ptx.Encode(nil, ptx.Column{Pages: put(pages), States: states.Addr, Status: status, Count: calibratePages, Stored: 8}))
	gather = put(ptx.Encode(nil, ptx.Gather{Column: column, Slots: calibratePages * calibrateRows, Out: out.Addr, Conversion: ptx.Copy8}))
	return column, gather
}
