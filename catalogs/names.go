package catalogs

import (
	"context"
	"regexp"
)

// namesKey is the context's key of what names a listing is for.
type namesKey struct{}

// WithNames lets the listings of tables under ctx leave out tables in whose names an expression matches nowhere, so that what is not wanted is neither looked at nor
// sent. Catalogs need not heed it: whoever lists still looks at every name that comes. Nil: every table is wanted.
func WithNames(ctx context.Context, names *regexp.Regexp) context.Context {
	return context.WithValue(ctx, namesKey{}, names)
}

// Names is the expression that WithNames gave; nil: every table is wanted.
func Names(ctx context.Context) *regexp.Regexp {
	names, _ := ctx.Value(namesKey{}).(*regexp.Regexp)
	return names
}
