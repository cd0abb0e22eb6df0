package parquet

import (
	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/storage"
)

// Needs is about how many bytes it takes to decode columns of a row group: of each leaf one page, packed and unpacked, and the dictionary. Pages are as
// large as most writers make them; of a remote file the packed bytes are held, too.
func (f *File) Needs(g Group, columns []kernels.Column) (size int64) {
	const page, entry = 1 << 20, 2 // entry: a value of a dictionary may grow, and it has to be found
	remote := storage.RemoteOf(f.file) != nil
	for _, leaf := range allLeaves(columns) {
		m := f.metadata.RowGroups[g.Ordinal].Columns[leaf].MetaData
		packed, unpacked := max(m.TotalCompressedSize, 0), max(m.TotalUncompressedSize, 0)
		size += min(unpacked, page) + min(packed, page)
		if d := m.DictionaryPageOffset; d != nil && *d > 0 && *d < m.DataPageOffset {
			size += min(unpacked, entry*page)
		}
		if remote {
			size += packed
		}
	}
	return size
}
