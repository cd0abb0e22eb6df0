package cuda

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/parquet/compress"

	"github.com/skua-data/skua/kernels/cpu"
	"github.com/skua-data/skua/kernels/cuda/device"
	"github.com/skua-data/skua/resource"
)

// Costs are the rates by which the router decides. Bytes a nanosecond are GB/s.
type Costs struct {
	Up, Down     float64 // of page-locked copies, bytes a nanosecond
	Kernel       float64 // Arrow bytes that the kernels give a nanosecond
	Unpack       float64 // page bytes that a core unpacks a nanosecond
	UnpackStored float64 // those of pages that hardly shrank
	Launch       float64 // nanoseconds of a batch, whatever its size
	Cores        float64 // that unpack, and that the CPU would decode with
	Least        float64 // Arrow bytes of a batch below which it stays on the CPU

	CPU, GPU [classes]float64 // by class: how many times as long as assumed a core and the kernels take; 0 is 1
}

// class is a kind of chunks that cost alike.
type class uint8

// The classes: values that lie there as they are, and those of a dictionary.
const (
	plainNumbers class = iota
	listedNumbers
	plainDecimals // that become 16 bytes
	listedDecimals
	plainTexts
	listedTexts
	booleans
	classes
)

func (l *leaf) class() class {
	c := plainNumbers
	switch {
	case l.form == cpu.BitForm:
		return booleans
	case l.form == cpu.TextForm:
		c = plainTexts
	case l.widened:
		c = plainDecimals
	}
	if !l.plain() {
		c++
	}
	return c
}

// factor is a learnt one, or 1.
func factor(learnt [classes]float64, c class) float64 {
	if f := learnt[c]; f > 0 {
		return f
	}
	return 1
}

// known are the rates of devices by a part of their names: half to four fifths of what their links have in theory.
var known = []struct {
	name         string
	link, kernel float64
}{{"H200", 52, 50}, {"H100", 52, 50}, {"B200", 52, 60}, {"A100", 24, 33}, {"L4", 24, 25}}

// CostsOf gives the rates of a device before anything was measured. A simulated device counts as one of the fastest, so that tests see
// what would be sent.
func CostsOf(i device.Info) Costs {
	c := Costs{Up: 20, Down: 20, Kernel: 20, Unpack: 0.8, UnpackStored: 5, Launch: 50_000, Cores: float64(runtime.GOMAXPROCS(0)), Least: 64 << 20}
	for _, k := range known {
		if strings.Contains(i.Name, k.name) || i.Simulated && k.name == "H200" {
			c.Up, c.Down, c.Kernel = k.link, k.link, k.kernel
			break
		}
	}
	return c
}

// estimate is what a chunk's rows would cost, in bytes and nanoseconds of one core.
type estimate struct {
	up, unpack, stored, back, arrow, cpu float64
	work                                 float64 // Arrow bytes that would keep the kernels as busy, were they plain numbers
}

// add adds what is read with it.
func (e *estimate) add(o estimate) {
	e.up, e.unpack, e.stored, e.back = e.up+o.up, e.unpack+o.unpack, e.stored+o.stored, e.back+o.back
	e.arrow, e.cpu, e.work = e.arrow+o.arrow, e.cpu+o.cpu, e.work+o.work
}

// estimate judges n of a leaf's rows, of which keep come back.
func (c *Costs) estimate(l *leaf, rows, keep int64) estimate {
	part, entries := float64(rows)/float64(max(l.rows, 1)), 1.0
	if l.lists() {
		entries = float64(l.values) / float64(max(l.rows, 1))
	}
	size, kept := float64(l.size), float64(keep)*entries
	plain := l.plain()
	e := estimate{up: size * part}
	switch l.codec {
	case compress.Codecs.Uncompressed:
	case compress.Codecs.Snappy, compress.Codecs.Lz4Raw:
		e.up = float64(l.packed) * part
	default:
		e.unpack = size * part
		if float64(l.packed) > 0.9*size {
			e.unpack, e.stored = 0, size*part
		}
	}
	width := l.width(plain)
	e.back, e.arrow = kept*float64(l.back), kept*width
	if l.back == 0 {
		e.back = kept * width
	}
	e.cpu = float64(rows) * entries * l.cpuTime(plain, width) * factor(c.CPU, l.class())
	e.work = e.arrow * factor(c.GPU, l.class())
	if l.lists() { // and an offset
		e.back, e.arrow, e.work = e.back+4*float64(keep), e.arrow+4*float64(keep), e.work+4*float64(keep)+listWork*kept
		e.cpu += listTime * float64(rows) * entries
	}
	return e
}

// never says why a chunk is not sent in any batch of which keep rows come back; "" where the costs decide. They are cases in which the model
// sees a gain that is none, since the same cores do as much for the device as they would alone.
func (l *leaf) never(keep int64) string {
	switch {
	case 2*keep < l.rows, l.lists(): // levels of lists alone take a core longer than unpacking
		return ""
	case l.widened && !l.plain():
		return "16 bytes a row, which a core makes as fast of the dictionary itself, unless a filter keeps few rows"
	case l.plain() && !l.unpacksThere():
		return "unpacking takes the CPU as long as decoding, unless a filter keeps few rows"
	}
	return ""
}

// What being in a list costs an element: nanoseconds of a core, and Arrow bytes that would keep the kernels as busy. The first was measured with
// lists of 8 on average, in the measure of the times below (lists of 3 took twice as long); the second is the instructions of the kernels for
// lists beside those for plain numbers.
const (
	listTime = 16
	listWork = 16
)

