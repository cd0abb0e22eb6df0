package cuda

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/kernels/cpu"
	"github.com/skua-data/skua/kernels/cuda/device"
	"github.com/skua-data/skua/kernels/cuda/ptx"
	"github.com/skua-data/skua/kernels/kernelstest"
	"github.com/skua-data/skua/kernels/ptxsim"
	"github.com/skua-data/skua/scan/parquet/parquettest"
)

// openGroups opens a file in memory.
var openGroups = parquettest.Groups

// texts are all modules' PTX.
func texts(t testing.TB) (out []string) {
	t.Helper()
	for _, m := range ptx.Modules() {
		text, err := ptx.Text(m)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, text)
	}
	return out
}

// simulation is a decoder over a simulated device, with what it stands on.
type simulation struct {
	*Decoder
	cpu    *cpu.Decoder
	device *device.Simulated
}

// simulate makes a decoder that sends all that the kernels can do. At the end of the test no kernel had a fault.
func simulate(t testing.TB, room device.Room, options ptxsim.Options) *simulation {
	t.Helper()
	sim, err := device.NewSimulated(texts(t)...)
	if err != nil {
		t.Fatal(err)
	}
	sim.Options = options
	s := &simulation{cpu: cpu.New(), device: sim}
	s.Decoder = New(Config{Device: sim, Base: s.cpu, Pages: s.cpu, Room: room, Slots: 40}).With(Force)
	t.Cleanup(func() {
		if err := sim.Faults(); err != nil {
			t.Error(err)
		}
		if err := s.Broken(); err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		s.cpu.Close()
	})
	return s
}

// testRoom is a slot that is large enough for the files of the suite.
var testRoom = device.Room{In: 8 << 20, Scratch: 8 << 20, Out: 8 << 20}

func TestDecoderPassesTheSuite(t *testing.T) {
	s := simulate(t, testRoom, ptxsim.Options{})
	kernelstest.Run(t, s, openGroups)
	if n := s.Stats().Chunks.Load(); n < 1000 {
		t.Errorf("only %d chunks went to the device", n)
	}
	if n := s.Stats().Refused.Load(); n > 0 {
		t.Errorf("%d chunks came back", n)
	}
	t.Log(s.Stats())
}

func TestSmallSlotsPassTheSuite(t *testing.T) {
	s := simulate(t, device.Room{In: 40 << 10, Scratch: 90 << 10, Out: 40 << 10}, ptxsim.Options{NoRaces: true})
	batch := kernelstest.Random(kernelstest.Flat(true), 6000, 0.1, 3, memory.DefaultAllocator)
	defer batch.Release()
	for _, l := range kernelstest.Layouts()[:3] {
		kernelstest.RunBatch(t, s, openGroups(t, kernelstest.Write(t, batch, l), kernelstest.Flat(true)), batch)
	}
	if s.Stats().Chunks.Load() < 100 {
		t.Errorf("only %d chunks went to the device", s.Stats().Chunks.Load())
	}
	t.Log(s.Stats())
}
