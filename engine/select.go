package engine

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/engine/bind"
	"github.com/skua-data/skua/engine/constant"
	"github.com/skua-data/skua/engine/sparkname"
	"github.com/skua-data/skua/engine/sparktype"
	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/predicate"
	"github.com/skua-data/skua/scan"
)

// query is a bound SELECT: what is asked of its one source, and what becomes of each batch. It is immutable.
type query struct {
	found    *found      // nil: no FROM
	source   scan.Source // nil: no FROM
	request  scan.Request
	outputs  []output
	schema   *arrow.Schema
	comments []string // of the columns, in order
	counts   bool     // one row: every output is the number of rows or a constant
	limit    int64    // rows at most; negative: all
	offset   int64    // rows left out first
	used     map[string]string
	ignored  []reportIgnored // options of WITH that are not known
	pushDown scan.Resolved   // whether the number of rows may come from metadata

	parameters *arrow.Schema // one field for each ?
}

// output is one column of the result: a column of the scan, the number of rows, a constant, or an aggregate of a column.
type output struct {
	kind      outputKind
	column    int // in the scan's schema
	constant  sparktype.Value
	aggregate scan.Aggregate
}

type outputKind uint8

const (
	scanColumn outputKind = iota
	rowCount
	fixedValue
	aggregateValue // of a column
)

// bind resolves the names of a SELECT and the types of its constants. params are the values of its parameters; nil leaves them unbound.
func (s *statement) bind(ctx context.Context, tree *syntax.Select, params []sparktype.Value) (*query, error) {
	if tree.Unsupported != "" {
		return nil, unsupported("%s is not supported without an SQL engine yet", tree.Unsupported).At(position(tree.UnsupportedPos))
	}
	if tree.From != nil && isSystemTable(syntax.Texts(tree.From.Name)) {
		return nil, unsupported("%s is read by the SQL engine, which this build does not have", informationSchema).At(position(tree.From.Name[0].Pos))
	}
	q := &query{limit: -1}
	plain := s.binder(nil, nil, params)
	var options tableOptions
	if tree.From != nil {
		var err error
		if options, err = s.bindSource(ctx, q, plain, tree.From); err != nil {
			return nil, err
		}
	}
	b := &selectBinder{statement: s, query: q, qualifier: &qualifier{caseSensitive: s.caseSensitive()}, positions: map[int]int{}}
	if q.source != nil {
		b.qualifier.parts, b.qualifier.schemas = qualifierOf(tree.From, q.found), []*arrow.Schema{q.source.Schema(), q.source.MetadataColumns()}
	}
	b.infer(tree)
	if params == nil {
		params = unbound(q.parameters)
	}
	b.binder, plain = s.sourceBinder(q.source, params), s.binder(nil, nil, params)
	b.binder.LeaveOut(s.leaves(q, constant.LeaveTypes))
	if err := b.items(tree.Items); err != nil {
		return nil, err
	}
	b.binder.LeaveOut(s.leaves(q, constant.LeaveValues))
	if err := b.where(tree.Where); err != nil {
		return nil, err
	}
	if err := s.bindLimit(q, plain, tree); err != nil {
		return nil, err
	}
	if q.source == nil {
		return q, nil
	}
	var err error
	q.request.Options, q.used, err = s.readOptions(q.found, options)
	q.pushDown, q.ignored = s.aggregateOption(options), ignoredOptions(options)
	if q.pushDown.Value == "true" {
		q.request.Aggregates = q.aggregates()
	}
	return q, err
}

// infer finds out the types of the parameters.
func (b *selectBinder) infer(tree *syntax.Select) {
	in := &inference{binder: b.statement.sourceBinder(b.query.source, nil), qualifier: b.qualifier}
	in.infer(tree)
	b.query.parameters = in.schema()
}

func (s *statement) sourceBinder(source scan.Source, params []sparktype.Value) *bind.Binder {
	if source == nil {
		return s.binder(nil, nil, params)
	}
	return s.binder(source.Schema(), source.MetadataColumns(), params)
}

