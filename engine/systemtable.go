package engine

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/resource"
	"github.com/skua-data/skua/scan"
)

// informationSchema is the namespace of tables about tables. A catalog's own namespace of that name is hidden by it.
const informationSchema = "information_schema"

// systemColumn is a column of a table about tables: a text, unless it is a number.
type systemColumn struct {
	name   string
	number bool
}

// systemTable is one of the tables of information_schema.
type systemTable struct {
	columns []systemColumn
	rows    func(ctx context.Context, s *systemSource, add func(values ...any)) error
}

func texted(names ...string) []systemColumn {
	out := make([]systemColumn, len(names))
	for i, n := range names {
		out[i] = systemColumn{n, strings.HasSuffix(n, "_position") || strings.HasSuffix(n, "_precision") || strings.HasSuffix(n, "_scale") ||
			strings.HasSuffix(n, "_length") || strings.HasSuffix(n, "_radix") || n == "position_in_unique_constraint"}
	}
	return out
}

// systemTables are the tables of information_schema by name, with the columns of the standard that tools ask for.
var systemTables = map[string]systemTable{
	"schemata": {texted("catalog_name", "schema_name", "schema_owner", "default_character_set_catalog", "default_character_set_schema", "default_character_set_name", "sql_path"),
		schemataRows},
	"tables": {texted("table_catalog", "table_schema", "table_name", "table_type", "self_referencing_column_name", "reference_generation", "is_insertable_into", "is_typed",
		"commit_action"), tableRows},
	"columns": {texted("table_catalog", "table_schema", "table_name", "column_name", "ordinal_position", "column_default", "is_nullable", "data_type",
		"numeric_precision", "numeric_scale", "comment", "character_maximum_length", "character_octet_length", "numeric_precision_radix", "datetime_precision", "collation_name",
		"domain_name", "udt_catalog", "udt_schema", "udt_name", "is_identity", "is_generated", "is_updatable"), columnRows},
	"views": {texted("table_catalog", "table_schema", "table_name", "view_definition", "check_option", "is_updatable", "is_insertable_into"), viewRows},
	"table_constraints": {texted("constraint_catalog", "constraint_schema", "constraint_name", "table_catalog", "table_schema", "table_name", "constraint_type", "is_deferrable",
		"initially_deferred", "enforced"), constraintRows},
	"key_column_usage": {texted("constraint_catalog", "constraint_schema", "constraint_name", "table_catalog", "table_schema", "table_name", "column_name", "ordinal_position",
		"position_in_unique_constraint"), keyRows},
	"referential_constraints": {texted("constraint_catalog", "constraint_schema", "constraint_name", "unique_constraint_catalog", "unique_constraint_schema", "unique_constraint_name",
		"match_option", "update_rule", "delete_rule"), noSystemRows},
	"constraint_column_usage": {texted("table_catalog", "table_schema", "table_name", "column_name", "constraint_catalog", "constraint_schema", "constraint_name"), keyColumnRows},
	"check_constraints":       {texted("constraint_catalog", "constraint_schema", "constraint_name", "check_clause"), noSystemRows},
	"parameters":              {texted("specific_catalog", "specific_schema", "specific_name", "ordinal_position", "parameter_mode", "parameter_name", "data_type"), noSystemRows},
	"routines": {texted("specific_catalog", "specific_schema", "specific_name", "routine_catalog", "routine_schema", "routine_name", "routine_type", "data_type",
		"routine_definition"), noSystemRows},
	"triggers":                        {texted("trigger_catalog", "trigger_schema", "trigger_name", "event_object_schema", "event_object_table"), noSystemRows},
	"sequences":                       {texted("sequence_catalog", "sequence_schema", "sequence_name", "data_type"), noSystemRows},
	"character_sets":                  {texted("character_set_catalog", "character_set_schema", "character_set_name"), noSystemRows},
	"information_schema_catalog_name": {texted("catalog_name"), catalogNameRows},
}

// isSystemTable reports whether a name is one of information_schema: [catalog.]information_schema.table.
func isSystemTable(name []string) bool {
	if len(name) < 2 || len(name) > 3 || !strings.EqualFold(name[len(name)-2], informationSchema) {
		return false
	}
	_, known := systemTables[strings.ToLower(name[len(name)-1])]
	return known
}

// isInformationSchema reports whether a namespace is information_schema: [catalog.]information_schema.
func (s *statement) isInformationSchema(name []string) bool {
	if len(name) == 2 {
		if _, known := s.engine.catalogName(name[0]); !known {
			return false
		}
	}
	return (len(name) == 1 || len(name) == 2) && strings.EqualFold(name[len(name)-1], informationSchema)
}

// systemEntries gives the rows of SHOW TABLES in information_schema, whose tables are no views.
func systemEntries(match matcher, kinds []catalogs.Kind) (rows []row) {
	if !oneOf(catalogs.KindTable, kinds) {
		return nil
	}
	for _, name := range sortedKeys(systemTables) {
		if match(name) {
			rows = append(rows, row{informationSchema, name, false})
		}
	}
	return rows
}

