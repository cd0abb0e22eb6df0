package engine

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/iceberg-go/view"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/scan"
	"github.com/skua-data/skua/session"
)

// The properties of a view that Spark keeps and shows apart from the others.
const (
	viewComment   = "comment"
	viewCreatedBy = "create_engine_version"
)

// viewOwn are the properties of a view that are no user's.
var viewOwn = []string{viewComment, viewCreatedBy, "engine_version", "owner"}

// describeView gives what is known of a view that a catalog keeps.
func (s *statement) describeView(ctx context.Context, name []string, loaded *catalogs.Table) (scan.Description, *found, error) {
	m, err := s.engine.viewMetadata(ctx, loaded)
	if err != nil {
		return scan.Description{}, nil, err
	}
	schema := scan.ViewSchema(m.CurrentSchema())
	var comments []string
	for _, f := range schema.Fields() {
		comments = append(comments, commentOf(f))
	}
	d := columnsAlone(schema, comments)
	d.Location, d.Provider = m.Location(), "iceberg"
	d.Reserved = map[string]string{}
	properties := map[string]string{"provider": d.Provider, "location": d.Location, "format-version": strconv.Itoa(m.FormatVersion())}
	for k, v := range m.Properties() {
		if slices.Contains(viewOwn, k) {
			d.Reserved[k] = v
		} else if _, given := properties[k]; !given {
			properties[k] = v
		}
	}
	for _, k := range sortedKeys(properties) {
		d.Properties = append(d.Properties, scan.Property{Key: k, Value: properties[k]})
	}
	return d, &found{written: name, catalog: loaded.Catalog, identifier: loaded.Identifier, view: m}, nil
}

// viewSQL gives the text of a view, if none is for the engine the first one.
func viewSQL(f *found) string {
	if v, err := viewText(f.display(), f.view); err == nil {
		return v.Text
	}
	for _, r := range f.view.CurrentVersion().Representations {
		return r.Sql
	}
	return ""
}

// viewDetails gives what DESCRIBE EXTENDED shows of a view below its columns.
func viewDetails(f *found, d scan.Description) []row {
	version := f.view.CurrentVersion()
	place := append([]string{version.DefaultCatalog}, version.DefaultNamespace...)
	if version.DefaultCatalog == "" {
		place[0] = f.catalog
	}
	return []row{{"", "", ""}, {"# Detailed View Information", "", ""}, {"Comment", d.Reserved[viewComment], ""}, {"View Catalog and Namespace", syntax.QuoteName(place), ""},
		{"View Query Output Columns", "[" + strings.Join(outputColumns(f.view, d), ", ") + "]", ""}, {"View Properties", "[" + strings.Join(ddlProperties(d), ", ") + "]", ""},
		{"Created By", d.Reserved[viewCreatedBy], ""}, {"View Text", viewSQL(f), ""}}
}

// outputColumns are the names of the columns of a view's text.
func outputColumns(m view.Metadata, d scan.Description) (names []string) {
	if given := m.Properties()[queryColumns]; given != "" {
		return strings.Split(given, ",")
	}
	for _, c := range d.Columns {
		names = append(names, c.Name)
	}
	return names
}

func ddlProperties(d scan.Description) (out []string) {
	for _, p := range d.Properties {
		out = append(out, ddlText(p.Key)+" = "+ddlText(session.Redact(p.Key, p.Value)))
	}
	return out
}

// createView spells the statement that would create a view.
func createView(f *found, d scan.Description) string {
	var columns []string
	for _, c := range d.Columns {
		columns = append(columns, ddlName(c.Name)+ddlComment(c.Comment))
	}
	var b strings.Builder
	b.WriteString("CREATE VIEW " + ddlNames(f.full()) + " " + ddlList(columns))
	if comment := d.Reserved[viewComment]; comment != "" {
		b.WriteString("COMMENT " + ddlText(comment) + "\n")
	}
	b.WriteString("TBLPROPERTIES " + ddlList(ddlProperties(d)) + "AS\n" + viewSQL(f) + "\n")
	return b.String()
}
