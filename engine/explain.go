package engine

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/resource"
	"github.com/skua-data/skua/scan"
)

var planText = columns(nullText("plan"))

// explainForm is what an EXPLAIN asks for.
type explainForm struct {
	analyze bool // run it and tell what happened
	json    bool
}

// parseExplain reads EXPLAIN [ANALYZE] [EXTENDED | FORMATTED | COST] [(FORMAT JSON | TEXT, ANALYZE)] statement. Spark's words change nothing: the
// whole plan is told.
func parseExplain(p *syntax.Parser) (*command, error) {
	form, err := parseExplainForm(p)
	if err != nil {
		return nil, err
	}
	if p.Keyword("EXPLAIN") {
		return nil, unsupported("EXPLAIN of an EXPLAIN is not supported")
	}
	if c, err := parseCommand(rest(p)); c != nil || err != nil {
		if err != nil {
			return nil, err
		}
		if form.analyze {
			return nil, unsupported("EXPLAIN ANALYZE %s is not supported: only a SELECT is run", c.name)
		}
		return explainCommand(func(context.Context, *statement) (*report, error) { return &report{Command: c.name}, nil }, form), nil
	}
	text := rest(p)
	tree, err := p.Select()
	if err == nil {
		err = p.End()
	}
	return explainCommand(func(ctx context.Context, s *statement) (*report, error) {
		return s.reportText(ctx, tree, text, err, form.analyze)
	}, form), nil
}

// reportText tells of a SELECT: of a scan, or of a query that an Executor runs. parseErr is why it is no scan's.
func (s *statement) reportText(ctx context.Context, tree *syntax.Select, text string, parseErr error, analyze bool) (*report, error) {
	err := invalid(parseErr)
	if err == nil {
		var r *report
		if r, err = within(ctx, resource.From(ctx), func() (*report, error) { return s.report(ctx, tree, analyze) }); err == nil {
			return r, nil
		}
	}
	if s.engine.executes(err) || s.laterally(tree, err) {
		return within(ctx, resource.From(ctx), func() (*report, error) { return s.reportQuery(ctx, text, analyze, err) })
	}
	return nil, err
}

// explainCommand makes the command that gives a report as one value.
func explainCommand(of func(context.Context, *statement) (*report, error), form explainForm) *command {
	return &command{name: "EXPLAIN", moment: true, columns: planText, run: func(ctx context.Context, s *statement) ([]row, error) {
		r, err := of(ctx, s)
		if err != nil {
			return nil, err
		}
		if !form.json {
			return []row{{r.text()}}, nil
		}
		out, err := json.MarshalIndent(r, "", "  ")
		if err != nil {
			return nil, fault.Wrap(err, "spell the plan")
		}
		return []row{{string(out)}}, nil
	}}
}

func parseExplainForm(p *syntax.Parser) (explainForm, error) {
	form := explainForm{analyze: p.Keyword("ANALYZE")}
	for _, word := range []string{"EXTENDED", "FORMATTED", "COST"} {
		if p.Keyword(word) {
			break
		}
	}
	if p.Keyword("CODEGEN") {
		return form, unsupported("EXPLAIN CODEGEN is not supported")
	}
	ahead := *p
	if !ahead.Symbol("(") || !ahead.Peek().Is("FORMAT") && !ahead.Peek().Is("ANALYZE") {
		return form, nil
	}
	*p = ahead
	for {
		if err := form.option(p); err != nil {
			return form, err
		}
		if p.Symbol(")") {
			return form, nil
		}
		if !p.Symbol(",") {
			return form, p.Unexpected()
		}
	}
}

// option reads FORMAT JSON, FORMAT TEXT or ANALYZE.
func (f *explainForm) option(p *syntax.Parser) error {
	switch {
	case p.Keyword("ANALYZE"):
		f.analyze = true
	case p.Keyword("FORMAT", "JSON"):
		f.json = true
	case p.Keyword("FORMAT", "TEXT"):
		f.json = false
	default:
		return p.Unexpected()
	}
	return nil
}

// rest gives what is left of a statement, and leaves the cursor where it is.
func rest(p *syntax.Parser) string {
	ahead := *p
	return ahead.Raw()
}

// report binds and plans a SELECT and tells how it would be read; with analyze it is read, its rows thrown away, and what that took is told.
func (s *statement) report(ctx context.Context, tree *syntax.Select, analyze bool) (*report, error) {
	clock := s.engine.config.Clock
	started := clock()
	s = s.fresh()
	q, err := s.bind(ctx, tree, nil)
	if err != nil {
		return nil, err
	}
	resolved := clock()
	p, err := scanRoute{}.plan(ctx, q.schema, []bound{q})
	if err != nil {
		return nil, err
	}
	planned := clock()
	if analyze {
		if err := s.drain(ctx, p); err != nil {
			return nil, err
		}
	}
	out := s.planReport(q, p)
	if !analyze && out.Scan != nil && out.Count != "metadata" {
		if out.Scan.Decoders, err = decoders(ctx, p.sets[0].plan); err != nil {
			return nil, err
		}
	}
	if analyze {
		out.Analyze = newRunReport(resource.From(ctx))
		out.Analyze.Stages = []stage{{"names", resolved.Sub(started).Microseconds()}, {"plan", planned.Sub(resolved).Microseconds()},
			{"read", clock().Sub(planned).Microseconds()}}
	}
	return out, nil
}

// decoders tells who would read the columns, for which a file must be opened. A file that cannot be is told of in their place, as the plan is of
// use without it.
func decoders(ctx context.Context, p scan.Plan) ([]string, error) {
	lines, err := scan.Decoders(ctx, p)
	if err == nil || ctx.Err() != nil {
		return lines, ctx.Err()
	}
	return []string{"unknown: " + err.Error()}, nil
}

// explain plans a query without reading it; with analyze its rows are read and thrown away.
func (s *statement) explain(ctx context.Context, q *query, analyze bool) (*scan.Explanation, error) {
	p, err := scanRoute{}.plan(ctx, q.schema, []bound{q})
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

// drain reads a planned query on the account of the context.
func (s *statement) drain(ctx context.Context, p *planned) error {
	r := &result{s.outcome(ctx, p)}
	return exhaust(r.read(ctx, r.pieces(0, r.Parts()), nil))
}

// wrapped reports whether session settings override the read options of the query's catalog.
func (s *statement) wrapped(q *query) bool {
	return q.found != nil && s.classOf(q.found.catalog).Wraps
}

func limitText(n int64) string {
	if n < 0 {
		return "all"
	}
	return itoa64(n)
}

func names(fields []reportColumn) string {
	var out []string
	for _, f := range fields {
		out = append(out, syntax.Quote(f.Name)+" "+f.Type)
	}
	return strings.Join(out, ", ")
}
