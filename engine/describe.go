package engine

import (
	"context"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/scan"
	"github.com/skua-data/skua/session"
)

var (
	describeColumns = columns(text("col_name"), text("data_type"), nullText("comment"))
	describeInfo    = columns(text("info_name"), text("info_value"))
	namespaceInfo   = columns(text("info_name"), nullText("info_value"))
)

// parseDescribe reads DESCRIBE [TABLE] [EXTENDED | FORMATTED] t [column], DESCRIBE NAMESPACE [EXTENDED] n and DESCRIBE [QUERY] SELECT ….
func parseDescribe(p *syntax.Parser) (*command, error) {
	for _, what := range []string{"NAMESPACE", "SCHEMA", "DATABASE"} {
		if p.Keyword(what) {
			return parseDescribeNamespace(p)
		}
	}
	if p.Keyword("FUNCTION") || p.Keyword("PROCEDURE") || p.Keyword("CATALOG") {
		return nil, unsupported("this form of DESCRIBE is not supported")
	}
	if t := p.Peek(); p.Keyword("QUERY") || t.Is("SELECT") || t.Is("WITH") || t.Is("VALUES") || t.Is("(") {
		return parseDescribeQuery(p)
	}
	p.Keyword("TABLE")
	extended := wholeOf(p, "EXTENDED") || wholeOf(p, "FORMATTED")
	name, err := p.Name()
	if err != nil {
		return nil, err
	}
	if p.Keyword("PARTITION") {
		return nil, unsupported("DESCRIBE TABLE … PARTITION is not supported")
	}
	if p.Keyword("AS", "JSON") {
		return nil, unsupported("DESCRIBE TABLE AS JSON is not supported for v2 tables.").With("NOT_SUPPORTED_COMMAND_FOR_V2_TABLE", "0A000")
	}
	if p.End() == nil {
		return &command{name: "DESCRIBE TABLE", columns: describeColumns, run: func(ctx context.Context, s *statement) ([]row, error) {
			if extended {
				return s.fresh().describeExtended(ctx, syntax.Texts(name))
			}
			return s.describeTable(ctx, syntax.Texts(name))
		}}, nil
	}
	column, err := p.Name()
	if err != nil {
		return nil, err
	}
	return &command{name: "DESCRIBE COLUMN", columns: describeInfo, run: func(ctx context.Context, s *statement) ([]row, error) {
		return s.describeColumn(ctx, syntax.Texts(name), syntax.Texts(column))
	}}, p.End()
}

// wholeOf consumes a word that something follows: alone it is a table's name.
func wholeOf(p *syntax.Parser, word string) bool {
	ahead := *p
	if !ahead.Keyword(word) || ahead.End() == nil {
		return false
	}
	return p.Keyword(word)
}

// describe gives what is known of what a name means to every command: a temporary view of the session, which hides a table of its name, a table of
// information_schema, a view, a table, or one of its metadata tables.
func (s *statement) describe(ctx context.Context, name []string) (scan.Description, *found, error) {
	s = s.fresh()
	if v, ok := s.tempView(name); ok {
		schema, comments, err := s.tempViewColumns(ctx, v)
		return columnsAlone(schema, comments), &found{written: name, identifier: []string{v.Name}}, err
	}
	if source, full, ok := s.systemTable(ctx, name); ok {
		return columnsAlone(source.Schema(), nil), &found{written: name, catalog: full[0], identifier: full[1:]}, nil
	}
	f, err := s.table(ctx, name)
	if v := viewOf(err); v != nil {
		return s.describeView(ctx, name, v)
	}
	if err != nil {
		return scan.Description{}, nil, err
	}
	metadata := ""
	if f.metadata {
		metadata = f.suffix
	}
	d, err := f.opened.Describe(metadata)
	return d, f, err
}

// columnsAlone describes what has columns and nothing else that is known; comments may be fewer than the columns.
func columnsAlone(schema *arrow.Schema, comments []string) (d scan.Description) {
	if schema == nil {
		return d
	}
	for i, f := range schema.Fields() {
		c := scan.ColumnInfo{Name: f.Name, Type: sparkType(f.Type), Nullable: f.Nullable}
		if i < len(comments) {
			c.Comment = comments[i]
		}
		d.Columns = append(d.Columns, c)
	}
	return d
}

