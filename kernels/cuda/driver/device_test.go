//go:build cuda

package driver_test

import (
	"errors"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/kernels/cpu"
	"github.com/skua-data/skua/kernels/cuda"
	"github.com/skua-data/skua/kernels/cuda/device"
	"github.com/skua-data/skua/kernels/cuda/driver"
	"github.com/skua-data/skua/kernels/cuda/ptx"
	"github.com/skua-data/skua/kernels/kernelstest"
	"github.com/skua-data/skua/scan/parquet/parquettest"
)

// smallRoom is enough for the files of the suite.
var smallRoom = device.Room{In: 2 << 20, Scratch: 2 << 20, Out: 2 << 20}

// openGroups opens a file in memory.
var openGroups = parquettest.Groups

// open makes a decoder over the first device that sends all that the kernels can do. Without a device the test is skipped.
func open(t *testing.T, room device.Room) (*cuda.Decoder, device.Device) {
	t.Helper()
	mend()
	var texts []string
	for _, m := range ptx.Modules() {
		text, err := ptx.Text(m)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, text)
	}
	devices, r := driver.Open(texts)
	if len(devices) == 0 && !standIn {
		t.Skipf("no device: %s", r.Reason)
	}
	if len(devices) == 0 || !r.Built {
		t.Fatalf("%d devices: %+v", len(devices), r)
	}
	for _, other := range devices[1:] {
		if err := other.Close(); err != nil {
			t.Error(err)
		}
	}
	base := cpu.New()
	d := cuda.New(cuda.Config{Device: devices[0], Base: base, Pages: base, Slots: 8, Room: room})
	t.Cleanup(func() {
		if err := errors.Join(d.Close(), devices[0].Close(), base.Close()); err != nil && d.Broken() == nil {
			t.Error(err)
		}
	})
	return d.With(cuda.Force), devices[0]
}

// TestSuiteThroughTheBinding decodes through the binding, on a device or its stand-in.
func TestSuiteThroughTheBinding(t *testing.T) {
	d, _ := open(t, smallRoom)
	for _, nullable := range []bool{false, true} {
		fields := kernelstest.Flat(nullable)
		for i, f := range []arrow.DataType{arrow.PrimitiveTypes.Int64, arrow.BinaryTypes.String} {
			fields = append(fields, kernelstest.Field(201+2*i, f.String(), arrow.ListOfField(kernelstest.Field(202+2*i, "element", f, nullable)), nullable))
		}
		batch := kernelstest.Random(fields, 500, 0.2, 1, memory.DefaultAllocator)
		for _, l := range kernelstest.Layouts() {
			kernelstest.RunBatch(t, d, openGroups(t, kernelstest.Write(t, batch, l), fields), batch)
		}
		batch.Release()
	}
	t.Log(d.Stats())
	if d.Stats().Chunks.Load() < 500 || d.Stats().Refused.Load() > 0 || len(faults()) > 0 || d.Broken() != nil {
		t.Error(d.Stats(), faults(), d.Broken())
	}
}
