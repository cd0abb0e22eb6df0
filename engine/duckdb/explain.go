//go:build cgo

package duckdb

import (
	"context"
	"sort"
	"strconv"

	"github.com/skua-data/skua/engine"
	"github.com/skua-data/skua/scan"
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
		p.mu.Lock()
		ran, known := p.ran[i]
		p.mu.Unlock()
		if !known {
			ran = engine.QueryScan{Scan: p.planned(i)}
		}
		out = append(out, ran)
	}
	return out
}

// planned tells how a table will be read, with what is asked of its scan only when the engine opens it.
func (p *program) planned(i int) *scan.Explanation {
	in := p.tables[i]
	out, fields := in.plan.Explain(), sourceFields(in)
	if len(out.Columns) > 0 {
		return out
	}
	for _, c := range p.pushed.columns[i] {
		if c < len(fields) {
			out.Columns = append(out.Columns, fields[c].Name)
		}
	}
	if best, ok := p.pushed.best[i]; ok {
		out.Best = newBestRows(best, 0).request().String()
	}
	return out
}

// tell keeps how a run read its tables, for whoever explains it.
func (p *program) tell(s *started) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ran = map[int]engine.QueryScan{}
	for i, o := range s.occurrences {
		if o.planned == nil {
			continue
		}
		told := engine.QueryScan{Scan: o.planned.Explain()}
		if n := len(o.learnt); n > 0 {
			told.Runtime = strconv.Itoa(n) + " of a join's keys, part of the filter above"
		}
		p.ran[i] = told
	}
}

// Plan gives the engine's plan as text.
func (p *program) Plan(ctx context.Context) (string, error) {
	p.explained.Store(true)
	i, done, err := p.executor.use()
	if err != nil {
		return "", err
	}
	defer done()
	c, err := p.connect(ctx, i.running)
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