// systemTable gives the source of a table that the engine makes itself; false: the name is none of those.
func (s *statement) systemTable(_ context.Context, name []string) (scan.Source, []string, bool) {
	if !isSystemTable(name) {
		return nil, nil, false
	}
	catalog := s.state.Catalog
	if len(name) == 3 {
		known, ok := s.engine.catalogName(name[0])
		if !ok {
			return nil, nil, false
		}
		catalog = known
	}
	last := strings.ToLower(name[len(name)-1])
	table := systemTables[last]
	fields := make([]arrow.Field, len(table.columns))
	for i, c := range table.columns {
		fields[i] = arrow.Field{Name: c.name, Type: arrow.BinaryTypes.String, Nullable: true, Metadata: arrow.NewMetadata([]string{scan.FieldIDKey}, []string{strconv.Itoa(i + 1)})}
		if c.number {
			fields[i].Type = arrow.PrimitiveTypes.Int32
		}
	}
	return &systemSource{statement: s, catalog: catalog, table: table, schema: arrow.NewSchema(fields, nil)}, []string{catalog, informationSchema, last}, true
}

// systemSource is a table about tables. Its rows are made when it is read.
type systemSource struct {
	statement *statement
	catalog   string
	table     systemTable
	schema    *arrow.Schema
	wanted    map[string][]string // the only values that a filter takes, by column
	names     nameTest            // what it asks of catalogs, schemas and tables
}

var _ scan.Folding = (*systemSource)(nil)

// FoldsCase marks the source as one that tests of names in lower or upper case tell something.
func (s *systemSource) FoldsCase() {}

func (s *systemSource) Schema() *arrow.Schema          { return s.schema }
func (s *systemSource) MetadataColumns() *arrow.Schema { return arrow.NewSchema(nil, nil) }

// Plan keeps what the filter asks of names, so that not every table need be opened. Whoever reads tests the filter itself.
func (s *systemSource) Plan(_ context.Context, r scan.Request) (scan.Plan, error) {
	out := *s
	out.ask(r.Filter, r.Partitions)
	fields := make([]arrow.Field, len(r.Fields))
	for i, id := range r.Fields {
		fields[i] = s.schema.Field(id - 1)
	}
	return &systemPlan{source: &out, fields: r.Fields, schema: arrow.NewSchema(fields, nil)}, nil
}

// likeLiteral is the LIKE pattern of a text.
func likeLiteral(v string) string {
	return strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(v)
}

// What constraints are called, of which Iceberg has one kind: a table's identifier fields.
const (
	primaryKey       = "PRIMARY KEY"
	identifierSuffix = "_identifier"
)

// systemPlan is a planned read of a table about tables.
type systemPlan struct {
	source *systemSource
	fields []int
	schema *arrow.Schema
}

func (p *systemPlan) Schema() *arrow.Schema { return p.schema }
func (p *systemPlan) Splits() int           { return 1 }
func (p *systemPlan) Rows() (int64, bool)   { return 0, false }
func (p *systemPlan) Explain() *scan.Explanation {
	return &scan.Explanation{Source: syntax.QuoteName([]string{p.source.catalog, informationSchema}), Kind: "information schema"}
}

// Open makes the rows.
func (p *systemPlan) Open(ctx context.Context, _, _ int) (array.RecordReader, error) {
	mem := memory.Allocator(resource.From(ctx).Allocator())
	b := array.NewRecordBuilder(mem, p.schema)
	defer b.Release()
	rows := 0
	err := p.source.table.rows(ctx, p.source, func(values ...any) {
		rows++
		for i, id := range p.fields {
			appendSystemValue(b.Field(i), values[id-1])
		}
	})
	if err != nil {
		return nil, err
	}
	batch := b.NewRecordBatch()
	defer batch.Release()
	if len(p.fields) == 0 {
		empty := array.NewRecordBatch(p.schema, nil, int64(rows))
		defer empty.Release()
		return array.NewRecordReader(p.schema, []arrow.RecordBatch{empty})
	}
	return array.NewRecordReader(p.schema, []arrow.RecordBatch{batch})
}

func appendSystemValue(b array.Builder, v any) {
	switch v := v.(type) {
	case string:
		b.(*array.StringBuilder).Append(v)
	case int:
		b.(*array.Int32Builder).Append(int32(v))
	default:
		b.AppendNull()
	}
}

func noSystemRows(context.Context, *systemSource, func(values ...any)) error { return nil }

func schemataRows(ctx context.Context, s *systemSource, add func(values ...any)) error {
	for _, f := range s.filters("schema_name", "") {
		for e, err := range s.statement.engine.Schemas(ctx, s.statement.state, &s.catalog, f.SchemaPattern) {
			if err != nil {
				return err
			}
			add(e.Catalog, e.Schema, nil, nil, nil, nil, nil)
		}
	}
	return nil
}

func (s *systemSource) tables(ctx context.Context, withSchema bool, each func(e TableEntry) error) error {
	for _, f := range s.filters("table_schema", "table_name") {
		f.WithSchema = withSchema
		for e, err := range s.statement.engine.tables(ctx, f) {
			if err != nil {
				return err
			}
			if err := each(e); err != nil {
				return err
			}
		}
	}
	return nil
}

