//go:build cgo

package duckdb

import (
	"context"
	"encoding/json"

	"github.com/skua-data/skua/engine/duckdb/dialect"
)

// findTypes asks the engine for the types that averages in Spark's dialect and generators hang on. An average may be one of averages: those inside are known first.
func (p *program) findTypes(ctx context.Context, c *connection) {
	if !p.statement.Probed() {
		return
	}
	for ctx.Err() == nil && p.probe(ctx, c, dialect.ProbeTypes) {
	}
	p.stage = dialect.FinalTypes
}

// keepKeys writes keys of orders so that columns with floats come back as they were.
func (p *program) keepKeys(ctx context.Context, c *connection, root *planNode) {
	if p.statement.Typed() == 0 || !root.sortsFloats() {
		return
	}
	if p.probe(ctx, c, dialect.ProbeKeys) {
		p.stage = dialect.Final
	}
}

// probe plans the statement with probes and keeps the types that they have. It reports whether one is of use. What cannot be planned so stays as it
// is.
func (p *program) probe(ctx context.Context, c *connection, stage dialect.Stage) (useful bool) {
	if p.types == nil {
		p.types = make([]dialect.Type, p.statement.Typed())
	}
	s := p.start(ctx)
	defer s.end()
	text := p.renderAt(s.id, stage).Text
	serialized, err := c.text("SELECT json_serialize_plan(" + literal(text) + ", skip_null := true, skip_empty := true)")
	if err != nil {
		return false
	}
	root, err := readPlan(serialized)
	if err != nil {
		return false
	}
	root.probes(func(number int, t planType) {
		if number >= len(p.types) || p.types[number].Name != "" {
			return
		}
		switch t.ID {
		case "DECIMAL":
			if t.Info == nil || stage != dialect.ProbeTypes {
				return
			}
			p.types[number] = dialect.Type{Name: t.ID, Width: t.Info.Width, Scale: t.Info.Scale}
			useful = true
		case "MAP", "LIST":
			if stage == dialect.ProbeTypes {
				p.types[number] = dialect.Type{Name: t.ID}
				useful = true
			}
		case "DOUBLE", "FLOAT":
			if stage == dialect.ProbeKeys {
				p.types[number] = dialect.Type{Name: t.ID}
				useful = true
			}
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
