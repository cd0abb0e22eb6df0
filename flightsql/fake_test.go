package flightsql

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/engine"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/resource"
	"github.com/skua-data/skua/scan"
	"github.com/skua-data/skua/session"
)

// fakeEngine speaks a language of its own:
//
//	SET k=v      an update; on the query path one row with key and value
//	GET k        the value that the session has for k
//	TEXT 'x'     one row with x
//	ROWS p n     p parts of n rows each, with the row's number
//	WIDE n bytes n rows of a text of so many bytes, one batch
//	ENDLESS      batches until it is stopped
//	BREAK n      an error after n batches
//	ECHO ?       the parameter, a row each
//	STEPS n      gives a row once step has given n
//	SLOW         is planned once slow is closed, of which a quarter is done at once, and gives a row
//	PANIC        panics when it is prepared; PANIC LATE when it is read
type fakeEngine struct {
	prepared, effects, resumed, batches atomic.Int64
	closedReaders                       atomic.Int64
	tables                              []engine.TableEntry
	hidden                              *arrow.Metadata // put on every field of a result
	slow, step                          chan struct{}
	away                                string // the catalog that does not answer: listings of it by name fail, others leave it out
}

var (
	errSyntax = fault.New(fault.Invalid, "Syntax error at or near 'SELEC'.").With("PARSE_SYNTAX_ERROR", "42601").At(fault.Position{Line: 2, Column: 4})
	keyValue  = arrow.NewSchema([]arrow.Field{{Name: "key", Type: arrow.BinaryTypes.String}, {Name: "value", Type: arrow.BinaryTypes.String}}, nil)
	numbers   = arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64, Nullable: true}}, nil)
	texts     = arrow.NewSchema([]arrow.Field{{Name: "v", Type: arrow.BinaryTypes.String, Nullable: true}}, nil)
)

func (e *fakeEngine) Prepare(_ context.Context, call engine.Call) (engine.Prepared, error) {
	e.prepared.Add(1)
	text := strings.TrimSuffix(strings.TrimSpace(call.Text), ";")
	switch {
	case text == "PANIC":
		panic("boom")
	case strings.HasPrefix(text, "CREATE"):
		return nil, fault.New(fault.Unsupported, "Skua reads only: CREATE is not supported")
	}
	p := &fakePrepared{e: e, call: call, text: text, pin: engine.Pin{Statement: fmt.Sprintf("s%d", e.prepared.Load()), Text: text, Principal: call.Principal,
		Clock: time.Unix(1, 0)}}
	word, rest, _ := strings.Cut(text, " ")
	switch word {
	case "SET":
		p.schema, p.update = keyValue, true
	case "USE":
		p.update = true
	case "GET":
		value, _ := call.Session.State().Get(rest)
		p.pin.Settings = map[string]string{"value": value}
		p.schema = texts
	case "TEXT", "WIDE":
		p.schema = texts
	case "SELECT", "ROWS", "ENDLESS", "BREAK", "ECHO", "PANIC", "ORDERED", "SLOW", "STEPS":
		p.schema = numbers
	default:
		return nil, errSyntax
	}
	return p, nil
}

func (e *fakeEngine) Resume(_ context.Context, pin engine.Pin) (engine.Result, error) {
	e.resumed.Add(1)
	r := &fakeResult{e: e, pin: pin, schema: texts}
	word, _, _ := strings.Cut(pin.Text, " ")
	switch word {
	case "SET":
		r.schema = keyValue
	case "SELECT", "ROWS", "ENDLESS", "BREAK", "ECHO", "PANIC", "ORDERED", "SLOW", "STEPS":
		r.schema = numbers
	}
	return r, nil
}

type fakePrepared struct {
	e      *fakeEngine
	call   engine.Call
	text   string
	schema *arrow.Schema
	update bool
	pin    engine.Pin
}

func (p *fakePrepared) IsUpdate() bool { return p.update }
func (p *fakePrepared) Parameters() *arrow.Schema {
	if strings.HasSuffix(p.text, "?") {
		return arrow.NewSchema([]arrow.Field{{Name: "1", Type: arrow.Null, Nullable: true}}, nil)
	}
	return arrow.NewSchema(nil, nil)
}
func (p *fakePrepared) Schema() *arrow.Schema {
	if p.schema == nil {
		return nil
	}
	return p.e.dress(p.schema)
}
func (p *fakePrepared) Explain(context.Context, bool) (*scan.Explanation, error) { return nil, nil }
func (p *fakePrepared) Close() error                                             { return nil }

