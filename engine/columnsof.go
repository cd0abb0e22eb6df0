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

// addColumns looks up the columns of tables of a catalog. It fails when ctx ends, and, if strict, when the catalog or a store does not answer.
func (e *Engine) addColumns(ctx context.Context, catalog string, tables []listed, strict bool) error {
	var next atomic.Int64
	var failed atomic.Pointer[error]
	var workers sync.WaitGroup
	for range min(columnsAtOnce, len(tables)) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(tables) && ctx.Err() == nil && failed.Load() == nil; i = int(next.Add(1)) - 1 {
				if err := e.addColumnsOf(ctx, catalog, &tables[i], strict); err != nil {
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

// addColumnsOf looks up one table's. A panic is that table's fault alone.
func (e *Engine) addColumnsOf(ctx context.Context, catalog string, t *listed, strict bool) (err error) {
	var panicked error
	defer func() {
		if panicked != nil {
			e.config.Log.Warn("columns left out of a listing", "catalog", catalog, "table", syntax.QuoteName(t.entry.Identifier), "error", panicked.Error())
		}
	}()
	defer fault.Recover(&panicked, fault.Internal, "read %s", syntax.QuoteName(t.entry.Identifier))
	t.out.Columns = noColumns
	t.out.Columns, err = e.columnsOf(ctx, catalog, t.entry, strict)
	return err
}
