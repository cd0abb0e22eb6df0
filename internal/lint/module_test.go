package lint

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

const modulePath = "github.com/skua-data/skua"

// source is one Go file of the module.
type source struct {
	path string // from the module's root, with slashes
	dir  string // its folder; "." is the root
	text string
	file *ast.File
	set  *token.FileSet
}

func (s *source) test() bool { return strings.HasSuffix(s.path, "_test.go") }

func (s *source) main() bool { return s.file.Name.Name == "main" }

func (s *source) generated() bool { return ast.IsGenerated(s.file) }

// at spells a place in the file.
func (s *source) at(p token.Pos) string { return fmt.Sprintf("%s:%d", s.path, s.set.Position(p).Line) }

// parseSource reads a file's text as if it lay at a path of the module.
func parseSource(name, text string) (*source, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, text, parser.ParseComments|parser.SkipObjectResolution)
	return &source{path: name, dir: path.Dir(name), text: text, file: file, set: set}, err
}

// sample is a file for showing what a rule finds.
func sample(t *testing.T, name, text string) *source {
	t.Helper()
	s, err := parseSource(name, text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const root = "../.."

// ignored folders hold no source of ours: results of builds, data of tests, other people's modules.
func ignored(name string) bool {
	return name == "bin" || name == "testdata" || name == "vendor" || name == "node_modules" || name == "shared" ||
		strings.HasPrefix(name, ".") && name != "." && name != ".." && name != ".ci" || strings.HasPrefix(name, "_")
}

// walk gives every file of the module that is ours.
func walk(visit func(name string) error) error {
	return filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name != root && ignored(d.Name()) {
				return filepath.SkipDir
			}
			return nil
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		return visit(filepath.ToSlash(rel))
	})
}

// parseModule parses every Go file once for all tests.
var parseModule = sync.OnceValues(func() ([]*source, error) {
	var out []*source
	err := walk(func(name string) error {
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return err
		}
		s, err := parseSource(name, string(text))
		if err == nil {
			out = append(out, s)
		}
		return err
	})
	return out, err
})

func module(t *testing.T) []*source {
	t.Helper()
	sources, err := parseModule()
	if err != nil {
		t.Fatal(err)
	}
	if len(sources) < 50 {
		t.Fatalf("only %d files found: the walk is broken", len(sources))
	}
	return sources
}

// report fails with every finding.
func report(t *testing.T, findings []string) {
	t.Helper()
	for _, f := range findings {
		t.Error(f)
	}
}

// finds fails unless a rule reports exactly the samples that break it: each finding must contain its text.
func finds(t *testing.T, findings []string, want ...string) {
	t.Helper()
	if len(findings) != len(want) {
		t.Fatalf("found %q, want %q", findings, want)
	}
	for i := range want {
		if !strings.Contains(findings[i], want[i]) {
			t.Errorf("found %q, want %q", findings[i], want[i])
		}
	}
}
