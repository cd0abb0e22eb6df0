// Package sparkname spells expressions as Spark names columns that have no alias. Errors name expressions so, too.
package sparkname

import (
	"slices"
	"strings"
	"time"

	"github.com/skua-data/skua/engine/sparktype"
	"github.com/skua-data/skua/engine/syntax"
)

// Of spells an expression as Spark names a column that has no alias.
func Of(e syntax.Expr) string {
	var n namer
	n.expr(e)
	return n.String()
}

// namer writes the name of a column, each part of it once.
type namer struct {
	strings.Builder
	chained bool // inside a chain of tests, which repeats what is tested
}

// words writes words and expressions in turn: the texts are Spark's, the expressions are named.
func (n *namer) words(parts ...any) {
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			n.WriteString(p)
		case syntax.Expr:
			n.expr(p)
		}
	}
}

// niladic are the functions that Spark calls where their names stand without parentheses.
var niladic = map[string]string{"current_date": "current_date()", "current_timestamp": "current_timestamp()", "current_user": "current_user()", "session_user": "current_user()"}

func (n *namer) list(list []syntax.Expr) {
	for i, e := range list {
		if i > 0 {
			n.WriteString(", ")
		}
		n.expr(e)
	}
}

// negated writes NOT around what write writes, where it is negated.
func (n *namer) negated(not bool, write func()) {
	if not {
		n.WriteString("(NOT ")
		defer n.WriteByte(')')
	}
	write()
}

func (n *namer) expr(e syntax.Expr) {
	switch e := e.(type) {
	case *syntax.Literal:
		n.WriteString(literalName(e))
	case *syntax.Typed:
		n.WriteString(typedName(e))
	case *syntax.Column:
		if call := niladic[strings.ToLower(e.Parts[0].Text)]; call != "" && len(e.Parts) == 1 && !e.Parts[0].Quoted {
			n.WriteString(call)
			return
		}
		n.WriteString(strings.Join(syntax.Texts(e.Parts), "."))
	case *syntax.Unary:
		if e.Op == "~" {
			n.words("~", e.Expr)
			return
		}
		n.words("(", e.Op, " ", e.Expr, ")")
	case *syntax.Binary:
		n.binary(e)
	case *syntax.IsNull:
		word := "NULL"
		if _, literal := e.Expr.(*syntax.Literal); literal {
			word = e.Word() // of others Spark forgets it
		}
		if e.Not {
			n.words("(", e.Expr, " IS NOT "+word+")")
			return
		}
		n.words("(", e.Expr, " IS "+word+")")
	case *syntax.IsBool:
		truth := " <=> false)"
		if e.Value {
			truth = " <=> true)"
		}
		n.negated(e.Not, func() { n.words("(", e.Expr, truth) })
	case *syntax.Between:
		n.negated(e.Not, func() { n.words("between(", e.Expr, ", ", e.Low, ", ", e.High, ")") })
	case *syntax.In:
		n.negated(e.Not, func() {
			n.words("(", e.Expr, " IN (")
			n.list(e.List)
			n.WriteString("))")
		})
	case *syntax.Like:
		n.negated(e.Not, func() { n.like(e) })
	case *syntax.LikeList:
		n.likeList(e)
	case *syntax.Cast:
		if len(e.Type.Args)+len(e.Type.Fields) > 0 {
			n.expr(e.Expr)
			return
		}
		if e.Try {
			n.WriteString("TRY_")
		}
		n.words("CAST(", e.Expr, " AS ", strings.ToUpper(sparktype.Spelled(e.Type)), ")")
	case *syntax.Call:
		n.call(e)
	case *syntax.Unsupported:
		n.construct(e)
	default:
		n.WriteString(e.String())
	}
}

func (n *namer) like(e *syntax.Like) {
	switch {
	case e.Regex:
		n.words("RLIKE(", e.Expr, ", ", e.Pattern, ")")
		return
	case e.CaseInsensitive:
		n.words("ilike(", e.Expr, ", ", e.Pattern, ")")
		return
	}
	n.words(e.Expr, " LIKE ", e.Pattern)
	if e.Escape != nil {
		n.WriteString(" ESCAPE '" + e.Escape.Value + "'")
	}
}

