//go:build cgo

package duckdb

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skua-data/skua/engine/syntax"
)

// differ has every statement asked by itself, and writes those that differ, with how, in the form of differences.txt.
var differ = flag.String("differ", "", "write the differences from Spark's answers into this file")

// TestSparksAnswers: every recorded statement has Spark's names, types and values, or its error, but for those in differences.txt. That list may only shrink.
func TestSparksAnswers(t *testing.T) {
	s := newSparkEngine(t, sparkTable(t))
	known, refused, all := readNotes(t, "testdata/spark/differences.txt"), readNotes(t, "testdata/spark/refused.txt"), allSparkAnswers(t)
	alike := map[string]bool{}
	if *differ == "" {
		alike = s.alike(t, all, known)
	}
	var different []string
	for _, a := range all {
		if alike[a.name()] {
			continue
		}
		got, err := s.ask(t.Context(), a.SQL, a.Zone)
		how := a.same(got)
		if got.Error == unresolvedRoutine && callsOneOf(a.SQL, refused) {
			how = ""
		} else if name, _, _ := strings.Cut(strings.TrimPrefix(a.SQL, "SELECT "), "("); refused[name] != "" && got.Error == "" {
			t.Errorf("%s: %s is not refused any more; take it out of testdata/spark/refused.txt", a.name(), name)
		}
		if how != "" {
			different = append(different, a.name()+"\t"+strings.ReplaceAll(how, "\n", " "))
		}
		_, noted := known[a.name()]
		switch {
		case *differ != "":
		case how != "" && !noted:
			t.Errorf("%s: %s (%v)", a.name(), how, err)
		case how == "" && noted:
			t.Errorf("%s: as in Spark now; take it out of testdata/spark/differences.txt", a.name())
		}
	}
	if *differ != "" {
		if err := os.WriteFile(*differ, []byte(strings.Join(different, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// allSparkAnswers reads the answers to all lists of expressions.
func allSparkAnswers(t *testing.T) (out []sparkAnswer) {
	t.Helper()
	files, err := filepath.Glob("testdata/spark/answers*.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		out = append(out, readSparkAnswers(t, file)...)
	}
	return out
}

// unresolvedRoutine is the condition of a function that there is none of.
const unresolvedRoutine = "UNRESOLVED_ROUTINE"

// callsOneOf reports whether a statement calls a function of a list.
func callsOneOf(sql string, names map[string]string) bool {
	tokens, err := syntax.Tokens(sql)
	for i, t := range tokens {
		if _, ok := names[strings.ToLower(t.Text)]; ok && err == nil && i+1 < len(tokens) && tokens[i+1].Is("(") {
			return true
		}
	}
	return false
}

// name is what a statement is called in lists: on one line, with its zone.
func (a sparkAnswer) name() string {
	name := strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(a.SQL)
	if a.Zone != "" {
		return a.Zone + ": " + name
	}
	return name
}

// together is how many expressions are asked in one statement.
const together = 16

// alike gives the statements of one expression each that are as in Spark when several of them are asked at once, which is faster.
func (s *sparkEngine) alike(t *testing.T, all []sparkAnswer, known map[string]string) map[string]bool {
	groups := map[[2]string][]sparkAnswer{}
	for _, a := range all {
		expr, from, _ := strings.Cut(a.SQL, " FROM t")
		if _, noted := known[a.name()]; noted || a.Error != "" || len(a.Names) != 1 || from != "" || strings.HasPrefix(expr, "SELECT *") || strings.Contains(expr, " FROM range") {
			continue
		}
		key := [2]string{strings.TrimPrefix(a.SQL, expr), a.Zone}
		groups[key] = append(groups[key], a)
	}
	out := map[string]bool{}
	for key, group := range groups {
		for some := range slices.Chunk(group, together) {
			var exprs []string
			for _, a := range some {
				exprs = append(exprs, strings.TrimSuffix(strings.TrimPrefix(a.SQL, "SELECT "), key[0]))
			}
			got, err := s.ask(t.Context(), "SELECT "+strings.Join(exprs, ", ")+key[0], key[1])
			if err != nil || len(got.Names) != len(some) {
				continue
			}
			for i, a := range some {
				one := sparkAnswer{Names: got.Names[i : i+1], Types: got.Types[i : i+1]}
				for _, row := range got.Rows {
					one.Rows = append(one.Rows, row[i:i+1])
				}
				out[a.name()] = a.same(one) == ""
			}
		}
	}
	return out
}

// TestSparksFunctionsAreAskedOrRefused: each of Spark's functions is in the corpus, or refused by its name for a reason that refused.txt gives.
func TestSparksFunctionsAreAskedOrRefused(t *testing.T) {
	s := newSparkEngine(t, sparkTable(t))
	refused := readNotes(t, "testdata/spark/refused.txt")
	text, err := os.ReadFile("testdata/spark/expressions.txt")
	if err != nil {
		t.Fatal(err)
	}
	asked := strings.ToLower(string(text))
	for name := range readNotes(t, "testdata/spark/functions.txt") {
		_, err := s.ask(t.Context(), "SELECT `"+name+"`()", "")
		unknown := err != nil && strings.Contains(err.Error(), unresolvedRoutine)
		reason, noted := refused[name]
		switch {
		case noted && (reason == "" || !unknown):
			t.Errorf("%s is refused because %q, and asked it says %v", name, reason, err)
		case !noted && unknown && !strings.Contains(asked, name+"("):
			t.Errorf("%s is not refused by refused.txt, and not asked", name)
		case !noted && !strings.Contains(asked, name):
			t.Errorf("%s has no expression in expressions.txt", name)
		}
	}
}

// readNotes gives the lines of a list, each a name and, behind a tab, a note.
func readNotes(t *testing.T, file string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		if name, note, _ := strings.Cut(line, "\t"); name != "" && !strings.HasPrefix(name, "#") {
			out[name] = note
		}
	}
	return out
}
