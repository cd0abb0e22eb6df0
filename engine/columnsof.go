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

// addColumns looks up the columns of tables of a catalog.
func (e *Engine) addColumns(ctx context.Context, catalog string, tables []listed) {
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(columnsAtOnce, len(tables)) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(tables) && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				e.addColumnsOf(ctx, catalog, &tables[i])
			}
		})
	}
	workers.Wait()
}

func (e *Engine) addColumnsOf(ctx context.Context, catalog string, t *listed) {
	var err error
	defer func() {
		if err != nil {
			e.config.Log.Warn("columns left out of a listing", "catalog", catalog, "table", syntax.QuoteName(t.entry.Identifier), "error", err.Error())
		}
	}()
	defer fault.Recover(&err, fault.Internal, "read %s", syntax.QuoteName(t.entry.Identifier))
	t.out.Columns = noColumns
	t.out.Columns = e.columnsOf(ctx, catalog, t.entry)
}
