//go:build cuda && cudafake

package driver_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/kernels/cpu"
	"github.com/skua-data/skua/kernels/cuda"
	"github.com/skua-data/skua/kernels/cuda/device"
	"github.com/skua-data/skua/kernels/cuda/driver"
	"github.com/skua-data/skua/kernels/cuda/driver/standin"
	"github.com/skua-data/skua/kernels/cuda/ptx"
	"github.com/skua-data/skua/kernels/kernelstest"
	"github.com/skua-data/skua/scan/parquet"
)

type memoryFile struct{ *bytes.Reader }

func (memoryFile) Close() error { return nil }
func (memoryFile) Key() string  { return "memory" }

func openGroups(t testing.TB, data []byte, want []arrow.Field) []*kernels.RowGroup {
	t.Helper()
	f, err := parquet.Open(context.Background(), memoryFile{bytes.NewReader(data)}, "memory.parquet")
	if err != nil {
		t.Fatal(err)
	}
	matches, err := f.Match(want, nil)
	if err != nil {
		t.Fatal(err)
	}
	var columns []kernels.Column
	for _, m := range matches {
		columns = append(columns, m.Column)
	}
	var out []*kernels.RowGroup
	for _, g := range f.RowGroups(0, 1<<40, nil, nil) {
		out = append(out, f.RowGroup(g.Ordinal, columns))
	}
	return out
}

// open makes a decoder over the stand-in that sends all that the kernels can do.
func open(t *testing.T) *cuda.Decoder {
	t.Helper()
	standin.Mend()
	var texts []string
	for _, m := range ptx.Modules() {
		text, err := ptx.Text(m)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, text)
	}
	devices, r := driver.Open(texts)
	if len(devices) != 1 || !r.Built || r.Reason != "" {
		t.Fatalf("%d devices: %+v", len(devices), r)
	}
	base := cpu.New()
	d := cuda.New(cuda.Config{Device: devices[0], Base: base, Pages: base, Slots: 8, Room: device.Room{In: 2 << 20, Scratch: 2 << 20, Out: 2 << 20}})
	t.Cleanup(func() {
		if err := errors.Join(d.Close(), devices[0].Close(), base.Close()); err != nil && d.Broken() == nil {
			t.Error(err)
		}
	})
	return d.With(cuda.Force)
}

// TestSuiteThroughTheBinding decodes through the same Go and C code that talks to the driver.
func TestSuiteThroughTheBinding(t *testing.T) {
	d := open(t)
	for _, nullable := range []bool{false, true} {
		fields := kernelstest.Flat(nullable)
		batch := kernelstest.Random(fields, 500, 0.2, 1, memory.DefaultAllocator)
		for _, l := range kernelstest.Layouts() {
			kernelstest.RunBatch(t, d, openGroups(t, kernelstest.Write(t, batch, l), fields), batch)
		}
		batch.Release()
	}
	t.Log(d.Stats())
	if d.Stats().Chunks.Load() < 500 || d.Stats().Refused.Load() > 0 || len(standin.Faults()) > 0 || d.Broken() != nil {
		t.Error(d.Stats(), standin.Faults(), d.Broken())
	}
}

// TestABrokenDeviceIsNotUsedAgain lets launches fail: rows come all the same, and the device is left alone from then on.
func TestABrokenDeviceIsNotUsedAgain(t *testing.T) {
	for _, kernel := range []string{"open_pages", "levels", "gather_fixed", "text_copy", "indices"} {
		d := open(t)
		fields := kernelstest.Flat(true)
		batch := kernelstest.Random(fields, 300, 0.2, 1, memory.DefaultAllocator)
		groups := openGroups(t, kernelstest.Write(t, batch, kernelstest.Layouts()[0]), fields)
		standin.FailNext(kernel)
		kernelstest.RunBatch(t, d, groups, batch)
		if err := d.Broken(); err == nil || !strings.Contains(err.Error(), "IllegalAddress") {
			t.Errorf("%s: %v", kernel, err)
		}
		sent := d.Stats().Chunks.Load()
		kernelstest.RunBatch(t, d, groups, batch)
		if d.Stats().Chunks.Load() != sent {
			t.Errorf("%s: the device is used after its error", kernel)
		}
		batch.Release()
	}
	standin.Mend()
}
