package lint

import (
	"go/ast"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// drawers are names that say nothing, so that everything ends up behind them.
var drawers = []string{"util", "utils", "helper", "helpers", "common", "misc", "types", "models", "core", "base", "pkg", "lib"}

// checkNames gives files and packages that are named for a drawer.
func checkNames(sources []*source) []string {
	var findings []string
	for _, s := range sources {
		stem := strings.TrimSuffix(strings.TrimSuffix(path.Base(s.path), ".go"), "_test")
		words := append(strings.Split(stem, "_"), strings.TrimSuffix(s.file.Name.Name, "_test"), path.Base(s.dir))
		for _, w := range words {
			if slices.Contains(drawers, w) {
				findings = append(findings, s.path+": "+w+" names a drawer; name what is in it")
				break
			}
		}
	}
	return findings
}

// checkCalls gives calls and functions that the house does without.
func checkCalls(sources []*source) []string {
	var findings []string
	for _, s := range sources {
		if s.generated() {
			continue
		}
		comments := commentLines(s)
		ast.Inspect(s.file, func(n ast.Node) bool {
			problem := ""
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Recv == nil && n.Name.Name == "init" {
					problem = "func init: call a constructor"
				}
			case *ast.CallExpr:
				problem = callProblem(s, n, comments)
			}
			if problem != "" {
				findings = append(findings, s.at(n.Pos())+": "+problem)
			}
			return true
		})
	}
	return findings
}

// callProblem says what is wrong with a call, or "".
func callProblem(s *source, call *ast.CallExpr, comments map[int]bool) string {
	name := callee(call.Fun)
	line := s.set.Position(call.Pos()).Line
	switch {
	case s.test(), strings.HasSuffix(path.Base(s.dir), "test"):
		return ""
	case name == "panic" && !comments[line] && !comments[line-1]:
		return "panic without a comment at it that says why the state is impossible"
	case s.main():
		return ""
	}
	switch name {
	case "context.Background", "context.TODO":
		return name + ": take the caller's context"
	case "fmt.Print", "fmt.Printf", "fmt.Println", "print", "println":
		if !strings.HasPrefix(s.dir, "cmd/") {
			return name + ": only commands print"
		}
	case "os.Exit", "log.Fatal", "log.Fatalf":
		if exits[s.path] == "" {
			return name + ": only main ends the process"
		}
	}
	return ""
}

// exits are the files that may end the process, with the reason.
var exits = map[string]string{"plugins/sdk/serve.go": "Serve is the whole main of a plugin"}

// callee spells what is called: f or pkg.F.
func callee(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		if x, ok := e.X.(*ast.Ident); ok {
			return x.Name + "." + e.Sel.Name
		}
	}
	return ""
}

// commentLines gives the lines that end with a comment or are one.
func commentLines(s *source) map[int]bool {
	lines := map[int]bool{}
	for _, group := range s.file.Comments {
		for _, c := range group.List {
			for l := s.set.Position(c.Pos()).Line; l <= s.set.Position(c.End()).Line; l++ {
				lines[l] = true
			}
		}
	}
	return lines
}

var later = regexp.MustCompile(`\b(TODO|FIXME|XXX|HACK)\b`)

// checkComments gives comments that promise work.
func checkComments(sources []*source) []string {
	var findings []string
	for _, s := range sources {
		if s.dir == "internal/lint" || s.generated() {
			continue
		}
		for _, group := range s.file.Comments {
			if word := later.FindString(group.Text()); word != "" {
				findings = append(findings, s.at(group.Pos())+": "+word+" in a comment: do it, or refuse it with its name")
			}
		}
	}
	return findings
}

// machine finds paths that exist on one machine only.
var machine = regexp.MustCompile("(^|[^\\w./]|//)(/" + "work/|/" + "root/|/" + "home/[a-z])")

// checkText gives the lines of a file that name a path of one machine; scratch folders may be named in tests and documents only.
func checkText(name, text string) []string {
	var findings []string
	for i, line := range strings.Split(text, "\n") {
		scratch := strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") && strings.Contains(line, "\"/"+"tmp/")
		if machine.MatchString(line) || scratch {
			findings = append(findings, name+":"+strconv.Itoa(i+1)+": names a path of one machine")
		}
	}
	return findings
}

func TestNames(t *testing.T)    { report(t, checkNames(module(t))) }
func TestCalls(t *testing.T)    { report(t, checkCalls(module(t))) }
func TestComments(t *testing.T) { report(t, checkComments(module(t))) }

func TestMachinePaths(t *testing.T) {
	err := walk(func(name string) error {
		if binary := slices.Contains([]string{".parquet", ".avro", ".gz", ".zip", ".png", ".db"}, path.Ext(name)); binary || strings.HasPrefix(name, "internal/lint/") {
			return nil
		}
		text, err := os.ReadFile(filepath.Join(root, name))
		if err == nil {
			report(t, checkText(name, string(text)))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestNamesFinds(t *testing.T) {
	finds(t, checkNames([]*source{
		sample(t, "scan/plan.go", "package scan"),
		sample(t, "scan/plan_utils.go", "package scan"),
		sample(t, "scan/helpers_test.go", "package scan"),
		sample(t, "common/x.go", "package other"),
		sample(t, "scan/x.go", "package types"),
		sample(t, "scan/database.go", "package scan"),
	}), "utils", "helpers", "common", "types")
}

func TestCallsFinds(t *testing.T) {
	const text = `package %s
		import ("context"; "fmt"; "os")
		func init() {}
		func f(x int) {
			_ = context.Background()
			_ = context.TODO()
			fmt.Println()
			println()
			os.Exit(1)
			panic("no reason")

			panic("reason") // the switch above is exhaustive
			// Every kind is listed.
			panic(x)
		}
		type T struct{}
		func (T) init() {}`
	in := func(name, pkg string) []string {
		return checkCalls([]*source{sample(t, name, strings.Replace(text, "%s", pkg, 1))})
	}
	finds(t, in("scan/x.go", "scan"), "func init", "context.Background", "context.TODO", "fmt.Println", "println", "os.Exit", "panic")
	finds(t, in("cmd/skua/shell/x.go", "shell"), "func init", "context.Background", "context.TODO", "os.Exit", "panic")
	finds(t, in("cmd/skua/x.go", "main"), "func init", "panic")
	finds(t, in("scan/x_test.go", "scan"), "func init")
	finds(t, in("kernels/kernelstest/x.go", "kernelstest"), "func init")
}

func TestCommentsFinds(t *testing.T) {
	finds(t, checkComments([]*source{sample(t, "scan/x.go", "package scan\n// TO"+"DO: later\n// f does. FIX"+"ME\nfunc f() {}\n// TODOS are fine\n")}), ":2:")
}

func TestMachinePathsFinds(t *testing.T) {
	text := "a := \"/" + "work/x\"\nb := \"/" + "tmp/x\"\nc := \"s3://bucket/" + "work/x\" // home/x\nd := \"/" + "home/me\"\ne := \"jdbc:x://home/y\"\nf := \"file:///" + "root/y\"\n"
	finds(t, checkText("scan/x.go", text), "scan/x.go:1", "scan/x.go:2", "scan/x.go:4", "scan/x.go:6")
	finds(t, checkText("scan/x_test.go", text), ":1", ":4", ":6")
	finds(t, checkText("README.md", text), ":1", ":4", ":6")
}