func (s *statement) binder(schema, metadata *arrow.Schema, params []sparktype.Value) *bind.Binder {
	return bind.New(bind.Config{Schema: schema, Metadata: metadata, CaseSensitive: s.caseSensitive(), Session: sparktype.Session{Zone: s.zone, Now: s.clock}, Parameters: params, Names: s})
}

func qualifierOf(from *syntax.TableRef, f *found) []string {
	if from.Alias != nil {
		return []string{from.Alias.Text}
	}
	return f.full()
}

// bindSource finds the table of FROM at the reference that its clause, its options or its name chooses.
func (s *statement) bindSource(ctx context.Context, q *query, b *bind.Binder, from *syntax.TableRef) (tableOptions, error) {
	at, err := s.reference(b, from.At)
	if err != nil {
		return nil, err
	}
	options, err := s.tableOptions(b, from.Options)
	if err != nil {
		return nil, err
	}
	if at, err = s.optionReference(b, options, at); err != nil {
		return nil, err
	}
	if v, ok := s.tempView(syntax.Texts(from.Name)); ok {
		return nil, unsupported("%s is a temporary view, which the SQL engine reads", syntax.BackQuote(v.Name))
	}
	if q.found, err = s.table(ctx, syntax.Texts(from.Name)); err != nil {
		return nil, placed(err, from.Name[0].Pos)
	}
	if at, err = s.wapReference(q.found, at); err != nil {
		return nil, err
	}
	q.source, err = s.source(ctx, q.found, at)
	return options, err
}

// placed gives an error about a name the name's position, if it has none.
func placed(err error, p syntax.Pos) error {
	if e, ok := err.(*fault.Error); ok && e.Position == (fault.Position{}) && e.Kind == fault.NotFound {
		return e.At(position(p))
	}
	return err
}

// bindLimit evaluates LIMIT and OFFSET.
func (s *statement) bindLimit(q *query, b *bind.Binder, tree *syntax.Select) (err error) {
	if tree.Limit != nil {
		if q.limit, err = rowNumber(b, "limit", tree.Limit); err != nil {
			return err
		}
	}
	if tree.Offset != nil {
		q.offset, err = rowNumber(b, "offset", tree.Offset)
	}
	q.request.Limit = -1
	if !q.counts && q.limit >= 0 && q.limit <= math.MaxInt64-q.offset {
		q.request.Limit = q.limit + q.offset
	}
	return err
}

// rows evaluates the number of a LIMIT or OFFSET for an Executor; false: it is no constant of ours, and the Executor's to judge.
func (s *statement) rows(word string, e syntax.Expr) (int64, bool, error) {
	n, err := rowNumber(s.binder(nil, nil, nil), word, e)
	var f *fault.Error
	if err == nil || errors.As(err, &f) && strings.HasPrefix(f.Condition, "INVALID_LIMIT_LIKE_EXPRESSION") {
		return n, err == nil, err
	}
	return 0, false, nil
}

// rowNumber evaluates the number of a LIMIT or OFFSET.
func rowNumber(b *bind.Binder, name string, e syntax.Expr) (int64, error) {
	c, err := b.Evaluate(e)
	if err != nil {
		return 0, err
	}
	fail := func(condition, why string) (int64, error) {
		return 0, fault.New(fault.Invalid, "The limit like expression \"%s\" is invalid. The %s expression must %s.", e, name, why).
			With("INVALID_LIMIT_LIKE_EXPRESSION."+condition, "42K0E").At(position(e.Pos()))
	}
	n, ok := c.Value.(int64)
	switch {
	case c.Unbound:
		return 0, nil
	case c.Value == nil:
		return fail("IS_NULL", "not be null")
	case !ok || !arrow.IsInteger(c.Type.ID()):
		return fail("DATA_TYPE", "be integer type, but got \""+strings.ToUpper(sparkType(c.Type))+"\"")
	case n < 0:
		return fail("IS_NEGATIVE", "be equal to or greater than 0, but got "+itoa64(n))
	}
	return n, nil
}

