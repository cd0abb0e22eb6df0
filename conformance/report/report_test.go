package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/skua-data/skua/conformance"
)

func sample() Run {
	at := conformance.Cell{Path: conformance.PathQuery}
	return Run{Title: "grpc://127.0.0.1:1 <b>", Profile: "read-only", Started: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Outcomes: []conformance.Outcome{
		{Script: "a.test", Case: "good", Rule: "Iceberg: Scan Planning; spark-semantics C: how", Features: []string{"scan.splits"}, Cell: at, Status: conformance.Passed},
		{Script: "a.test", Case: "bad", Rule: "Iceberg: deletes", Features: []string{"deletes.position"}, Cell: at, Status: conformance.Failed, Failures: []string{"other rows\n    expected: <1>\n    seen:     \x01"}},
		{Script: "a.test", Case: "bad", Rule: "Iceberg: deletes", Features: []string{"deletes.position"}, Cell: at.With(conformance.Store, "s3"), Status: conformance.Failed, Failures: []string{"other rows\n    expected: <1>\n    seen:     \x01"}},
		{Script: "b.test", Case: "left-out", Rule: "", Cell: at, Status: conformance.Skipped, Reason: "the server is not declared to have variant"},
	}}
}

func TestEveryFormTellsTheSame(t *testing.T) {
	var text, junit, js, html bytes.Buffer
	WriteText(&text, sample())
	for what, err := range map[string]error{"junit": WriteJUnit(&junit, sample()), "json": WriteJSON(&js, sample()),
		"page": WritePage(&html, sample(), func(f string) string { return map[string]string{"scan.splits": "Splits"}[f] })} {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	for what, wants := range map[*bytes.Buffer][]string{
		&text:  {"FAIL a/bad (query)", "FAIL a/bad (query store=s3)", "expected: <1>", "SKIP 1: the server is not declared to have variant", "1 passed, 2 failed, 1 skipped"},
		&junit: {`tests="4" failures="2" skipped="1"`, `<testcase name="good" classname="a"`, `<skipped message="the server is not declared to have variant">`, `&lt;1&gt;`},
		&html:  {"Splits <span", "deletes.position", "Iceberg", "spark-semantics C", "query store=s3", "&lt;b&gt;", "in 2 cells", "1 × the server"},
	} {
		for _, want := range wants {
			if !strings.Contains(what.String(), want) {
				t.Errorf("no %q in\n%s", want, what.String())
			}
		}
	}
	var parsed struct {
		Counts   map[string]int
		Outcomes []record
	}
	if err := json.Unmarshal(js.Bytes(), &parsed); err != nil || parsed.Counts["failed"] != 2 || parsed.Outcomes[2].Store != "s3" {
		t.Errorf("%v: %s", err, js.String())
	}
	for d := xml.NewDecoder(&junit); ; {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	for _, foreign := range []string{"http://", "https://", "<script", "src="} {
		if strings.Contains(html.String(), foreign) {
			t.Errorf("the page needs something else: %s", foreign)
		}
	}
}
