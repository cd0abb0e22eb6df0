// Package report tells what became of a run of conformance scripts: as text, JUnit XML, JSON, and one HTML page that needs nothing else. A case
// that was skipped is never counted as passed.
package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/skua-data/skua/conformance"
)

// Run is one run with what it was of.
type Run struct {
	Title    string    // what was asked, such as a server's address
	Profile  string    // the name of the profile
	Started  time.Time // when
	Outcomes []conformance.Outcome
}

// Counts are how many outcomes there are of each status.
type Counts struct{ Passed, Failed, Skipped int }

// String spells them.
func (c Counts) String() string {
	return fmt.Sprintf("%d passed, %d failed, %d skipped", c.Passed, c.Failed, c.Skipped)
}

func (c *Counts) add(s conformance.Status) {
	switch s {
	case conformance.Passed:
		c.Passed++
	case conformance.Failed:
		c.Failed++
	default:
		c.Skipped++
	}
}

// Count counts outcomes.
func Count(outcomes []conformance.Outcome) (c Counts) {
	for _, o := range outcomes {
		c.add(o.Status)
	}
	return c
}

// WriteText writes failures whole, skipped cases summed up by reason, and the counts. What a server sent is no command to a terminal.
func WriteText(w io.Writer, r Run) {
	reasons, absent := map[string]int{}, map[string]bool{}
	for _, o := range r.Outcomes {
		switch o.Status {
		case conformance.Failed:
			fmt.Fprintf(w, "FAIL %s (%s)\n  rule: %s\n", o.ID(), o.Cell, o.Rule)
			for _, f := range o.Failures {
				fmt.Fprintln(w, "  "+strings.ReplaceAll(printable(f), "\n", "\n  "))
			}
		case conformance.Skipped:
			reason := o.Reason
			if table, ok := missingTable(reason); ok {
				absent[table] = true
				reason = tablesMissing
			}
			reasons[reason]++
		}
	}
	for _, reason := range slices.SortedFunc(maps.Keys(reasons), func(a, b string) int { return cmp.Or(reasons[b]-reasons[a], cmp.Compare(a, b)) }) {
		fmt.Fprintf(w, "SKIP %d: %s\n", reasons[reason], reason)
		if tables := slices.Sorted(maps.Keys(absent)); reason == tablesMissing {
			fmt.Fprintf(w, "  %s", strings.Join(tables[:min(len(tables), 3)], ", "))
			if more := len(tables) - 3; more > 0 {
				fmt.Fprintf(w, " and %d others", more)
			}
			fmt.Fprintln(w)
		}
	}
	fmt.Fprintln(w, Count(r.Outcomes))
}

// tablesMissing sums up the cases whose reference tables are not there.
const tablesMissing = "reference tables that are not there"

// missingTable gives the reference table whose absence is the reason for leaving a case out.
func missingTable(reason string) (string, bool) {
	table, ok := strings.CutPrefix(reason, "the reference table ")
	if !ok {
		return "", false
	}
	return strings.CutSuffix(table, " is not there")
}

// record is an outcome in JSON.
type record struct {
	Script       string   `json:"script"`
	Case         string   `json:"case"`
	Rule         string   `json:"rule"`
	Features     []string `json:"features,omitempty"`
	Path         string   `json:"path"`
	Cookies      bool     `json:"cookies"`
	Decoder      string   `json:"decoder"`
	Catalog      string   `json:"catalog"`
	Store        string   `json:"store"`
	Client       string   `json:"client"`
	Status       string   `json:"status"`
	Reason       string   `json:"reason,omitempty"`
	Failures     []string `json:"failures,omitempty"`
	Milliseconds int64    `json:"milliseconds"`
}

// WriteJSON writes the run as one object: title, profile, started, counts, outcomes.
func WriteJSON(w io.Writer, r Run) error {
	records := make([]record, len(r.Outcomes))
	for i, o := range r.Outcomes {
		records[i] = record{strings.TrimSuffix(o.Script, ".test"), o.Case, o.Rule, o.Features, string(o.Cell.Path), o.Cell.Cookies,
			o.Cell.Value(conformance.Decoder), o.Cell.Value(conformance.Catalog), o.Cell.Value(conformance.Store), o.Cell.Value(conformance.Through),
			string(o.Status), o.Reason, o.Failures, o.Elapsed.Milliseconds()}
	}
	c := Count(r.Outcomes)
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(map[string]any{"title": r.Title, "profile": r.Profile, "started": r.Started.UTC().Format(time.RFC3339), "outcomes": records,
		"counts": map[string]int{"passed": c.Passed, "failed": c.Failed, "skipped": c.Skipped}})
}

// sections gives the places in specifications that a rule names: its parts between semicolons, without what they say.
func sections(rule string) (out []string) {
	for _, part := range strings.Split(rule, ";") {
		place, _, _ := strings.Cut(part, ":")
		if place = strings.TrimSpace(place); place != "" {
			out = append(out, place)
		}
	}
	if len(out) == 0 {
		out = []string{"no rule named"}
	}
	return out
}