// likeList names a list of patterns: Spark makes one test of those that are texts as they are written, and shows only what is tested; of others, a chain of tests.
func (n *namer) likeList(e *syntax.LikeList) {
	if !n.chained && slices.ContainsFunc(e.List, func(p syntax.Expr) bool { return !isTextLiteral(p) }) {
		n.chained = true
		defer func() { n.chained = false }()
		op := " OR "
		if e.All {
			op = " AND "
		}
		n.WriteString(strings.Repeat("(", len(e.List)-1))
		for i, p := range e.List {
			if i > 0 {
				n.WriteString(op)
			}
			n.expr(&syntax.Like{Expr: e.Expr, Pattern: p, Not: e.Not, CaseInsensitive: e.CaseInsensitive})
			if i > 0 {
				n.WriteByte(')')
			}
		}
		return
	}
	name := "likeany("
	if e.All {
		name = "likeall("
	}
	if e.Not {
		name = "not" + name
	}
	if e.CaseInsensitive {
		n.words(name, "lower(", e.Expr, "))")
		return
	}
	n.words(name, e.Expr, ")")
}

// isTextLiteral reports whether an expression is a text as it is written.
func isTextLiteral(e syntax.Expr) bool {
	l, ok := e.(*syntax.Literal)
	return ok && l.Kind == syntax.String
}

// construct names what the tree does not describe by its parts; without them by its text.
func (n *namer) construct(e *syntax.Unsupported) {
	if e.Parts == nil {
		n.WriteString(e.String())
	}
	for _, p := range e.Parts {
		n.WriteString(p.Words)
		if p.Expr != nil {
			n.expr(p.Expr)
		}
	}
}

// literalName spells the value: 1L is 1, 1e3 is 1000.0, 'x' is x.
func literalName(e *syntax.Literal) string {
	c, err := sparktype.Literal(e)
	if err != nil {
		return e.Text
	}
	return c.Plain()
}

func typedName(e *syntax.Typed) string {
	c, err := sparktype.Session{Zone: time.UTC, Now: time.Unix(0, 0).UTC()}.Typed(e)
	switch {
	case err != nil:
		return e.Type + " '" + e.Text + "'"
	case e.Type == "X":
		return c.SQL()
	case e.Type == "TIMESTAMP_LTZ" || e.Type == "TIMESTAMP":
		return "TIMESTAMP '" + e.Text + "'"
	}
	return e.Type + " '" + c.Plain() + "'"
}

func (n *namer) binary(e *syntax.Binary) {
	if n.shifted(e) {
		return
	}
	switch e.Op {
	case "||":
		n.words("concat(", e.Left, ", ", e.Right, ")")
	case "<>":
		n.words("(NOT (", e.Left, " = ", e.Right, "))")
	case "DIV":
		n.words("(", e.Left, " div ", e.Right, ")")
	default:
		n.words("(", e.Left, " ", e.Op, " ", e.Right, ")")
	}
}

// call spells a call; the names of types are casts, which Spark shows where they are written as CAST alone.
func (n *namer) call(e *syntax.Call) {
	name := strings.ToLower(strings.Join(syntax.Texts(e.Name), "."))
	shown := e.Args
	if (name == "variant_get" || name == "try_variant_get") && len(shown) == 3 {
		shown = shown[:2] // the type goes into the column's
	}
	if _, ok := sparktype.Named(name); (ok || name == "decimal") && len(e.Args) == 1 && name != "char" {
		n.expr(shown[0])
		return
	}
	if !e.Star && !e.Distinct && n.calledOtherwise(name, shown) {
		return
	}
	shown = shownArguments(name, shown)
	n.WriteString(shownName(name, len(shown)) + "(")
	if e.Star {
		n.WriteByte('1')
	} else if e.Distinct {
		n.WriteString("DISTINCT ")
	}
	if !e.Star {
		n.list(shown)
		n.WriteString(completion(name, len(shown)))
	}
	n.WriteByte(')')
}
