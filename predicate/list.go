package predicate

// Fields gives the fields that e reads, distinct by id, in order of first use.
func Fields(e Expr) []Field {
	var out []Field
	seen := map[int]bool{}
	add := func(f Field) {
		if !seen[f.ID] {
			seen[f.ID] = true
			out = append(out, f)
		}
	}
	var walk func(Expr)
	walk = func(e Expr) {
		switch e := e.(type) {
		case And:
			walk(e.Left)
			walk(e.Right)
		case Or:
			walk(e.Left)
			walk(e.Right)
		case Not:
			walk(e.Expr)
		default:
			if f, ok := fieldOf(e); ok {
				add(f)
			}
		}
	}
	walk(e)
	return out
}

// fieldOf gives the field that a leaf tests.
func fieldOf(e Expr) (Field, bool) {
	switch e := e.(type) {
	case IsNull:
		return e.Field, true
	case IsNaN:
		return e.Field, true
	case Comparison:
		return e.Field, true
	case In:
		return e.Field, true
	case StartsWith:
		return e.Field, true
	}
	return Field{}, false
}

// Conjuncts gives the list of expressions whose And is e, in order; none for True.
func Conjuncts(e Expr) []Expr { return operands(e, true, nil) }

// Join gives the And of es; True for none.
func Join(es []Expr) Expr { return join(es, true) }

// operands appends to out the operands of nested Ands (conjunction) or Ors, less those that change nothing.
func operands(e Expr, conjunction bool, out []Expr) []Expr {
	switch e := e.(type) {
	case And:
		if conjunction {
			return operands(e.Right, true, operands(e.Left, true, out))
		}
	case Or:
		if !conjunction {
			return operands(e.Right, false, operands(e.Left, false, out))
		}
	case Constant:
		if e == neutral(conjunction) {
			return out
		}
	}
	return append(out, e)
}

// neutral is what an empty And or Or is.
func neutral(conjunction bool) Constant {
	if conjunction {
		return True
	}
	return False
}

func join(es []Expr, conjunction bool) Expr {
	if len(es) == 0 {
		return neutral(conjunction)
	}
	out := es[0]
	for _, e := range es[1:] {
		if conjunction {
			out = And{out, e}
		} else {
			out = Or{out, e}
		}
	}
	return out
}
