// Package engine lives a statement's life: it reads the text, tries the table of commands, binds a SELECT over one source and plans its
// scan, and keeps what a ticket needs so that any replica can give the same rows. What is more than a scan goes to an Executor, or is refused
// by name. It has never heard of the wire, of plugins, or of how a file is read.
package engine

import (
	"context"
	"log/slog"
	"runtime"
	"time"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/resource"
	"github.com/skua-data/skua/scan"
	"github.com/skua-data/skua/session"
)

// Config is what an Engine works with.
type Config struct {
	Catalogs *catalogs.Set
	Scanner  *scan.Scanner
	Pool     *resource.Pool   // nil: one without limits
	Executor Executor         // nil: only scans and commands
	Clock    func() time.Time // nil: time.Now
	Version  string           // what version() says
	Log      *slog.Logger     // nil: nothing is logged

	Source func(scan.Source) scan.Source // laid over every source of a table; nil: nothing
}

// Engine prepares and resumes statements. It is safe for concurrent use.
type Engine struct {
	config Config
	find   func(ctx context.Context, t *catalogs.Table) (unread, error)
	plans  *planCache
	lines  *journal
}

// openTable is what the engine needs of a table whose metadata was read.
type openTable interface {
	Source(ctx context.Context, at scan.Reference) (scan.Source, error)
	MetadataSource(ctx context.Context, name string, at scan.Reference) (scan.Source, bool, error)
	Describe(metadataTable string) (scan.Description, error)
	MetadataLocation() string
	Ancestors(snapshot *int64) ([]scan.Ancestor, error)
	PartitionColumns() (columns []string, listed, ok bool)
	Partitions(ctx context.Context, only map[string]*string) ([]string, error)
	Branches() []string
	Tags() []string
}

var _ openTable = (*scan.Table)(nil)

// New makes an Engine. The Config's parts stay their owner's to close.
func New(c Config) (*Engine, error) {
	if c.Catalogs == nil || c.Scanner == nil {
		return nil, fault.New(fault.Internal, "engine: catalogs and scanner must be set")
	}
	if c.Pool == nil {
		c.Pool = resource.NewPool(resource.Config{})
	}
	if c.Clock == nil {
		c.Clock = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	e := &Engine{config: c, plans: newPlanCache(maxPlans), lines: newJournal(c.Log, c.Clock)}
	e.find = func(ctx context.Context, t *catalogs.Table) (unread, error) {
		found, err := c.Scanner.Find(ctx, t)
		if err != nil {
			return nil, err
		}
		return foundTable{found, e}, nil
	}
	c.Pool.OnShort(e.letGo)
	return e, nil
}

// open reads the metadata of a table that a catalog loaded.
func (e *Engine) open(ctx context.Context, t *catalogs.Table) (openTable, error) {
	u, err := e.find(ctx, t)
	if err != nil {
		return nil, err
	}
	defer u.Close()
	return u.Table(ctx)
}

// overlaid lays over a table's sources what is to be laid over them.
func (e *Engine) overlaid(t openTable) openTable {
	if e.config.Source == nil {
		return t
	}
	return overlaid{t, e.config.Source}
}

// overlaid is a table over whose sources something is laid.
type overlaid struct {
	openTable
	lay func(scan.Source) scan.Source
}

// Source gives the table's source, overlaid.
func (o overlaid) Source(ctx context.Context, at scan.Reference) (scan.Source, error) {
	s, err := o.openTable.Source(ctx, at)
	if err != nil {
		return nil, err
	}
	return o.lay(s), nil
}

// letGo forgets what is kept for later statements, for the sake of those that wait for memory.
func (e *Engine) letGo() {
	e.plans.forget()
	e.config.Scanner.Forget()
	runtime.GC() // plans give back what they count when they are collected
}

// Call is one statement as it arrived.
type Call struct {
	Session   *session.Session
	Principal string
	Text      string
	Client    string // what the client calls itself; for the log
	Path      string // the way it came: query, update, prepared; for the log
}

// Prepare reads a statement and binds its names, without effect. The session's state is read once, here.
func (e *Engine) Prepare(ctx context.Context, call Call) (Prepared, error) {
	started := e.config.Clock()
	s, err := e.newStatement(call)
	if err == nil {
		var p Prepared
		if p, err = s.prepare(ctx); err == nil {
			return p, nil
		}
	}
	e.lines.write(e.lines.ended("prepare", s.pin(newID()), nil, started, err))
	return nil, err
}

// Close writes the lines of statements that were planned and never fetched. It comes after the last call.
func (e *Engine) Close() error {
	e.lines.settle(0)
	return nil
}
