package engine

import (
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/engine/syntax"
)

// qualifier is the name by which the columns of a source may be qualified: its alias, or its full name of which any tail will do.
type qualifier struct {
	parts         []string
	schemas       []*arrow.Schema // where the columns are
	caseSensitive bool
}

func (q *qualifier) same(a, b string) bool {
	return a == b || (!q.caseSensitive && strings.EqualFold(a, b))
}

// matches reports whether name is a tail of the qualifier.
func (q *qualifier) matches(name []syntax.Ident) bool {
	n := len(q.parts) - len(name)
	if n < 0 || len(name) == 0 {
		return false
	}
	for i, part := range name {
		if !q.same(q.parts[n+i], part.Text) {
			return false
		}
	}
	return true
}

func (q *qualifier) hasColumn(name string) bool {
	for _, schema := range q.schemas {
		for _, f := range schema.Fields() {
			if q.same(f.Name, name) {
				return true
			}
		}
	}
	return false
}

// strip takes the qualifier off a column's name. A qualified column wins over a field of a struct that is spelled alike.
func (q *qualifier) strip(c *syntax.Column) *syntax.Column {
	for n := len(c.Parts) - 1; n > 0; n-- {
		if q.matches(c.Parts[:n]) && q.hasColumn(c.Parts[n].Text) {
			out := *c
			out.Parts = c.Parts[n:]
			return &out
		}
	}
	return c
}

// expr takes the qualifier off every column of an expression. Nodes that change are copied.
func (q *qualifier) expr(e syntax.Expr) syntax.Expr {
	switch e := e.(type) {
	case *syntax.Column:
		return q.strip(e)
	case *syntax.Binary:
		out := *e
		out.Left, out.Right = q.expr(e.Left), q.expr(e.Right)
		return &out
	case *syntax.Unary:
		out := *e
		out.Expr = q.expr(e.Expr)
		return &out
	case *syntax.IsNull:
		out := *e
		out.Expr = q.expr(e.Expr)
		return &out
	case *syntax.IsBool:
		out := *e
		out.Expr = q.expr(e.Expr)
		return &out
	case *syntax.Between:
		out := *e
		out.Expr, out.Low, out.High = q.expr(e.Expr), q.expr(e.Low), q.expr(e.High)
		return &out
	case *syntax.In:
		out := *e
		out.Expr, out.List = q.expr(e.Expr), q.list(e.List)
		return &out
	case *syntax.Like:
		out := *e
		out.Expr, out.Pattern = q.expr(e.Expr), q.expr(e.Pattern)
		return &out
	case *syntax.LikeList:
		out := *e
		out.Expr, out.List = q.expr(e.Expr), q.list(e.List)
		return &out
	case *syntax.Cast:
		out := *e
		out.Expr = q.expr(e.Expr)
		return &out
	case *syntax.Call:
		out := *e
		out.Args = q.list(e.Args)
		return &out
	}
	return e
}

func (q *qualifier) list(in []syntax.Expr) []syntax.Expr {
	out := make([]syntax.Expr, len(in))
	for i, e := range in {
		out[i] = q.expr(e)
	}
	return out
}

// firstColumn gives the first column in an expression that is one of the source's, or nil.
func (q *qualifier) firstColumn(e syntax.Expr) *syntax.Column {
	if c, ok := e.(*syntax.Column); ok && (len(c.Parts) > 1 || c.Parts[0].Quoted || q.hasColumn(c.Parts[0].Text)) {
		return c
	}
	for _, child := range syntax.Children(e) {
		if c := q.firstColumn(child); c != nil {
			return c
		}
	}
	return nil
}
