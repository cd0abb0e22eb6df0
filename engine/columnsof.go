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

// lookUp is what a listing looks up of a table. It fails where the whole listing is to fail.
type lookUp func(ctx context.Context, t *listed) error

// eachListed looks up tables side by side. It fails when ctx ends.
func eachListed(ctx context.Context, tables []listed, look lookUp) error {
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

// leavingOut makes a panic in looking up a table that table's fault alone.
func (e *Engine) leavingOut(what, catalog string, t *listed, look func() error) (err error) {
	var panicked error
	defer func() {
		if panicked != nil {
			e.config.Log.Warn(what+" left out of a listing", "catalog", catalog, "table", syntax.QuoteName(t.entry.Identifier), "error", panicked.Error())
		}
	}()
	defer fault.Recover(&panicked, fault.Internal, "read %s", syntax.QuoteName(t.entry.Identifier))
	return look()
}

// columnsFor looks up the columns of tables of a catalog. It fails, if strict, when the catalog or a store does not answer.
func (e *Engine) columnsFor(catalog string, strict bool) lookUp {
	return func(ctx context.Context, t *listed) error {
		t.out.Columns = noColumns
		return e.leavingOut("columns", catalog, t, func() (err error) {
			t.out.Columns, err = e.columnsOf(ctx, catalog, t.entry, strict)
			return err
		})
	}
}

// keysFor looks up the identifier fields of tables of a catalog. It fails as columnsFor does.
func (e *Engine) keysFor(catalog string, strict bool) lookUp {
	return func(ctx context.Context, t *listed) error {
		return e.leavingOut("key", catalog, t, func() (err error) {
			if t.out.key, err = e.identifierOf(ctx, catalog, t.entry.Identifier); err != nil && strict && away(err) {
				return err
			}
			if err != nil {
				e.config.Log.Warn("key left out of a listing", "catalog", catalog, "table", syntax.QuoteName(t.entry.Identifier), "error", err.Error())
			}
			return nil
		})
	}
}
