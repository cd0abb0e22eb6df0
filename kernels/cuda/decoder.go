// Package cuda decodes Parquet column chunks on a GPU. It stands over another decoder, which reads what is not worth sending, and reads
// again every chunk that a kernel or the driver refuses, so that rows and errors never depend on the device. What goes up are the pages
// with wanted rows; what comes back are final Arrow buffers of those rows alone.
package cuda

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"

	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/kernels/cpu"
	"github.com/skua-data/skua/kernels/cuda/device"
)

const decoderName = "cuda"

// Mode says what a decoder sends to the device.
type Mode uint8

// The modes.
const (
	Auto  Mode = iota // what is faster there
	Force             // all that the kernels can do
)

// Config is what a decoder is made of.
type Config struct {
	Device device.Device
	Base   kernels.Decoder // takes every column that this one may be asked for; closed by who made it
	Pages  *cpu.Decoder    // walks the pages of chunks
	Slots  int             // batches in flight at once; 0: 4
	Room   device.Room     // memory of each; 0: 64, 256 and 128 MiB
	Costs  Costs           // zero: those of the device
	Log    *slog.Logger    // nil: none
}

// Decoder decodes on one device.
type Decoder struct {
	shared *shared
	mode   Mode
}

// shared is what the decoders of a device have in common.
type shared struct {
	config Config
	slots  slots
	stats  Stats
	broken atomic.Pointer[error]
	queue  atomic.Int64 // batches that were queued and are not done
}

var _ kernels.Decoder = (*Decoder)(nil)

// New makes a decoder.
func New(c Config) *Decoder {
	if c.Slots == 0 {
		c.Slots = 4
	}
	if c.Room == (device.Room{}) {
		c.Room = device.Room{In: 64 << 20, Scratch: 256 << 20, Out: 128 << 20}
	}
	if c.Costs == (Costs{}) {
		c.Costs = CostsOf(c.Device.Info())
	}
	s := &shared{config: c}
	s.slots = slots{device: c.Device, room: c.Room, most: c.Slots}
	return &Decoder{shared: s}
}

// With gives a decoder of the same device in a mode. Closing any of them closes all.
func (d *Decoder) With(m Mode) *Decoder { return &Decoder{d.shared, m} }

// Stats gives what the device did so far.
func (d *Decoder) Stats() *Stats { return &d.shared.stats }

// Broken says why the device is not used any more, or nil.
func (d *Decoder) Broken() error {
	if err := d.shared.broken.Load(); err != nil {
		return *err
	}
	return nil
}

// Close gives the device's memory back; all readers are closed before. Arrays that still lie in it keep their slots.
func (d *Decoder) Close() error { return d.shared.slots.close() }

// disable stops the use of the device, once, and says so: after a driver's error nothing is known of its memory.
func (s *shared) disable(err error) {
	if s.broken.CompareAndSwap(nil, &err) && s.config.Log != nil {
		s.config.Log.Error("the GPU is not used any more until the next start", "device", s.config.Device.Info().Name, "error", err)
	}
}

// Route tells who would read each column when all its rows are wanted. With a filter fewer bytes come back, and more columns may be sent.
func (d *Decoder) Route(rg *kernels.RowGroup) []kernels.Route {
	out := d.shared.config.Base.Route(rg)
	if d.Broken() != nil {
		for i := range out {
			out[i].Reason += "; not " + decoderName + ": the device failed"
		}
		return out
	}
	r := &reader{shared: d.shared, mode: d.mode, rg: rg}
	all := make([]int, len(rg.Columns))
	for i := range all {
		all[i] = i
	}
	for i, v := range r.choose(&d.shared.config.Costs, all, rg.Rows) {
		if v.send {
			out[i] = kernels.Route{Decoder: decoderName, Taken: true, Reason: v.reason}
			continue
		}
		out[i].Reason += "; not " + decoderName + ": " + v.reason
	}
	return out
}

// Open opens a row group; it reads nothing yet.
func (d *Decoder) Open(ctx context.Context, rg *kernels.RowGroup) (kernels.Reader, error) {
	base, err := d.shared.config.Base.Open(ctx, rg)
	if err != nil {
		return nil, err
	}
	return &reader{shared: d.shared, mode: d.mode, rg: rg, base: base, columns: make([]readColumn, len(rg.Columns))}, nil
}

// leave says that a chunk is left to the base decoder.
type leave struct{ reason string }

func (l leave) Error() string { return l.reason }

// errFull says that a batch does not fit its slot.
var errFull = errors.New("the slot is too small for the batch")

// deviceError marks errors of the driver.
func deviceError(err error) error {
	if err == nil {
		return nil
	}
	return driverError{err}
}

type driverError struct{ error }

func (d driverError) Unwrap() error { return d.error }

// settle notes an error of the device, and says whether a smaller batch may do. Whatever it is, the base decoder has the last word.
func (s *shared) settle(err error) (smaller bool) {
	var broken driverError
	if errors.As(err, &broken) {
		s.disable(broken.error)
	}
	return errors.Is(err, errFull)
}
