package predicate

import (
	"fmt"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
)

// Simplify gives an expression with the same outcome for every row, null included: constants folded, Not only in front of IsNull,
// IsNaN, In and StartsWith, lists flattened and freed of repetition.
func Simplify(e Expr) Expr { return simplify(e, false) }

// Where is Simplify for a filter, which keeps rows where e is true and drops false and null alike: the two need not stay apart.
func Where(e Expr) Expr { return simplify(drop(simplify(e, false)), false) }

// Negate gives the expression that is true where e is false and false where e is true.
func Negate(e Expr) Expr { return simplify(e, true) }

func simplify(e Expr, negated bool) Expr {
	switch e := e.(type) {
	case And:
		return list(e, true, negated)
	case Or:
		return list(e, false, negated)
	case Not:
		return simplify(e.Expr, !negated)
	case Constant:
		if negated && e != Null {
			return True - e
		}
		return e
	case Comparison:
		if negated {
			e.Op = e.Op.Negate()
		}
		return e
	case In:
		return simplifyIn(e, negated)
	}
	if negated {
		return Not{e}
	}
	return e
}

// list simplifies the operands of an And or an Or; De Morgan's laws hold in three-valued logic.
func list(e Expr, conjunction, negated bool) Expr {
	to := conjunction != negated
	absorbing := neutral(!to)
	var out []Expr
	seen := map[string]bool{}
	for _, operand := range operands(e, conjunction, nil) {
		for _, o := range operands(simplify(operand, negated), to, nil) {
			if o == absorbing {
				return absorbing
			}
			if k := key(o); k != "" {
				if seen[k] {
					continue
				}
				seen[k] = true
			}
			out = append(out, o)
		}
	}
	return join(out, to)
}

func simplifyIn(e In, negated bool) Expr {
	var values []Literal
	seen := map[string]bool{}
	for _, v := range e.Values {
		if k := v.key(); !seen[k] {
			seen[k] = true
			values = append(values, v)
		}
	}
	switch {
	case len(values) == 0 && e.HasNull:
		return Null
	case len(values) == 0:
		return simplify(False, negated)
	case len(values) == 1 && !e.HasNull:
		return simplify(Comparison{Eq, e.Field, values[0]}, negated)
	}
	out := In{e.Field, values, e.HasNull}
	if negated {
		return Not{out}
	}
	return out
}

// drop turns null into false where the filter cannot tell. Not stands in front of leaves only.
func drop(e Expr) Expr {
	switch e := e.(type) {
	case And:
		return And{drop(e.Left), drop(e.Right)}
	case Or:
		return Or{drop(e.Left), drop(e.Right)}
	case Constant:
		if e == Null {
			return False
		}
	case In:
		e.HasNull = false
		return e
	case Not:
		if in, ok := e.Expr.(In); ok && in.HasNull {
			return False
		}
	}
	return e
}

// key identifies a leaf, empty for a list.
func key(e Expr) string {
	switch e := e.(type) {
	case Constant:
		return e.String()
	case Not:
		if k := key(e.Expr); k != "" {
			return "not " + k
		}
	case IsNull:
		return "null " + strconv.Itoa(e.Field.ID)
	case IsNaN:
		return "nan " + strconv.Itoa(e.Field.ID)
	case Comparison:
		return strconv.Itoa(e.Field.ID) + e.Op.String() + e.Value.key()
	case In:
		k := []byte("in " + strconv.Itoa(e.Field.ID) + strconv.FormatBool(e.HasNull))
		for _, v := range e.Values {
			k = strconv.AppendQuote(append(k, ' '), v.key())
		}
		return string(k)
	case StartsWith:
		return "prefix " + strconv.Itoa(e.Field.ID) + " " + e.Prefix
	}
	return ""
}

// key is equal for equal values of one field: -0.0 is 0.0.
func (l Literal) key() string {
	switch v := l.Value.(type) {
	case float64:
		return strconv.FormatFloat(v+0, 'g', -1, 64)
	case decimal128.Num:
		return v.BigInt().String()
	case []byte:
		return string(v)
	}
	return fmt.Sprint(l.Value)
}
