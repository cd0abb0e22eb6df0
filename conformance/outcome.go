package conformance

import (
	"fmt"
	"strings"
	"time"
)

// Status is what became of one case in one cell.
type Status string

// The statuses. A case that could not be run is skipped with a reason, and never counts as passed.
const (
	Passed  Status = "passed"
	Failed  Status = "failed"
	Skipped Status = "skipped"
)

// Outcome is what became of one case in one cell.
type Outcome struct {
	Script, Case, Rule string
	Features           []string
	Cell               Cell
	Status             Status
	Reason             string   // of a skipped case
	Failures           []string // what was expected and seen
	Timeout            bool     // of a failed case: time ran out
	Elapsed            time.Duration
}

// ID names the case: script and case.
func (o Outcome) ID() string { return strings.TrimSuffix(o.Script, ".test") + "/" + o.Case }

// mismatch is a step that came out otherwise.
type mismatch struct{ what, want, got string }

// Error tells both sides.
func (m *mismatch) Error() string {
	return fmt.Sprintf("%s\n    expected: %s\n    seen:     %s", m.what, clip(m.want), clip(m.got))
}

// mostShown bounds what a failure shows of either side.
const mostShown = 4000

func clip(s string) string { return clipTo(s, mostShown) }

func clipTo(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return fmt.Sprintf("%s … (%d bytes)", strings.ToValidUTF8(s[:most], ""), len(s))
}
