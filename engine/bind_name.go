package engine

import (
	"strings"

	"github.com/skua-data/skua/engine/syntax"
)

// outputName spells an expression as Spark names a column that has no alias.
func outputName(e syntax.Expr) string {
	switch e := e.(type) {
	case *syntax.Literal:
		return literalName(e)
	case *syntax.Typed:
		return typedName(e)
	case *syntax.Column:
		return strings.Join(texts(e.Parts), ".")
	case *syntax.Unary:
		if e.Op == "NOT" {
			return "(NOT " + outputName(e.Expr) + ")"
		}
		return "(" + e.Op + " " + outputName(e.Expr) + ")"
	case *syntax.Binary:
		return binaryName(e)
	case *syntax.IsNull:
		if e.Not {
			return "(" + outputName(e.Expr) + " IS NOT NULL)"
		}
		return "(" + outputName(e.Expr) + " IS NULL)"
	case *syntax.Between:
		return negatedName("between("+namesOf(e.Expr, e.Low, e.High)+")", e.Not)
	case *syntax.In:
		return negatedName("("+outputName(e.Expr)+" IN ("+namesOf(e.List...)+"))", e.Not)
	case *syntax.Like:
		if !e.Regex && !e.CaseInsensitive {
			return negatedName(outputName(e.Expr)+" LIKE "+outputName(e.Pattern), e.Not)
		}
	case *syntax.Cast:
		verb := "CAST("
		if e.Try {
			verb = "TRY_CAST("
		}
		return verb + outputName(e.Expr) + " AS " + strings.ToUpper(typeText(e.Type)) + ")"
	case *syntax.Call:
		return callName(e)
	}
	return e.String()
}

func negatedName(name string, not bool) string {
	if not {
		return "(NOT " + name + ")"
	}
	return name
}

func namesOf(list ...syntax.Expr) string {
	names := make([]string, len(list))
	for i, e := range list {
		names[i] = outputName(e)
	}
	return strings.Join(names, ", ")
}

// literalName spells the value: 1L is 1, 1e3 is 1000.0, 'x' is x.
func literalName(e *syntax.Literal) string {
	c, err := literal(e)
	if err != nil {
		return e.Text
	}
	return c.plain()
}

func typedName(e *syntax.Typed) string {
	c, err := newBinder(nil, nil, false, utc, epochTime, nil).typedLiteral(e)
	switch {
	case err != nil:
		return e.Type + " '" + e.Text + "'"
	case e.Type == "X":
		return c.sql()
	case e.Type == "TIMESTAMP_LTZ" || e.Type == "TIMESTAMP":
		return "TIMESTAMP '" + e.Text + "'"
	}
	return e.Type + " '" + c.plain() + "'"
}

func binaryName(e *syntax.Binary) string {
	switch e.Op {
	case "||":
		return "concat(" + namesOf(e.Left, e.Right) + ")"
	case "<>":
		return "(NOT (" + outputName(e.Left) + " = " + outputName(e.Right) + "))"
	case "DIV":
		return "(" + outputName(e.Left) + " div " + outputName(e.Right) + ")"
	}
	return "(" + outputName(e.Left) + " " + e.Op + " " + outputName(e.Right) + ")"
}

// callName spells a call; the names of types are casts.
func callName(e *syntax.Call) string {
	name := strings.ToLower(strings.Join(texts(e.Name), "."))
	shown := e.Args
	if (name == "variant_get" || name == "try_variant_get") && len(shown) == 3 {
		shown = shown[:2] // the type goes into the column's
	}
	args := namesOf(shown...)
	if t, ok := namedTypes[name]; ok && len(e.Args) == 1 {
		return "CAST(" + args + " AS " + strings.ToUpper(catalogName(t)) + ")"
	}
	switch {
	case e.Star:
		args = "1"
	case e.Distinct:
		args = "DISTINCT " + args
	}
	return name + "(" + args + ")"
}