func (p *fakePrepared) Run(ctx context.Context, args arrow.RecordBatch) (engine.Result, error) {
	if p.text == "SLOW" {
		progress := resource.ProgressOf(ctx)
		progress.Expect(4)
		progress.Done()
		select {
		case <-p.e.slow:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	pin := p.pin
	if args != nil {
		pin.Arguments = encode(args)
	}
	if p.update {
		p.e.effects.Add(1)
		key, value, _ := strings.Cut(strings.TrimPrefix(p.text, "SET "), "=")
		if err := p.e.SetOption(p.call.Session, strings.Trim(key, "`"), value); err != nil {
			return nil, err
		}
	}
	return &fakeResult{e: p.e, pin: pin, schema: p.schema}, nil
}

// dress puts metadata on the fields, as a table's have it.
func (e *fakeEngine) dress(s *arrow.Schema) *arrow.Schema {
	if e.hidden == nil {
		return s
	}
	fields := s.Fields()
	for i := range fields {
		fields[i].Metadata = *e.hidden
	}
	return arrow.NewSchema(fields, e.hidden)
}

func encode(b arrow.RecordBatch) []byte {
	var out bytes.Buffer
	w := ipc.NewWriter(&out, ipc.WithSchema(b.Schema()))
	w.Write(b)
	w.Close()
	return out.Bytes()
}

type fakeResult struct {
	e      *fakeEngine
	pin    engine.Pin
	schema *arrow.Schema
}

func (r *fakeResult) words() []string       { return strings.Fields(r.pin.Text) }
func (r *fakeResult) number(i int) int      { n, _ := strconv.Atoi(r.words()[i]); return n }
func (r *fakeResult) Schema() *arrow.Schema { return r.e.dress(r.schema) }
func (r *fakeResult) Ordered() bool         { return r.words()[0] == "ORDERED" }
func (r *fakeResult) Pin() engine.Pin       { return r.pin }
func (r *fakeResult) Close() error          { return nil }
func (r *fakeResult) Parts() int {
	if w := r.words()[0]; w == "ROWS" || w == "ORDERED" {
		return r.number(1)
	}
	return 1
}
func (r *fakeResult) Rows() int64 {
	if r.words()[0] == "ROWS" {
		return int64(r.number(1) * r.number(2))
	}
	return -1
}
func (r *fakeResult) Updated() int64 {
	if r.words()[0] == "SET" {
		return 0
	}
	return -1
}

func (r *fakeResult) Open(ctx context.Context, from, to int) (array.RecordReader, error) {
	next, stop := iter.Pull2(r.batches(ctx, from, to))
	return &fakeReader{result: r, next: next, stop: stop}, nil
}

func (r *fakeResult) batches(ctx context.Context, from, to int) iter.Seq2[arrow.RecordBatch, error] {
	return func(yield func(arrow.RecordBatch, error) bool) {
		switch r.words()[0] {
		case "SET":
			key, value, _ := strings.Cut(strings.TrimPrefix(r.pin.Text, "SET "), "=")
			yield(r.batch(key, value), nil)
		case "GET":
			yield(r.batch(r.pin.Settings["value"]), nil)
		case "TEXT":
			yield(r.batch(strings.Trim(strings.TrimPrefix(r.pin.Text, "TEXT "), "'")), nil)
		case "WIDE":
			values := make([]string, r.number(1))
			for i := range values {
				values[i] = strings.Repeat("x", r.number(2))
			}
			yield(r.batch(values...), nil)
		case "SELECT", "SLOW":
			yield(r.integers(1), nil)
		case "STEPS":
			share := resource.ProgressOf(ctx)
			share.Expect(r.number(1))
			for range r.number(1) {
				select {
				case <-r.e.step:
					share.Done()
				case <-ctx.Done():
					yield(nil, ctx.Err())
					return
				}
			}
			yield(r.integers(1), nil)
		case "ROWS", "ORDERED":
			for part := from; part < to; part++ {
				values := make([]int64, r.number(2))
				for i := range values {
					values[i] = int64(part*len(values) + i)
				}
				if !yield(r.integers(values...), nil) {
					return
				}
			}
		case "ENDLESS":
			for ctx.Err() == nil && yield(r.integers(make([]int64, 1<<15)...), nil) {
			}
		case "BREAK":
			for range r.number(1) {
				yield(r.integers(1), nil)
			}
			yield(nil, fault.New(fault.Corrupt, "truncated page").In("file:/t/data.parquet"))
		case "ECHO":
			r.echo(yield)
		case "PANIC":
			yield(r.integers(1), nil)
			panic("late boom")
		}
	}
}

func (r *fakeResult) echo(yield func(arrow.RecordBatch, error) bool) {
	rd, err := ipc.NewReader(bytes.NewReader(r.pin.Arguments))
	if err != nil {
		yield(nil, err)
		return
	}
	defer rd.Release()
	for rd.Next() {
		column, ok := rd.RecordBatch().Column(0).(*array.Int64)
		if !ok {
			yield(nil, errors.New("not an int64"))
			return
		}
		yield(r.integers(column.Int64Values()...), nil)
	}
}

// batch has the values as rows, or, for key and value, as columns.
func (r *fakeResult) batch(values ...string) arrow.RecordBatch {
	b := array.NewRecordBuilder(memory.DefaultAllocator, r.Schema())
	defer b.Release()
	for i, v := range values {
		b.Field(i % len(b.Fields())).(*array.StringBuilder).Append(v)
	}
	return b.NewRecordBatch()
}

func (r *fakeResult) integers(values ...int64) arrow.RecordBatch {
	b := array.NewRecordBuilder(memory.DefaultAllocator, r.Schema())
	defer b.Release()
	b.Field(0).(*array.Int64Builder).AppendValues(values, nil)
	return b.NewRecordBatch()
}

type fakeReader struct {
	result  *fakeResult
	next    func() (arrow.RecordBatch, error, bool)
	stop    func()
	current arrow.RecordBatch
	err     error
}

func (r *fakeReader) Retain()                        {}
func (r *fakeReader) Release()                       { r.stop(); r.result.e.closedReaders.Add(1) }
func (r *fakeReader) Schema() *arrow.Schema          { return r.result.Schema() }
func (r *fakeReader) Record() arrow.RecordBatch      { return r.current }
func (r *fakeReader) RecordBatch() arrow.RecordBatch { return r.current }
func (r *fakeReader) Err() error                     { return r.err }
func (r *fakeReader) Next() (ok bool) {
	if r.current, r.err, ok = r.next(); r.err != nil {
		return false
	}
	if ok {
		r.result.e.batches.Add(1)
	}
	return ok
}

// Sessions: catalogs lake and other, each with the namespaces a and a.b.

func (e *fakeEngine) NewState(startup session.Conf) (session.State, error) {
	return session.State{Startup: startup, Catalog: "lake", Namespace: []string{"a"}}, nil
}

func (e *fakeEngine) Use(_ context.Context, s *session.Session, catalog string, namespace []string, setCatalog, setNamespace bool) error {
	return s.Update(func(st session.State) (session.State, error) {
		if setCatalog {
			if catalog != "lake" && catalog != "other" {
				return st, fault.New(fault.NotFound, "catalog %s is not found", catalog)
			}
			st.Catalog, st.Namespace = catalog, nil
		}
		if setNamespace {
			if namespace[0] != "a" {
				return st, fault.New(fault.NotFound, "schema %v is not found", namespace)
			}
			st.Namespace = namespace
		}
		return st, nil
	})
}

func (e *fakeEngine) SetOption(s *session.Session, key, value string) error {
	if o, known := session.Lookup(key); known {
		if o.Scope == session.Startup {
			return fault.New(fault.Denied, "%s is the operator's", key)
		}
		if err := session.Validate(o, value); err != nil {
			return fault.As(fault.Invalid, err)
		}
	}
	return s.Update(func(st session.State) (session.State, error) { st.Conf = st.Conf.With(key, value); return st, nil })
}

func (e *fakeEngine) Unset(s *session.Session, key string) error {
	return s.Update(func(st session.State) (session.State, error) { st.Conf = st.Conf.Without(key); return st, nil })
}

func (e *fakeEngine) CatalogNames() []string { return []string{"lake", "other"} }

func (e *fakeEngine) Schemas(_ context.Context, _ session.State, catalog, _ *string) iter.Seq2[engine.SchemaEntry, error] {
	return func(yield func(engine.SchemaEntry, error) bool) {
		for _, c := range e.CatalogNames() {
			if catalog != nil && *catalog != c {
				continue
			}
			if c == e.away {
				if catalog != nil {
					yield(engine.SchemaEntry{}, fault.New(fault.Unavailable, "catalog %s: it died", c))
					return
				}
				continue
			}
			if !yield(engine.SchemaEntry{Catalog: c, Schema: "a"}, nil) || !yield(engine.SchemaEntry{Catalog: c, Schema: "a.b"}, nil) {
				return
			}
		}
	}
}

func (e *fakeEngine) Tables(_ context.Context, _ session.State, f engine.TableFilter) iter.Seq2[engine.TableEntry, error] {
	return func(yield func(engine.TableEntry, error) bool) {
		for _, t := range e.tables {
			if t.Catalog == e.away && f.Catalog == nil {
				continue
			}
			if f.Catalog != nil && *f.Catalog != t.Catalog || f.SchemaPattern != nil && *f.SchemaPattern != t.Schema ||
				f.NamePattern != nil && *f.NamePattern != t.Name || len(f.Types) > 0 && f.Types[0] != t.Type {
				continue
			}
			if f.Encode != nil {
				t.Encoded = f.Encode(t)
			}
			if !yield(t, nil) {
				return
			}
		}
		if f.Catalog != nil && *f.Catalog == e.away { // after what came
			yield(engine.TableEntry{}, fault.New(fault.Unavailable, "catalog %s: it died", e.away))
		}
	}
}

// Keys has one for each table whose name begins with k.
func (e *fakeEngine) Keys(ctx context.Context, st session.State, f engine.TableFilter) iter.Seq2[engine.KeyEntry, error] {
	return func(yield func(engine.KeyEntry, error) bool) {
		for t, err := range e.Tables(ctx, st, f) {
			if err != nil {
				yield(engine.KeyEntry{}, err)
				return
			}
			if strings.HasPrefix(t.Name, "k") && !yield(engine.KeyEntry{Catalog: t.Catalog, Schema: t.Schema, Table: t.Name, Column: "id", Sequence: 1}, nil) {
				return
			}
		}
	}
}

func (e *fakeEngine) Abilities() engine.Abilities { return engine.Abilities{Queries: true} }
