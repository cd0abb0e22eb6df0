package engine

import (
	"context"
	"strings"
	"testing"

	"github.com/skua-data/skua/fault"
)

// decodersKey is where a context says what a fakePlan knows of its decoders.
type decodersKey struct{}

func (p *fakePlan) Decoders(ctx context.Context) ([]string, error) {
	if of, ok := ctx.Value(decodersKey{}).(func() ([]string, error)); ok {
		return of()
	}
	return nil, nil
}

// TestExplainTellsTheDecoders: plain EXPLAIN opens a file to tell who would read it, and a file that cannot be opened costs that line alone. ANALYZE
// tells who did read, and a count from metadata reads nothing.
func TestExplainTellsTheDecoders(t *testing.T) {
	w, e := newWorld(t)
	s := w.session(t, e, "s")
	asked := 0
	taken := func() ([]string, error) { asked++; return []string{"id: cpu", "n: fallback (nested)"}, nil }
	gone := func() ([]string, error) { asked++; return nil, fault.New(fault.NotFound, "no file:/a") }
	for _, c := range []struct {
		sql   string
		of    func() ([]string, error)
		asked int
		want  string // the line, without what is before it
	}{
		{"EXPLAIN SELECT id FROM sales", taken, 1, "decoder: id: cpu"},
		{"EXPLAIN SELECT id FROM sales", taken, 1, "decoder: n: fallback (nested)"},
		{"EXPLAIN SELECT id FROM sales", gone, 1, "decoder: unknown: no file:/a"},
		{"EXPLAIN (FORMAT JSON) SELECT id FROM sales", gone, 1, `"unknown: no file:/a"`},
		{"EXPLAIN ANALYZE SELECT id FROM sales", gone, 0, "rows: "},
		{"EXPLAIN SELECT count(*) FROM sales", gone, 0, "Count rows from metadata"},
		{"EXPLAIN SELECT 1", gone, 0, "One row of constants"},
	} {
		asked = 0
		out, err := askWith(context.WithValue(t.Context(), decodersKey{}, c.of), t, e, Call{Session: s, Principal: "ann", Text: c.sql})
		if err != nil || asked != c.asked || !strings.Contains(out, c.want) {
			t.Errorf("%s: %v, asked %d times, want %d, and %q in\n%s", c.sql, err, asked, c.asked, c.want, out)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := func() ([]string, error) { cancel(); return nil, ctx.Err() }
	if out, err := askWith(context.WithValue(ctx, decodersKey{}, ended), t, e, Call{Session: s, Principal: "ann", Text: explainSales}); err == nil {
		t.Errorf("a cancelled EXPLAIN gave\n%s", out)
	}
}

func askWith(ctx context.Context, t *testing.T, e *Engine, call Call) (string, error) {
	p, err := e.Prepare(ctx, call)
	if err != nil {
		return "", err
	}
	defer p.Close()
	r, err := p.Run(ctx, nil)
	if err != nil {
		return "", err
	}
	defer r.Close()
	return tableText(t, r), nil
}
