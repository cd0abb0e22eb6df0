package engine

import (
	"errors"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/session"
)

// invalid gives an error of the leaves (syntax, session) its kind, condition and position. A nil err stays nil.
func invalid(err error) error {
	var s *syntax.Error
	if errors.As(err, &s) {
		return fault.New(fault.Invalid, "%s", s.Message).With(s.Condition, s.SQLState).At(fault.Position{Line: s.Line, Column: s.Column})
	}
	var v *session.ValueError
	if errors.As(err, &v) {
		return fault.New(fault.Invalid, "%s", v.Error()).With(v.Condition, v.SQLState).In(v.Key)
	}
	return fault.As(fault.Invalid, err)
}

func position(p syntax.Pos) fault.Position { return fault.Position{Line: p.Line, Column: p.Column} }

// didYouMean names the nearest known name, or nothing.
func didYouMean(name string, known []string) string {
	if near := catalogs.Nearest(name, known); near != "" {
		return " Did you mean " + syntax.BackQuote(near) + "?"
	}
	return ""
}

func schemaNotFound(parts []string, hint string) error {
	return fault.New(fault.NotFound, "The schema %s cannot be found. Verify the spelling and correctness of the schema and catalog.%s", syntax.BackQuote(parts...), hint).
		With("SCHEMA_NOT_FOUND", "42704").In(syntax.BackQuote(parts...))
}

func tableNotFound(parts []string, hint string) error {
	return fault.New(fault.NotFound, "The table or view %s cannot be found. Verify the spelling and correctness of the schema and catalog.%s", syntax.BackQuote(parts...), hint).
		With("TABLE_OR_VIEW_NOT_FOUND", "42P01").In(syntax.BackQuote(parts...))
}

func (e *Engine) catalogNotFound(name string) error {
	return fault.New(fault.NotFound, "The catalog %s is not configured.%s", syntax.BackQuote(name), didYouMean(name, e.config.Catalogs.Names())).
		With("CATALOG_NOT_FOUND", "42P08").In(syntax.BackQuote(name)).Change("spark.sql.catalog." + name)
}

// unsupported refuses a feature by its name.
func unsupported(format string, args ...any) *fault.Error {
	return fault.New(fault.Unsupported, format, args...)
}
