//go:build cgo

package duckdb

import (
	"context"
	"errors"
	"fmt"
	"runtime/cgo"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/engine"
	"github.com/skua-data/skua/engine/duckdb/dialect"
	"github.com/skua-data/skua/fault"
)

// program is a compiled statement: its text without the tables, its tables with what was pushed into each, and its columns.
type program struct {
	executor    *executor
	query       engine.Query
	statement   *dialect.Statement
	tables      map[int]*input // those that are tables, by number
	ctes        map[int]bool
	origins     map[int]*origins // of tables in the texts of views
	views       map[int][]string // the full names of those that are views
	viewColumns map[int][]engine.ViewColumn
	parameters  *arrow.Schema
	output      *output
	pushed      pushdown
	stage       dialect.Stage    // how the statement is spelled, by
	types       [][]dialect.Type // of expressions in it, by the part that hangs on them
	keyTypes    []string         // of what it sorts by
	nested      bool             // it has the least or the greatest of values with parts
	apart       bool             // its intervals are kept apart

	explained atomic.Bool // somebody asked for the plan: runs are told of

	mu  sync.Mutex
	ran map[int]engine.QueryScan // how the last run read each table
}

var _ engine.Program = (*program)(nil)

func (p *program) Parameters() *arrow.Schema { return p.parameters }
func (p *program) Schema() *arrow.Schema     { return p.output.schema }
func (p *program) Close() error              { return nil }

// compile compiles a statement in which names stand for constants, by their offsets.
func (e *executor) compile(ctx context.Context, q engine.Query, values map[int]dialect.Value, distinct bool) (compiled engine.Program, err error) {
	options := dialect.Options{Growth: macroGrowth, Values: values, Distinct: distinct, Spark: q.Dialect == "spark", Name: q.Name, Rows: q.Rows, Constants: q.Constants, Clock: q.Clock, Zone: q.Zone, Arguments: q.Arguments}
	statement, err := e.translate(ctx, q, options)
	if err != nil {
		return nil, err
	}
	if q.Arguments != nil && int(q.Arguments.NumCols()) != statement.Parameters {
		return nil, fault.New(fault.Invalid, "the statement has %d parameters, %d values were bound", statement.Parameters, q.Arguments.NumCols())
	}
	i, done, err := e.use()
	if err != nil {
		return nil, err
	}
	defer done()
	p := &program{executor: e, query: q, statement: statement, tables: map[int]*input{}, origins: map[int]*origins{}, views: map[int][]string{}, viewColumns: map[int][]engine.ViewColumn{}}
	if ctx.Value(viewsKey{}) == nil {
		ctx = context.WithValue(ctx, viewsKey{}, map[string]map[int]dialect.Value{})
	}
	if limit := e.config.Timeout; limit > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, limit, fault.New(fault.Exhausted, "the statement was planned longer than %s", limit).Change("skua.sql.timeout"))
		defer stop()
	}
	defer func() {
		if err != nil && ctx.Err() != nil {
			err = fault.As(fault.Canceled, context.Cause(ctx)) // whatever the engine calls it
		}
	}()
	planning, err := p.connect(ctx, i.planning)
	if err != nil {
		return nil, err
	}
	defer planning.close()
	defer watch(ctx, planning)()
	g, err := p.judge(planning, statement)
	if err != nil {
		return nil, err
	}
	p.ctes = g.ctes
	if err := p.resolve(ctx, planning, g.star || statement.Bare); err != nil {
		return nil, err
	}
	if err := p.numbersApart(); err != nil {
		return nil, err
	}
	if err := p.keysApart(); err != nil {
		return nil, err
	}
	if err := p.closed(ctx, planning); err != nil {
		return nil, err
	}
	if err := p.plan(ctx, i.planning, planning); err != nil {
		return nil, err
	}
	err = p.bind(ctx, i)
	if errors.Is(err, errUndecided) && q.Arguments == nil {
		return p, p.suppose(ctx)
	}
	return p, err
}

// errUndecided says that a column's type hangs on a parameter that has none yet.
var errUndecided = fault.New(fault.Invalid, "the type of a column depends on a parameter whose type is not known: write CAST(? AS <type>)")

// suppose takes the columns that the statement has where every parameter is NULL: what drivers are told before they bind. One whose type another value would
// change has none yet: a run has the types of its own values.
func (p *program) suppose(ctx context.Context) error {
	nulls, err := p.supposing(ctx, arrow.Null)
	if err != nil {
		return errUndecided
	}
	p.output = nulls.output
	texts, err := p.supposing(ctx, arrow.BinaryTypes.String)
	if err != nil || texts.output.schema.NumFields() != nulls.output.schema.NumFields() {
		return nil
	}
	fields := nulls.output.schema.Fields()
	for i := range fields {
		if !arrow.TypeEqual(fields[i].Type, texts.output.schema.Field(i).Type) {
			fields[i].Type = arrow.Null
		}
	}
	p.output = &output{engine: nulls.output.engine, schema: arrow.NewSchema(fields, nil), kinds: nulls.output.kinds}
	return nil
}

