package parquet

import (
	"github.com/apache/arrow-go/v18/parquet"

	"github.com/skua-data/skua/kernels"
)

// Told gives what the writer of the file said under a key of its footer; false: nothing.
func (f *File) Told(key string) (string, bool) {
	v := f.metadata.KeyValueMetadata().FindValue(key)
	if v == nil {
		return "", false
	}
	return *v, true
}

// IsInt96 reports whether a leaf is stored as INT96.
func (f *File) IsInt96(n *kernels.Node) bool {
	return f.metadata.Schema.Column(n.Leaf).PhysicalType() == parquet.Types.Int96
}
