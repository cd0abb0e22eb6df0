package ptxsim

import (
	"fmt"
	"strings"
)

// Kinds of faults.
const (
	OutOfBounds = "out of bounds"
	Misaligned  = "misaligned"
	Race        = "race"
	Unwritten   = "unwritten"
	Divergence  = "divergence"
	Hang        = "hang"
	Trap        = "trap"
)

// Fault is one misbehaviour of a kernel.
type Fault struct {
	Kind   string // see the constants
	Line   int    // of the PTX text
	Text   string // the instruction
	Source string // file and line of the source, where the PTX says so; inside an inlined function, also from where
	Block  int
	Thread int
	Detail string
	Count  int // how often it was seen
}

// String tells the fault in one line.
func (f Fault) String() string {
	at := f.Source
	if at == "" {
		at = fmt.Sprintf("line %d", f.Line)
	}
	return fmt.Sprintf("%s at %s (%s), block %d thread %d: %s (x%d)", f.Kind, at, f.Text, f.Block, f.Thread, f.Detail, f.Count)
}

// Result counts what a launch did. The counts are the same on every run.
type Result struct {
	WarpInstructions uint64
	LaneInstructions uint64
	Barriers         uint64 // passed, per block
	GlobalAccesses   uint64 // warp-wide loads and stores of global memory
	GlobalSectors    uint64 // runs of lanes within one 32-byte sector, summed over them
	Faults           []Fault
}

// Err is an error that names the faults, or nil.
func (r *Result) Err() error {
	if len(r.Faults) == 0 {
		return nil
	}
	var s []string
	for _, f := range r.Faults {
		s = append(s, f.String())
	}
	return fmt.Errorf("%d faults:\n%s", len(s), strings.Join(s, "\n"))
}

// fault records a misbehaviour, once for each kind and instruction.
func (r *run) fault(kind string, w *warp, lane int, in *instr, detail string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := fmt.Sprintf("%s/%d", kind, in.line)
	if i, ok := r.seen[key]; ok {
		r.result.Faults[i].Count++
		return
	}
	r.seen[key] = len(r.result.Faults)
	r.result.Faults = append(r.result.Faults, Fault{Kind: kind, Line: in.line, Text: in.text, Source: in.source, Block: w.block.index,
		Thread: w.id<<5 | lane, Detail: detail, Count: 1})
	if len(r.result.Faults) >= r.l.MaxFaults {
		r.stop.Store(true)
	}
}
