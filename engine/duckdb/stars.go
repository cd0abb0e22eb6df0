//go:build cgo

package duckdb

import (
	"context"
	"errors"

	"github.com/skua-data/skua/engine"
	"github.com/skua-data/skua/engine/duckdb/dialect"
	"github.com/skua-data/skua/fault"
)

// starsKey is the key in a context of the columns of stars by the query that they stand in: those inside each other ask for the same ones.
type starsKey struct{}

// translate translates a text whose functions may have stars as arguments. What columns those stand for is what the engine makes of a query of them.
func (e *executor) translate(ctx context.Context, q engine.Query, options dialect.Options) (*dialect.Statement, error) {
	statement, err := dialect.Translate(q.Text, options)
	if err != nil || len(statement.Stars) == 0 {
		return statement, err
	}
	known, ok := ctx.Value(starsKey{}).(map[string][]string)
	if !ok {
		known = map[string][]string{}
		ctx = context.WithValue(ctx, starsKey{}, known)
	}
	options.Stars = map[int][]string{}
	for _, star := range statement.Stars {
		columns, ok := known[star.Query]
		if !ok {
			if columns, err = e.starColumns(ctx, q, star); err != nil {
				return nil, err
			}
			known[star.Query] = columns
		}
		options.Stars[star.Offset] = columns
	}
	return dialect.Translate(q.Text, options)
}

// starColumns gives the columns of a star. An error in its query has its place at the star.
func (e *executor) starColumns(ctx context.Context, q engine.Query, star dialect.StarArgument) (names []string, err error) {
	q.Text, q.Arguments = star.Query, nil
	p, err := e.Compile(ctx, q)
	var f *fault.Error
	if errors.As(err, &f) {
		return nil, f.At(fault.Position{Line: star.Pos.Line, Column: star.Pos.Column})
	}
	if err != nil {
		return nil, err
	}
	for _, f := range p.Schema().Fields() {
		names = append(names, f.Name)
	}
	return names, p.Close()
}
