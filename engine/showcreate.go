package engine

import (
	"context"
	"strings"

	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/scan"
	"github.com/skua-data/skua/session"
)

// parseShowCreate reads SHOW CREATE TABLE table.
func parseShowCreate(p *syntax.Parser) (*command, error) {
	name, err := p.Name()
	if err != nil {
		return nil, err
	}
	if p.Keyword("AS", "SERDE") {
		return nil, unsupported("SHOW CREATE TABLE AS SERDE is not supported for v2 tables.").With("NOT_SUPPORTED_COMMAND_FOR_V2_TABLE", "0A000")
	}
	return &command{name: "SHOW CREATE TABLE", columns: columns(text("createtab_stmt")), run: func(ctx context.Context, s *statement) ([]row, error) {
		if err := s.permanent("SHOW CREATE TABLE", syntax.Texts(name)); err != nil {
			return nil, err
		}
		d, f, err := s.describe(ctx, syntax.Texts(name))
		if err != nil {
			return nil, err
		}
		if f.view != nil {
			return []row{{createView(f, d)}}, nil
		}
		if f.opened == nil {
			return nil, unsupported("SHOW CREATE TABLE is not supported for %s: no statement creates it", f.display()).In(f.display())
		}
		return []row{{s.fresh().createTable(f, d)}}, nil
	}}, p.End()
}

// createTable spells the statement that would create a table, as Spark does.
func (s *statement) createTable(f *found, d scan.Description) string {
	var columns, options, properties []string
	for _, c := range d.Columns {
		columns = append(columns, s.columnDDL(c))
	}
	for _, p := range d.Properties {
		value := " = " + ddlText(session.Redact(p.Key, p.Value))
		if name, ok := strings.CutPrefix(p.Key, "option."); ok {
			options = append(options, ddlText(name)+value)
			continue
		}
		properties = append(properties, ddlText(p.Key)+value)
	}
	var b strings.Builder
	b.WriteString("CREATE TABLE " + ddlNames(f.full()) + " " + ddlList(columns) + "USING " + provider(d) + "\n")
	if options != nil {
		b.WriteString("OPTIONS " + ddlList(options))
	}
	b.WriteString(partitionDDL(d.Partitioning))
	if comment, ok := d.Reserved["comment"]; ok {
		b.WriteString("COMMENT " + ddlText(comment) + "\n")
	}
	if !strings.EqualFold(d.Reserved["is_managed_location"], "true") {
		b.WriteString("LOCATION " + ddlText(d.Location) + "\n")
	}
	if properties != nil {
		b.WriteString("TBLPROPERTIES " + ddlList(properties))
	}
	return b.String()
}

func ddlList(items []string) string { return "(\n  " + strings.Join(items, ",\n  ") + ")\n" }

// partitionDDL spells partitions. Spark shows buckets as Hive does, which has one bucketing a table: the last of them.
func partitionDDL(transforms []string) string {
	var partitions []string
	clustered := ""
	for _, t := range transforms {
		if n, column, ok := bucketOf(t); ok {
			clustered = "CLUSTERED BY (" + column + ")\nINTO " + n + " BUCKETS\n"
			continue
		}
		partitions = append(partitions, t)
	}
	if partitions == nil {
		return clustered
	}
	return "PARTITIONED BY (" + strings.Join(partitions, ", ") + ")\n" + clustered
}