// fresh gives the statement with the session's state of now: a command sees what ran before it, however long ago it was prepared.
func (s *statement) fresh() *statement {
	if s.session == nil {
		return s
	}
	out := *s
	out.state = s.session.State()
	return &out
}

func (s *statement) describeTable(ctx context.Context, name []string) ([]row, error) {
	d, _, err := s.describe(ctx, name)
	if err != nil {
		return nil, err
	}
	return describedColumns(d), nil
}

// describedColumns gives the rows of the columns and the partitions.
func describedColumns(d scan.Description) []row {
	var rows []row
	byName := map[string]row{}
	for _, c := range d.Columns {
		r := row{c.Name, c.Type, orNull(c.Comment)}
		byName[c.Name] = r
		rows = append(rows, r)
	}
	if len(d.Partitioning) == 0 {
		return rows
	}
	if d.IdentityOnly {
		rows = append(rows, row{"# Partition Information", "", ""}, row{"# col_name", "data_type", "comment"})
		for _, p := range d.Partitioning {
			rows = append(rows, partitionRow(p, byName))
		}
		return rows
	}
	rows = append(rows, row{"", "", ""}, row{"# Partitioning", "", ""})
	for i, p := range d.Partitioning {
		rows = append(rows, row{"Part " + itoa(i), p, ""})
	}
	return rows
}

// partitionRow repeats a partition column's row. Partitioning spells a name quoted where needed.
func partitionRow(spelled string, byName map[string]row) row {
	if r, ok := byName[spelled]; ok {
		return r
	}
	name, err := syntax.NewParser(spelled).Name()
	if err != nil {
		return row{spelled, "", nil}
	}
	if r, ok := byName[name[len(name)-1].Text]; ok && len(name) == 1 {
		return r
	}
	return row{spelled, "", nil}
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func (s *statement) describeColumn(ctx context.Context, name, column []string) ([]row, error) {
	d, _, err := s.describe(ctx, name)
	if err != nil {
		return nil, err
	}
	var known []string
	for _, c := range d.Columns {
		if c.Name != column[0] && (s.caseSensitive() || !strings.EqualFold(c.Name, column[0])) {
			known = append(known, "`"+c.Name+"`")
			continue
		}
		if len(column) > 1 {
			return nil, fault.New(fault.Invalid, "DESC TABLE COLUMN does not support nested column: %s.", syntax.QuoteName(column)).With("_LEGACY_ERROR_TEMP_1060", "")
		}
		comment := c.Comment
		if comment == "" {
			comment = "NULL"
		}
		return []row{{"col_name", c.Name}, {"data_type", c.Type}, {"comment", comment}}, nil
	}
	return nil, fault.New(fault.Invalid, "A column, variable, or function parameter with name %s cannot be resolved. Did you mean one of the following? [%s].",
		syntax.BackQuote(column...), strings.Join(known, ", ")).With("UNRESOLVED_COLUMN.WITH_SUGGESTION", "42703")
}

func parseDescribeNamespace(p *syntax.Parser) (*command, error) {
	extended := p.Keyword("EXTENDED")
	name, err := p.Name()
	if err != nil {
		return nil, err
	}
	return &command{name: "DESCRIBE NAMESPACE", columns: namespaceInfo, run: func(ctx context.Context, s *statement) ([]row, error) {
		return s.describeNamespace(ctx, syntax.Texts(name), extended)
	}}, p.End()
}

// namespaceRows are the properties that have a row of their own, in Spark's order.
var namespaceRows = []struct{ key, title string }{{"comment", "Comment"}, {"location", "Location"}, {"owner", "Owner"}}

func (s *statement) describeNamespace(ctx context.Context, name []string, extended bool) ([]row, error) {
	catalog, levels, err := s.namespace(ctx, name)
	if err != nil {
		return nil, err
	}
	rows := []row{{"Catalog Name", catalog}, {"Namespace Name", syntax.QuoteName(levels)}}
	if len(levels) == 0 {
		return rows, nil
	}
	c, err := s.engine.config.Catalogs.Catalog(ctx, catalog)
	if err != nil {
		return nil, err
	}
	properties, err := c.LoadNamespace(ctx, levels)
	if err != nil {
		return nil, err
	}
	rest := map[string]string{}
	for k, v := range properties {
		rest[k] = v
	}
	for _, r := range namespaceRows {
		if v, ok := properties[r.key]; ok {
			rows = append(rows, row{r.title, v})
		}
		delete(rest, r.key)
	}
	if extended {
		rows = append(rows, row{"Properties", pairs(rest)})
	}
	return rows, nil
}

// pairs spells properties as Spark does: ((k,v), (k,v)), sorted; nothing for none.
func pairs(properties map[string]string) string {
	var out []string
	for _, k := range sortedKeys(properties) {
		out = append(out, "("+k+","+session.Redact(k, properties[k])+")")
	}
	if out == nil {
		return ""
	}
	return "(" + strings.Join(out, ", ") + ")"
}

// parseDescribeQuery reads the query of DESCRIBE QUERY and gives its columns.
func parseDescribeQuery(p *syntax.Parser) (*command, error) {
	from := p.Peek().Pos.Offset
	text := p.Raw()
	if text == "" {
		return nil, p.Unexpected()
	}
	return &command{name: "DESCRIBE QUERY", columns: describeColumns, run: func(ctx context.Context, s *statement) ([]row, error) {
		inner := *s.fresh()
		inner.text = blanked(s.text[:min(from, len(s.text))]) + text
		prepared, err := inner.prepare(ctx)
		if err != nil {
			return nil, err
		}
		defer prepared.Close()
		var comments []string
		if rows, ok := prepared.(*preparedRows); ok {
			if q, ok := rows.first.(*query); ok {
				comments = q.comments
			}
		}
		var rows []row
		for i, f := range prepared.Schema().Fields() {
			comment := ""
			if i < len(comments) {
				comment = comments[i]
			}
			rows = append(rows, row{f.Name, sparkType(f.Type), orNull(comment)})
		}
		return rows, nil
	}}, p.End()
}

// blanked puts blanks into the place of what stood in front of a text, so that errors in it name places of the whole.
func blanked(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' {
			return r
		}
		return ' '
	}, text)
}

