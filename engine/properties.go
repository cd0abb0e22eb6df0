package engine

import (
	"context"
	"strings"

	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/session"
)

// parseShowProperties reads SHOW TBLPROPERTIES table [('key')].
func parseShowProperties(p *syntax.Parser) (*command, error) {
	name, err := p.Name()
	if err != nil {
		return nil, err
	}
	key, one, err := propertyKey(p)
	if err != nil {
		return nil, err
	}
	return &command{name: "SHOW TBLPROPERTIES", columns: keyValue, run: func(ctx context.Context, s *statement) ([]row, error) {
		d, found, err := s.describe(ctx, syntax.Texts(name))
		if err != nil {
			return nil, err
		}
		if found.catalog == "" {
			return nil, nil // a temporary view has none, and is told of none by its key
		}
		var rows []row
		for _, property := range d.Properties {
			if !one || property.Key == key {
				rows = append(rows, row{property.Key, session.Redact(property.Key, property.Value)})
			}
		}
		if one && len(rows) == 0 {
			what := "Table "
			if found.view != nil {
				what = "View "
			}
			return []row{{key, what + found.display() + " does not have property: " + key}}, nil
		}
		return rows, nil
	}}, p.End()
}

// propertyKey reads an optional key in parentheses: a string, or a dotted name.
func propertyKey(p *syntax.Parser) (key string, given bool, err error) {
	if !p.Symbol("(") {
		return "", false, nil
	}
	if key, err = p.String(); err != nil {
		name, nameErr := p.Name()
		if nameErr != nil {
			return "", false, nameErr
		}
		key = strings.Join(syntax.Texts(name), ".")
	}
	if !p.Symbol(")") {
		return "", false, p.Unexpected()
	}
	return key, true, nil
}
