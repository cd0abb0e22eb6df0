package lint

import (
	"go/ast"
	"go/token"
	"strings"
	"testing"
)

// checkDocs gives what lacks its comment: every package has one, and every exported name has one that begins with it.
func checkDocs(sources []*source) []string {
	var findings []string
	documented := map[string]bool{}
	var packages []*source
	for _, s := range sources {
		if s.test() {
			continue
		}
		if _, seen := documented[s.dir]; !seen {
			packages = append(packages, s)
			documented[s.dir] = false
		}
		want := "Package " + s.file.Name.Name + " "
		if doc := s.file.Doc.Text(); strings.HasPrefix(doc, want) || s.main() && doc != "" || s.generated() {
			documented[s.dir] = true
		}
	}
	for _, s := range packages {
		if !documented[s.dir] {
			findings = append(findings, s.dir+": no file has a comment that begins with Package "+s.file.Name.Name)
		}
	}
	for _, s := range sources {
		if !s.test() && !s.generated() && !s.main() {
			findings = append(findings, undocumented(s)...)
		}
	}
	return findings
}

// undocumented gives the exported names of a file whose comment does not begin with them.
func undocumented(s *source) []string {
	var findings []string
	need := func(name *ast.Ident, docs ...*ast.CommentGroup) {
		if !name.IsExported() {
			return
		}
		for _, doc := range docs {
			if begins(doc.Text(), name.Name) {
				return
			}
		}
		findings = append(findings, s.at(name.Pos())+": no comment begins with "+name.Name)
	}
	for _, d := range s.file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if receiver(d) == "" || ast.IsExported(receiver(d)) {
				need(d.Name, d.Doc)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					need(spec.Name, spec.Doc, alone(d))
				case *ast.ValueSpec:
					// One comment may speak for a whole group, and one behind the name says enough.
					if spec.Doc == nil && spec.Comment == nil && (d.Doc == nil || !d.Lparen.IsValid()) || spec.Doc != nil {
						need(spec.Names[0], spec.Doc, alone(d))
					}
				}
			}
		}
	}
	return findings
}

// alone gives the comment of a declaration that is not a group.
func alone(d *ast.GenDecl) *ast.CommentGroup {
	if d.Lparen == token.NoPos {
		return d.Doc
	}
	return nil
}

// receiver gives the name of a method's type, or "".
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return ""
	}
	t := d.Recv.List[0].Type
	for {
		switch e := t.(type) {
		case *ast.StarExpr:
			t = e.X
		case *ast.IndexExpr:
			t = e.X
		case *ast.IndexListExpr:
			t = e.X
		case *ast.Ident:
			return e.Name
		default:
			return ""
		}
	}
}

// begins reports whether a comment begins with a name as a whole word.
func begins(doc, name string) bool {
	rest, ok := strings.CutPrefix(doc, name)
	return ok && rest != "" && !strings.ContainsAny(rest[:1], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
}

func TestDocs(t *testing.T) { report(t, checkDocs(module(t))) }

func TestDocsFinds(t *testing.T) {
	finds(t, checkDocs([]*source{
		sample(t, "a/a.go", `package a

			// Good does.
			func Good() {}
			func Bare() {}
			// Does it.
			func Wrong() {}
			// Longer is not Long.
			func Long() {}
			// T is one.
			type T struct{ Field int }
			func (t *T) Method() {}
			type hidden struct{}
			func (hidden) Method() {}
			type (
				// In is documented.
				In int
				Out int
			)
			// The group.
			const (
				One = 1
				Two = 2 // more
				// Another.
				Three = 3
			)
			var Lone = 1
			var Behind = 1 // says enough
		`),
		sample(t, "b/b.go", "// Package b is documented.\npackage b"),
		sample(t, "c/main.go", "package main\nfunc Exported() {}"),
	}),
		"a: no file has a comment that begins with Package a", "c: no file has a comment",
		"begins with Bare", "begins with Wrong", "begins with Long", "begins with Method", "begins with Out", "begins with Three",
		"begins with Lone")
}
