package scan

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/apache/iceberg-go"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/resource"
	"github.com/skua-data/skua/storage"
)

// fileEntry is a live line of a manifest, as far as planning asks: compact, since those of large tables stay in the cache. It is shared and
// never changed.
type fileEntry struct {
	Path      string
	Format    iceberg.FileFormat
	Size      int64
	Records   int64
	Offsets   []int64
	Partition map[int]any // by partition field id, as the manifest reader gives it
	Sequence  int64
	FileSeq   *int64
	FirstRow  *int64

	encrypted bool
	place     *place       // of Partition; lines of one manifest with equal partitions share it
	stats     *columnStats // nil: not read
	deletes   *deleteEntry // nil: a data file
}

// place is a partition of one manifest; what is found out of it once holds for all its files.
type place struct{ values map[int]any }

// deleteEntry is what only delete files have.
type deleteEntry struct {
	equality     bool
	keys         []int // field ids that equality deletes compare
	target       *string
	offset, size *int64
	path         string // the one data file that position deletes are for, as the bounds of their paths tell; empty: unknown
}

// planned reads a manifest's live entries through the cache, with the statistics of columns if they are wanted.
func (t *Table) planned(ctx context.Context, m iceberg.ManifestFile, stats bool) ([]fileEntry, error) {
	file, key, err := t.openManifest(ctx, m)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	with := "statistics " + key
	if v, ok := t.scanner.cache.get(with); ok {
		resource.From(ctx).Counters.CacheHits.Add(1)
		return v.([]fileEntry), nil
	}
	key = "files " + key
	if stats {
		key = with
	}
	return cached(ctx, t.scanner.cache, key, func() (out []fileEntry, size int64, err error) {
		defer fault.Recover(&err, fault.Corrupt, "manifest %s", m.FilePath())
		raw, err := readWhole(ctx, file, m.FilePath(), maxManifest)
		if err != nil {
			return nil, 0, err
		}
		r, err := iceberg.NewManifestReaderWithProjection(m, bytes.NewReader(raw), iceberg.ManifestEntryProjection{IncludePruningStats: stats})
		if err != nil {
			return nil, 0, fault.New(fault.Corrupt, "manifest %s: %w", m.FilePath(), err)
		}
		defer r.Close()
		b := entryBuilder{stats: stats, places: map[string]*place{}}
		for {
			e, err := r.ReadEntry()
			if errors.Is(err, io.EOF) {
				return slices.Clip(b.out), b.size, nil
			}
			if err != nil {
				return nil, 0, fault.New(fault.Corrupt, "manifest %s: %w", m.FilePath(), err)
			}
			b.add(e)
		}
	})
}

// openManifest opens a manifest and names what it holds: entries inherit from the manifest list, so that is part of the name.
func (t *Table) openManifest(ctx context.Context, m iceberg.ManifestFile) (storage.File, string, error) {
	if len(m.KeyMetadata()) > 0 {
		return nil, "", fault.New(fault.Unsupported, "encrypted manifests are not supported yet: %s", m.FilePath())
	}
	file, err := t.store.Open(ctx, m.FilePath(), sizeHint(m.Length()))
	if err != nil {
		return nil, "", fault.Wrap(err, "open manifest")
	}
	return file, fmt.Sprintf("%s %d %d %d %v", file.Key(), m.PartitionSpecID(), m.SequenceNum(), m.SnapshotID(), deref(m.FirstRowID())), nil
}

// entryBuilder gathers the live entries of one manifest and shares what they have in common.
type entryBuilder struct {
	stats   bool
	out     []fileEntry
	size    int64 // of out in memory, about
	places  map[string]*place
	fileSeq *int64
	columns []int32 // ids of the last entry's statistics
}

func (b *entryBuilder) add(e iceberg.ManifestEntry) {
	if e.Status() == iceberg.EntryStatusDELETED {
		return
	}
	b.out = append(b.out, b.entry(e))
}

func (b *entryBuilder) entry(e iceberg.ManifestEntry) fileEntry {
	f := e.DataFile()
	out := fileEntry{Path: f.FilePath(), Format: f.FileFormat(), Size: f.FileSizeBytes(), Records: f.Count(), Offsets: f.SplitOffsets(),
		Sequence: e.SequenceNum(), FileSeq: b.shared(e.FileSequenceNum()), FirstRow: f.FirstRowID(), encrypted: len(f.KeyMetadata()) > 0}
	out.place = b.place(f.Partition())
	out.Partition = out.place.values
	b.size += 192 + int64(len(out.Path)) + 8*int64(len(out.Offsets))
	if b.stats {
		out.stats = newColumnStats(f, b.columns)
		b.columns = out.stats.ids
		b.size += out.stats.size()
	}
	if f.ContentType() != iceberg.EntryContentData {
		out.deletes = newDeleteEntry(f)
		b.size += 128
	}
	return out
}

// shared keeps one of equal file sequence numbers in a row.
func (b *entryBuilder) shared(n *int64) *int64 {
	if n == nil || b.fileSeq == nil || *b.fileSeq != *n {
		b.fileSeq = n
	}
	return b.fileSeq
}

func (b *entryBuilder) place(values map[int]any) *place {
	ids := make([]int, 0, len(values))
	for id := range values {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	var key []byte
	for _, id := range ids {
		key = fmt.Appendf(key, "%d %T %q|", id, values[id], fmt.Sprint(values[id]))
	}
	p, ok := b.places[string(key)]
	if !ok {
		p = &place{values: values}
		b.places[string(key)] = p
		b.size += 64 + 64*int64(len(values))
	}
	return p
}

// shortText is where writers cut the bounds of text that nobody told them to keep whole: paths cut there might be equal and not be the same.
const shortText = 16

func newDeleteEntry(f iceberg.DataFile) *deleteEntry {
	out := &deleteEntry{equality: f.ContentType() == iceberg.EntryContentEqDeletes, target: f.ReferencedDataFile(), offset: f.ContentOffset(),
		size: f.ContentSizeInBytes()}
	if out.equality {
		out.keys = slices.Clone(f.EqualityFieldIDs())
		slices.Sort(out.keys)
		out.keys = slices.Compact(out.keys)
		return out
	}
	lower, upper := f.LowerBoundValues()[idDeletePath], f.UpperBoundValues()[idDeletePath]
	if utf8.RuneCount(lower) > shortText && bytes.Equal(lower, upper) {
		out.path = string(lower)
	}
	return out
}
