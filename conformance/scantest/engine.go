package scantest

import (
	"context"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/apache/iceberg-go"
	identity "github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/engine"
	"github.com/skua-data/skua/engine/duckdb"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/session"
	"github.com/skua-data/skua/storage"
)

// sqlReader asks random tables through the engine, in SQL.
type sqlReader struct {
	engine   *engine.Engine
	executor engine.Executor
	set      *catalogs.Set
	sessions map[bool]*session.Session // by whether they are in Spark's dialect
	tables   *locations
}

// newSQLReader starts an engine over the scanner of a reader.
func newSQLReader(r reader) (*sqlReader, error) {
	out := &sqlReader{tables: &locations{}}
	d, _, err := catalogs.NewDefinition("random", "org.apache.iceberg.spark.SparkCatalog", iceberg.Properties{"type": "hadoop", "warehouse": "file:///nowhere"})
	if err != nil {
		return nil, err
	}
	out.set, err = catalogs.NewSet(catalogs.SetConfig{Definitions: []catalogs.Definition{d},
		Open: func(context.Context, catalogs.Definition, storage.Map) (catalogs.Catalog, error) {
			return out.tables, nil
		}})
	if err != nil {
		return nil, err
	}
	if out.executor, err = duckdb.New(duckdb.Config{Threads: 2, Memory: 1 << 30}); err != nil {
		return nil, err
	}
	out.engine, err = engine.New(engine.Config{Catalogs: out.set, Scanner: r.scanner, Executor: out.executor})
	out.sessions = map[bool]*session.Session{}
	for spark, dialect := range map[bool]string{false: "ansi", true: "spark"} {
		conf := session.NewConf(map[string]string{"spark.sql.session.timeZone": "UTC", "skua.sql.dialect": dialect})
		out.sessions[spark] = session.New(dialect, "somebody", session.State{Startup: conf, Catalog: "random"}, time.Now())
	}
	return out, err
}

func (s *sqlReader) close() {
	_ = s.engine.Close()
	if s.executor != nil {
		_ = s.executor.Close()
	}
	_ = s.set.Close()
}

// read gives the rows of a query as text, in the order they come where the query sorts, else sorted.
func (s *sqlReader) read(ctx context.Context, t *table, q *query) ([]string, error) {
	s.tables.put(t)
	p, err := s.engine.Prepare(ctx, engine.Call{Session: s.sessions[q.spark], Principal: "somebody", Text: t.sparkSQL(q), Client: "scantest", Path: "query"})
	if err != nil {
		return nil, err
	}
	defer p.Close()
	result, err := p.Run(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer result.Close()
	stream, err := result.Open(ctx, 0, result.Parts())
	if err != nil {
		return nil, err
	}
	defer stream.Release()
	rows, err := rowsOf(stream, q, nil)
	if !q.sorted {
		slices.Sort(rows)
	}
	return rows, err
}

// locations is a catalog of the random tables in its one namespace db.
type locations struct {
	mu sync.Mutex
	of map[string]string
}

var _ catalogs.Catalog = (*locations)(nil)

func (l *locations) put(t *table) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.of = map[string]string{t.name(): t.location()}
}

// Capabilities are the least.
func (l *locations) Capabilities() catalogs.Capabilities { return catalogs.Capabilities{} }

// Namespaces yields db.
func (l *locations) Namespaces(context.Context, identity.Identifier) iter.Seq2[identity.Identifier, error] {
	return func(yield func(identity.Identifier, error) bool) { yield(identity.Identifier{"db"}, nil) }
}

// LoadNamespace gives no properties.
func (l *locations) LoadNamespace(context.Context, identity.Identifier) (iceberg.Properties, error) {
	return iceberg.Properties{}, nil
}

// Tables yields none: nobody lists them.
func (l *locations) Tables(context.Context, identity.Identifier) iter.Seq2[catalogs.Entry, error] {
	return func(func(catalogs.Entry, error) bool) {}
}

// Load finds a table's metadata.
func (l *locations) Load(_ context.Context, req catalogs.LoadRequest) (*catalogs.Table, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	location, ok := l.of[req.Identifier[len(req.Identifier)-1]]
	if !ok {
		return nil, fault.New(fault.NotFound, "there is no table %v", req.Identifier)
	}
	return &catalogs.Table{Identifier: req.Identifier, MetadataLocation: location}, nil
}

// Close has nothing to free.
func (l *locations) Close() error { return nil }
