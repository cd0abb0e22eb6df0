package server

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/kernels/cpu"
	"github.com/skua-data/skua/kernels/cuda/device"
)

// TestDecodersWithoutAGPU: skua.decoder=gpu is an error that names the setting, unless the server was told to read on the CPU then.
func TestDecodersWithoutAGPU(t *testing.T) {
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	for _, c := range []struct {
		config Config
		names  string // of the decoders that a session can choose
		err    bool
	}{
		{Config{}, "cpu gpu", true}, {Config{GPUFallback: true}, "cpu", false}, {Config{Decoder: "fallback", GPUFallback: true}, "", false},
	} {
		d := newDecoders(context.Background(), c.config, log)
		if len(d.devices) > 0 {
			t.Skip("there is a GPU")
		}
		var names []string
		for _, n := range []string{"auto", "cpu", "gpu"} {
			if d.named[n] != nil {
				names = append(names, n)
			}
		}
		if got := strings.Join(names, " "); got != c.names {
			t.Errorf("%+v: decoders %s, want %s", c.config, got, c.names)
		}
		if c.err {
			_, err := d.named["gpu"].Open(context.Background(), &kernels.RowGroup{Name: "a"})
			if err == nil || fault.KindOf(err) != fault.Unsupported || !strings.Contains(err.Error(), "skua.decoder") {
				t.Errorf("%v", err)
			}
			for _, r := range d.named["gpu"].Route(&kernels.RowGroup{Columns: make([]kernels.Column, 2)}) { // which EXPLAIN shows
				if r.Taken || r.Decoder != "gpu" || !strings.Contains(err.Error(), strings.TrimPrefix(r.Reason, "the statement fails: ")) {
					t.Errorf("%+v where reading says %v", r, err)
				}
			}
		}
		var out strings.Builder
		if d.write(&out); c.config.Decoder == "" && !strings.HasPrefix(out.String(), "gpu: none: ") {
			t.Errorf("doctor says %q", out.String())
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}

// failing is a device that has no memory.
type failing struct{ device.Simulated }

func (*failing) Info() device.Info { return device.Info{Name: "a broken GPU", Processors: 100} }
func (*failing) NewSlot(device.Room) (device.Slot, error) {
	return nil, errors.New("out of memory")
}

// TestADeviceThatCannotBeMeasuredIsNotUsed: the CPU reads, and whoever asks for the GPU is told why.
func TestADeviceThatCannotBeMeasuredIsNotUsed(t *testing.T) {
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	pages := cpu.New()
	defer pages.Close()
	d := &decoders{}
	d.measure(t.Context(), Config{}, []device.Device{&failing{}}, pages, pages, log)
	var out strings.Builder
	d.write(&out)
	if len(d.gpus)+len(d.devices) > 0 || out.String() != "gpu: none: a broken GPU failed when it was measured: out of memory\n" {
		t.Errorf("%d decoders, %d devices, %s", len(d.gpus), len(d.devices), &out)
	}
}