// supposing compiles the statement with NULL for each parameter, of a type where none is known.
func (p *program) supposing(ctx context.Context, t arrow.DataType) (*program, error) {
	fields, nulls := make([]arrow.Field, p.statement.Parameters), make([]arrow.Array, p.statement.Parameters)
	for i := range fields {
		fields[i] = arrow.Field{Name: "parameter_" + strconv.Itoa(i+1), Type: arrow.Null, Nullable: true}
		if p.parameters.Field(i).Type.ID() == arrow.NULL {
			fields[i].Type = t
		}
		nulls[i] = array.MakeArrayOfNull(memory.DefaultAllocator, fields[i].Type, 1)
		defer nulls[i].Release()
	}
	q := p.query
	q.Arguments = array.NewRecordBatch(arrow.NewSchema(fields, nil), nulls, 1)
	defer q.Arguments.Release()
	supposed, err := p.executor.Compile(ctx, q)
	if err != nil {
		return nil, err
	}
	return supposed.(*program), nil
}

// connect gives a connection with the session's settings.
func (p *program) connect(ctx context.Context, d *database) (*connection, error) {
	zone, err := zoneName(p.query.Zone, p.query.Clock)
	if err != nil {
		return nil, err
	}
	c, err := d.connect()
	if err != nil {
		return nil, err
	}
	c.statement = cgo.NewHandle(ctx)
	settings := "SET SESSION errors_as_json = true; SET VARIABLE skua_statement = " + strconv.FormatUint(uint64(c.statement), 10) + "; SET VARIABLE skua_joined = " +
		strconv.Itoa(p.statement.Joined) + "; SET VARIABLE skua_user = " + literal(p.query.Constants["current_user"]) + "; SET SESSION TimeZone = " + literal(zone)
	if p.apart {
		settings += "; SET VARIABLE skua_apart = true"
	}
	if p.query.Dialect == "spark" {
		settings += "; SET SESSION default_null_order = 'nulls_first_on_asc_last_on_desc'"
	}
	if err := c.exec(settings); err != nil {
		c.close()
		return nil, fault.New(fault.Unsupported, "the SQL engine does not know the time zone %s", zone).Change("spark.sql.session.timeZone")
	}
	return c, nil
}

// zoneName gives the engine's name of a zone. It knows whole hours of fixed offsets only.
func zoneName(zone *time.Location, now time.Time) (string, error) {
	if zone == nil {
		return "UTC", nil
	}
	name := zone.String()
	if !strings.ContainsAny(name, "+-:") || strings.Contains(name, "/") {
		return name, nil
	}
	_, offset := now.In(zone).Zone()
	if offset%3600 != 0 {
		return "", fault.New(fault.Unsupported, "the SQL engine does not know the time zone %s", name).Change("spark.sql.session.timeZone")
	}
	return fmt.Sprintf("Etc/GMT%+d", -offset/3600), nil
}

// judge holds the tree of a statement against what may run.
func (p *program) judge(c *connection, statement *dialect.Statement) (*gate, error) {
	rendered := statement.Render(dialect.Spelling{Table: func(i int) string { return dialect.QuoteIdent(tableMark + strconv.Itoa(i)) }})
	tree, err := c.text("SELECT json_serialize_sql(" + literal(rendered.Text) + ", skip_null := true, skip_empty := true, skip_default := true)")
	if err != nil {
		return nil, translated(err, rendered)
	}
	g := &gate{statement: statement, rendered: rendered, functions: allowed(), ctes: map[int]bool{}, seen: map[int]bool{}}
	if err := g.check(tree); err != nil {
		return nil, err
	}
	if len(g.seen) != len(statement.Tables) {
		return nil, fault.New(fault.Invalid, "a table's name stands where the engine does not expect one").With("PARSE_SYNTAX_ERROR", "42601")
	}
	return g, nil
}

// resolve finds the tables, those in the texts of views, too.
func (p *program) resolve(ctx context.Context, planning *connection, star bool) error {
	outer := &origins{resolve: p.query.Resolve, words: p.statement.Words, star: star}
	for i := 0; i < len(p.statement.Tables); i++ {
		if p.ctes[i] {
			continue
		}
		from := p.origins[i]
		if from == nil {
			from = outer
		}
		t, err := from.resolve(ctx, p.statement.Tables[i].TableRef)
		if err != nil {
			return from.about(err)
		}
		if t.View != nil {
			if err := p.inline(ctx, planning, i, t.View); err != nil {
				return from.about(err)
			}
			p.views[i] = t.Parts
			continue
		}
		in := &input{table: t, hidden: asksHidden(t, from.words)}
		if len(in.hidden) > 0 && from.star {
			return fault.New(fault.Unsupported, "a metadata column and all columns by PIVOT, COLUMNS, TABLE or a FROM without SELECT are not supported in one query: name the columns").In(t.Name)
		}
		p.tables[i] = in
	}
	return nil
}

