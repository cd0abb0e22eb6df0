package engine

import (
	"context"
	"strings"

	"github.com/skua-data/skua/catalogs/override"
	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/scan"
	"github.com/skua-data/skua/session"
)

var readOptionColumns = columns(nullText("option"), text("value"), text("scope"), nullText("key"), nullText("table"), nullText("note"))

// parseShowReadOptions reads SHOW READ OPTIONS [FOR table [time travel] [WITH (…)]].
func parseShowReadOptions(p *syntax.Parser) (*command, error) {
	if !p.Keyword("FOR") {
		return &command{name: "SHOW READ OPTIONS", moment: true, columns: readOptionColumns, run: func(_ context.Context, s *statement) ([]row, error) {
			return s.fresh().setReadOptions(), nil
		}}, p.End()
	}
	ref := &syntax.TableRef{}
	var err error
	if ref.Name, err = p.Name(); err != nil {
		return nil, err
	}
	if ref.At, err = p.TimeTravel(); err != nil {
		return nil, err
	}
	if p.Keyword("WITH") {
		if ref.Options, err = p.Options(); err != nil {
			return nil, err
		}
	}
	return &command{name: "SHOW READ OPTIONS", moment: true, columns: readOptionColumns, run: func(ctx context.Context, s *statement) ([]row, error) {
		return s.fresh().readOptionsFor(ctx, ref)
	}}, p.End()
}

// readOptionsFor plans a scan of every row and tells the read options that it has, where each comes from, and what it prevails over.
func (s *statement) readOptionsFor(ctx context.Context, ref *syntax.TableRef) ([]row, error) {
	q := &query{}
	explicit, err := s.bindSource(ctx, q, s.binder(nil, nil, nil), ref)
	if err != nil {
		return nil, err
	}
	options, _, err := s.readOptions(q.found, explicit)
	if err != nil {
		return nil, err
	}
	p, err := q.source.Plan(ctx, scan.Request{Limit: -1, Options: options})
	if err != nil {
		return nil, q.found.planning(err)
	}
	candidates := override.Candidates(s.state, q.found.sourceName())
	var rows []row
	explanation := p.Explain()
	for _, o := range explanation.Options {
		rows = append(rows, row{o.Name, o.Value, o.Scope, orNull(o.Key), q.found.display(), orNull(s.beside(o, candidates, s.wrapped(q)))})
	}
	for _, o := range append(withoutEffect(explanation), ignoredOptions(explicit)...) {
		rows = append(rows, row{o.Name, o.Value, "ignored", orNull(o.Key), q.found.display(), o.why()})
	}
	return rows, nil
}

// beside names the session settings of an option that do not count, and why.
func (s *statement) beside(o scan.Resolved, candidates []override.Setting, wraps bool) string {
	var others []string
	for _, c := range candidates {
		if c.Option == o.Name && c.Key != o.Key {
			others = append(others, c.Key+" = "+c.Value)
		}
	}
	switch {
	case others == nil:
		return ""
	case !wraps:
		return "not active for this catalog's class: " + strings.Join(others, ", ")
	}
	return "over " + strings.Join(others, ", ")
}

// setReadOptions lists what is set in the session, whatever it addresses.
func (s *statement) setReadOptions() []row {
	var rows []row
	for _, l := range override.List(s.state) {
		rows = append(rows, row{orNull(l.Option), session.Redact(l.Key, l.Value), l.Scope, l.Key, orNull(l.Target), orNull(s.doubt(l))})
	}
	for _, o := range sessionOptions {
		if v, ok := s.state.Get(o.key); ok {
			rows = append(rows, row{o.option, v, "session", o.key, nil, nil})
		}
	}
	if o, ok := s.parallelism(map[string]string{}); ok {
		rows = append(rows, row{o.Name, o.Value, o.Scope, o.Key, nil, nil})
	}
	return rows
}

// doubt says why a key may not do what it was set for.
func (s *statement) doubt(l override.Listed) string {
	if l.Option == "" {
		return "unrecognized suffix: every scan that the key concerns fails"
	}
	if l.Scope == "global" {
		return ""
	}
	catalog := l.Target
	if l.Scope == "table" {
		catalog, _, _ = strings.Cut(l.Target, ".")
	}
	switch name, ok := s.engine.catalogName(catalog); {
	case !ok:
		return "no catalog " + syntax.Quote(catalog) + " is configured"
	case name != catalog:
		return "the catalog is called " + syntax.Quote(name)
	case !s.classOf(name).Wraps:
		return "not active for this catalog's class"
	}
	return ""
}
