package engine

import (
	"context"
	"slices"
	"strings"

	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
)

// partitionValue is column = value of PARTITION (…).
type partitionValue struct {
	column syntax.Ident
	value  syntax.Expr
}

// parseShowPartitions reads SHOW PARTITIONS table [PARTITION (column = value, …)].
func parseShowPartitions(p *syntax.Parser) (*command, error) {
	ident, err := p.Name()
	if err != nil {
		return nil, err
	}
	var only []partitionValue
	if p.Keyword("PARTITION") {
		if only, err = partitionSpec(p); err != nil {
			return nil, err
		}
	}
	return &command{name: "SHOW PARTITIONS", columns: columns(text("partition")), run: func(ctx context.Context, s *statement) ([]row, error) {
		return s.showPartitions(ctx, syntax.Texts(ident), only)
	}}, p.End()
}

// partitionSpec reads (column = value, …).
func partitionSpec(p *syntax.Parser) (out []partitionValue, err error) {
	if !p.Symbol("(") {
		return nil, p.Unexpected()
	}
	for {
		v := partitionValue{}
		if v.column, err = p.Ident(); err != nil {
			return nil, err
		}
		if !p.Symbol("=") {
			return nil, p.Unexpected()
		}
		if v.value, err = p.Expression(); err != nil {
			return nil, err
		}
		out = append(out, v)
		if p.Symbol(")") {
			return out, nil
		}
		if !p.Symbol(",") {
			return nil, p.Unexpected()
		}
	}
}

// showPartitions lists the partitions that a catalog keeps of a table of plain files. Iceberg's tables have none of that kind.
func (s *statement) showPartitions(ctx context.Context, name []string, only []partitionValue) ([]row, error) {
	s = s.fresh()
	_, f, err := s.describe(ctx, name)
	view := viewOf(err)
	switch {
	case err != nil && view == nil:
		return nil, err
	case view != nil || f.opened == nil && f.catalog == "":
		return nil, fault.New(fault.Invalid, "'SHOW PARTITIONS' expects a table but %s is a view.", syntax.BackQuote(name...)).With("EXPECT_TABLE_NOT_VIEW.NO_ALTERNATIVE", "42809")
	}
	full := syntax.BackQuote(f.full()...)
	if f.opened == nil || f.suffix != "" {
		return nil, noPartitionManagement(full)
	}
	keys, listed, ok := f.opened.PartitionColumns()
	switch {
	case !ok:
		return nil, noPartitionManagement(full)
	case len(keys) == 0:
		return nil, fault.New(fault.Invalid, "The partition command is invalid. Table %s is not partitioned.", full).With("INVALID_PARTITION_OPERATION.PARTITION_SCHEMA_IS_EMPTY", "42601")
	case !listed:
		return nil, unsupported("SHOW PARTITIONS is not allowed on %s since its partition metadata is not stored in the Hive metastore", full)
	}
	values := map[string]*string{}
	b := s.binder(nil, nil, nil)
	for _, v := range only {
		if !slices.ContainsFunc(keys, func(k string) bool { return strings.EqualFold(k, v.column.Text) }) {
			return nil, fault.New(fault.Invalid, "%s is not a valid partition column in table %s.", v.column.Text, full)
		}
		c, err := b.Evaluate(v.value)
		if err != nil {
			return nil, err
		}
		values[v.column.Text] = nil
		if !c.Null() {
			text := b.Text(c)
			values[v.column.Text] = &text
		}
	}
	names, err := f.opened.Partitions(ctx, values)
	if err != nil {
		return nil, err
	}
	rows := make([]row, len(names))
	for i, n := range names {
		rows[i] = row{n}
	}
	return rows, nil
}

func noPartitionManagement(table string) error {
	return fault.New(fault.Unsupported, "The partition command is invalid. Table %s does not support partition management.", table).
		With("INVALID_PARTITION_OPERATION.PARTITION_MANAGEMENT_IS_UNSUPPORTED", "42601")
}
