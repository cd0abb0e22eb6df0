package oracle

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/conformance"
)

// floatAggregate finds results that depend on the order of addition in their last bits.
var floatAggregate = regexp.MustCompile(`(?i)\b(sum|avg|mean|stddev\w*|var\w*|corr|covar\w*)\s*\(`)

// compare gives what is wrong with an answer whose rows are known; nothing: they are the same.
func compare(r *Recorded, rows [][]any, got *conformance.Answer, values conformance.Renames) []string {
	if names := fieldNames(got.Schema); !slices.Equal(names, r.names()) {
		return []string{fmt.Sprintf("columns %q, expected %q", names, r.names())}
	}
	var bad []string
	for i, c := range r.Columns {
		if d := c.typ.differs(got.Schema.Field(i).Type); d != "" {
			bad = append(bad, "column "+c.name+": "+d)
		}
	}
	if bad != nil {
		return bad
	}
	have, err := r.read(got)
	if err != nil {
		return []string{"a value does not fit its type: " + err.Error()}
	}
	tolerant := floatAggregate.MatchString(r.SQL)
	if difference(have, r.normalRows(rows, conformance.Renames{}), r.Ordered, tolerant) == nil {
		return nil // what looks like a name need not be one
	}
	return difference(have, r.normalRows(rows, values), r.Ordered, tolerant)
}

func fieldNames(s *arrow.Schema) []string {
	out := make([]string, s.NumFields())
	for i, f := range s.Fields() {
		out[i] = f.Name
	}
	return out
}

func (r *Recorded) names() []string {
	out := make([]string, len(r.Columns))
	for i, c := range r.Columns {
		out[i] = c.name
	}
	return out
}

// read gives the rows that came, in the spelling of the recorded ones.
func (r *Recorded) read(got *conformance.Answer) ([][]any, error) {
	rows := make([][]any, 0, got.Rows())
	for _, b := range got.Batches {
		for row := range int(b.NumRows()) {
			cells := make([]any, len(r.Columns))
			for i, c := range r.Columns {
				v, err := c.typ.valueOf(b.Column(i), row)
				if err != nil {
					return nil, fmt.Errorf("column %s: %w", c.name, err)
				}
				cells[i] = v
			}
			rows = append(rows, cells)
		}
	}
	return rows, nil
}

func (r *Recorded) normalRows(rows [][]any, values conformance.Renames) [][]any {
	out := make([][]any, len(rows))
	for i, row := range rows {
		out[i] = make([]any, len(row))
		for j, v := range row {
			if j < len(r.Columns) {
				v = r.Columns[j].typ.normal(values.Value(v))
			}
			out[i][j] = v
		}
	}
	return out
}

// difference tells how two lists of rows differ; without order they are multisets. With tolerance, the last bits of floats may.
func difference(have, want [][]any, ordered, tolerant bool) []string {
	a, b := texts(have), texts(want)
	if ordered && slices.Equal(a, b) {
		return nil
	}
	same := sortedEqual(a, b)
	switch {
	case same && !ordered:
		return nil
	case same:
		return []string{"the same rows in another order"}
	case tolerant && allClose(have, want):
		return nil
	}
	more, less := minus(a, b), minus(b, a)
	out := []string{fmt.Sprintf("%d rows, expected %d; %d too many, %d missing", len(a), len(b), len(more), len(less))}
	for what, rows := range map[string][]string{"too many": more, "missing": less} {
		if len(rows) > 0 {
			out = append(out, clip(what+": "+strings.Join(rows[:min(len(rows), 3)], "; ")))
		}
	}
	slices.Sort(out[1:])
	return out
}

func texts(rows [][]any) []string {
	out := make([]string, len(rows))
	for i, row := range rows {
		out[i] = text(row)
	}
	return out
}

func sortedEqual(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// minus is the multiset of what a has more than b.
func minus(a, b []string) (out []string) {
	counts := map[string]int{}
	for _, s := range b {
		counts[s]++
	}
	for _, s := range a {
		if counts[s]--; counts[s] < 0 {
			out = append(out, s)
		}
	}
	return out
}

// allClose compares rows in the order of their texts, floats with a tolerance.
func allClose(a, b [][]any) bool {
	byText := func(x, y []any) int { return strings.Compare(text(x), text(y)) }
	a, b = slices.Clone(a), slices.Clone(b)
	slices.SortFunc(a, byText)
	slices.SortFunc(b, byText)
	return slices.EqualFunc(a, b, func(x, y []any) bool { return isClose(x, y) })
}

func isClose(a, b any) bool {
	x, xList := a.([]any)
	y, yList := b.([]any)
	if xList && yList {
		return slices.EqualFunc(x, y, isClose)
	}
	if text(a) == text(b) {
		return true
	}
	f, fOK := hexValue(a)
	g, gOK := hexValue(b)
	return fOK && gOK && math.Abs(f-g) <= 1e-12*max(math.Abs(f), math.Abs(g))
}

func hexValue(v any) (float64, bool) {
	s, ok := v.(string)
	if !ok || !strings.Contains(s, "0x") {
		return 0, false
	}
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil
}

func clip(s string) string {
	if len(s) <= 600 {
		return s
	}
	return strings.ToValidUTF8(s[:600], "") + "…"
}
