package scan

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

type recordedSplit struct {
	Kind, ID, Table, FilesOf string `json:",omitempty"`
	Of                       string `json:"files_of"`
	Options, Set, Properties map[string]string
	Where                    *string
	Error                    map[string]any
	Read                     *struct {
		Target, TargetApplied, Lookback, Cost, Parallelism *int64
		Applied                                            *int64 `json:"target_applied"`
		OpenCost                                           *int64 `json:"open_file_cost"`
		Grouping                                           []any
		Adaptive                                           bool
	}
	Files []struct {
		Path, Format string
		Size, Length int64
		Offsets      []int64
		Class        string `json:"task"`
		Splittable   bool
		Deletes      []struct {
			Size    int64
			Content *int64 `json:"content_size"`
		}
	}
	Manifests []any
	Splits    []struct {
		Tasks []struct {
			Path          string
			Start, Length int64
		}
	}
}

// TestRecordedSplits plans again what Spark planned: the packing from the files as recorded, and whole scans where their order is settled.
func TestRecordedSplits(t *testing.T) {
	root := os.Getenv("SKUA_ORACLE")
	if root == "" {
		t.Skip("SKUA_ORACLE names no folder of recorded answers")
	}
	raw, err := os.ReadFile(filepath.Join(root, "expected", "splits.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	byID := map[string]recordedSplit{}
	scanner := oracleScanner(t, root)
	for _, line := range strings.Split(strings.TrimSpace(string(raw)), "\n") {
		var c recordedSplit
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatal(err)
		}
		if c.Of != "" {
			c.Files, c.Manifests = byID[c.Of].Files, byID[c.Of].Manifests
		}
		byID[c.ID] = c
		if c.Kind != "split" || c.Read == nil || c.Read.Applied == nil || *c.Read.OpenCost == math.MaxInt64 || // weights wrap around there, which we do not
			len(c.Read.Grouping) > 0 || c.Error != nil {
			continue
		}
		t.Run(c.ID, func(t *testing.T) {
			c.packed(t)
			c.scanned(t, scanner, root)
		})
	}
}

func (c recordedSplit) want() []string {
	var out []string
	for _, s := range c.Splits {
		out = append(out, fmt.Sprint(s.Tasks))
	}
	return out
}

func (c recordedSplit) packed(t *testing.T) {
	var files []extent
	for _, f := range c.Files {
		e := extent{Size: f.Length, Offsets: f.Offsets, Divisible: f.Splittable && f.Class != "ManifestReadTask",
			Deletes: len(f.Deletes)}
		for _, d := range f.Deletes {
			if d.Content != nil {
				e.DeleteBytes += *d.Content
			} else {
				e.DeleteBytes += d.Size
			}
		}
		files = append(files, e)
	}
	groups, err := planSplits(files, readOptions{Target: *c.Read.Applied, Lookback: *c.Read.Lookback, OpenCost: *c.Read.OpenCost})
	if err != nil {
		t.Fatal(err)
	}
	type taskOf struct {
		Path          string
		Start, Length int64
	}
	var got []string
	for _, g := range groups {
		var tasks []taskOf
		for _, p := range g.Pieces {
			tasks = append(tasks, taskOf{c.Files[p.File].Path, p.Start, p.Length})
		}
		got = append(got, fmt.Sprint(tasks))
	}
	if fmt.Sprint(got) != fmt.Sprint(c.want()) {
		t.Errorf("packed\n got %v\nwant %v", got, c.want())
	}
}

func (c recordedSplit) scanned(t *testing.T, s *Scanner, root string) {
	parts := strings.Split(strings.TrimPrefix(c.Table, "oracle."), ".")
	if len(parts) != 2 || c.Where != nil || len(c.Properties) > 0 || len(c.Set) > 0 || len(c.Manifests) != 1 || strings.Contains(c.Table, "formats") || strings.Contains(c.Table, "planned") {
		return
	}
	table := oracleTable(t, s, root, parts[:1], parts[1])
	var at Reference
	if v, ok := c.Options["versionAsOf"]; ok {
		at = Reference{Kind: RefName, Name: v}
	}
	source, err := table.Source(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	options := []Option{{Name: "adaptive-split-size-parallelism", Value: "2", Scope: "session"}}
	for k, v := range c.Options {
		options = append(options, Option{Name: k, Value: v, Scope: "explicit"})
	}
	p, err := source.Plan(t.Context(), Request{Fields: fieldIDs(source.Schema()), Options: options, Limit: -1})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, split := range p.Explain().Splits {
		var tasks []struct {
			Path          string
			Start, Length int64
		}
		for _, task := range split.Tasks {
			tasks = append(tasks, struct {
				Path          string
				Start, Length int64
			}{task.Path, task.Start, task.Length})
		}
		got = append(got, fmt.Sprint(tasks))
	}
	if fmt.Sprint(got) != fmt.Sprint(c.want()) {
		t.Errorf("scanned\n got %v\nwant %v", got, c.want())
	}
	t.Log("scanned")
}
