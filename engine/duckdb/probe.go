//go:build cgo

package duckdb

import (
	"context"
	"encoding/json"

	"github.com/skua-data/skua/engine/duckdb/dialect"
)

// keepKeys writes keys of orders so that columns with floats come back as they were, and, in Spark's dialect, values with parts are sorted as there.
func (p *program) keepKeys(ctx context.Context, c *connection, root *planNode) {
	if p.statement.Keys() == 0 || !root.sortsOtherwise() {
		return
	}
	if p.probe(ctx, c) {
		p.stage = dialect.Final
	}
}

// probe plans the statement with probes around its keys and keeps the types that they have. It reports whether one is of use. What cannot be planned so stays as it
// is.
func (p *program) probe(ctx context.Context, c *connection) (useful bool) {
	p.keyTypes = make([]string, p.statement.Keys())
	s := p.start(ctx)
	defer s.end()
	text := p.renderAt(s.id, dialect.ProbeKeys).Text
	serialized, err := c.text("SELECT json_serialize_plan(" + literal(text) + ", skip_null := true, skip_empty := true)")
	if err != nil {
		return false
	}
	root, err := readPlan(serialized)
	if err != nil {
		return false
	}
	root.probes(func(number int, t planType) {
		if number < len(p.keyTypes) && (t.ID == "DOUBLE" || t.ID == "FLOAT" || t.nested() && p.query.Dialect == "spark") {
			p.keyTypes[number], useful = t.ID, true
		}
	})
	return useful
}

// probes calls found for every probe in a plan.
func (n *planNode) probes(found func(number int, t planType)) {
	n.expressions(func(e *planExpr) {
		if e.Class != "BOUND_FUNCTION" || e.Name != dialect.Probe || len(e.Children) != 2 {
			return
		}
		number := e.Children[1]
		for number.Class == "BOUND_CAST" && number.Child != nil {
			number = number.Child
		}
		if v, ok := number.Value.Value.(json.Number); ok {
			if i, err := v.Int64(); err == nil {
				found(int(i), e.Children[0].ReturnType)
			}
		}
	})
}
