package report

import (
	"cmp"
	_ "embed" // the template
	"fmt"
	"html/template"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/skua-data/skua/conformance"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{"breaks": breaks}).Parse(pageText))

// breaks lets a name be broken behind its slashes, and its dots and hyphens, rather than inside of words.
func breaks(name string) template.HTML {
	return template.HTML(breaking.Replace(template.HTMLEscapeString(name)))
}

var breaking = strings.NewReplacer("/", "/<wbr>", ".", ".<wbr>", "-", "-<wbr>")

// page is what the template shows.
type page struct {
	Run
	Counts
	Date                               string
	Verdict                            string
	Features, Sections, Scripts, Cells []group
	Failures                           []failure
	Reasons                            []reason
	Cases                              []row
}

// group is a line of counts.
type group struct {
	Name, Title string
	Counts
}

// Class is how the line looks.
func (g group) Class() string {
	switch {
	case g.Failed > 0:
		return "failed"
	case g.Passed > 0:
		return "passed"
	}
	return "skipped"
}

// Share is the part that passed of what was asked, in hundredths; -1 where nothing was.
func (g group) Share() int {
	if g.Passed+g.Failed == 0 {
		return -1
	}
	return 100 * g.Passed / (g.Passed + g.Failed)
}

type failure struct {
	ID, Rule, Text string
	Cells          []string
}

type reason struct {
	Text  string
	Count int
	Cases []string
}

// row is one case over all cells.
type row struct {
	group
	Rule, Features string
}

// WritePage writes one HTML page that needs nothing else: pass and fail by feature, by section of the specifications, by script and by cell, then
// each failure and each case. title gives what a feature is called, or "".
func WritePage(w io.Writer, r Run, title func(feature string) string) error {
	p := page{Run: r, Counts: Count(r.Outcomes), Date: r.Started.UTC().Format("2006-01-02 15:04 UTC")}
	switch {
	case p.Failed > 0:
		p.Verdict = "failed"
	case p.Passed > 0:
		p.Verdict = "passed"
	default:
		p.Verdict = "skipped"
	}
	p.Features = groups(r.Outcomes, func(o conformance.Outcome) []string {
		if len(o.Features) == 0 {
			return []string{"no feature named"}
		}
		return o.Features
	})
	for i := range p.Features {
		p.Features[i].Title = title(p.Features[i].Name)
	}
	p.Sections = groups(r.Outcomes, func(o conformance.Outcome) []string { return sections(o.Rule) })
	p.Scripts = groups(r.Outcomes, func(o conformance.Outcome) []string { return []string{strings.TrimSuffix(o.Script, ".test")} })
	p.Cells = groups(r.Outcomes, func(o conformance.Outcome) []string { return []string{o.Cell.String()} })
	p.Failures, p.Reasons, p.Cases = failuresOf(r.Outcomes), reasonsOf(r.Outcomes), casesOf(r.Outcomes)
	return pageTemplate.Execute(w, p)
}

// groups counts outcomes under each of their names, in the order of the names: first where something failed, last where nothing was asked.
func groups(outcomes []conformance.Outcome, names func(conformance.Outcome) []string) []group {
	byName := map[string]*group{}
	for _, o := range outcomes {
		for _, n := range names(o) {
			if byName[n] == nil {
				byName[n] = &group{Name: n}
			}
			byName[n].add(o.Status)
		}
	}
	out := make([]group, 0, len(byName))
	for _, n := range slices.Sorted(maps.Keys(byName)) {
		out = append(out, *byName[n])
	}
	order := map[string]int{"failed": 0, "passed": 1, "skipped": 2}
	slices.SortStableFunc(out, func(a, b group) int { return order[a.Class()] - order[b.Class()] })
	return out
}

// failuresOf joins failures of one case that read alike.
func failuresOf(outcomes []conformance.Outcome) (out []failure) {
	at := map[string]int{}
	for _, o := range outcomes {
		if o.Status != conformance.Failed {
			continue
		}
		text := strings.Join(o.Failures, "\n")
		key := o.ID() + "\n" + text
		if i, ok := at[key]; ok {
			out[i].Cells = append(out[i].Cells, o.Cell.String())
			continue
		}
		at[key] = len(out)
		out = append(out, failure{o.ID(), o.Rule, text, []string{o.Cell.String()}})
	}
	return out
}

func reasonsOf(outcomes []conformance.Outcome) []reason {
	byText := map[string]*reason{}
	for _, o := range outcomes {
		if o.Status != conformance.Skipped {
			continue
		}
		r := byText[o.Reason]
		if r == nil {
			r = &reason{Text: o.Reason}
			byText[o.Reason] = r
		}
		if r.Count++; !slices.Contains(r.Cases, o.ID()) {
			r.Cases = append(r.Cases, o.ID())
		}
	}
	var out []reason
	for _, r := range byText {
		out = append(out, *r)
	}
	slices.SortFunc(out, func(a, b reason) int { return cmp.Or(b.Count-a.Count, cmp.Compare(a.Text, b.Text)) })
	return out
}

func casesOf(outcomes []conformance.Outcome) (out []row) {
	at := map[string]int{}
	for _, o := range outcomes {
		i, ok := at[o.ID()]
		if !ok {
			i = len(out)
			at[o.ID()] = i
			out = append(out, row{group: group{Name: o.ID()}, Rule: o.Rule, Features: strings.Join(o.Features, " ")})
		}
		out[i].add(o.Status)
	}
	return out
}

// Percent spells a share.
func (g group) Percent() string {
	if g.Share() < 0 {
		return "–"
	}
	return fmt.Sprintf("%d %%", g.Share())
}

// Table pairs a heading with its lines, for the template.
func (p page) Table(head string, rows []group) map[string]any {
	return map[string]any{"Head": head, "Rows": rows}
}
