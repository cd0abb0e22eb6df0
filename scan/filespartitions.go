package scan

import (
	"context"
	"slices"
	"strings"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/fault"
)

// PartitionColumns gives the columns that a table of plain files is partitioned by, and whether its catalog keeps its partitions; false: it is no such table.
func (t *Table) PartitionColumns() (columns []string, listed, ok bool) {
	if t.files == nil {
		return nil, false, false
	}
	return slices.Clone(t.files.Partitions), t.files.Listed, true
}

// Partitions gives the names of the partitions that the catalog of a table of plain files keeps, in their order: those whose columns have the given values, of which nil
// is null.
func (t *Table) Partitions(ctx context.Context, only map[string]*string) ([]string, error) {
	columns, listed, _ := t.PartitionColumns()
	if !listed {
		return nil, fault.New(fault.Unsupported, "the catalog keeps no partitions of %s", t.Name()).In(t.Name())
	}
	out := []string{}
	for p, err := range t.files.partitions(ctx, nil) {
		if err != nil {
			return nil, err
		}
		if len(p.Values) != len(columns) {
			return nil, fault.New(fault.Corrupt, "partition %s: %d values where the table is partitioned by %d columns", p.Name, len(p.Values), len(columns)).In(t.Name())
		}
		wanted := true
		for i, column := range columns {
			value, asked := lookup(only, column)
			wanted = wanted && (!asked || t.samePartitionValue(i, p.Values[i], value))
		}
		if wanted {
			out = append(out, catalogs.PartitionName(columns, p.Values))
		}
	}
	slices.Sort(out)
	return out, nil
}

func lookup(values map[string]*string, column string) (*string, bool) {
	for name, v := range values {
		if strings.EqualFold(name, column) {
			return v, true
		}
	}
	return nil, false
}

// samePartitionValue compares two texts as values of the partition column at a place. What is none of its type is equal to the same text alone.
func (t *Table) samePartitionValue(at int, x, y *string) bool {
	if x == nil || y == nil {
		return x == y
	}
	f := specs(t.metadata)[0].Fields[at]
	read := func(text string) (any, bool) {
		v, ok := exactValue(text, t.files.Types[f.Source], f.Type)
		if !ok {
			return nil, false
		}
		return normalize(v, f.Type)
	}
	a, okA := read(*x)
	b, okB := read(*y)
	if c, known := compare(a, b); okA && okB && known {
		return c == 0
	}
	return *x == *y
}
