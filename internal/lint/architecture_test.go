package lint

import (
	"errors"
	"go/ast"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// names is what a document can point at: the files and folders of the module, and the names that its Go files declare.
type names struct {
	paths    map[string]bool
	declared map[string]map[string]bool // by file and by folder: F, T, T.Method and Method
	packages map[string][]string        // by a package's name: its folders
	foreign  map[string]bool            // last elements of imports that are not ours
}

func newNames(paths []string, sources []*source) *names {
	n := &names{map[string]bool{}, map[string]map[string]bool{}, map[string][]string{}, map[string]bool{}}
	for _, p := range paths {
		for ; p != "."; p = path.Dir(p) {
			n.paths[p] = true
		}
	}
	for _, s := range sources {
		for _, i := range s.file.Imports {
			if imported := strings.Trim(i.Path.Value, `"`); !strings.HasPrefix(imported, modulePath) {
				n.foreign[path.Base(imported)] = true
			}
		}
		if name := s.file.Name.Name; !s.test() && !slices.Contains(n.packages[name], s.dir) {
			n.packages[name] = append(n.packages[name], s.dir)
		}
		for _, name := range declared(s.file) {
			n.declare(s.path, name)
			if !s.test() {
				n.declare(s.dir, name)
			}
		}
	}
	return n
}

func (n *names) declare(where, name string) {
	if n.declared[where] == nil {
		n.declared[where] = map[string]bool{}
	}
	n.declared[where][name] = true
}

// declared gives the names that a file declares at its top, methods with and without their type, and methods of interfaces.
func declared(file *ast.File) []string {
	var out []string
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			out = append(out, d.Name.Name)
			if r := receiver(d); r != "" {
				out = append(out, r+"."+d.Name.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					out = append(out, spec.Name.Name)
					out = append(out, members(spec)...)
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						out = append(out, name.Name)
					}
				}
			}
		}
	}
	return out
}

// members gives the fields or methods that a type's declaration spells out, with the type in front.
func members(spec *ast.TypeSpec) []string {
	var list *ast.FieldList
	switch t := spec.Type.(type) {
	case *ast.StructType:
		list = t.Fields
	case *ast.InterfaceType:
		list = t.Methods
	default:
		return nil
	}
	var out []string
	for _, f := range list.List {
		for _, name := range f.Names {
			out = append(out, spec.Name.Name+"."+name.Name)
		}
	}
	return out
}

var (
	fence      = regexp.MustCompile("(?s)```.*?```")
	quotedText = regexp.MustCompile("`([^`\n]+)`")
	fileFunc   = regexp.MustCompile(`^([\w./-]+\.go):([A-Za-z_][\w.]*)$`)
	goName     = regexp.MustCompile(`^([a-z][\w/]*)\.([A-Z]\w*(?:\.\w+)?)$`)
	filePath   = regexp.MustCompile(`^[\w.-]+(/[\w.-]+)*/?$`)
)

// checkDocument gives what a document names in back quotes that does not exist.
func checkDocument(name, text string, n *names) []string {
	var findings []string
	for _, m := range quotedText.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
		if problem := n.missing(strings.TrimSuffix(m[1], "()")); problem != "" {
			findings = append(findings, name+": `"+m[1]+"`: "+problem)
		}
	}
	return findings
}

// missing says why a quoted name is wrong. A text that looks like no name of ours is never wrong.
func (n *names) missing(text string) string {
	if m := fileFunc.FindStringSubmatch(text); m != nil {
		if !n.paths[m[1]] {
			return "no such file"
		}
		if !n.declared[m[1]][m[2]] {
			return "the file declares no such name"
		}
		return ""
	}
	if filePath.MatchString(text) && (strings.Contains(text, "/") || strings.HasSuffix(text, ".go")) {
		return n.missingPath(strings.TrimSuffix(text, "/"))
	}
	if m := goName.FindStringSubmatch(text); m != nil {
		return n.missingName(m[1], m[2])
	}
	return ""
}

