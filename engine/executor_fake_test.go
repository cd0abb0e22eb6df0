package engine

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/skua-data/skua/engine/sparkname"
	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
)

// fakeExecutor compiles SELECTs of constants, and SELECT * of what the engine finds by a name, which it need not open: their columns are texts.
type fakeExecutor struct{}

func (fakeExecutor) Close() error { return nil }

func (fakeExecutor) Compile(ctx context.Context, q Query) (Program, error) {
	schema, err := fakeColumns(ctx, q.Text, q.Resolve)
	return fakeProgram{schema}, err
}

func fakeColumns(ctx context.Context, text string, resolve func(context.Context, syntax.TableRef) (Table, error)) (*arrow.Schema, error) {
	p := syntax.NewParser(text)
	tree, err := p.Select()
	if err != nil {
		return nil, err
	}
	if tree.From == nil {
		var fields []arrow.Field
		for _, item := range tree.Items {
			name := sparkname.Of(item.Expr)
			if item.Alias != nil {
				name = item.Alias.Text
			}
			fields = append(fields, arrow.Field{Name: name, Type: arrow.BinaryTypes.String})
		}
		return arrow.NewSchema(fields, nil), nil
	}
	t, err := resolve(ctx, *tree.From)
	if err != nil {
		return nil, err
	}
	if t.View == nil {
		return t.Source.Schema(), nil
	}
	inner, err := fakeColumns(ctx, t.View.Text, t.View.Resolve)
	if err != nil || len(t.View.Columns) == 0 {
		return inner, err
	}
	var fields []arrow.Field
	for i, c := range t.View.Columns {
		f := inner.Field(i)
		f.Name = c.Name
		fields = append(fields, f)
	}
	return arrow.NewSchema(fields, nil), nil
}

type fakeProgram struct{ schema *arrow.Schema }

func (p fakeProgram) Parameters() *arrow.Schema            { return noParameters }
func (p fakeProgram) Schema() *arrow.Schema                { return p.schema }
func (p fakeProgram) Scans() []QueryScan                   { return nil }
func (p fakeProgram) Plan(context.Context) (string, error) { return "", nil }
func (p fakeProgram) Close() error                         { return nil }
func (p fakeProgram) Open(context.Context) (array.RecordReader, error) {
	return nil, fault.New(fault.Unsupported, "%d columns are compiled and never read", p.schema.NumFields())
}