// selectBinder binds the select list and the filter of one query.
type selectBinder struct {
	statement *statement
	query     *query
	binder    *bind.Binder
	qualifier *qualifier
	fields    []arrow.Field
	positions map[int]int // field id to the scan's column
}

func (b *selectBinder) items(items []syntax.Item) error {
	counts, columns := 0, 0
	for _, item := range items {
		kind, err := b.item(item)
		if err != nil {
			return err
		}
		counts, columns = counts+kind[rowCount]+kind[aggregateValue], columns+kind[scanColumn]
	}
	if counts > 0 && columns > 0 {
		return fault.New(fault.Invalid, "The query does not include a GROUP BY clause. Add GROUP BY or turn it into the window functions using OVER clauses.").
			With("MISSING_GROUP_BY", "42803").At(position(itemPos(items[0])))
	}
	b.query.counts = counts > 0
	b.query.schema = arrow.NewSchema(b.fields, nil)
	return nil
}

func itemPos(i syntax.Item) syntax.Pos {
	if i.Expr == nil {
		return syntax.Pos{}
	}
	return i.Expr.Pos()
}

// item binds one element of the select list and counts the outputs it gave, by kind.
func (b *selectBinder) item(item syntax.Item) (kinds [4]int, err error) {
	before := len(b.query.outputs)
	switch {
	case item.Star:
		err = b.star(item)
	case isRowCount(item.Expr):
		b.add(output{kind: rowCount}, arrow.Field{Name: itemName(item, sparkname.Of(item.Expr)), Type: arrow.PrimitiveTypes.Int64}, "")
	default:
		var is bool
		if is, err = b.aggregate(item); !is && err == nil {
			err = b.value(item)
		}
	}
	for _, o := range b.query.outputs[before:] {
		kinds[o.kind]++
	}
	return kinds, err
}

func itemName(item syntax.Item, name string) string {
	if item.Alias != nil {
		return item.Alias.Text
	}
	return name
}

func (b *selectBinder) add(o output, f arrow.Field, comment string) {
	b.query.outputs = append(b.query.outputs, o)
	b.query.comments = append(b.query.comments, comment)
	b.fields = append(b.fields, f)
}

// addField adds a column of the source, which the scan is asked for once however often it is selected.
func (b *selectBinder) addField(id int, f arrow.Field, comment string) {
	at, ok := b.positions[id]
	if !ok {
		at = len(b.query.request.Fields)
		b.positions[id] = at
		b.query.request.Fields = append(b.query.request.Fields, id)
	}
	b.add(output{kind: scanColumn, column: at}, arrow.Field{Name: f.Name, Type: withoutMetadata(f.Type), Nullable: f.Nullable, Metadata: OriginMetadata(b.query.found.full())}, comment)
}

// isRowCount reports whether an expression is count(*) or count of a constant that is not NULL.
func isRowCount(e syntax.Expr) bool {
	c, ok := e.(*syntax.Call)
	if !ok || len(c.Name) != 1 || !strings.EqualFold(c.Name[0].Text, "count") || c.Distinct {
		return false
	}
	if c.Star {
		return true
	}
	if len(c.Args) != 1 {
		return false
	}
	l, ok := c.Args[0].(*syntax.Literal)
	return ok && l.Kind != syntax.Null
}

// value binds a column or a constant.
func (b *selectBinder) value(item syntax.Item) error {
	e := b.qualifier.expr(item.Expr)
	column, isColumn := e.(*syntax.Column)
	if isColumn {
		ref, err := b.binder.Column(column)
		if err == nil {
			last := column.Parts[len(column.Parts)-1].Text
			b.addField(ref.ID, arrow.Field{Name: itemName(item, last), Type: ref.Type, Nullable: ref.Nullable}, b.comment(ref))
			return nil
		}
		if c, ok := b.binder.Variable(column); ok {
			b.addConstant(c, item)
			return nil
		}
		if len(column.Parts) > 1 || column.Parts[0].Quoted || b.qualifier.hasColumn(column.Parts[0].Text) {
			return err
		}
		if c, constErr := b.binder.Evaluate(e); constErr == nil {
			b.addConstant(c, item)
			return nil
		}
		return err
	}
	if c := b.qualifier.firstColumn(e); c != nil {
		if _, err := b.binder.Column(c); err != nil {
			return err
		}
		return b.moreThanAScan(item)
	}
	c, err := b.binder.Evaluate(e)
	if err != nil {
		return err
	}
	b.addConstant(c, item)
	return nil
}

