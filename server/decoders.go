package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/kernels/cpu"
	"github.com/skua-data/skua/kernels/cuda"
	"github.com/skua-data/skua/kernels/cuda/device"
	"github.com/skua-data/skua/kernels/cuda/driver"
	"github.com/skua-data/skua/kernels/cuda/ptx"
	"github.com/skua-data/skua/scan/parquet"
)

// slotRoom is the memory of a batch on a GPU.
var slotRoom = device.Room{In: 64 << 20, Scratch: 256 << 20, Out: 128 << 20}

// calibrateProcessors is how many processors a device has at least that is worth a measurement.
const calibrateProcessors = 8

// decoders are the decoders of this build: what scans use unless they want another, what takes every column, and those that
// skua.decoder names.
type decoders struct {
	auto, fallback kernels.Decoder
	named          map[string]kernels.Decoder
	gpus           []*cuda.Decoder
	devices        []device.Device
	report         driver.Report
}

// newDecoders joins the decoders, fastest first.
func newDecoders(ctx context.Context, c Config, log *slog.Logger) *decoders {
	d := &decoders{fallback: parquet.NewFallback()}
	if c.Decoder == "fallback" {
		d.auto = d.fallback
		return d
	}
	pages := cpu.New()
	base := kernels.Prefer(pages, d.fallback)
	d.auto, d.named = base, map[string]kernels.Decoder{"cpu": base}
	d.openGPUs(ctx, c, base, pages, log)
	if len(d.gpus) == 0 {
		if !c.GPUFallback {
			d.named["gpu"] = refusing{base, d.report.Reason}
		}
		return d
	}
	forced := make([]*cuda.Decoder, len(d.gpus))
	for i, g := range d.gpus {
		forced[i] = g.With(cuda.Force)
	}
	d.auto, d.named["gpu"] = cuda.Spread(d.gpus...), cuda.Spread(forced...)
	return d
}

// openGPUs opens the devices and measures them.
func (d *decoders) openGPUs(ctx context.Context, c Config, base kernels.Decoder, pages *cpu.Decoder, log *slog.Logger) {
	var texts []string
	for _, m := range ptx.Modules() {
		text, err := ptx.Text(m)
		if err != nil {
			d.report.Reason = err.Error()
			return
		}
		texts = append(texts, text)
	}
	opened, report := driver.Open(texts)
	d.report = report
	d.measure(ctx, c, opened, base, pages, log)
	if d.report.Built && len(d.devices) == 0 {
		log.Info("no GPU is used", "reason", d.report.Reason)
	}
}

// measure makes decoders of the devices that can be measured, or are too small for it.
func (d *decoders) measure(ctx context.Context, c Config, opened []device.Device, base kernels.Decoder, pages *cpu.Decoder, log *slog.Logger) {
	for _, g := range opened {
		costs := cuda.CostsOf(g.Info())
		costs.Cores = float64(max(c.Cores, 1))
		if g.Info().Processors >= calibrateProcessors {
			measured, err := cuda.Calibrate(ctx, g, pages, costs)
			if err != nil {
				d.leave(g, err, log)
				continue
			}
			costs = measured
		}
		d.devices = append(d.devices, g)
		log.Info("decoding on a GPU", "device", g.Info().Name, "up_gb_s", costs.Up, "down_gb_s", costs.Down, "kernels_gb_s", costs.Kernel)
		slots := max(1, int(c.GPUMemory/int64(slotRoom.In+slotRoom.Scratch+slotRoom.Out)))
		d.gpus = append(d.gpus, cuda.New(cuda.Config{Device: g, Base: base, Pages: pages, Slots: slots, Room: slotRoom, Costs: costs, Log: log}))
	}
}

// leave closes a device that failed its measurement: after a driver's error nothing is known of its memory.
func (d *decoders) leave(g device.Device, err error, log *slog.Logger) {
	d.report.Reason = g.Info().Name + " failed when it was measured: " + err.Error()
	log.Error("a GPU is not used until the next start, since it failed when it was measured", "device", g.Info().Name, "error", errors.Join(err, g.Close()))
}

// Close closes decoders, then devices.
func (d *decoders) Close() error {
	var errs []error
	for _, g := range d.gpus {
		errs = append(errs, g.Close())
	}
	for _, g := range d.devices {
		errs = append(errs, g.Close())
	}
	base := d.auto
	if d.named != nil {
		base = d.named["cpu"]
	}
	return errors.Join(append(errs, base.Close())...)
}

// write tells what the devices are.
func (d *decoders) write(w io.Writer) {
	if len(d.devices) == 0 {
		fmt.Fprintf(w, "gpu: none: %s\n", d.report.Reason)
		return
	}
	for _, g := range d.devices {
		i := g.Info()
		fmt.Fprintf(w, "gpu: %s, architecture %s, %d processors, %d MiB, driver %s, kernels loaded\n", i.Name, i.Capability, i.Processors, i.Memory>>20, i.Driver)
	}
}

// refusing is what skua.decoder=gpu names where there is none.
type refusing struct {
	kernels.Decoder
	reason string
}

// Route says of every column what Open says.
func (r refusing) Route(rg *kernels.RowGroup) []kernels.Route {
	out := make([]kernels.Route, len(rg.Columns))
	for i := range out {
		out[i] = kernels.Route{Decoder: "gpu", Reason: "the statement fails: " + r.text()}
	}
	return out
}

// Open says that there is no GPU.
func (r refusing) Open(context.Context, *kernels.RowGroup) (kernels.Reader, error) {
	return nil, fault.New(fault.Unsupported, "%s", r.text()).Change("skua.decoder")
}

func (r refusing) text() string { return "there is no GPU to decode on: " + r.reason }
