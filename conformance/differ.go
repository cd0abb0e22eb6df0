package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc/status"
)

// Differ asks two servers the same and gives an outcome for each case that both can be asked: failed where they differ, whatever the script expects. Of
// errors only the codes are compared. Either side is as Run's configuration has it; the cell, the choice of cases and what is skipped are those of one.
func Differ(ctx context.Context, one, other Config, scripts ...*Script) []Outcome {
	a, b := &runner{Config: one.filled()}, &runner{Config: other.filled()}
	a.names, b.names = NewRenames(a.Profile.Names, a.Profile.Texts), NewRenames(b.Profile.Names, b.Profile.Texts)
	var out []Outcome
	for _, s := range scripts {
		for i := range s.Cases {
			if o, meant := differ(ctx, a, b, s, &s.Cases[i]); meant {
				out = append(out, o)
			}
		}
	}
	return out
}

// said is what one server gave to a step.
type said struct {
	step *Step
	got  *result
	err  error
}

func differ(ctx context.Context, a, b *runner, s *Script, c *Case) (o Outcome, meant bool) {
	h := s.Heading(c)
	o = Outcome{Script: s.Name, Case: c.Name, Rule: h.Rule, Features: h.Features, Cell: a.Cell, Status: Skipped}
	if !h.declares(a.Cell) || a.Smoke && !h.Smoke || !a.chosen(o.ID()) {
		return o, false
	}
	for _, r := range []*runner{a, b} {
		if o.Reason = r.skipped(ctx, s, c, h); o.Reason != "" {
			return o, true
		}
	}
	started := time.Now()
	first, second := a.record(ctx, c), b.record(ctx, c)
	o.Elapsed, o.Status = time.Since(started), Passed
	for i := range min(len(first), len(second)) {
		if text := difference(first[i], second[i]); text != "" {
			o.Status = Failed
			o.Failures = append(o.Failures, text)
		}
	}
	if len(first) != len(second) {
		o.Status = Failed
		o.Failures = append(o.Failures, fmt.Sprintf("one was asked %d statements, the other %d", len(first), len(second)))
	}
	return o, true
}

// record asks every step and keeps what came.
func (r *runner) record(ctx context.Context, c *Case) (out []said) {
	limited, cancel := context.WithTimeout(ctx, r.CaseTimeout)
	defer cancel()
	err := r.steps(limited, c, func(s *Step, got *result, err error) error {
		out = append(out, said{s, got, err})
		return nil
	})
	if err != nil {
		out = append(out, said{&c.Steps[0], nil, err})
	}
	return out
}

// difference tells how two answers differ, or "".
func difference(a, b said) string {
	one, other := a.text(), b.text()
	if slices.Equal(one, other) {
		return ""
	}
	return fmt.Sprintf("line %d: %s\n    one:   %s\n    other: %s", a.step.Line, a.step.SQL, clip(strings.Join(one, " ⏎ ")), clip(strings.Join(other, " ⏎ ")))
}

// text spells an answer so that equal ones are spelled alike.
func (s said) text() []string {
	var wrong *mismatch
	switch {
	case errors.As(s.err, &wrong):
		return []string{wrong.Error()}
	case s.err != nil:
		return []string{"error " + status.Code(s.err).String()}
	case s.got.update:
		return []string{"update"}
	case s.step.Contains || s.step.Analyze: // what took how long, and what a server says of itself, differs always
		return []string{s.got.schema}
	}
	rows := s.got.rows()
	if !s.step.Ordered {
		slices.Sort(rows)
	}
	return append([]string{s.got.schema}, rows...)
}
