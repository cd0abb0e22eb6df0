package conformance

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// explained is the part of EXPLAIN (FORMAT JSON) that plans are judged by.
type explained struct {
	Limit   *int64         `json:"limit"`
	Count   string         `json:"count"`
	Scan    *explainedScan `json:"scan"`
	Scans   []explainedScan
	Analyze *struct {
		Rows      int64 `json:"rows"`
		Files     int64 `json:"files"`
		RowGroups int64 `json:"row_groups"`
		Pruned    int64 `json:"row_groups_pruned"`
	} `json:"analyze"`
}

type explainedScan struct {
	Source    string   `json:"source"`
	Snapshot  string   `json:"snapshot"`
	Reference string   `json:"reference"`
	Columns   []string `json:"columns"`
	Filter    string   `json:"filter"`
	Pushed    string   `json:"pushed"`
	Residual  string   `json:"residual"`
	Overrides bool     `json:"session_overrides"`
	Options   []struct{ Name, Value, Scope, Key string }
	Ignored   []struct{ Name, Value, Near string } `json:"ignored_options"`

	Manifests       *considered    `json:"manifests"`
	Files           *considered    `json:"files"`
	DeleteManifests *considered    `json:"delete_manifests"`
	Deletes         *considered    `json:"deletes"`
	DeletesByKind   map[string]int `json:"deletes_by_kind"`
	RowGroups       *considered    `json:"row_groups"`
	Splits          int            `json:"split_count"`
	Shown           []struct {
		Files, Bytes int64
		Tasks        []struct {
			Path    string
			Start   int64
			Length  int64
			Deletes int
		}
	} `json:"splits"`
	Decoders []string `json:"decoders"`
}

type considered struct {
	Total, Read int
	Pruned      map[string]int
}

// facts gives what a plan tells, a line each.
func facts(plan string) ([]string, error) {
	var e explained
	if err := json.Unmarshal([]byte(plan), &e); err != nil {
		return nil, fmt.Errorf("the plan is not what EXPLAIN (FORMAT JSON) gives: %w", err)
	}
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if e.Limit != nil {
		add("limit %d", *e.Limit)
	}
	if e.Count != "" {
		add("count %s", e.Count)
	}
	if e.Scan != nil {
		e.Scan.tell(add)
	}
	for _, s := range e.Scans {
		s.tell(func(format string, args ...any) { add("of "+s.Source+" "+format, args...) })
	}
	if a := e.Analyze; a != nil {
		add("gave %d rows", a.Rows)
		add("opened %d files", a.Files)
		add("opened %d row-groups, %d pruned", a.RowGroups, a.Pruned)
	}
	return out, nil
}

func (s *explainedScan) tell(add func(string, ...any)) {
	add("source %s", s.Source)
	for _, w := range []struct{ word, text string }{{"snapshot", s.Snapshot}, {"reference", s.Reference}, {"columns", strings.Join(s.Columns, ", ")},
		{"filter", s.Filter}, {"pushed", s.Pushed}, {"residual", s.Residual}} {
		if w.text != "" {
			add("%s %s", w.word, w.text)
		}
	}
	add("overrides %t", s.Overrides)
	for _, o := range s.Options {
		add("%s", strings.TrimSpace(fmt.Sprintf("option %s %s %s %s", o.Name, o.Value, o.Scope, o.Key)))
	}
	for _, o := range s.Ignored {
		add("%s", strings.TrimSpace(fmt.Sprintf("ignored %s %s", o.Name, o.Near)))
	}
	for _, c := range []struct {
		word string
		of   *considered
	}{{"manifests", s.Manifests}, {"files", s.Files}, {"delete-manifests", s.DeleteManifests}, {"deletes", s.Deletes}, {"row-groups", s.RowGroups}} {
		if c.of == nil {
			continue
		}
		add("%s %d of %d", c.word, c.of.Read, c.of.Total)
		for _, reason := range slices.Sorted(maps.Keys(c.of.Pruned)) {
			add("pruned %s %d %s", c.word, c.of.Pruned[reason], reason)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(s.DeletesByKind)) {
		add("applies %d %s", s.DeletesByKind[kind], kind)
	}
	add("splits %d", s.Splits)
	for i, split := range s.Shown {
		add("split %d files %d bytes %d", i, split.Files, split.Bytes)
		for _, t := range split.Tasks {
			add("task %s %d+%d deletes %d", path.Base(t.Path), t.Start, t.Length, t.Deletes)
		}
	}
	for _, d := range s.Decoders {
		add("route %s", d)
	}
}

// checkFacts looks for every line among the facts of the plan that came.
func checkFacts(s *Step, rows [][]string, names Renames) error {
	told, err := planOf(rows)
	if err != nil {
		return err
	}
	for _, line := range s.Lines {
		want := names.Text(line)
		if !slices.Contains(told, want) {
			return &mismatch{"the plan does not tell this", want, strings.Join(told, " ⏎ ")}
		}
	}
	return nil
}

func planOf(rows [][]string) ([]string, error) {
	var text strings.Builder
	for _, row := range rows {
		if len(row) != 1 {
			return nil, &mismatch{"a plan of another form", "one column", fmt.Sprintf("%d columns", len(row))}
		}
		text.WriteString(unescaper.Replace(row[0]) + "\n")
	}
	return facts(text.String())
}

// fillFacts writes the facts that came: all where there were none, else those that took the place of lines that no longer hold.
func (s *Step) fillFacts(rows [][]string) error {
	told, err := planOf(rows)
	if err != nil {
		return err
	}
	if len(s.Lines) == 0 {
		s.Lines = slices.DeleteFunc(told, incidental)
		return nil
	}
	for i, line := range s.Lines {
		if slices.Contains(told, line) {
			continue
		}
		for _, t := range told {
			if factKey(t) == factKey(line) {
				s.Lines[i] = t
				break
			}
		}
	}
	return nil
}

// incidental finds facts that say little where nobody asked for them: ranges of files, and options that nobody set.
func incidental(fact string) bool {
	words := strings.Fields(fact)
	if words[0] == "of" && len(words) > 2 {
		words = words[2:]
	}
	return words[0] == "task" || words[0] == "split" || words[0] == "option" && len(words) > 3 && words[3] == "default"
}

// factKey is what a fact is about: its first word, and for options and routes the second.
func factKey(line string) string {
	words := strings.Fields(line)
	if len(words) > 1 && slices.Contains([]string{"option", "ignored", "route", "pruned", "split"}, words[0]) {
		return words[0] + " " + words[1]
	}
	return words[0]
}
