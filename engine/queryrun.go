package engine

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/scan"
)

const (
	dialectKey = "skua.sql.dialect"
	queryKind  = "query" // what a statement that an Executor runs is to the log
)

// executes reports whether a statement that failed so is one for the Executor: it is more than a scan, or no SQL of ours.
func (e *Engine) executes(err error) bool {
	return e.config.Executor != nil && (fault.Is(err, fault.Unsupported) || isSyntax(err))
}

// laterally reports whether a scan was refused for a column that may be a session variable or another element of its select list, which the Executor
// looks among.
func (s *statement) laterally(tree *syntax.Select, err error) bool {
	var unresolved *fault.Error
	if s.engine.config.Executor == nil || tree == nil || !errors.As(err, &unresolved) || !strings.HasPrefix(unresolved.Condition, "UNRESOLVED_COLUMN") {
		return false
	}
	return s.state.Objects.Len() > 0 || slices.ContainsFunc(tree.Items, func(i syntax.Item) bool { return i.Alias != nil })
}

func isSyntax(err error) bool {
	var e *fault.Error
	return errors.As(err, &e) && e.Condition == "PARSE_SYNTAX_ERROR"
}

// compiled is a program with what its tables were.
type compiled struct {
	program   Program
	statement *statement
	resolved  *resolution
}

// resolution gathers the tables of one statement. A table that is read twice is read in one state.
type resolution struct {
	mu      sync.Mutex
	pins    []PinnedTable
	opened  map[string]openTable
	used    map[string]string
	ignored map[string][]reportIgnored
	wraps   map[string]bool
}

// compile gives a statement to the Executor. cause is why it is not a scan: where the Executor takes it for no SQL either, that is what is told.
func (s *statement) compile(ctx context.Context, args arrow.RecordBatch, cause error) (*compiled, error) {
	r := &resolution{opened: map[string]openTable{}, used: map[string]string{}, ignored: map[string][]reportIgnored{}, wraps: map[string]bool{}}
	dialect, _ := s.state.Get(dialectKey)
	q := Query{Text: tableTerms(s.text), Zone: s.zone, Clock: s.clock, CaseSensitive: s.caseSensitive(), Dialect: strings.ToLower(dialect), Catalog: s.state.Catalog,
		Namespace: s.state.Namespace, Name: outputName, Rows: s.rows, Constants: map[string]string{}, Arguments: args,
		Resolve: func(ctx context.Context, ref syntax.TableRef) (Table, error) { return s.resolve(ctx, r, &ref) }}
	q.Variable = s.variables()
	for name, value := range sessionFunctions {
		q.Constants[name] = value(s)
	}
	program, err := s.engine.config.Executor.Compile(ctx, q)
	if err = invalid(err); err != nil {
		if isSyntax(err) && isSyntax(cause) {
			return nil, cause
		}
		return nil, err
	}
	return &compiled{program: program, statement: s, resolved: r}, nil
}

