package plain

import (
	"iter"
	"strings"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/fault"
)

// Partitions makes what a PartitionLister answers of list, which hands the partitions of a table to more until that returns false. A table that there is not, or whose name
// is none by sound, is an error of missing; others name the table.
func Partitions(req catalogs.PartitionRequest, sound func(part string) bool, missing func(name string) error,
	list func(more func(catalogs.Partition) bool) error) iter.Seq2[catalogs.Partition, error] {
	return func(yield func(catalogs.Partition, error) bool) {
		name, stopped := strings.Join(req.Identifier, "."), false
		err := missing(name)
		if len(req.Identifier) == 2 && sound(req.Identifier[0]) && sound(req.Identifier[1]) {
			err = list(func(p catalogs.Partition) bool {
				stopped = stopped || !yield(p, nil)
				return !stopped
			})
		}
		switch {
		case stopped || err == nil:
		case fault.Is(err, fault.NotFound):
			yield(catalogs.Partition{}, missing(name))
		default:
			yield(catalogs.Partition{}, fault.Wrap(err, "list partitions of %s", name))
		}
	}
}
