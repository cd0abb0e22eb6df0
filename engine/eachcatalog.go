package engine

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/skua-data/skua/fault"
)

// How many catalogs a listing over all of them asks at once, and how many entries of each it holds for a reader that is not there yet.
const (
	catalogsAtOnce = 16
	entriesAhead   = 256
)

// errStopped ends a listing whose receiver wants no more.
var errStopped = errors.New("stopped")

// lister lists one catalog. It returns errStopped once yield is false.
type lister[E any] func(ctx context.Context, catalog string, yield func(E) bool) error

// eachCatalog joins the listings of catalogs in the order of their names. The one asked for by name ends it with its error; of all, one that fails is left out
// with a log line, and they are asked side by side, so that those that do not answer take the time of one. It returns when every call has ended.
func eachCatalog[E any](ctx context.Context, e *Engine, only *string, list lister[E]) iter.Seq2[E, error] {
	return func(yield func(E, error) bool) {
		var none E
		names := e.CatalogNames()
		if only != nil {
			if !slices.Contains(names, *only) {
				return
			}
			if err := list(ctx, *only, func(v E) bool { return yield(v, nil) }); err != nil && err != errStopped {
				yield(none, fault.Wrap(err, "list catalog %s", *only))
			}
			return
		}
		inner, leave := context.WithCancel(ctx)
		var workers sync.WaitGroup
		defer workers.Wait()
		defer leave()
		parts := startParts(inner, &workers, names, list)
		for i, name := range names {
			for v := range parts[i].entries {
				if !yield(v, nil) {
					return
				}
			}
			err := parts[i].err
			if err != nil && ctx.Err() != nil {
				yield(none, fault.Wrap(ctx.Err(), "list catalog %s", name))
				return
			}
			if err != nil {
				e.config.Log.Warn("catalog left out of a listing", "catalog", name, "error", err.Error())
			}
		}
	}
}

// part is one catalog's share of a listing; err is set before entries is closed.
type part[E any] struct {
	entries chan E
	err     error
}

// startParts lists catalogs in the background. They are begun in their order, so the one that the reader waits for never waits for another.
func startParts[E any](ctx context.Context, workers *sync.WaitGroup, names []string, list lister[E]) []part[E] {
	parts := make([]part[E], len(names))
	for i := range parts {
		parts[i].entries = make(chan E, entriesAhead)
	}
	var next atomic.Int64
	for range min(catalogsAtOnce, len(names)) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(names); i = int(next.Add(1)) - 1 {
				parts[i].fill(ctx, names[i], list)
			}
		})
	}
	return parts
}

func (p *part[E]) fill(ctx context.Context, catalog string, list lister[E]) {
	defer close(p.entries)
	defer fault.Recover(&p.err, fault.Internal, "list catalog %s", catalog)
	if p.err = ctx.Err(); p.err != nil {
		return
	}
	p.err = list(ctx, catalog, func(v E) bool {
		select {
		case p.entries <- v:
			return true
		case <-ctx.Done():
			return false
		}
	})
}
