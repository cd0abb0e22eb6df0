// Package feature knows what a reader of Iceberg tables can have, and writes the page that tells which conformance case proves each.
package feature

import (
	"cmp"
	_ "embed" // the lists
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/skua-data/skua/conformance"
)

//go:embed features.txt
var list string

//go:embed elsewhere.txt
var others string

// Elsewhere gives the Go tests that prove features which no script can: by id, package and test.
func Elsewhere() map[string][2]string {
	out := map[string][2]string{}
	for line := range strings.Lines(others) {
		words := strings.Split(strings.TrimSpace(line), "\t")
		if len(words) == 3 && !strings.HasPrefix(line, "#") {
			out[words[0]] = [2]string{words[1], words[2]}
		}
	}
	return out
}

// Feature is one thing that a reader can have.
type Feature struct {
	ID, Title   string
	Page, Group string // where it is told of
}

// All gives every feature in the order of the pages.
func All() []Feature {
	var out []Feature
	var page, group string
	for line := range strings.Lines(list) {
		line = strings.TrimSpace(line)
		switch {
		case line == "", strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "= "):
			page, group = line[2:], ""
		case strings.HasPrefix(line, "+ "):
			group = line[2:]
		default:
			id, title, _ := strings.Cut(line, "\t")
			out = append(out, Feature{id, title, page, group})
		}
	}
	return out
}

// Title gives what a feature is called; empty: it is not known.
func Title(id string) string {
	for _, f := range All() {
		if f.ID == id {
			return f.Title
		}
	}
	return ""
}

// proof is what the outcomes say of one feature.
type proof struct {
	passed  []string // cases that passed and failed nowhere
	refuses []string // of those, the ones that show that it is not supported
	failed  []string
}

// WritePage writes the page of features: each with the cases that prove it. A case that failed anywhere proves nothing; a feature without a case that
// passed is missing. refusal says of a case whether it shows that its features are not supported.
func WritePage(w io.Writer, outcomes []conformance.Outcome, refusal func(id string) bool) {
	proofs := proofsOf(outcomes, refusal)
	fmt.Fprint(w, heading)
	var page, group string
	counts := map[string]int{}
	for _, f := range All() {
		if f.Page != page {
			page, group = f.Page, ""
			fmt.Fprintf(w, "\n## %s\n", page)
		}
		if f.Group != group {
			group = f.Group
			fmt.Fprintf(w, "\n| %s | | proven by |\n| --- | --- | --- |\n", group)
		}
		state, cases := proofs[f.ID].state()
		if test, ok := Elsewhere()[f.ID]; ok && state == missing {
			state, cases = "yes", []string{test[0] + ": " + test[1]}
		}
		counts[state]++
		fmt.Fprintf(w, "| %s | %s | %s |\n", strings.ReplaceAll(f.Title, "|", `\|`), state, spell(cases))
	}
	fmt.Fprintf(w, "\n%d features are read, %d are refused by name, %d are missing, %d fail.\n", counts["yes"], counts["refused"], counts[missing], counts["**fails**"])
}

const missing = "**missing**"

const heading = `# Features

What a reader of Iceberg tables can have, and the case of the conformance suite that proves it here: ` + "`script/case`" + ` is a case of
` + "`conformance/testdata/script.test`" + `, ` + "`recorded/table`" + ` stands for Spark's recorded answers about a table, ` + "`matrix/…`" + ` for the scripts run in that place of
the matrix, and ` + "`package: Test`" + ` is a Go test, for what needs a service or a device. *refused* means an error that names the feature as not supported; a feature without a passing case is **missing**.

This page is generated from the results; a test keeps it true.
`

// mostCases bounds how many cases are named.
const mostCases = 4

func spell(cases []string) string {
	if len(cases) == 0 {
		return "–"
	}
	shown := cases[:min(len(cases), mostCases)]
	text := "`" + strings.Join(shown, "`, `") + "`"
	if len(cases) > mostCases {
		text += " and others"
	}
	return text
}

func (p *proof) state() (string, []string) {
	switch {
	case p == nil || len(p.passed) == 0 && len(p.failed) == 0:
		return missing, nil
	case len(p.failed) > 0:
		return "**fails**", p.failed
	case len(p.refuses) == len(p.passed):
		return "refused", p.passed
	}
	return "yes", slices.DeleteFunc(slices.Clone(p.passed), func(id string) bool { return slices.Contains(p.refuses, id) })
}

func proofsOf(outcomes []conformance.Outcome, refusal func(id string) bool) map[string]*proof {
	failed, passed := map[string]bool{}, map[string]bool{}
	for _, o := range outcomes {
		failed[o.ID()] = failed[o.ID()] || o.Status == conformance.Failed
		passed[o.ID()] = passed[o.ID()] || o.Status == conformance.Passed
	}
	out := map[string]*proof{}
	seen := map[string]bool{}
	for _, o := range outcomes {
		for _, f := range o.Features {
			if out[f] == nil {
				out[f] = &proof{}
			}
			if seen[f+" "+o.ID()] {
				continue
			}
			seen[f+" "+o.ID()] = true
			p := out[f]
			switch {
			case failed[o.ID()]:
				p.failed = append(p.failed, o.ID())
			case passed[o.ID()]:
				p.passed = append(p.passed, o.ID())
				if refusal(o.ID()) {
					p.refuses = append(p.refuses, o.ID())
				}
			}
		}
	}
	for _, p := range out {
		slices.SortStableFunc(p.passed, func(a, b string) int { return cmp.Compare(rank(a), rank(b)) })
	}
	return out
}

// rank puts cases of scripts before whole tables and cells.
func rank(id string) int {
	switch {
	case strings.HasPrefix(id, "recorded/"):
		return 1
	case strings.HasPrefix(id, "matrix/"):
		return 2
	}
	return 0
}
