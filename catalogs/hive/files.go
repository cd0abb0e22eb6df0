package hive

import (
	"context"
	"iter"
	"slices"
	"strings"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/catalogs/plain"
	"github.com/skua-data/skua/fault"
)

// storedOf gives a table of the metastore as package plain reads it.
func storedOf(t record) plain.Stored {
	store := t.inner(7)
	out := plain.Stored{Name: t.text(2) + "." + t.text(1), Columns: columnsOf(store.list(1)), Keys: columnsOf(t.list(8)), Location: store.text(2),
		Parameters: t.texts(9), SerDe: store.inner(7).text(2), SerDeParameters: store.inner(7).texts(3), InputFormat: store.text(3), Type: t.text(12)}
	return out
}

func columnsOf(list []any) (out []plain.Column) {
	for _, c := range list {
		if r, ok := c.(record); ok {
			out = append(out, plain.Column{Name: r.text(1), Type: r.text(2), Comment: r.text(3)})
		}
	}
	return out
}

// partitionBatch is how many partitions one call brings: each comes with the columns of its table.
const partitionBatch = 200

// Partitions implements catalogs.PartitionLister. All partitions come by their names alone, which is one cheap call; those asked for by name come whole.
func (c *catalog) Partitions(ctx context.Context, req catalogs.PartitionRequest) iter.Seq2[catalogs.Partition, error] {
	return plain.Partitions(req, sound, noTable, func(more func(catalogs.Partition) bool) error {
		t, err := c.store.table(ctx, req.Identifier[0], req.Identifier[1])
		if err != nil {
			return err
		}
		return c.partitions(ctx, t, req.Names, more)
	})
}

// partitions hands out a table's partitions.
func (c *catalog) partitions(ctx context.Context, t record, names []string, more func(catalogs.Partition) bool) error {
	var keys []string
	table := storedOf(t)
	for _, k := range table.Keys {
		keys = append(keys, k.Name)
	}
	if len(names) == 0 {
		all, err := c.store.partitionNames(ctx, t.text(2), t.text(1))
		for _, name := range all {
			values, ok := catalogs.PartitionValues(name, keys)
			if !ok {
				return fault.New(fault.Corrupt, "the metastore's partition %.200q is none by %s", name, strings.Join(keys, ", "))
			}
			if !more(catalogs.Partition{Name: name, Values: values}) {
				return nil
			}
		}
		return err
	}
	for some := range slices.Chunk(names, partitionBatch) {
		found, err := c.store.partitions(ctx, t.text(2), t.text(1), some)
		if err != nil {
			return err
		}
		for _, p := range found {
			out := catalogs.Partition{Location: p.inner(6).text(2), Format: table.FormatOfPartition(p.inner(6).inner(7).text(2), p.inner(6).text(3))}
			for _, v := range texts(p[1]) {
				out.Values = append(out.Values, catalogs.PartitionValue(v))
			}
			if len(out.Values) != len(keys) || out.Location == "" {
				return fault.New(fault.Corrupt, "the metastore's partition %.200q has no location, or other values than for %s", texts(p[1]), strings.Join(keys, ", "))
			}
			if !more(out) {
				return nil
			}
		}
	}
	return nil
}
