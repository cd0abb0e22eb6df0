package engine

import (
	"context"

	"github.com/skua-data/skua/engine/syntax"
)

// parseRefresh reads REFRESH [TABLE] t. Another REFRESH is refused.
func parseRefresh(p *syntax.Parser) (*command, error) {
	if p.Keyword("FUNCTION") || (!p.Keyword("TABLE") && p.Peek().Kind != syntax.Word && p.Peek().Kind != syntax.Quoted) {
		return nil, unsupported("this form of REFRESH is not supported")
	}
	name, err := p.Name()
	if err != nil {
		return nil, err
	}
	return &command{name: "REFRESH TABLE", update: true, columns: affectedRows, run: func(ctx context.Context, s *statement) ([]row, error) {
		s = s.fresh()
		if v, ok := s.tempView(syntax.Texts(name)); ok {
			return noEffect, s.refreshTempView(ctx, v)
		}
		catalog, identifier, err := s.complete(syntax.Texts(name))
		if err != nil {
			return nil, err
		}
		s.engine.config.Catalogs.Refresh(catalog, identifier)
		f, err := s.table(ctx, syntax.Texts(name))
		if err != nil {
			return nil, err
		}
		s.engine.config.Catalogs.Refresh(f.catalog, f.identifier)
		return noEffect, nil
	}}, p.End()
}
