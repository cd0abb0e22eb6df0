package engine

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/view"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/session"
)

// View is a view that stands where a statement reads a table (Iceberg's view specification): a statement of its own, which sees its own current
// catalog and namespace.
type View struct {
	Name    string // in full, quoted
	Text    string
	Dialect string // spark or ansi
	Columns []ViewColumn
	// Variable gives the value of a session variable as Query.Variable does; nil: the text sees none.
	Variable func(parts []string) (string, bool)
	// Resolve finds the table of a name in the view's text.
	Resolve func(ctx context.Context, name syntax.TableRef) (Table, error)
}

// ViewColumn is a column of a view.
type ViewColumn struct {
	Name string
	From string // the column of the text's result; empty: the one at this place
	Type string // as Spark spells it; empty: that of the result
	Doc  string
}

// maxViews bounds how deep views are made of views.
const maxViews = 20

// ourDialect is what a representation in the engine's own SQL is called.
const ourDialect = "skua"

// queryColumns is the property in which Spark keeps the names of the columns of a view's text, separated by commas.
const queryColumns = "spark.query-column-names"

// viewError says that a name is a view: Unsupported to whoever can only read tables.
type viewError struct {
	error
	loaded *catalogs.Table
}

func (e *viewError) Unwrap() error { return e.error }

// isView makes the error about a view that was loaded.
func isView(f *found, loaded *catalogs.Table) error {
	return &viewError{unsupported("%s is a view: this statement does not read views", f.display()).In(f.display()), loaded}
}

// viewOf gives the view that an error is about; nil: it is about something else.
func viewOf(err error) *catalogs.Table {
	var v *viewError
	if errors.As(err, &v) {
		return v.loaded
	}
	return nil
}

// view reads a view for the Executor.
func (s *statement) view(ctx context.Context, r *resolution, ref *syntax.TableRef, loaded *catalogs.Table) (Table, error) {
	full := append([]string{loaded.Catalog}, loaded.Identifier...)
	name := syntax.QuoteName(full)
	inner := *s
	if err := s.within(&inner, name, ref); err != nil {
		return Table{}, err
	}
	m, err := s.engine.viewMetadata(ctx, loaded)
	if err != nil {
		return Table{}, err
	}
	out, err := viewText(name, m)
	if err != nil {
		return Table{}, err
	}
	r.note(PinnedTable{Name: name, MetadataLocation: loaded.MetadataLocation, View: true})
	inner.state.Objects = session.Objects{} // what a catalog keeps knows of no session
	inner.state.Catalog, inner.state.Namespace = loaded.Catalog, nil
	version := m.CurrentVersion()
	if version.DefaultCatalog != "" {
		inner.state.Catalog = version.DefaultCatalog
	}
	inner.state.Namespace = slices.Clone(version.DefaultNamespace)
	out.Resolve = func(ctx context.Context, ref syntax.TableRef) (Table, error) { return inner.resolve(ctx, r, &ref) }
	return Table{Name: name, Parts: full, View: out}, nil
}

// viewMetadata reads a view's metadata.
func (e *Engine) viewMetadata(ctx context.Context, loaded *catalogs.Table) (view.Metadata, error) {
	u, err := e.find(ctx, loaded)
	if err != nil {
		return nil, err
	}
	defer u.Close()
	return readView(ctx, syntax.QuoteName(append([]string{loaded.Catalog}, loaded.Identifier...)), u)
}

// readView reads the metadata of the view of a name.
func readView(ctx context.Context, name string, u unread) (m view.Metadata, err error) {
	defer fault.Recover(&err, fault.Corrupt, "read the view %s", name)
	raw, err := u.View(ctx)
	if err != nil {
		return nil, err
	}
	m, parseErr := view.ParseMetadataBytes(raw)
	if parseErr != nil {
		return nil, fault.New(fault.Corrupt, "the metadata of view %s: %w", name, parseErr).In(name)
	}
	if m.CurrentVersion() == nil || m.CurrentSchema() == nil {
		return nil, fault.New(fault.Corrupt, "the metadata of view %s has no current version", name).In(name)
	}
	return m, nil
}

// viewText chooses the representation that the engine runs.
func viewText(name string, m view.Metadata) (*View, error) {
	version := m.CurrentVersion()
	out := &View{Name: name}
	var others []string
	for _, r := range version.Representations {
		switch dialect := strings.ToLower(r.Dialect); {
		case r.Type != "sql":
		case dialect == ourDialect:
			out.Text, out.Dialect = r.Sql, "ansi"
		case dialect == "spark" && out.Text == "":
			out.Text, out.Dialect = r.Sql, "spark"
		default:
			others = append(others, r.Dialect)
		}
	}
	if out.Text == "" {
		return nil, unsupported("the view %s has SQL for %s; views in the SQL of spark or %s are read", name, strings.Join(others, ", "), ourDialect).In(name)
	}
	schema := m.SchemasByID()[version.SchemaID]
	if schema == nil {
		return nil, fault.New(fault.Corrupt, "the metadata of view %s lacks the schema %d", name, version.SchemaID).In(name)
	}
	out.Columns = viewColumns(schema)
	if names := strings.Split(m.Properties()[queryColumns], ","); out.Dialect == "spark" && len(names) == len(out.Columns) && names[0] != "" {
		for i := range out.Columns {
			out.Columns[i].From = names[i]
		}
	}
	return out, nil
}

// viewColumns gives the columns of a view's schema. Types without an exact name in SQL are left to the text.
func viewColumns(schema *iceberg.Schema) []ViewColumn {
	out := make([]ViewColumn, 0, schema.NumFields())
	for _, f := range schema.Fields() {
		c := ViewColumn{Name: f.Name, Doc: f.Doc}
		if exactType(f.Type) {
			c.Type = castType(f.Type)
		}
		out = append(out, c)
	}
	return out
}

// exactType reports whether a type, and all that is in it, is one that a CAST names.
func exactType(t iceberg.Type) bool {
	switch t := t.(type) {
	case iceberg.BooleanType, iceberg.Int32Type, iceberg.Int64Type, iceberg.Float32Type, iceberg.Float64Type, iceberg.DateType, iceberg.TimestampType,
		iceberg.TimestampTzType, iceberg.TimestampNsType, iceberg.StringType, iceberg.DecimalType:
		return true
	case *iceberg.StructType:
		return !slices.ContainsFunc(t.FieldList, func(f iceberg.NestedField) bool { return !exactType(f.Type) })
	case *iceberg.ListType:
		return exactType(t.Element)
	case *iceberg.MapType:
		return exactType(t.KeyType) && exactType(t.ValueType)
	}
	return false
}

// castType spells an exact type for a CAST: without the comments of fields, which may be null where their struct is.
func castType(t iceberg.Type) string {
	switch t := t.(type) {
	case *iceberg.StructType:
		fields := make([]string, len(t.FieldList))
		for i, f := range t.FieldList {
			fields[i] = syntax.QuoteName([]string{f.Name}) + ": " + castType(f.Type)
		}
		return "STRUCT<" + strings.Join(fields, ", ") + ">"
	case *iceberg.ListType:
		return "ARRAY<" + castType(t.Element) + ">"
	case *iceberg.MapType:
		return "MAP<" + castType(t.KeyType) + ", " + castType(t.ValueType) + ">"
	}
	return sqlType(t)
}

// note keeps what a statement read of one name.
func (r *resolution) note(pin PinnedTable) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.pins {
		if p.Name == pin.Name {
			return
		}
	}
	r.pins = append(r.pins, pin)
}
