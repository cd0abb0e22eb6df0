package engine

import (
	"bytes"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/skua-data/skua/engine/bind"
	"github.com/skua-data/skua/engine/sparktype"
	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
)

// inference finds the types of a statement's parameters from where they stand.
type inference struct {
	binder    *bind.Binder
	qualifier *qualifier
	types     []arrow.DataType // by index; nil: seen, unknown
}

// infer walks a whole SELECT.
func (in *inference) infer(tree *syntax.Select) {
	for _, item := range tree.Items {
		if item.Expr != nil {
			in.walk(item.Expr)
		}
	}
	if tree.From != nil && tree.From.At != nil && tree.From.At.Expr != nil {
		in.walk(tree.From.At.Expr)
	}
	in.expect(tree.Where, sparktype.Boolean)
	in.expect(tree.Limit, sparktype.Bigint)
	in.expect(tree.Offset, sparktype.Bigint)
}

// expect notes that an expression is of a type, if it is a parameter, and walks it.
func (in *inference) expect(e syntax.Expr, t arrow.DataType) {
	if e == nil {
		return
	}
	if p, ok := e.(*syntax.Parameter); ok {
		in.note(p, t)
		return
	}
	in.walk(e)
}

func (in *inference) note(p *syntax.Parameter, t arrow.DataType) {
	for len(in.types) <= p.Index {
		in.types = append(in.types, nil)
	}
	if p.Index >= 0 && in.types[p.Index] == nil {
		in.types[p.Index] = t
	}
}

func (in *inference) walk(e syntax.Expr) {
	switch e := e.(type) {
	case *syntax.Parameter:
		in.note(e, nil)
		return
	case *syntax.Binary:
		if e.Op == "AND" || e.Op == "OR" {
			in.expect(e.Left, sparktype.Boolean)
			in.expect(e.Right, sparktype.Boolean)
			return
		}
		in.together(e.Left, e.Right)
		return
	case *syntax.Between:
		in.together(e.Expr, e.Low, e.High)
		return
	case *syntax.In:
		in.together(append([]syntax.Expr{e.Expr}, e.List...)...)
		return
	case *syntax.Like:
		in.expect(e.Expr, sparktype.String)
		in.expect(e.Pattern, sparktype.String)
		return
	case *syntax.LikeList:
		for _, child := range syntax.Children(e) {
			in.expect(child, sparktype.String)
		}
		return
	case *syntax.Cast:
		if t, err := sparktype.Of(e.Type); err == nil {
			in.expect(e.Expr, t)
			return
		}
	}
	for _, child := range syntax.Children(e) {
		in.walk(child)
	}
}

// together gives the parameters among operands the type of the first operand that has one. Without a parameter among them nothing is
// evaluated: a long chain of operators would be at each of its levels.
func (in *inference) together(operands ...syntax.Expr) {
	var t arrow.DataType
	if slices.ContainsFunc(operands, isParameter) {
		for _, o := range operands {
			if t = in.typeOf(o); t != nil {
				break
			}
		}
	}
	for _, o := range operands {
		in.expect(o, t)
	}
}

func isParameter(e syntax.Expr) bool {
	_, ok := e.(*syntax.Parameter)
	return ok
}

// typeOf gives the type of a column or a constant, nil if it has none yet.
func (in *inference) typeOf(e syntax.Expr) arrow.DataType {
	switch e := in.qualifier.expr(e).(type) {
	case *syntax.Parameter:
		return nil
	case *syntax.Column:
		if ref, err := in.binder.Column(e); err == nil {
			return sparktype.Logical(ref.Type)
		}
	}
	c, err := in.binder.Evaluate(e)
	if err != nil || c.Unbound || c.Type.ID() == arrow.NULL {
		return nil
	}
	return c.Type
}

// schema gives one field for each parameter.
func (in *inference) schema() *arrow.Schema {
	fields := make([]arrow.Field, len(in.types))
	for i, t := range in.types {
		if t == nil {
			t = arrow.Null
		}
		fields[i] = arrow.Field{Name: "parameter_" + itoa(i+1), Type: t, Nullable: true}
	}
	return arrow.NewSchema(fields, nil)
}

// unbound gives a place for each parameter's value.
func unbound(parameters *arrow.Schema) []sparktype.Value {
	out := make([]sparktype.Value, parameters.NumFields())
	for i, f := range parameters.Fields() {
		out[i] = sparktype.Value{Type: f.Type, Unbound: true}
	}
	return out
}

// maxSets bounds how often one call may run a statement with parameters.
const maxSets = 1000

// arguments gives the values of every parameter set, in order; without parameters there is one empty set.
func arguments(want int, args arrow.RecordBatch) ([][]sparktype.Value, error) {
	if err := countArguments(want, args); err != nil {
		return nil, err
	}
	if want == 0 {
		return [][]sparktype.Value{{}}, nil
	}
	out := make([][]sparktype.Value, args.NumRows())
	for i := range out {
		out[i] = make([]sparktype.Value, want)
		for j := range out[i] {
			var err error
			if out[i][j], err = sparktype.Argument(args.Column(j), i); err != nil {
				return nil, fault.Wrap(err, "parameter %d", j+1)
			}
		}
	}
	return out, nil
}

// countArguments refuses a batch of another number of columns, and one of too many rows.
func countArguments(want int, args arrow.RecordBatch) error {
	given := 0
	if args != nil {
		given = int(args.NumCols())
	}
	switch {
	case given != want:
		return fault.New(fault.Invalid, "the statement has %s, %s bound", numbered(want, "parameter"), werePlural(given, "value"))
	case want > 0 && args.NumRows() > maxSets:
		return fault.New(fault.Exhausted, "a statement runs at most %d sets of parameters at once, %d were bound", maxSets, args.NumRows())
	}
	return nil
}

func encodeArguments(args arrow.RecordBatch) ([]byte, error) {
	if args == nil || args.NumCols() == 0 {
		return nil, nil
	}
	var b bytes.Buffer
	w := ipc.NewWriter(&b, ipc.WithSchema(args.Schema()))
	if err := w.Write(args); err != nil {
		return nil, fault.New(fault.Invalid, "keep the parameters: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fault.New(fault.Invalid, "keep the parameters: %w", err)
	}
	return b.Bytes(), nil
}

// decodeArguments reads what encodeArguments gave; nil: there are no parameters.
func decodeArguments(encoded []byte) (out arrow.RecordBatch, err error) {
	if len(encoded) == 0 {
		return nil, nil
	}
	defer fault.Recover(&err, fault.Invalid, "read the ticket's parameters")
	r, err := ipc.NewReader(bytes.NewReader(encoded))
	if err != nil {
		return nil, fault.New(fault.Invalid, "read the ticket's parameters: %w", err)
	}
	defer r.Release()
	if !r.Next() {
		return nil, fault.New(fault.Invalid, "the ticket holds no parameters")
	}
	out = r.RecordBatch()
	out.Retain()
	return out, nil
}

// numbered spells a number of things.
func numbered(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return itoa(n) + " " + one + "s"
}

func werePlural(n int, one string) string {
	if n == 1 {
		return "1 " + one + " was"
	}
	return numbered(n, one) + " were"
}
