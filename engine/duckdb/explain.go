//go:build cgo

package duckdb

import (
	"context"
	"sort"

	"github.com/skua-data/skua/engine"
)

// Scans tells how each table is read, in the order of the text.
func (p *program) Scans() []engine.QueryScan {
	var order []int
	for i := range p.tables {
		order = append(order, i)
	}
	sort.Ints(order)
	var out []engine.QueryScan
	for _, i := range order {
		out = append(out, engine.QueryScan{Scan: p.tables[i].plan.Explain()})
	}
	return out
}

// Plan gives the engine's plan as text.
func (p *program) Plan(ctx context.Context) (string, error) {
	i, done, err := p.executor.use()
	if err != nil {
		return "", err
	}
	defer done()
	c, err := p.connect(i.running)
	if err != nil {
		return "", err
	}
	defer c.close()
	s := p.start(ctx)
	defer s.end()
	defer watch(ctx, c)()
	rendered := p.render(s.id)
	rows, err := c.columnAt("EXPLAIN "+rendered.Text, 1)
	if err != nil {
		return "", s.run.cause(translated(err, nil))
	}
	if len(rows) == 0 {
		return "", nil
	}
	return rows[len(rows)-1], nil
}
