package lint

import (
	"fmt"
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var namedTest = regexp.MustCompile("`([a-z/0-9]+): (Test[A-Za-z0-9]+)`")

var (
	caseID     = regexp.MustCompile(`\bB\d{3}\b`)
	caseCounts = regexp.MustCompile(`Of (\d+) cases (\d+) are applied, (\d+) refused by name and (\d+) not applicable\.`)
)

// TestReaderCasesAreCountedRight counts the cases of the table: each is in it, or among those that are refused or do not apply.
func TestReaderCasesAreCountedRight(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(root, "docs", "reader-cases.md"))
	if err != nil {
		t.Fatal(err)
	}
	of := map[string]map[string]bool{"": {}, "Refused by name": {}, "Not applicable": {}}
	for _, paragraph := range strings.Split(string(raw), "\n\n") {
		for name := range of {
			if strings.HasPrefix(paragraph, name) {
				for _, id := range caseID.FindAllString(paragraph, -1) {
					of[name][id] = true
				}
			}
		}
	}
	all, refused, not := len(of[""]), len(of["Refused by name"]), len(of["Not applicable"])
	want := fmt.Sprint([]int{all, all - refused - not, refused, not})
	said := caseCounts.FindStringSubmatch(string(raw))
	if said == nil || fmt.Sprint(said[1:]) != want {
		t.Errorf("the counts are %v, and should be %s", said, want)
	}
}

// TestReaderCasesNameTestsThatExist reads the table of cases.
func TestReaderCasesNameTestsThatExist(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "reader-cases.md"))
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]bool{}
	for _, s := range module(t) {
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && s.test() {
				have[s.dir+": "+f.Name.Name] = true
			}
		}
	}
	named := namedTest.FindAllStringSubmatch(string(text), -1)
	if len(named) < 50 {
		t.Fatalf("only %d tests are named", len(named))
	}
	for _, n := range named {
		if !have[n[1]+": "+n[2]] {
			t.Errorf("no test %s in %s", n[2], n[1])
		}
	}
}