// sparkType spells an Arrow type as Spark's catalog string does.
func sparkType(t arrow.DataType) string {
	switch t := t.(type) {
	case *arrow.StructType:
		var fields []string
		for _, f := range t.Fields() {
			fields = append(fields, f.Name+":"+sparkType(f.Type))
		}
		return "struct<" + strings.Join(fields, ",") + ">"
	case *arrow.MapType:
		return "map<" + sparkType(t.KeyType()) + "," + sparkType(t.ItemType()) + ">"
	case arrow.ListLikeType:
		return "array<" + sparkType(t.Elem()) + ">"
	case *arrow.TimestampType:
		word := "timestamp"
		if t.TimeZone == "" {
			word = "timestamp_ntz"
		}
		if t.Unit == arrow.Nanosecond {
			word += "_ns" // as scans call them
		}
		return word
	case arrow.DecimalType:
		return "decimal(" + itoa(int(t.GetPrecision())) + "," + itoa(int(t.GetScale())) + ")"
	case arrow.ExtensionType:
		if t.ExtensionName() == "arrow.uuid" {
			return "string"
		}
		return sparkType(t.StorageType())
	}
	if name, ok := sparkTypes[t.ID()]; ok {
		return name
	}
	return t.String()
}

var sparkTypes = map[arrow.Type]string{arrow.NULL: "void", arrow.BOOL: "boolean", arrow.INT8: "tinyint", arrow.INT16: "smallint", arrow.INT32: "int",
	arrow.INT64: "bigint", arrow.FLOAT32: "float", arrow.FLOAT64: "double", arrow.STRING: "string", arrow.BINARY: "binary",
	arrow.FIXED_SIZE_BINARY: "binary", arrow.DATE32: "date", arrow.TIME64: "time(6)"}