func (b *selectBinder) moreThanAScan(item syntax.Item) error {
	return unsupported("the expression %s is not supported without an SQL engine yet", item.Text).At(position(item.Expr.Pos()))
}

// addConstant adds a constant. One that is made of parameters may be null in another run.
func (b *selectBinder) addConstant(c sparktype.Value, item syntax.Item) {
	f := arrow.Field{Name: itemName(item, sparkname.Of(item.Expr)), Type: c.Type, Nullable: c.Value == nil || hasParameter(item.Expr)}
	b.add(output{kind: fixedValue, constant: c}, f, "")
}

func hasParameter(e syntax.Expr) bool {
	if _, ok := e.(*syntax.Parameter); ok {
		return true
	}
	return slices.ContainsFunc(syntax.Children(e), hasParameter)
}

// comment finds the comment of a top-level column.
func (b *selectBinder) comment(ref bind.Field) string {
	if len(ref.Path) != 1 {
		return ""
	}
	for _, schema := range b.qualifier.schemas {
		if at := schema.FieldIndices(ref.Path[0]); len(at) > 0 {
			return commentOf(schema.Field(at[0]))
		}
	}
	return ""
}

func commentOf(f arrow.Field) string {
	v, _ := f.Metadata.GetValue(scan.CommentKey)
	return v
}

// star expands *, q.* and struct.*.
func (b *selectBinder) star(item syntax.Item) error {
	if b.query.source == nil {
		return fault.New(fault.Invalid, "Invalid usage of '*' in a query without FROM.").With("INVALID_USAGE_OF_STAR_OR_REGEX", "42000")
	}
	if column, ok := item.Expr.(*syntax.Column); ok && !b.qualifier.matches(column.Parts) {
		return b.structStar(column)
	}
	for _, f := range b.query.source.Schema().Fields() {
		b.addField(scan.FieldID(f), f, commentOf(f))
	}
	return nil
}

// structStar expands a struct's fields.
func (b *selectBinder) structStar(column *syntax.Column) error {
	ref, err := b.binder.Column(b.qualifier.strip(column))
	if err != nil {
		return err
	}
	st, ok := ref.Type.(*arrow.StructType)
	if !ok {
		return fault.New(fault.Invalid, "Cannot resolve %s.*: %s is no table of this query and no struct.", syntax.QuoteName(syntax.Texts(column.Parts)), syntax.QuoteName(syntax.Texts(column.Parts))).
			With("CANNOT_RESOLVE_STAR_EXPAND", "42704").At(position(column.Pos()))
	}
	for _, f := range st.Fields() {
		f.Nullable = f.Nullable || ref.Nullable
		b.addField(scan.FieldID(f), f, "")
	}
	return nil
}

// where binds the filter. What no rows can satisfy becomes a filter that is false.
func (b *selectBinder) where(e syntax.Expr) error {
	if e == nil {
		return nil
	}
	p, err := b.binder.Predicate(b.qualifier.expr(e))
	if err != nil {
		return err
	}
	p = predicate.Simplify(p)
	switch p {
	case predicate.True:
	case predicate.False, predicate.Null:
		b.query.request.Filter = predicate.False
	default:
		b.query.request.Filter = p
	}
	return nil
}

// leaves says what of a query is left to the Executor in a place.
func (s *statement) leaves(q *query, what constant.Leaving) constant.Leaving {
	if dialect, _ := s.state.Get(dialectKey); q.parameters.NumFields() > 0 || s.engine.config.Executor == nil || strings.EqualFold(dialect, "spark") {
		return constant.LeaveNothing
	}
	return what
}