func tableRows(ctx context.Context, s *systemSource, add func(values ...any)) error {
	return s.tables(ctx, false, func(e TableEntry) error {
		kind := e.Type
		if kind == TypeTable {
			kind = "BASE TABLE"
		}
		add(e.Catalog, e.Schema, e.Name, kind, nil, nil, "NO", "NO", nil)
		return nil
	})
}

func viewRows(ctx context.Context, s *systemSource, add func(values ...any)) error {
	return s.tables(ctx, false, func(e TableEntry) error {
		if e.Type != TypeView {
			return nil
		}
		var definition any
		if levels, err := ParseSchemaName(e.Schema); err == nil {
			text, err := s.statement.engine.viewDefinition(ctx, e.Catalog, append(levels, e.Name))
			switch {
			case away(err):
				return fault.Wrap(err, "list catalog %s", e.Catalog)
			case err == nil && text != "":
				definition = text
			}
		}
		add(e.Catalog, e.Schema, e.Name, definition, "NONE", "NO", "NO")
		return nil
	})
}

func columnRows(ctx context.Context, s *systemSource, add func(values ...any)) error {
	return s.tables(ctx, true, func(e TableEntry) error {
		for i, f := range e.Columns.Fields() {
			nullable := "NO"
			if f.Nullable {
				nullable = "YES"
			}
			n := numbersOf(f.Type)
			var comment any
			if c := commentOf(f); c != "" {
				comment = c
			}
			typ := describedType(f)
			add(e.Catalog, e.Schema, e.Name, f.Name, i+1, nil, nullable, typ, n.precision, n.scale, comment, nil, nil, n.radix, n.time, nil,
				nil, e.Catalog, e.Schema, typ, "NO", "NEVER", "NO")
		}
		return nil
	})
}

// typeNumbers are what information_schema tells of a type in numbers; nil: it has none.
type typeNumbers struct{ precision, scale, radix, time any }

func numbersOf(t arrow.DataType) typeNumbers {
	switch t := t.(type) {
	case *arrow.Decimal128Type:
		return typeNumbers{precision: int(t.Precision), scale: int(t.Scale), radix: 10}
	case *arrow.Int32Type:
		return typeNumbers{precision: 32, scale: 0, radix: 2}
	case *arrow.Int64Type:
		return typeNumbers{precision: 64, scale: 0, radix: 2}
	case *arrow.Float32Type:
		return typeNumbers{precision: 24, radix: 2}
	case *arrow.Float64Type:
		return typeNumbers{precision: 53, radix: 2}
	case *arrow.Date32Type:
		return typeNumbers{time: 0}
	case *arrow.Time64Type:
		return typeNumbers{time: 6}
	case *arrow.TimestampType:
		if t.Unit == arrow.Nanosecond {
			return typeNumbers{time: 9}
		}
		return typeNumbers{time: 6}
	}
	return typeNumbers{}
}

// keys yields the identifier fields of the tables that are asked for. Of a key nobody is told by name, so it is called after its table.
func (s *systemSource) keys(ctx context.Context, each func(k KeyEntry, name string)) error {
	if kinds, asked := s.wanted["constraint_type"]; asked && !slices.Contains(kinds, primaryKey) {
		return nil // there are no others, so no table need be opened
	}
	schema := "table_schema"
	if _, asked := s.wanted[schema]; !asked {
		schema = "constraint_schema"
	}
	named := *s
	if constraints, asked := s.wanted["constraint_name"]; asked && s.wanted["table_name"] == nil {
		named.wanted = maps.Clone(s.wanted)
		for _, c := range constraints {
			named.wanted["table_name"] = append(named.wanted["table_name"], strings.TrimSuffix(c, identifierSuffix))
		}
	}
	for _, f := range named.filters(schema, "table_name") {
		for k, err := range s.statement.engine.keys(ctx, f) {
			if err != nil {
				return err
			}
			each(k, k.Table+identifierSuffix)
		}
	}
	return nil
}

func constraintRows(ctx context.Context, s *systemSource, add func(values ...any)) error {
	return s.keys(ctx, func(k KeyEntry, name string) {
		if k.Sequence == 1 {
			add(k.Catalog, k.Schema, name, k.Catalog, k.Schema, k.Table, primaryKey, "NO", "NO", "NO")
		}
	})
}

func keyRows(ctx context.Context, s *systemSource, add func(values ...any)) error {
	return s.keys(ctx, func(k KeyEntry, name string) {
		add(k.Catalog, k.Schema, name, k.Catalog, k.Schema, k.Table, k.Column, k.Sequence, nil)
	})
}

func keyColumnRows(ctx context.Context, s *systemSource, add func(values ...any)) error {
	return s.keys(ctx, func(k KeyEntry, name string) { add(k.Catalog, k.Schema, k.Table, k.Column, k.Catalog, k.Schema, name) })
}

func catalogNameRows(_ context.Context, s *systemSource, add func(values ...any)) error {
	add(s.catalog)
	return nil
}
