package cuda

import (
	"context"
	"time"

	"github.com/skua-data/skua/kernels/cuda/device"
	"github.com/skua-data/skua/kernels/cuda/ptx"
)

// Sizes of the calibration, which takes well under a second on a GPU.
const (
	calibratePages = 256
	calibrateRows  = 20_000 // of a page, as writers of tables make them
	calibrateTurns = 3
)

// Calibrate measures a device's link both ways, and how fast its kernels give values of 8 bytes. What cannot be measured keeps its default.
func Calibrate(ctx context.Context, d device.Device, c Costs) (Costs, error) {
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
