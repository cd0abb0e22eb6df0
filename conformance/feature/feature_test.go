package feature

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skua-data/skua/conformance"
)

func TestFeaturesHaveTheirPlace(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range All() {
		if f.Title == "" || f.Page == "" || f.Group == "" || seen[f.ID] {
			t.Errorf("%+v", f)
		}
		seen[f.ID] = true
	}
}

// TestScriptsNameKnownFeatures: a case that names a feature which is not on the list proves nothing.
func TestScriptsNameKnownFeatures(t *testing.T) {
	scripts, err := conformance.Bundled()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range scripts {
		for i := range s.Cases {
			h := s.Heading(&s.Cases[i])
			if len(h.Features) == 0 {
				t.Errorf("%s/%s names no feature", s.Name, s.Cases[i].Name)
			}
			for _, f := range h.Features {
				if Title(f) == "" {
					t.Errorf("%s/%s: %s is no feature", s.Name, s.Cases[i].Name, f)
				}
			}
		}
	}
}

// TestTestsElsewhereExist: a test that was renamed proves nothing.
func TestTestsElsewhereExist(t *testing.T) {
	for id, test := range Elsewhere() {
		if Title(id) == "" {
			t.Errorf("%s is no feature", id)
		}
		files, err := filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(test[0]), "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			found = found || strings.Contains(string(text), "func "+test[1]+"(")
		}
		if !found {
			t.Errorf("%s: there is no %s in %s", id, test[1], test[0])
		}
	}
}

func TestThePageTellsWhatIsProven(t *testing.T) {
	outcome := func(c string, status conformance.Status, features ...string) conformance.Outcome {
		return conformance.Outcome{Script: "s.test", Case: c, Status: status, Features: features}
	}
	var out bytes.Buffer
	WritePage(&out, []conformance.Outcome{
		outcome("good", conformance.Passed, "types.int", "types.long"), outcome("bad", conformance.Failed, "types.long"), outcome("no", conformance.Passed, "files.orc"),
		outcome("skipped", conformance.Skipped, "types.date"), outcome("here", conformance.Passed, "types.float"), outcome("here", conformance.Failed, "types.float"),
	}, func(id string) bool { return id == "s/no" })
	for _, want := range []string{"| int | yes | `s/good` |", "| long | **fails** | `s/bad` |", "| ORC | refused | `s/no` |", "| date | **missing** | – |", "| glue | yes | `catalogs/glue: TestSuite` |", "| float | **fails** | `s/here` |", " features are read, 1 are refused"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q", want)
		}
	}
}
