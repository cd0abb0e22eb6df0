package catalogs

import (
	"context"
	"iter"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/storage"
)

// Files is what a catalog knows of a table of plain files, which has no metadata of its own. It is immutable.
type Files struct {
	Schema     *iceberg.Schema  // its columns, ids from 1 on; those that it is partitioned by among them. A column is found in files by its name, in any case
	Partitions []string         // names of the columns that it is partitioned by, the outermost folder's first; none: its files lie in Location
	Location   storage.Location // of its folder
	Listed     bool             // the catalog lists the partitions, see PartitionLister; else they are the folders name=value below Location
	Properties iceberg.Properties
	Comment    string
	// Types are those of fields of Schema that it has no like of, by id: tinyint and smallint, which are int there; char(n) and varchar(n), which are string there.
	Types map[int]string
}

// Partition is a partition that a catalog lists.
type Partition struct {
	Name     string           // the catalog's own, to ask for it by
	Values   []*string        // one for each of Files.Partitions, as text; nil: null
	Location storage.Location // of its folder; empty: tell when it is asked for by name
	Format   string           // of its files, where it is another than the table's; empty: the same
}

// PartitionRequest names a table, and partitions of it.
type PartitionRequest struct {
	Identifier table.Identifier
	Principal  string
	Names      []string // nil: all partitions, which may come without their location; else these, with it
}

// PartitionLister is what a catalog is, too, that announces Capabilities.Partitions: it lists the partitions of tables of plain files.
type PartitionLister interface {
	// Partitions yields a table's partitions in no order; of those asked for by name it leaves out what is gone.
	Partitions(ctx context.Context, req PartitionRequest) iter.Seq2[Partition, error]
}

// ListPartitions gives the function that asks the catalog for the table's partitions: all of them, or those of the names. Nil where nobody lists any.
func (t *Table) ListPartitions() func(ctx context.Context, names []string) iter.Seq2[Partition, error] {
	return t.partitions
}

// WithPartitions gives the table with what lists its partitions, for tests and for those who load tables without a Set.
func (t *Table) WithPartitions(list func(ctx context.Context, names []string) iter.Seq2[Partition, error]) *Table {
	out := *t
	out.partitions = list
	return &out
}

// Partitions implements PartitionLister by the first catalog, where it lists partitions and has the table, else by the second.
func (t tandem) Partitions(ctx context.Context, req PartitionRequest) iter.Seq2[Partition, error] {
	if !t.front.Capabilities().Partitions {
		return partitionsOf(ctx, t.back, req)
	}
	return func(yield func(Partition, error) bool) {
		first := true
		for p, err := range partitionsOf(ctx, t.front, req) {
			if first && fault.Is(err, fault.NotFound) {
				partitionsOf(ctx, t.back, req)(yield)
				return
			}
			if first = false; !yield(p, err) || err != nil {
				return
			}
		}
	}
}

// Partitions implements PartitionLister; a catalog that lists none fails.
func (h handle) Partitions(ctx context.Context, req PartitionRequest) iter.Seq2[Partition, error] {
	return guarded(ctx, h, of("list partitions", req.Identifier), partitionsOf(ctx, h.Catalog, req))
}

// partitionsOf asks a catalog for partitions.
func partitionsOf(ctx context.Context, c Catalog, req PartitionRequest) iter.Seq2[Partition, error] {
	lister, ok := c.(PartitionLister)
	if !ok || !c.Capabilities().Partitions {
		return func(yield func(Partition, error) bool) {
			yield(Partition{}, fault.New(fault.Unsupported, "the catalog lists no partitions"))
		}
	}
	return lister.Partitions(ctx, req)
}
