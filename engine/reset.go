package engine

import (
	"context"

	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/session"
)

// parseReset reads RESET and RESET k.
func parseReset(p *syntax.Parser) (*command, error) {
	raw := p.Raw()
	key, ok := unquoteKey(raw)
	if p.End() != nil || (raw != "" && !ok) {
		return nil, fault.New(fault.Invalid, "Expected format is 'RESET' or 'RESET key'. If you want to include special characters in key, please use quotes, e.g., RESET `key`.").
			With("INVALID_RESET_COMMAND_FORMAT", "42000")
	}
	return &command{name: "RESET", update: true, columns: affectedRows, run: func(_ context.Context, s *statement) ([]row, error) {
		if raw != "" {
			return noEffect, s.engine.Unset(s.session, key)
		}
		return noEffect, s.session.Update(func(st session.State) (session.State, error) {
			st.Conf = session.Conf{}
			return st, nil
		})
	}}, nil
}

// Unset takes a key's value of the session away, so that the operator's counts again: what RESET k does. A key that is not set is no error.
func (e *Engine) Unset(s *session.Session, key string) error {
	if _, err := e.settable(key); err != nil && fault.Is(err, fault.Denied) {
		return err
	}
	return s.Update(func(st session.State) (session.State, error) {
		st.Conf = st.Conf.Without(key)
		return st, nil
	})
}
