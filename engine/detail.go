package engine

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/scan"
	"github.com/skua-data/skua/session"
)

// describeExtended gives what DESCRIBE EXTENDED shows below the columns.
func (s *statement) describeExtended(ctx context.Context, name []string) ([]row, error) {
	d, f, err := s.describe(ctx, name)
	if err != nil {
		return nil, err
	}
	if f.view != nil {
		return append(describedColumns(d), viewDetails(f, d)...), nil
	}
	if f.opened == nil {
		return describedColumns(d), nil // as Spark does of a temporary view: nothing else is known
	}
	rows := append(describedColumns(d), row{"", "", ""}, row{"# Metadata Columns", "", ""})
	for _, c := range d.MetadataColumns {
		rows = append(rows, row{c.Name, c.Type, c.Comment})
	}
	rows = append(rows, row{"", "", ""}, row{"# Detailed Table Information", "", ""}, row{"Name", strings.Join(f.full(), "."), ""})
	for _, p := range tableDetails(d) {
		rows = append(rows, row{p.Key, p.Value, ""})
	}
	rows = append(rows, row{"Table Properties", propertyList(d.Properties), ""})
	for _, c := range d.Columns {
		if text := s.defaultText(c); text != "" {
			rows = append(rows, row{"", "", ""}, row{"# Column Default Values", "", ""}, row{c.Name, c.Type, text})
		}
	}
	if d.Provider != "" {
		return rows, nil // nobody counted the rows of plain files
	}
	last, err := s.statistics(ctx, f, d)
	return append(rows, last), err
}

// tableDetails are the facts that Spark shows of a table on lines of their own, in its order.
func tableDetails(d scan.Description) []scan.Property {
	kind := "MANAGED"
	if _, ok := d.Reserved["external"]; ok {
		kind = "EXTERNAL"
	}
	out := []scan.Property{{Key: "Type", Value: kind}}
	add := func(title, value string, given bool) {
		if given {
			out = append(out, scan.Property{Key: title, Value: value})
		}
	}
	comment, commented := d.Reserved["comment"]
	add("Comment", comment, commented)
	add("Location", d.Location, true)
	add("Provider", provider(d), true)
	owner, owned := d.Reserved["owner"]
	add("Owner", owner, owned)
	managed, said := d.Reserved["is_managed_location"]
	add("Is_managed_location", managed, said)
	return out
}

// provider is what Spark calls the source of a table.
func provider(d scan.Description) string {
	if d.Provider != "" {
		return d.Provider
	}
	return "iceberg"
}

// propertyList spells properties as [k=v,k=v].
func propertyList(properties []scan.Property) string {
	out := make([]string, len(properties))
	for i, p := range properties {
		out[i] = p.Key + "=" + session.Redact(p.Key, p.Value)
	}
	return "[" + strings.Join(out, ",") + "]"
}

// statistics is the row of a table's size as Spark estimates it. What keeps a scan from being planned, such as a bad setting, is told in the
// row: it is no reason to describe nothing.
func (s *statement) statistics(ctx context.Context, f *found, d scan.Description) (row, error) {
	n, err := s.estimatedRows(ctx, f, d)
	switch {
	case fault.Is(err, fault.Invalid) || fault.Is(err, fault.Unsupported):
		return row{"Statistics", "unknown", err.Error()}, nil
	case err != nil:
		return nil, err
	}
	bytes := n
	if n != math.MaxInt64 {
		bytes = saturatingProduct(n, rowSize(d.Columns))
	}
	return row{"Statistics", fmt.Sprintf("%d bytes, %d rows", bytes, n), nil}, nil
}

// estimatedRows counts rows as Spark does: the summary's number for a partitioned table, else what the tasks of a scan are estimated at.
// Neither takes deleted rows off.
func (s *statement) estimatedRows(ctx context.Context, f *found, d scan.Description) (int64, error) {
	switch {
	case d.Snapshot == 0:
		return 0, nil
	case len(d.Partitioning) > 0 && d.Records < 0:
		return math.MaxInt64, nil
	case len(d.Partitioning) > 0:
		return d.Records, nil
	}
	p, err := s.bareScan(ctx, f)
	if err != nil {
		return 0, err
	}
	if f.metadata {
		return countRows(ctx, p)
	}
	n := int64(0)
	for _, split := range p.Explain().Splits {
		for _, t := range split.Tasks {
			n += t.Rows
		}
	}
	return n, nil
}

// bareScan plans a scan of a table's rows without columns, with what session settings say.
func (s *statement) bareScan(ctx context.Context, f *found) (scan.Plan, error) {
	source, err := s.source(ctx, f, scan.Reference{})
	if err != nil {
		return nil, err
	}
	options, _, err := s.readOptions(f, nil)
	if err != nil {
		return nil, err
	}
	return source.Plan(ctx, scan.Request{Limit: -1, Options: options})
}

// countRows reads a plan that has no columns.
func countRows(ctx context.Context, p scan.Plan) (int64, error) {
	if n, known := p.Rows(); known {
		return n, nil
	}
	r, err := p.Open(ctx, 0, p.Splits())
	if err != nil {
		return 0, err
	}
	defer r.Release()
	n := int64(0)
	for r.Next() {
		n += r.RecordBatch().NumRows()
	}
	return n, r.Err()
}
