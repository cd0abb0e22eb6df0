package syntax

// Children gives an expression's operands, for walks that only look.
func Children(e Expr) []Expr {
	switch e := e.(type) {
	case *Binary:
		return []Expr{e.Left, e.Right}
	case *Unary:
		return []Expr{e.Expr}
	case *IsNull:
		return []Expr{e.Expr}
	case *IsBool:
		return []Expr{e.Expr}
	case *Between:
		return []Expr{e.Expr, e.Low, e.High}
	case *In:
		return append([]Expr{e.Expr}, e.List...)
	case *Like:
		return []Expr{e.Expr, e.Pattern}
	case *LikeList:
		return append([]Expr{e.Expr}, e.List...)
	case *Cast:
		return []Expr{e.Expr}
	case *Call:
		return e.Args
	}
	return nil
}