// plain says whether most values are in no dictionary.
func (l *leaf) plain() bool {
	return !l.dictionary || l.stored > 0 && float64(l.size) > 0.7*float64(l.values)*float64(l.stored)
}

// unpacksThere says whether pages go up as they are.
func (l *leaf) unpacksThere() bool {
	return l.codec == compress.Codecs.Uncompressed || l.codec == compress.Codecs.Snappy || l.codec == compress.Codecs.Lz4Raw
}

// width is the Arrow bytes of a row, as far as metadata tells.
func (l *leaf) width(plain bool) float64 {
	switch {
	case l.widened:
		return 16
	case l.form == cpu.BitForm:
		return 0.13
	case l.form == cpu.TextForm && plain:
		return max(4, float64(l.size)/float64(max(l.values, 1)))
	case l.form == cpu.TextForm:
		return 12
	}
	return float64(l.back)
}

// cpuTime is the nanoseconds that a core takes for a row. They were measured with a tuned reader of lineitem, unpacking included.
func (l *leaf) cpuTime(plain bool, width float64) float64 {
	switch {
	case l.form == cpu.TextForm && plain:
		return 10 + width
	case l.form == cpu.TextForm:
		return 15
	case l.form == cpu.BitForm:
		return 1
	case l.widened && plain:
		return 10.7
	case plain && l.codec == compress.Codecs.Uncompressed:
		return 1 + width/8
	case plain:
		return 6.7
	case l.widened:
		return 3.6
	case l.back == 4:
		return 2.8
	}
	return 3.5
}

// device is the nanoseconds of a batch on the device: its slowest stage, since batches overlap.
func (c *Costs) device(all []estimate) float64 {
	var sum estimate
	for _, e := range all {
		sum.add(e)
	}
	return max(sum.up/c.Up, sum.back/c.Down, (sum.unpack/c.Unpack+sum.stored/c.UnpackStored)/c.Cores, sum.work/c.Kernel) + c.Launch
}

func (c *Costs) cpu(all []estimate) (out float64) {
	for _, e := range all {
		out += e.cpu
	}
	return out / c.Cores
}

// choice is what becomes of a column.
type choice struct {
	send   bool
	reason string
}

// pick chooses which of the estimates to send: a column stays where the CPU has it faster than the batch gets by leaving it out.
func (c *Costs) pick(all []estimate) []bool {
	send := make([]bool, len(all))
	for i := range send {
		send[i] = true
	}
	sent := func(without int) (out []estimate) {
		for i, e := range all {
			if send[i] && i != without {
				out = append(out, e)
			}
		}
		return out
	}
	for {
		worst, gain := -1, 0.0
		for i := range all {
			if !send[i] {
				continue
			}
			if g := c.device(sent(-1)) - c.device(sent(i)) - all[i].cpu/c.Cores; g > gain {
				worst, gain = i, g
			}
		}
		if worst < 0 {
			break
		}
		send[worst] = false
	}
	if rest := sent(-1); len(rest) > 0 && c.device(rest) >= c.cpu(rest) {
		clear(send)
	}
	return send
}

// now gives the costs as the statement meets them: its cores are its own and those that nobody holds.
func (s *shared) now(ctx context.Context) *Costs {
	c := s.config.Costs
	c.Cores = min(c.Cores, float64(resource.From(ctx).FreeCores()+1))
	return &c
}

// choose decides, for columns of which keep rows are wanted, what is sent at these costs.
func (r *reader) choose(costs *Costs, columns []int, keep int64) []choice {
	out := make([]choice, len(columns))
	var able []int
	var estimates []estimate
	var arrow float64
	for i, at := range columns {
		f, reason := newColumn(r.rg, &r.rg.Columns[at].Node)
		if out[i].reason = reason; reason != "" {
			continue
		}
		if reason := f.never(keep); reason != "" && r.mode != Force {
			out[i].reason = reason
			continue
		}
		e := f.estimate(costs, r.rg.Rows, keep)
		able, estimates, arrow = append(able, i), append(estimates, e), arrow+e.arrow
	}
	if r.mode == Force {
		for _, i := range able {
			out[i] = choice{true, "the session wants it on the GPU"}
		}
		return out
	}
	if arrow < costs.Least {
		for _, i := range able {
			out[i].reason = fmt.Sprintf("fewer than %d MiB come back", int(costs.Least)>>20)
		}
		return out
	}
	for k, yes := range costs.pick(estimates) {
		out[able[k]] = choice{yes, because(yes, costs, estimates[k])}
	}
	return out
}

// because names the stage that decides.
func because(send bool, c *Costs, e estimate) string {
	gpu, cpu := c.device([]estimate{e})-c.Launch, e.cpu/c.Cores
	stage := "the upload"
	switch gpu {
	case e.back / c.Down:
		stage = "the way back"
	case (e.unpack/c.Unpack + e.stored/c.UnpackStored) / c.Cores:
		stage = "unpacking on the CPU"
	case e.work / c.Kernel:
		stage = "the kernels"
	}
	if send {
		return fmt.Sprintf("%.1f times as fast, bounded by %s", cpu/gpu, stage)
	}
	return fmt.Sprintf("the CPU is as fast, bounded by %s", stage)
}

// sends says whether a column that was chosen for is to be sent.
func (r *reader) sends(column int) bool {
	i := slices.Index(r.asked, column)
	return i >= 0 && r.choices[i].send
}
