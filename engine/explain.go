package engine

import (
	"context"
	"fmt"
	"strings"

	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/scan"
	"github.com/skua-data/skua/session"
)

var planText = columns(nullText("plan"))

// parseExplain reads EXPLAIN [EXTENDED | FORMATTED | …] statement. All forms give the same text: the whole plan.
func parseExplain(p *syntax.Parser) (*command, error) {
	for _, form := range []string{"EXTENDED", "FORMATTED", "COST"} {
		if p.Keyword(form) {
			break
		}
	}
	if p.Keyword("CODEGEN") {
		return nil, unsupported("EXPLAIN CODEGEN is not supported")
	}
	if p.Keyword("ANALYZE") {
		return nil, unsupported("EXPLAIN ANALYZE is not supported")
	}
	if c, err := parseCommand(rest(p)); c != nil || err != nil {
		if err != nil {
			return nil, err
		}
		return &command{name: "EXPLAIN", columns: planText, run: func(context.Context, *statement) ([]row, error) {
			return []row{{"== Plan ==\nCommand " + c.name + "\n"}}, nil
		}}, nil
	}
	tree, err := p.Select()
	if err != nil {
		return nil, err
	}
	return &command{name: "EXPLAIN", columns: planText, run: func(ctx context.Context, s *statement) ([]row, error) {
		q, err := s.fresh().bind(ctx, tree, nil)
		if err != nil {
			return nil, err
		}
		e, err := s.explain(ctx, q, false)
		if err != nil {
			return nil, err
		}
		return []row{{"== Plan ==\n" + q.explainText() + explanationText(e, s.wrapped(q))}}, nil
	}}, p.End()
}

// rest gives what is left of a statement, and leaves the cursor where it is.
func rest(p *syntax.Parser) string {
	ahead := *p
	return ahead.Raw()
}

// explain plans a query without reading it; with analyze its rows are read and thrown away.
func (s *statement) explain(ctx context.Context, q *query, analyze bool) (*scan.Explanation, error) {
	p, err := plan(ctx, q.schema, []*query{q})
	if err != nil {
		return nil, err
	}
	if analyze {
		if err := s.drain(ctx, p); err != nil {
			return nil, err
		}
	}
	if p.sets[0].plan == nil {
		return &scan.Explanation{Kind: "constants"}, nil
	}
	return p.sets[0].plan.Explain(), nil
}

func (s *statement) drain(ctx context.Context, p *planned) error {
	ctx, account := s.account(ctx, newID())
	r := s.engine.result(p, s.pin(account.ID), account)
	reader, err := r.Open(ctx, 0, r.Parts())
	if err != nil {
		return err
	}
	defer reader.Release()
	for reader.Next() {
	}
	return reader.Err()
}

// wrapped reports whether session settings override the read options of the query's catalog.
func (s *statement) wrapped(q *query) bool {
	if q.found == nil {
		return false
	}
	d, _ := s.engine.config.Catalogs.Definition(q.found.catalog)
	return d.Class.Wraps
}

// explainText tells what happens above the scan.
func (q *query) explainText() string {
	var b strings.Builder
	if q.limit >= 0 || q.offset > 0 {
		fmt.Fprintf(&b, "Limit %s", limitText(q.limit))
		if q.offset > 0 {
			fmt.Fprintf(&b, " offset %d", q.offset)
		}
		b.WriteByte('\n')
	}
	if q.counts {
		b.WriteString("Count rows\n")
	}
	var names []string
	for _, f := range q.schema.Fields() {
		names = append(names, syntax.Quote(f.Name)+" "+sparkType(f.Type))
	}
	b.WriteString("Output [" + strings.Join(names, ", ") + "]\n")
	return b.String()
}

func limitText(n int64) string {
	if n < 0 {
		return "all"
	}
	return itoa64(n)
}

// explanationText spells a scan's explanation, one thing a line.
func explanationText(e *scan.Explanation, wrapped bool) string {
	var b strings.Builder
	if e.Kind == "constants" {
		return "One row of constants\n"
	}
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("Scan %s (%s)", e.Source, e.Kind)
	if e.Snapshot != 0 {
		line("  snapshot: %d", e.Snapshot)
	} else {
		line("  snapshot: none")
	}
	if e.Reference != "" {
		line("  reference: %s", e.Reference)
	}
	line("  schema: %d", e.Schema)
	line("  columns: [%s]", strings.Join(e.Columns, ", "))
	for _, f := range []struct{ name, text string }{{"filter", e.Filter}, {"pushed", e.Pushed}, {"residual", e.Residual}} {
		if f.text != "" {
			line("  %s: %s", f.name, f.text)
		}
	}
	if !wrapped {
		line("  session overrides: not active for this catalog's class")
	}
	for _, o := range e.Options {
		line("  option %s = %s (%s)", o.Name, o.Value, origin(o))
	}
	line("  manifests: %s", considered(e.Manifests))
	line("  files: %s", considered(e.Files))
	line("  splits: %d", len(e.Splits))
	for i, s := range e.Splits {
		if i == maxExplainedSplits {
			line("    … and %d more", len(e.Splits)-i)
			break
		}
		line("    split %d: %d files, %d bytes, weight %d", i, s.Files, s.Bytes, s.Weight)
		for j, t := range s.Tasks {
			if j == maxExplainedSplits {
				line("      … and %d more", len(s.Tasks)-j)
				break
			}
			line("      %s [%d, +%d) deletes %d", t.Path, t.Start, t.Length, t.Deletes)
		}
	}
	for _, d := range e.Decoders {
		line("  decoder: %s", d)
	}
	return b.String()
}

// maxExplainedSplits bounds how many splits, and tasks of a split, are printed.
const maxExplainedSplits = 50

func origin(o scan.Resolved) string {
	if o.Key == "" {
		return o.Scope
	}
	return o.Scope + ", " + session.Redact(o.Key, o.Key)
}

func considered(c scan.Considered) string {
	left, reasons := c.Total, []string{}
	for _, reason := range sortedKeys(c.Pruned) {
		left -= c.Pruned[reason]
		reasons = append(reasons, fmt.Sprintf("%d by %s", c.Pruned[reason], reason))
	}
	if len(reasons) == 0 {
		return fmt.Sprintf("%d", c.Total)
	}
	return fmt.Sprintf("%d of %d, left out: %s", left, c.Total, strings.Join(reasons, ", "))
}
