package engine

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/engine/sparkname"
	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
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
		Namespace: s.state.Namespace, Name: sparkname.Of, Rows: s.rows, Constants: map[string]string{}, Arguments: args,
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
	if v, ok := s.tempView(syntax.Texts(ref.Name)); ok {
		return s.temporary(r, ref, v)
	}
	if source, name, ok := s.systemTable(ctx, syntax.Texts(ref.Name)); ok {
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
	f, err := s.table(ctx, syntax.Texts(ref.Name))
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