// resolve finds a table for the Executor as FROM does for a scan.
func (s *statement) resolve(ctx context.Context, r *resolution, ref *syntax.TableRef) (Table, error) {
	if v, ok := s.tempView(texts(ref.Name)); ok {
		return s.temporary(r, ref, v)
	}
	if source, name, ok := s.systemTable(ctx, texts(ref.Name)); ok {
		return Table{Name: syntax.QuoteName(name), Parts: name, Source: source}, nil
	}
	plain := s.binder(nil, nil, nil)
	at, err := s.reference(plain, ref.At)
	if err != nil {
		return Table{}, err
	}
	options, err := s.tableOptions(plain, ref.Options)
	if err != nil {
		return Table{}, err
	}
	if at, err = s.optionReference(plain, options, at); err != nil {
		return Table{}, err
	}
	f, err := s.table(ctx, texts(ref.Name))
	if v := viewOf(err); v != nil {
		return s.view(ctx, r, ref, v)
	}
	if err != nil {
		return Table{}, placed(err, ref.Name[0].Pos)
	}
	r.fix(f)
	if at, err = s.wapReference(f, at); err != nil {
		return Table{}, err
	}
	source, err := s.source(ctx, f, at)
	if err != nil {
		return Table{}, err
	}
	r.read(f)
	out := Table{Name: f.display(), Parts: f.full(), Source: source}
	used := map[string]string{}
	if out.Options, used, err = s.readOptions(f, options); err != nil {
		return Table{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for k, v := range used {
		r.used[k] = v
	}
	r.ignored[out.Name], r.wraps[out.Name] = ignoredOptions(options), s.classOf(f.catalog).Wraps
	return out, nil
}

// fix notes the state of a table, or gives the one that was noted before.
func (r *resolution) fix(f *found) {
	r.mu.Lock()
	defer r.mu.Unlock()
	pin := f.pin()
	if opened, ok := r.opened[pin.Name]; ok {
		f.opened = opened
		return
	}
	r.opened[pin.Name] = f.opened
	r.pins = append(r.pins, pin)
}

// read notes which snapshot of a table is read, for the log; of several the first.
func (r *resolution) read(f *found) {
	r.mu.Lock()
	defer r.mu.Unlock()
	name := f.pin().Name
	for i := range r.pins {
		if r.pins[i].Name == name && r.pins[i].Snapshot == 0 {
			r.pins[i].Snapshot = f.snapshot
		}
	}
}

// preparedQuery is a statement that the Executor compiled when it was prepared. Each run compiles it anew, but for the first one soon after.
type preparedQuery struct {
	statement  *statement
	cause      error
	parameters *arrow.Schema
	schema     *arrow.Schema

	mu    sync.Mutex
	first *compiled // nil once used, and where parameters are to be bound
}

var _ Prepared = (*preparedQuery)(nil)

func (s *statement) prepareQuery(ctx context.Context, cause error) (Prepared, error) {
	ctx, account := s.account(ctx, newID())
	c, err := within(ctx, account, func() (*compiled, error) { return s.compile(ctx, nil, cause) })
	if err != nil {
		return nil, err
	}
	p := &preparedQuery{statement: s, cause: cause, parameters: c.program.Parameters(), schema: c.program.Schema()}
	if p.parameters.NumFields() == 0 {
		p.first = c
	}
	return p, nil
}

func (p *preparedQuery) IsUpdate() bool            { return false }
func (p *preparedQuery) Parameters() *arrow.Schema { return p.parameters }
func (p *preparedQuery) Schema() *arrow.Schema     { return p.schema }
func (p *preparedQuery) Close() error              { return nil }

func (p *preparedQuery) Run(ctx context.Context, args arrow.RecordBatch) (Result, error) {
	s := p.statement
	id := newID()
	ctx, account := s.account(ctx, id)
	started := s.engine.config.Clock()
	result, err := within(ctx, account, func() (Result, error) { return p.run(ctx, args, id) })
	line := s.engine.lines.ended(queryKind, s.pin(id), account, started, err)
	if err != nil {
		s.engine.lines.write(line)
		return nil, err
	}
	s.engine.lines.plan(line)
	return result, nil
}

func (p *preparedQuery) run(ctx context.Context, args arrow.RecordBatch, id string) (Result, error) {
	if err := countArguments(p.parameters.NumFields(), args); err != nil {
		return nil, err
	}
	programs, err := p.bound(ctx, args)
	if err != nil {
		return nil, err
	}
	first, err := p.statement.first(ctx, programs, p.cause)
	if err != nil {
		return nil, err
	}
	s := first.statement
	pin := s.pin(id)
	if pin.Arguments, err = encodeArguments(args); err != nil {
		return nil, err
	}
	return s.planQuery(ctx, first, programs, pin), nil
}

// bound gives the program for each set of parameters. All of them read one state of the tables.
func (p *preparedQuery) bound(ctx context.Context, args arrow.RecordBatch) ([]*compiled, error) {
	now := p.statement.engine.config.Clock()
	p.mu.Lock()
	first := p.first
	p.first = nil
	p.mu.Unlock()
	if first != nil && now.Sub(p.statement.clock) < freshFor {
		return []*compiled{first}, nil
	}
	s := *p.statement
	s.clock = now
	return s.compileSets(ctx, p.parameters.NumFields(), args, p.cause)
}

// compileSets compiles a statement once for each set of parameters.
func (s *statement) compileSets(ctx context.Context, parameters int, args arrow.RecordBatch, cause error) ([]*compiled, error) {
	sets := []arrow.RecordBatch{nil}
	if parameters > 0 {
		sets = nil
		for i := range args.NumRows() {
			one := args.NewSlice(i, i+1)
			defer one.Release()
			sets = append(sets, one)
		}
	}
	var out []*compiled
	for _, set := range sets {
		c, err := s.compile(ctx, set, cause)
		if err != nil {
			return nil, err
		}
		if len(out) > 0 && !c.program.Schema().Equal(out[0].program.Schema()) {
			return nil, fault.New(fault.Invalid, "the sets of parameters give columns of different types")
		}
		if s.pinned == nil {
			pinned := *s
			pinned.pinned = slices.Clone(c.resolved.pins)
			s = &pinned
		}
		out = append(out, c)
	}
	return out, nil
}

// first gives the program that tells the columns: where no set of parameters is bound, and so none is to run, it is compiled for that alone.
func (s *statement) first(ctx context.Context, programs []*compiled, cause error) (*compiled, error) {
	if len(programs) > 0 {
		return programs[0], nil
	}
	return s.compile(ctx, nil, cause)
}

// planQuery fixes compiled programs in their pin.
func (s *statement) planQuery(ctx context.Context, first *compiled, programs []*compiled, pin Pin) Result {
	p := &planned{schema: first.program.Schema()}
	used := map[string]string{}
	for _, c := range programs {
		p.programs = append(p.programs, c.program)
		for k, v := range c.resolved.used {
			used[k] = v
		}
	}
	pin.Clock, pin.Settings, pin.Tables = s.clock, s.settings(used), first.resolved.pins
	if key, err := pin.key(); err == nil {
		s.engine.plans.put(key, p)
	}
	return s.engine.result(p, pin, accountOf(ctx))
}

// replanQuery compiles a pinned statement.
func (s *statement) replanQuery(ctx context.Context, pin Pin, cause error) (*planned, error) {
	args, err := decodeBatch(pin.Arguments)
	if err != nil {
		return nil, err
	}
	parameters := 0
	if args != nil {
		defer args.Release()
		parameters = int(args.NumCols())
	}
	programs, err := s.compileSets(ctx, parameters, args, cause)
	if err != nil {
		return nil, err
	}
	first, err := s.first(ctx, programs, cause)
	if err != nil {
		return nil, err
	}
	p := &planned{schema: first.program.Schema()}
	for _, c := range programs {
		p.programs = append(p.programs, c.program)
	}
	return p, nil
}

func (p *preparedQuery) Explain(ctx context.Context, analyze bool) (*scan.Explanation, error) {
	programs, err := p.bound(ctx, nil)
	if err != nil {
		return nil, err
	}
	for _, s := range programs[0].program.Scans() {
		return s.Scan, nil
	}
	return &scan.Explanation{Kind: "constants"}, nil
}
