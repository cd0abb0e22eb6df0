package cuda

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/kernels/cpu"
	"github.com/skua-data/skua/kernels/cuda/device"
	"github.com/skua-data/skua/kernels/cuda/ptx"
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
	m := &calibration{device: s.device, pages: s.cpu, samples: small, now: time.Now}
	m.onCPU, m.unpacking = m.timeOnCPU, m.timeUnpacking
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
		if err := m.learn(t.Context(), slot, &costs, k); err != nil {
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

// rated is a device on which copies and launches take a known time by a clock of its own.
type rated struct {
	device.Device
	clock            time.Time
	up, down, kernel time.Duration // of each copy up, copy down and launch
	fails            string        // the call that fails
}

func (r *rated) now() time.Time { return r.clock }

func (r *rated) NewSlot(room device.Room) (device.Slot, error) {
	if r.fails == "slot" {
		return nil, errors.New("out of memory")
	}
	s, err := r.Device.NewSlot(room)
	return &ratedSlot{s, r, false}, err
}

type ratedSlot struct {
	device.Slot
	of      *rated
	skipped bool // a launch was
}

func (s *ratedSlot) took(call string, d time.Duration) error {
	s.of.clock = s.of.clock.Add(d)
	if s.of.fails == call {
		return errors.New("an illegal address")
	}
	return nil
}

func (s *ratedSlot) Upload() error {
	if err := s.took("upload", s.of.up); err != nil {
		return err
	}
	return s.Slot.Upload()
}

func (s *ratedSlot) Download() error {
	if err := s.took("download", s.of.down); err != nil || s.skipped {
		return err
	}
	return s.Slot.Download()
}

// Launch of the plain numbers by which the link is measured does nothing but take its time: they are too many for a simulation.
func (s *ratedSlot) Launch(kernel string, blocks, threads int, args ...uint64) error {
	err := s.took("launch", s.of.kernel)
	if s.skipped = s.skipped || kernel == ptx.OpenPages.Name && blocks == perThread(calibratePages); err != nil || s.skipped {
		return err
	}
	return s.Slot.Launch(kernel, blocks, threads, args...)
}

// TestCalibrationLearnsKnownRates measures a device and cores whose times are known.
func TestCalibrationLearnsKnownRates(t *testing.T) {
	s := simulate(t, testRoom, ptxsim.Options{NoRaces: true, NoUnwritten: true})
	const size = calibratePages * calibrateRows * 8 // bytes of the plain numbers
	assumed := CostsOf(device.Info{Name: "NVIDIA L4"})
	for _, c := range []struct {
		name                              string
		up, down, kernel, core, unpacking time.Duration
		wantUp, wantDown, wantKernel      float64 // GB/s
		learn                             bool    // measure samples of all classes too
	}{
		{"as fast as its link", size / 20, size / 10, size / 80, 1000, 2000, 20, 10, 40, true}, // two kernels
		{"a slow one", size * 2, size * 4, size, 1000, 2000, 0.5, 0.25, 0.5, false},
		{"a clock that stands still", 0, 0, 0, 0, 0, assumed.Up, assumed.Down, assumed.Kernel, true},
		{"a clock that goes back", -5, -size, -1, -7, -9, assumed.Up, assumed.Down, assumed.Kernel, false},
		{"one faster than can be", 1, 1, 1, 1, 1, assumed.Up, assumed.Down, assumed.Kernel, false},
	} {
		d := &rated{Device: s.device, up: c.up, down: c.down, kernel: c.kernel}
		m := &calibration{device: d, pages: s.cpu, samples: samples{rows: 2000, page: 500, times: 2}, now: d.now}
		m.onCPU = func(context.Context, *kernels.RowGroup) (time.Duration, error) { return c.core, nil }
		m.unpacking = func(context.Context, *kernels.RowGroup) (time.Duration, error) { return c.unpacking, nil }
		link, err := m.link(t.Context(), assumed)
		if err != nil {
			t.Fatal(err)
		}
		if apart(link.Up, c.wantUp) || apart(link.Down, c.wantDown) || apart(link.Kernel, c.wantKernel) {
			t.Errorf("%s: %+v", c.name, link)
		}
		if !c.learn {
			continue
		}
		got := link
		slot, err := d.NewSlot(testRoom)
		if err != nil {
			t.Fatal(err)
		}
		for k := range classes {
			slot.Reset()
			if err := m.learn(t.Context(), slot, &got, k); err != nil {
				t.Fatal(err)
			}
			rg, err := m.samples.make(k)
			if err != nil {
				t.Fatal(err)
			}
			many, err := repeat(rg, m.samples.times)
			if err != nil {
				t.Fatal(err)
			}
			f, _ := newLeaf(many, &many.Columns[0].Node)
			want := float64(c.core) * float64(m.samples.times) / assumed.estimate(f, many.Rows, many.Rows).cpu
			if c.core > 1 && apart(got.CPU[k], want) {
				t.Errorf("%s, class %d: a core takes %v times as long as assumed, want %v", c.name, k, got.CPU[k], want)
			}
			if c.core <= 0 && (got.CPU[k] != 0 || c.kernel <= 0 && got.GPU[k] != 0) {
				t.Errorf("%s, class %d: learnt %v and %v of no time", c.name, k, got.CPU[k], got.GPU[k])
			}
			if c.kernel > 1 && got.GPU[k] <= 0 {
				t.Errorf("%s, class %d: the kernels took %v", c.name, k, got.GPU[k])
			}
			if k == plainTexts && c.core > 1 && apart(got.Unpack, float64(f.size)/float64(m.samples.times)/float64(c.unpacking)) {
				t.Errorf("%s: unpacking at %v", c.name, got.Unpack)
			}
		}
		for _, v := range append(append(got.CPU[:], got.GPU[:]...), got.Up, got.Down, got.Kernel, got.Unpack) {
			if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
				t.Errorf("%s: learnt %v", c.name, got)
			}
		}
		slot.Close()
	}
}

// apart says that two numbers differ by more than a tenth.
func apart(a, b float64) bool { return math.Abs(a-b) > b/10 }

// TestADeviceThatFailsItsCalibrationIsTold: the error is the device's, wherever it comes.
func TestADeviceThatFailsItsCalibrationIsTold(t *testing.T) {
	s := simulate(t, testRoom, ptxsim.Options{NoRaces: true, NoUnwritten: true})
	for _, call := range []string{"slot", "upload", "launch", "download"} {
		d := &rated{Device: s.device, up: 1, down: 1, kernel: 1, fails: call}
		costs := CostsOf(d.Info())
		m := &calibration{device: d, pages: s.cpu, samples: samples{rows: 400, page: 100, times: 2}, now: d.now}
		m.onCPU, m.unpacking = m.timeOnCPU, m.timeUnpacking
		if got, err := m.run(t.Context(), costs); err == nil || got != costs {
			t.Errorf("%s fails: %v, %+v", call, err, got)
		}
		d.fails = ""
		slot, err := d.NewSlot(testRoom)
		if err != nil {
			t.Fatal(err)
		}
		d.fails = call
		var broken driverError
		if err := m.learn(t.Context(), slot, &costs, plainTexts); call != "slot" && !errors.As(err, &broken) {
			t.Errorf("%s fails in a sample: %v", call, err)
		}
		slot.Close()
	}
}
