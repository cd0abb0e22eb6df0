package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/skua-data/skua/conformance"
)

type suites struct {
	XMLName  xml.Name `xml:"testsuites"`
	Name     string   `xml:"name,attr"`
	Tests    int      `xml:"tests,attr"`
	Failures int      `xml:"failures,attr"`
	Skipped  int      `xml:"skipped,attr"`
	Time     string   `xml:"time,attr"`
	Suites   []*suite `xml:"testsuite"`
}

type suite struct {
	Name     string     `xml:"name,attr"`
	Tests    int        `xml:"tests,attr"`
	Failures int        `xml:"failures,attr"`
	Errors   int        `xml:"errors,attr"`
	Skipped  int        `xml:"skipped,attr"`
	Time     string     `xml:"time,attr"`
	Started  string     `xml:"timestamp,attr"`
	Cases    []testCase `xml:"testcase"`
	seconds  float64
}

type testCase struct {
	Name    string   `xml:"name,attr"`
	Class   string   `xml:"classname,attr"`
	Time    string   `xml:"time,attr"`
	Failure *problem `xml:"failure"`
	Skipped *problem `xml:"skipped"`
}

type problem struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// WriteJUnit writes the run in the form that build servers read: a suite for each script in each cell of the matrix.
func WriteJUnit(w io.Writer, r Run) error {
	all := suites{Name: r.Title}
	byName := map[string]*suite{}
	total := 0.0
	for _, o := range r.Outcomes {
		name := strings.TrimSuffix(o.Script, ".test") + " " + o.Cell.String()
		s := byName[name]
		if s == nil {
			s = &suite{Name: name, Started: r.Started.UTC().Format("2006-01-02T15:04:05")}
			byName[name] = s
			all.Suites = append(all.Suites, s)
		}
		c := testCase{Name: o.Case, Class: strings.TrimSuffix(o.Script, ".test"), Time: fmt.Sprintf("%.3f", o.Elapsed.Seconds())}
		s.Tests++
		switch o.Status {
		case conformance.Failed:
			first, _, _ := strings.Cut(strings.Join(o.Failures, "\n"), "\n")
			c.Failure = &problem{printable(first), printable("rule: " + o.Rule + "\n" + strings.Join(o.Failures, "\n"))}
			s.Failures++
		case conformance.Skipped:
			c.Skipped = &problem{Message: printable(o.Reason)}
			s.Skipped++
		}
		s.seconds += o.Elapsed.Seconds()
		s.Cases = append(s.Cases, c)
	}
	for _, s := range all.Suites {
		s.Time = fmt.Sprintf("%.3f", s.seconds)
		all.Tests, all.Failures, all.Skipped, total = all.Tests+s.Tests, all.Failures+s.Failures, all.Skipped+s.Skipped, total+s.seconds
	}
	all.Time = fmt.Sprintf("%.3f", total)
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", " ")
	if err := e.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// printable leaves out what XML 1.0 cannot hold, and what a terminal would obey.
func printable(s string) string {
	return strings.Map(func(c rune) rune {
		if c < 0x20 && c != '\n' && c != '\t' || c >= 0x7f && c < 0xa0 || c == 0xfffe || c == 0xffff {
			return '�'
		}
		return c
	}, s)
}
