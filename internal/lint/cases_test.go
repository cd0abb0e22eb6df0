package lint

import (
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

var namedTest = regexp.MustCompile("`([a-z/0-9]+): (Test[A-Za-z0-9]+)`")

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
