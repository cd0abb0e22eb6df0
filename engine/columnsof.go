package engine

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
)

// The tables of a listing whose columns are looked up together, and how many of them at once: a catalog or store that is far answers many calls as fast as one.
const (
	columnsTogether = 64
	columnsAtOnce   = 8
)

// listed is a table of a listing before its columns are known.
type listed struct {
	entry catalogs.Entry
	out   TableEntry
}

// eachListed looks up tables side by side. It fails when ctx ends.
func eachListed(ctx context.Context, tables []listed, look func(ctx context.Context, t *listed) error) error {
	var next atomic.Int64
	var failed atomic.Pointer[error]
	var workers sync.WaitGroup
	for range min(columnsAtOnce, len(tables)) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(tables) && ctx.Err() == nil && failed.Load() == nil; i = int(next.Add(1)) - 1 {
				if err := look(ctx, &tables[i]); err != nil {
					failed.CompareAndSwap(nil, &err)
				}
			}
		})
	}
	workers.Wait()
	if err := failed.Load(); err != nil {
		return *err
	}
	return ctx.Err()
}

// leavingOut makes what fails in looking up a table that table's fault alone, with a log line, unless nobody answers and the listing is to fail for it.
func (e *Engine) leavingOut(what, catalog string, t *listed, strict bool, look func() error) error {
	err := guarded("read "+syntax.QuoteName(t.entry.Identifier), look)
	if err == nil || strict && away(err) {
		return err
	}
	e.config.Log.Warn(what+" left out of a listing", "catalog", catalog, "table", syntax.QuoteName(t.entry.Identifier), "error", err.Error())
	return nil
}

// guarded makes a panic an error.
func guarded(doing string, do func() error) (err error) {
	defer fault.Recover(&err, fault.Internal, "%s", doing)
	return do()
}

// lookUp looks up of tables of a catalog what a filter asks for. Where the catalog was asked for by name, it fails when that or a store does not answer.
func (e *Engine) lookUp(ctx context.Context, catalog string, f TableFilter, tables []listed) error {
	strict := f.Catalog != nil
	for _, l := range []struct {
		asked bool
		what  string
		look  func(ctx context.Context, catalog string, t *listed) error
	}{
		{f.WithSchema, "columns", e.lookUpColumns},
		{f.Encode != nil, "columns", func(ctx context.Context, catalog string, t *listed) error {
			return e.lookUpEncoded(ctx, catalog, t, f.Encode)
		}},
		{f.withKey, "key", e.lookUpKey},
	} {
		if !l.asked {
			continue
		}
		err := eachListed(ctx, tables, func(ctx context.Context, t *listed) error {
			return e.leavingOut(l.what, catalog, t, strict, func() error { return l.look(ctx, catalog, t) })
		})
		if err != nil {
			return err
		}
	}
	return nil
}