// missingPath judges a path from the root, or the bare name of a Go file somewhere.
func (n *names) missingPath(p string) string {
	first, _, nested := strings.Cut(p, "/")
	switch {
	case n.paths[p]:
	case nested && (n.paths[first] || strings.HasSuffix(p, ".go")) && first != "bin":
		return "no such path"
	case !nested:
		for known := range n.paths {
			if path.Base(known) == p {
				return ""
			}
		}
		return "no such file"
	}
	return ""
}

// missingName judges pkg.Name, where pkg is a package's name or its folder.
func (n *names) missingName(pkg, name string) string {
	folders := n.packages[path.Base(pkg)]
	if strings.Contains(pkg, "/") {
		folders = []string{pkg}
	}
	for _, folder := range folders {
		if n.declared[folder][name] {
			return ""
		}
	}
	if len(folders) > 0 {
		return "the package declares no such name"
	}
	if !n.foreign[pkg] {
		return "no such package"
	}
	return ""
}

func TestArchitecture(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "ARCHITECTURE.md"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("there is no ARCHITECTURE.md to hold to")
	}
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	if err := walk(func(name string) error { paths = append(paths, name); return nil }); err != nil {
		t.Fatal(err)
	}
	report(t, checkDocument("ARCHITECTURE.md", string(text), newNames(paths, module(t))))
}

func TestArchitectureFinds(t *testing.T) {
	plan := sample(t, "scan/plan.go", `package scan
		import "context"
		type Plan struct { Splits int }
		type Source interface { Schema() }
		func (p *Plan) Close() {}
		func build(ctx context.Context) {}
		const Limit = 1`)
	n := newNames([]string{"scan/plan.go", "kernels/cuda/ptx/a.cu", "Makefile"}, []*source{plan})
	finds(t, checkDocument("A.md", strings.Join([]string{
		"`scan/plan.go:build`, `scan/plan.go:Plan.Close()`, `scan/plan.go`, `scan/`, `plan.go`, `kernels/cuda/ptx`, `scan.Plan.Splits`,",
		"`scan.Source.Schema`, `scan.Limit`, `context.Context`, `SELECT a/b`, `s3://a/b.go`, `read.split.*`, `iceberg-go/table`, `bin/skua`",
		"```\n`scan/gone.go`\n```",
		"`scan/plan.go:gone`, `scan/gone.go:build`, `scan/gone.go`, `gone.go`, `kernels/cpu`, `scan.Gone`, `engine.Prepare`, `scan.Plan.Gone`",
	}, "\n"), n),
		"`scan/plan.go:gone`: the file declares", "`scan/gone.go:build`: no such file", "`scan/gone.go`: no such path", "`gone.go`: no such file",
		"`kernels/cpu`: no such path", "`scan.Gone`: the package", "`engine.Prepare`: no such package", "`scan.Plan.Gone`: the package")
}

// checkNotice gives the modules that go.mod requires directly and NOTICE does not name.
func checkNotice(mod, notice string) []string {
	var findings []string
	inside := false
	for line := range strings.SplitSeq(mod, "\n") {
		line = strings.TrimSpace(line)
		switch line {
		case "require (":
			inside = true
			continue
		case ")":
			inside = false
		}
		rest, single := strings.CutPrefix(line, "require ")
		if fields := strings.Fields(rest); (inside || single) && len(fields) >= 2 && !strings.Contains(line, "// indirect") {
			if !slices.Contains(strings.FieldsFunc(notice, func(r rune) bool { return strings.ContainsRune(" \t\n\r,;()<>`", r) }), fields[0]) {
				findings = append(findings, "NOTICE does not name "+fields[0])
			}
		}
	}
	return findings
}

func TestNotice(t *testing.T) {
	var texts [2]string
	for i, name := range []string{"go.mod", "NOTICE"} {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		texts[i] = string(text)
	}
	report(t, checkNotice(texts[0], texts[1]))
}

func TestNoticeFinds(t *testing.T) {
	mod := "module x\n\nrequire one.org/a/v2 v2.0.0\n\nrequire (\n\ttwo.org/b v1.0.0\n\tthree.org/c v1.0.0 // indirect\n\tfour.org/d v1.0.0\n)\n"
	finds(t, checkNotice(mod, "Uses four.org/d (MIT).\n"), "one.org/a/v2", "two.org/b")
}
