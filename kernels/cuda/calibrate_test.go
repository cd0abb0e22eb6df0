package cuda

import (
	"testing"

	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/kernels/cpu"
	"github.com/skua-data/skua/kernels/cuda/device"
	"github.com/skua-data/skua/kernels/ptxsim"
)

// TestCalibrationLearnsEveryClass runs the measurements on small samples: every class has its times, and its samples are of that class and are
// decoded where they should be.
func TestCalibrationLearnsEveryClass(t *testing.T) {
	s := simulate(t, testRoom, ptxsim.Options{NoRaces: true, NoUnwritten: true})
	costs := CostsOf(device.Info{Name: "NVIDIA L4"})
	before := costs
	slot, err := s.device.NewSlot(testRoom)
	if err != nil {
		t.Fatal(err)
	}
	defer slot.Close()
	small := samples{rows: 2000, page: 500, times: 3}
	for k := range classes {
		rg, err := small.make(k)
		if err != nil {
			t.Fatal(err)
		}
		many, err := repeat(rg, 3)
		if err != nil {
			t.Fatal(err)
		}
		f, reason := newLeaf(many, &many.Columns[0].Node)
		if reason != "" || f.class() != k {
			t.Errorf("class %d: %s, its sample is of class %d", k, reason, f.class())
		}
		if err := agree(t, s, many, 0, kernels.All(many.Rows), 3000, "a sample"); err != nil || many.Rows != 6000 {
			t.Errorf("class %d: %d rows, %v", k, many.Rows, err)
		}
		if err := costs.learn(t.Context(), slot, s.cpu, small, k); err != nil {
			t.Fatal(err)
		}
		if costs.CPU[k] <= 0 || costs.GPU[k] <= 0 {
			t.Errorf("class %d: %v times as long on the CPU, %v on the GPU", k, costs.CPU[k], costs.GPU[k])
		}
	}
	if costs.Unpack == before.Unpack || costs.Unpack <= 0 || costs.Up != before.Up {
		t.Errorf("%+v", costs)
	}
}

// TestLearntCostsDecide: a class that a core reads slowly is sent where it was not, and one that the kernels are slow with stays.
func TestLearntCostsDecide(t *testing.T) {
	rg, err := samples{rows: 40_000, page: 10_000}.make(listedNumbers)
	if err != nil {
		t.Fatal(err)
	}
	many, err := repeat(rg, 300) // enough rows that a batch is worth it
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name     string
		cpu, gpu float64
		sent     bool
	}{{"as assumed", 0, 0, true}, {"a fast core", 0.05, 0, false}, {"slow kernels", 0, 50, false}, {"both slow", 100, 50, true}} {
		costs := CostsOf(device.Info{Name: "NVIDIA H200"})
		costs.Cores = 8
		costs.CPU[listedNumbers], costs.GPU[listedNumbers] = c.cpu, c.gpu
		d := New(Config{Device: &device.Simulated{}, Base: cpu.New(), Costs: costs})
		if got := d.Route(many)[0]; (got.Decoder == decoderName) != c.sent {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}
