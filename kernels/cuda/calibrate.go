package cuda

import (
	"context"
	"fmt"
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
// long a core and the kernels take, and how fast a core unpacks. What cannot be measured keeps its default.
func Calibrate(ctx context.Context, d device.Device, pages *cpu.Decoder, c Costs) (Costs, error) {
	end := time.Now().Add(calibrateTime)
	c, err := calibrateLink(ctx, d, c)
	if err != nil {
		return c, err
	}
	s, err := d.NewSlot(device.Room{In: 80 << 20, Scratch: 160 << 20, Out: 80 << 20})
	if err != nil {
		return c, err
	}
	defer func() { _ = s.Close() }() // the measurement counts
	for k := range classes {
		if time.Now().After(end) || ctx.Err() != nil {
			return c, ctx.Err()
		}
		s.Reset()
		if err := c.learn(ctx, s, pages, usualSamples, k); err != nil {
			return c, fmt.Errorf("measure a sample: %w", err)
		}
	}
	return c, nil
}

// learn measures a class. The first turn of each measurement warms up.
func (c *Costs) learn(ctx context.Context, s device.Slot, pages *cpu.Decoder, of samples, k class) error {
	rg, err := of.make(k)
	if err != nil {
		return err
	}
	many, err := repeat(rg, of.times)
	if err != nil {
		return err
	}
	f, reason := newLeaf(many, &many.Columns[0].Node)
	if reason != "" {
		return leave{reason}
	}
	was := *c
	was.CPU[k], was.GPU[k] = 1, 1
	assumed := was.estimate(f, many.Rows, many.Rows)
	var onCPU, unpacking, onGPU time.Duration
	for range calibrateTurns {
		if onCPU, err = timeOnCPU(ctx, pages, rg); err != nil {
			return err
		}
		if unpacking, err = timeUnpacking(pages, rg); err != nil {
			return err
		}
		s.Reset()
		if onGPU, err = timeOnGPU(ctx, s, pages, many, f); err != nil {
			return err
		}
	}
	c.CPU[k] = float64(onCPU) * float64(of.times) / assumed.cpu
	c.GPU[k] = float64(onGPU) / (assumed.arrow / c.Kernel)
	if k == plainTexts { // the one that is packed most and the longest
		c.Unpack = float64(f.size) / float64(of.times) / float64(unpacking)
	}
	return nil
}

// timeOnCPU reads a row group's only column as a core does.
func timeOnCPU(ctx context.Context, d *cpu.Decoder, rg *kernels.RowGroup) (time.Duration, error) {
	start := time.Now()
	r, err := d.Open(ctx, rg)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	batch, err := r.Read(ctx, []int{0}, kernels.All(rg.Rows), 0, rg.Rows)
	if err != nil {
		return 0, err
	}
	batch.Release()
	return max(time.Since(start), 1), nil
}

// timeUnpacking unpacks the pages alone.
func timeUnpacking(d *cpu.Decoder, rg *kernels.RowGroup) (time.Duration, error) {
	walk, err := d.OpenPages(rg, 0)
	if err != nil {
		return 0, err
	}
	defer walk.Close()
	var into []byte
	var spent time.Duration
	for {
		h, more, err := walk.Next()
		if err != nil || !more {
			return max(spent, 1), err
		}
		if err := walk.Fetch(&h); err != nil {
			return 0, err
		}
		into = slices.Grow(into[:0], h.Size)[:h.Size]
		start := time.Now()
		if err := walk.Unpack(&h, into); err != nil {
			return 0, err
		}
		spent += time.Since(start)
	}
}

// timeOnGPU decodes the column and gives the time of the kernels, without copies.
func timeOnGPU(ctx context.Context, slot device.Slot, pages *cpu.Decoder, rg *kernels.RowGroup, f *leaf) (spent time.Duration, err error) {
	s := &shared{config: Config{Pages: pages}}
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
		return 0, err
	}
	start := time.Now()
	texts, err := b.queue(outs)
	if err != nil {
		return 0, err
	}
	if err := slot.Wait(ctx); err != nil {
		return 0, err
	}
	spent = time.Since(start)
	if err := b.finish(ctx); err != nil {
		return 0, err
	}
	if err := b.check(); err != nil {
		return 0, err
	}
	if texts { // with their way back, which is little of it
		start = time.Now()
		if err := b.copyTexts(ctx, outs); err != nil {
			return 0, err
		}
		spent += time.Since(start)
	}
	return max(spent, 1), nil
}

// calibrateLink measures the link, and the kernels with plain numbers.
func calibrateLink(ctx context.Context, d device.Device, c Costs) (Costs, error) {
	bytes := calibratePages * (calibrateRows*8 + 512)
	s, err := d.NewSlot(device.Room{In: bytes + 1<<20, Scratch: 1 << 20, Out: bytes + 1<<20})
	if err != nil {
		return c, err
	}
	defer func() { _ = s.Close() }() // the measurement counts
	for range calibrateTurns {
		s.Reset()
		up, kernels, down, err := calibrateOnce(ctx, s)
		if err != nil {
			return c, err
		}
		size := float64(calibratePages * calibrateRows * 8)
		c.Up, c.Down, c.Kernel = size/float64(up), size/float64(down), size/float64(kernels) // the last turn: the first ones warm up
	}
	return c, nil
}

// calibrateOnce decodes pages of plain values and times the three stages.
func calibrateOnce(ctx context.Context, s device.Slot) (up, kernels, down time.Duration, err error) {
	column, gather := calibrationColumn(s)
	stage := func(queue func() error) (time.Duration, error) {
		start := time.Now()
		if err := queue(); err != nil {
			return 0, err
		}
		err := s.Wait(ctx)
		return max(time.Since(start), 1), err
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
