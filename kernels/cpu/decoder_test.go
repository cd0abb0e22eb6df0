package cpu_test

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/kernels/cpu"
	"github.com/skua-data/skua/kernels/kernelstest"
	"github.com/skua-data/skua/scan/parquet"
	"github.com/skua-data/skua/scan/parquet/parquettest"
)

// openGroups opens a file in memory.
var openGroups = parquettest.Groups

func TestDecoderPassesTheSuite(t *testing.T) {
	d := cpu.New()
	defer d.Close()
	kernelstest.Run(t, d, openGroups)
}

func TestDecoderTakesEveryColumnOfTheSuite(t *testing.T) {
	d := cpu.New()
	defer d.Close()
	fields := append(kernelstest.Flat(true), kernelstest.Nested()...)
	batch := kernelstest.Random(fields, 50, 0.2, 1, memory.DefaultAllocator)
	defer batch.Release()
	for _, l := range kernelstest.Layouts() {
		for _, g := range openGroups(t, kernelstest.Write(t, batch, l), fields) {
			for i, r := range d.Route(g) {
				if !r.Taken || r.Decoder != "cpu" {
					t.Errorf("%s: column %s: %+v", l.Name, fields[i].Name, r)
				}
			}
		}
	}
}

// TestPreferredDecodersPassTheSuite reads through the composition in which a server has this decoder.
func TestPreferredDecodersPassTheSuite(t *testing.T) {
	d := kernels.Prefer(cpu.New(), parquet.NewFallback())
	defer d.Close()
	fields := append(kernelstest.Flat(true), kernelstest.Nested()...)
	batch := kernelstest.Random(fields, 700, 0.2, 1, memory.DefaultAllocator)
	defer batch.Release()
	for _, l := range kernelstest.Layouts() {
		kernelstest.RunBatch(t, d, openGroups(t, kernelstest.Write(t, batch, l), fields), batch)
	}
}