// asksHidden gives the metadata columns of a table that a statement of these words names.
func asksHidden(t engine.Table, words map[string]bool) []arrow.Field {
	var out []arrow.Field
	for _, f := range t.Source.MetadataColumns().Fields() {
		if words[strings.ToLower(f.Name)] && len(t.Source.Schema().FieldIndices(f.Name)) == 0 {
			out = append(out, f)
		}
	}
	return out
}

// render spells the statement with a call of the table function for each table.
func (p *program) render(id func(i int) uint64) *dialect.Rendered { return p.renderAt(id, p.stage) }

func (p *program) renderAt(id func(i int) uint64, stage dialect.Stage) *dialect.Rendered {
	return p.statement.Render(p.spelling(id, stage))
}

// spelling gives each table a call of the table function.
func (p *program) spelling(id func(i int) uint64, stage dialect.Stage) dialect.Spelling {
	table := func(i int) string {
		ref := p.statement.Tables[i]
		text := "skua_scan(" + strconv.FormatUint(id(i), 10) + ")"
		if p.ctes[i] {
			text = dialect.QuoteIdent(ref.Last())
		}
		if ref.Aliased {
			return text
		}
		return text + " AS " + dialect.QuoteIdent(ref.Last())
	}
	qualified := func(i int) []string {
		if in := p.tables[i]; in != nil {
			return in.table.Parts
		}
		return p.views[i]
	}
	hidden := func(i int) (names []string) {
		if in := p.tables[i]; in != nil {
			for _, f := range in.hidden {
				names = append(names, f.Name)
			}
		}
		return names
	}
	return dialect.Spelling{Table: table, Hidden: hidden, Qualified: qualified, Field: p.listField, Stage: stage, Types: p.types, KeyTypes: p.keyTypes, Nested: p.nested}
}

// listField spells a field of the structs in a column of lists: the list of the fields, as Spark has it.
func (p *program) listField(column, field string) string {
	for _, in := range p.tables {
		for _, f := range in.table.Source.Schema().Fields() {
			list, ok := f.Type.(*arrow.ListType)
			if !ok || !strings.EqualFold(f.Name, column) {
				continue
			}
			if st, ok := list.Elem().(*arrow.StructType); ok {
				for _, inner := range st.Fields() {
					if strings.EqualFold(inner.Name, field) {
						return "list_transform(" + dialect.QuoteIdent(f.Name) + ", lambda skua_x: skua_x." + dialect.QuoteIdent(inner.Name) + ")"
					}
				}
			}
		}
	}
	return ""
}

// bind prepares the statement once, for its columns and parameters.
func (p *program) bind(ctx context.Context, i *instance) error {
	c, err := p.connect(ctx, i.running)
	if err != nil {
		return err
	}
	defer c.close()
	s := p.start(ctx)
	defer s.end()
	defer watch(ctx, c)()
	rendered := p.render(s.id)
	if err := i.running.provide(rendered.Exact); err != nil {
		return err
	}
	statement, err := c.prepare(rendered.Text)
	if err != nil && p.stage == dialect.Final {
		p.stage = dialect.FinalTypes
		rendered = p.render(s.id)
		statement, err = c.prepare(rendered.Text)
	}
	if err != nil {
		return s.run.cause(translated(err, rendered))
	}
	defer statement.close()
	if p.parameters, err = p.parameterTypes(statement); err != nil {
		return err
	}
	if statement.undecided() {
		return errUndecided
	}
	columns, types, err := statement.columns()
	if err != nil {
		return err
	}
	statement.close()
	p.voids(c, s, columns)
	p.output = newOutput(columns, types, p.pushed, p.statement.Names, p.resultName(columns), p.tables)
	return nil
}

// parameterTypes gives the parameters in order; those that were bound need none.
func (p *program) parameterTypes(statement *prepared) (*arrow.Schema, error) {
	fields := make([]arrow.Field, p.statement.Parameters)
	for i := range fields {
		fields[i] = arrow.Field{Name: "parameter_" + strconv.Itoa(i+1), Type: arrow.Null, Nullable: true}
	}
	if p.query.Arguments != nil {
		for i := range fields {
			fields[i].Type = p.query.Arguments.Column(i).DataType()
		}
		return arrow.NewSchema(fields, nil), nil
	}
	given, err := statement.parameters()
	if err != nil {
		return nil, err
	}
	for i, f := range given.Fields() {
		if i < len(fields) && f.Type.ID() != arrow.EXTENSION {
			fields[i].Type = outputType(f.Type)
		}
	}
	return arrow.NewSchema(fields, nil), nil
}

// Open starts the statement on a connection of its own.
func (p *program) Open(ctx context.Context) (array.RecordReader, error) {
	if p.query.Arguments == nil && p.statement.Parameters > 0 {
		return nil, fault.New(fault.Invalid, "the statement has %d parameters, none were bound", p.statement.Parameters)
	}
	i, done, err := p.executor.use()
	if err != nil {
		return nil, err
	}
	r, err := p.open(ctx, i)
	if err != nil {
		done()
		return nil, err
	}
	r.done = done
	return r, nil
}
