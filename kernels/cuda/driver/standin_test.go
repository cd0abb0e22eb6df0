//go:build cuda && cudafake

package driver_test

import (
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/kernels/cuda/driver/standin"
	"github.com/skua-data/skua/kernels/kernelstest"
)

// A stand-in has the driver's place.
const standIn = true

func mend() { standin.Mend() }

func faults() []string { return standin.Faults() }

// TestABrokenDeviceIsNotUsedAgain lets launches fail: rows come all the same, and the device is left alone from then on.
func TestABrokenDeviceIsNotUsedAgain(t *testing.T) {
	for _, kernel := range []string{"open_pages", "levels", "gather_fixed", "text_copy", "indices"} {
		d, _ := open(t, smallRoom)
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
