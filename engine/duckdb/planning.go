//go:build cgo

package duckdb

import (
	"context"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/predicate"
	"github.com/skua-data/skua/scan"
)

// plan finds out what can be pushed into the scans, and how many rows they give. What the engine cannot plan in a readable way is pushed
// nothing: it is the same statement all the same.
func (p *program) plan(ctx context.Context, d *database, c *connection) error {
	p.pushed = pushdown{filters: map[int]predicate.Expr{}, tests: map[int]scan.PartitionTest{}, seen: map[int]int{}, limits: map[int]int64{}, columns: map[int][]int{}, best: map[int]bestPush{}}
	if len(p.tables) == 0 && p.statement.Asked() == 0 && p.statement.Keys() == 0 && !p.statement.Intervals {
		return nil
	}
	if err := p.findTypes(ctx, c); err != nil {
		return err
	}
	s := p.start(ctx)
	rendered := p.render(s.id)
	if err := d.provide(rendered.Exact); err != nil {
		s.end()
		return err
	}
	text := rendered.Text
	serialized, err := c.text("SELECT json_serialize_plan(" + literal(text) + ", optimize := true, skip_null := true, skip_empty := true)")
	numbers := map[string]int{}
	for i := range p.tables {
		numbers[strconv.FormatUint(s.id(i), 10)] = i
	}
	s.end()
	if err == nil {
		if root, readErr := readPlan(serialized); readErr == nil {
			r := &planner{out: p.pushed, number: numbers, field: p.field, typeOf: p.columnType, folds: p.folds}
			r.read(root)
			p.pushed = r.out
			p.apart = root.mistakesIntervals()
			if p.query.Dialect == "spark" {
				if err := root.refuses(maps); err != nil {
					return err
				}
				p.nested = root.ordersNested()
			}
			p.keepKeys(ctx, c, root)
			if err := root.refuses(variantKeys); err != nil {
				return err
			}
			if err := root.zonedJSON(); err != nil {
				return err
			}
			if err := (&chars{column: p.charColumn(numbers), root: root}).check(root); err != nil {
				return err
			}
		}
	}
	if ctx.Err() != nil {
		return s.run.cause(ctx.Err())
	}
	for i, in := range p.tables {
		if err := p.estimate(ctx, i, in); err != nil {
			return err
		}
	}
	return nil
}

// estimate plans a table's scan for the number of rows that it gives.
func (p *program) estimate(ctx context.Context, i int, in *input) error {
	plan, err := in.table.Source.Plan(ctx, scan.Request{Filter: p.pushed.filter(i), Partitions: p.pushed.tests[i], Limit: p.pushed.limit(i), Options: in.table.Options})
	if err != nil {
		return err
	}
	in.plan, in.estimate = plan, expected(plan)
	return nil
}

// columnType gives the type of a column of a table; nil: there is no such column.
func (p *program) columnType(i, column int) arrow.DataType {
	if in := p.tables[i]; in != nil && column >= 0 && column < in.table.Source.Schema().NumFields() {
		return in.table.Source.Schema().Field(column).Type
	}
	return nil
}

// charColumn tells which columns that a node gives are a char(n).
func (p *program) charColumn(numbers map[string]int) func(n *planNode, output int) (string, int) {
	return func(n *planNode, output int) (string, int) {
		o, ok := n.valueOrigin(output)
		if !ok {
			return "", 0
		}
		i, known := numbers[o.scan.id()]
		if !known || p.columnType(i, o.column) == nil {
			return "", 0
		}
		f := p.tables[i].table.Source.Schema().Field(o.column)
		length, _ := scan.CharLength(f)
		return f.Name, length
	}
}

// field gives a column of a table as predicates name it; false: nothing can be pushed about it.
func (p *program) field(i, column int) (predicate.Field, bool) {
	in := p.tables[i]
	if in == nil || column < 0 || column >= in.table.Source.Schema().NumFields() {
		return predicate.Field{}, false
	}
	f := in.table.Source.Schema().Field(column)
	switch f.Type.ID() {
	case arrow.BOOL, arrow.INT32, arrow.INT64, arrow.DATE32, arrow.FLOAT64, arrow.STRING, arrow.DECIMAL128:
	case arrow.TIMESTAMP:
	default:
		return predicate.Field{}, false
	}
	return predicate.Field{ID: fieldID(f), Path: []string{f.Name}, Type: f.Type}, true
}

// folds reports whether an occurrence's source rules out anything by tests of its columns in lower or upper case.
func (p *program) folds(occurrence int) bool {
	_, ok := p.tables[occurrence].table.Source.(scan.Folding)
	return ok
}
