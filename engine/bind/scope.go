package bind

import (
	"github.com/skua-data/skua/engine/sparktype"
	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/predicate"
)

// Variable gives the value of the session variable that a name of one part means where no column has it.
func (b *Binder) Variable(e *syntax.Column) (sparktype.Value, bool) {
	if b.names == nil || len(e.Parts) != 1 {
		return sparktype.Value{}, false
	}
	v, ok := b.names.Variable(syntax.Texts(e.Parts))
	if !ok || b.Resolve(e) == nil {
		return sparktype.Value{}, false
	}
	return v, true
}

// SessionValue gives the value of a session function.
func (b *Binder) SessionValue(name string) (sparktype.Value, bool) {
	if b.names == nil {
		return sparktype.Value{}, false
	}
	return b.names.SessionValue(name)
}

// Resolve is nil where a name means a column, else the error of one that means none.
func (b *Binder) Resolve(e *syntax.Column) error {
	_, err := b.Column(e)
	return err
}

// Test evaluates a test of constants by binding it: the binder folds it.
func (b *Binder) Test(e syntax.Expr) (sparktype.Value, error) {
	p, err := b.bind(e)
	if err != nil {
		return sparktype.Value{}, err
	}
	return foldedConstant(p, e)
}

// foldedConstant gives the value of a test that reads no column.
func foldedConstant(p predicate.Expr, e syntax.Expr) (sparktype.Value, error) {
	switch predicate.Simplify(p) {
	case predicate.True:
		return sparktype.BoolValue(true), nil
	case predicate.False:
		return sparktype.BoolValue(false), nil
	case predicate.Null:
		return sparktype.NullOf(sparktype.Boolean), nil
	}
	return sparktype.Value{}, overColumns(e)
}
