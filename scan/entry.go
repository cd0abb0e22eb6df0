package scan

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/apache/iceberg-go"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/resource"
	"github.com/skua-data/skua/scan/manifest"
	"github.com/skua-data/skua/storage"
)

// fileEntry is a live line of a manifest, as far as planning asks: compact, since those of large tables stay in the cache. It is shared and
// never changed.
type fileEntry struct {
	Path      string
	Format    iceberg.FileFormat
	Size      int64
	Records   int64 // negative: unknown
	Offsets   []int64
	Partition map[int]any // by partition field id, as the manifest reader gives it
	Sequence  int64       // negative: unknown
	FileSeq   *int64
	FirstRow  *int64

	Snapshot int64 // that added it, or removed it

	encrypted bool
	status    manifest.Status
	place     *place       // of Partition; lines of one manifest with equal partitions share it
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

// planned are a manifest's live entries, with the statistics of the columns that were asked for.
type planned struct {
	entries []fileEntry
	stats   *manifestStats
}

// planned reads a manifest's live entries through the cache, with the statistics of columns; those of equality deletes are of the columns that the
// deletes compare.
func (t *Table) planned(ctx context.Context, m iceberg.ManifestFile, columns []int) (planned, error) {
	file, key, err := t.openManifest(ctx, m)
	if err != nil {
		return planned{}, err
	}
	defer file.Close()
	if m.ManifestContent() == iceberg.ManifestContentDeletes {
		columns = nil
	}
	out, missing, whole := t.scanner.heldEntries(key, columns)
	if whole && len(missing) == 0 {
		resource.From(ctx).Counters.CacheHits.Add(1)
		return out, nil
	}
	fresh, err := cached(ctx, t.scanner.cache, fmt.Sprint("decode ", key, missing, whole), func() (planned, int64, error) {
		read, err := t.decode(ctx, file, m, missing, !whole, false)
		if err == nil {
			t.scanner.hold(ctx, key, read, missing, !whole)
		}
		return read, notKept, err
	})
	if err != nil {
		return planned{}, err
	}
	if !whole {
		out.entries = fresh.entries
	}
	out.stats = out.stats.with(fresh.stats)
	return out, nil
}

// heldEntries gives what the cache has of a manifest, and of which columns it lacks the statistics; false: it lacks the entries.
func (s *Scanner) heldEntries(key string, columns []int) (out planned, missing []int, whole bool) {
	entries, whole := s.cache.get("files " + key)
	if whole {
		out = entries.(planned)
	}
	for _, id := range columns {
		if of, ok := s.cache.get(columnKey(key, id)); ok {
			out.stats = out.stats.with(&manifestStats{ids: []int{id}, columns: []*columnStats{of.(*columnStats)}})
		} else {
			missing = append(missing, id)
		}
	}
	return out, missing, whole
}

func columnKey(key string, id int) string { return fmt.Sprintf("column %d %s", id, key) }

// hold keeps what was read of a manifest: entries in one piece, statistics column by column, since every filter asks for others. Those of deletes stay
// with their entries.
func (s *Scanner) hold(ctx context.Context, key string, p planned, columns []int, entries bool) {
	for _, id := range columns {
		of := p.stats.column(id)
		s.cache.put(ctx, columnKey(key, id), of, of.size())
	}
	if !entries {
		return
	}
	kept := planned{entries: p.entries}
	size := entriesSize(p.entries)
	if columns == nil && p.stats != nil {
		kept.stats = p.stats
		size += p.stats.size()
	}
	s.cache.put(ctx, "files "+key, kept, size)
}

// changed reads a manifest's entries, those of removed files too. Nothing of it is kept.
func (t *Table) changed(ctx context.Context, m iceberg.ManifestFile, columns []int) (planned, error) {
	file, _, err := t.openManifest(ctx, m)
	if err != nil {
		return planned{}, err
	}
	defer file.Close()
	return t.decode(ctx, file, m, columns, true, true)
}

// decode reads a manifest: statistics of columns, and its entries if they are wanted, with those of removed files or without.
func (t *Table) decode(ctx context.Context, file storage.File, m iceberg.ManifestFile, columns []int, entries, removed bool) (out planned, err error) {
	at := m.FilePath()
	defer fault.Recover(&err, fault.Corrupt, "manifest %s", at)
	defer charge(ctx, min(file.Size(), maxManifest))()
	raw, err := readWhole(ctx, file, at, maxManifest)
	if err != nil {
		return planned{}, err
	}
	r, err := manifest.NewReader(raw, t.specFields(int(m.PartitionSpecID())), t.scanner.codecs)
	if err != nil {
		return planned{}, inManifest(err, at)
	}
	defer r.Close()
	expected := min(max(int(m.AddedDataFiles()), 0)+max(int(m.ExistingDataFiles()), 0), len(raw)/32) // the list may say anything
	b := entryBuilder{reader: r, entries: make([]fileEntry, 0, expected), ends: make([]int, 0, expected), manifest: m, wanted: entries, removed: removed, stats: newStatsBuilder(columns, m.ManifestContent() == iceberg.ManifestContentDeletes), places: map[string]*place{}}
	if err := b.check(); err != nil {
		return planned{}, inManifest(err, at)
	}
	for line := (manifest.Entry{}); ; {
		switch err := r.Next(&line); {
		case err == io.EOF:
			return b.finish(), nil
		case err != nil:
			return planned{}, inManifest(err, at)
		}
		if err := b.add(&line); err != nil {
			return planned{}, inManifest(err, at)
		}
		if b.stats.row%1024 == 0 && ctx.Err() != nil {
			return planned{}, ctx.Err()
		}
	}
}

func inManifest(err error, at string) error {
	return fault.Wrap(fault.As(fault.Corrupt, err), "manifest %s", at)
}

// specFields are the fields of a partition spec as the manifest's reader asks for them.
func (t *Table) specFields(id int) []manifest.Field {
	spec := t.metadata.PartitionSpecByID(id)
	if spec == nil {
		return nil
	}
	var out []manifest.Field
	for _, f := range spec.Fields() {
		out = append(out, manifest.Field{ID: f.FieldID, Name: f.Name})
	}
	return out
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

// entryBuilder gathers the live entries of one manifest. Paths, offsets and numbers of many lie in one piece of memory.
type entryBuilder struct {
	reader   *manifest.Reader
	manifest iceberg.ManifestFile
	removed  bool // entries of files that were removed are wanted too
	wanted   bool // entries, not only statistics
	stats    *statsBuilder

	entries  []fileEntry
	paths    []byte
	ends     []int // of each path
	offsets  []int64
	numbers  []int64
	places   map[string]*place
	fileSeq  *int64
	firstRow *int64 // of the next entry that inherits one; nil: none does
}

// check compares what a manifest says of itself with what its list says of it.
func (b *entryBuilder) check() error {
	version, err := b.reader.Version()
	if err != nil {
		return err
	}
	if version > 3 {
		return fault.New(fault.Unsupported, "format version %d is not supported", version)
	}
	if version > b.manifest.Version() {
		return fault.New(fault.Corrupt, "it is of format version %d, and its list of version %d", version, b.manifest.Version())
	}
	listed := "data"
	if b.manifest.ManifestContent() == iceberg.ManifestContentDeletes {
		listed = "deletes"
	}
	if own := b.reader.Content(); own != "" && own != listed {
		return fault.New(fault.Corrupt, "it lists %s, and its list says that it lists %s", own, listed)
	}
	if first := b.manifest.FirstRowID(); first != nil && listed == "data" {
		if *first < 0 {
			return fault.New(fault.Corrupt, "its first row id is %d", *first)
		}
		n := *first
		b.firstRow = &n
	}
	return nil
}

func (b *entryBuilder) add(e *manifest.Entry) error {
	if deletes := b.manifest.ManifestContent() == iceberg.ManifestContentDeletes; deletes != (e.Content != manifest.Data) {
		return fault.New(fault.Corrupt, "the file %s is of content %d, which does not belong in it", e.Path, e.Content).In(string(e.Path))
	}
	if e.Status == manifest.Deleted && !b.removed {
		return nil
	}
	if err := b.stats.add(e); err != nil {
		return err
	}
	if !b.wanted {
		return nil
	}
	out, err := b.entry(e)
	b.entries = append(b.entries, out)
	return err
}

func (b *entryBuilder) entry(e *manifest.Entry) (fileEntry, error) {
	b.paths = append(b.paths, e.Path...)
	b.ends = append(b.ends, len(b.paths))
	out := fileEntry{Format: format(e.Format), Size: e.Size, Records: e.Records, Offsets: b.keep(e.SplitOffsets), Sequence: -1, encrypted: e.Encrypted, status: e.Status,
		Snapshot: b.manifest.SnapshotID()}
	if e.Snapshot.Known {
		out.Snapshot = e.Snapshot.Value
	}
	if n := b.inherited(e, e.Sequence); n.Known {
		out.Sequence = n.Value
	}
	if n := b.inherited(e, e.FileSequence); n.Known {
		out.FileSeq = b.sharedSequence(n.Value)
	}
	var err error
	if out.place, err = b.place(e.Partition); err != nil {
		return out, err
	}
	out.Partition = out.place.values
	if out.FirstRow, err = b.firstRowOf(e); err != nil {
		return out, err
	}
	if e.Content != manifest.Data {
		out.deletes, err = newDeleteEntry(e)
	}
	return out, err
}

// inherited is a sequence number, of the manifest where an entry that is new, or of a table of format version 1, has none.
func (b *entryBuilder) inherited(e *manifest.Entry, own manifest.Optional) manifest.Optional {
	listed := b.manifest.SequenceNum()
	if !own.Known && listed >= 0 && (listed == 0 || e.Status == manifest.Added) {
		return manifest.Optional{Value: listed, Known: true}
	}
	return own
}

// firstRowOf is a data file's first row id: its own, or the manifest's after the rows of the files before it that have none either.
func (b *entryBuilder) firstRowOf(e *manifest.Entry) (*int64, error) {
	if e.FirstRow.Known {
		return b.number(e.FirstRow.Value), nil
	}
	if b.firstRow == nil || e.Status == manifest.Deleted {
		return nil, nil
	}
	out := *b.firstRow
	if *b.firstRow += e.Records; e.Records < 0 || *b.firstRow < out {
		return nil, fault.New(fault.Corrupt, "file %s has %d rows and no first row id", e.Path, e.Records).In(string(e.Path))
	}
	return b.number(out), nil
}

// number keeps a number in a piece of memory with others.
func (b *entryBuilder) number(n int64) *int64 {
	if len(b.numbers) == cap(b.numbers) {
		b.numbers = make([]int64, 0, 128)
	}
	b.numbers = append(b.numbers, n)
	return &b.numbers[len(b.numbers)-1]
}

func (b *entryBuilder) keep(offsets []int64) []int64 {
	if len(offsets) == 0 {
		return nil
	}
	if len(offsets) > cap(b.offsets)-len(b.offsets) {
		b.offsets = make([]int64, 0, max(512, len(offsets)))
	}
	from := len(b.offsets)
	b.offsets = append(b.offsets, offsets...)
	return b.offsets[from:len(b.offsets):len(b.offsets)]
}

// sharedSequence keeps one of equal file sequence numbers in a row.
func (b *entryBuilder) sharedSequence(n int64) *int64 {
	if b.fileSeq == nil || *b.fileSeq != n {
		b.fileSeq = b.number(n)
	}
	return b.fileSeq
}

func (b *entryBuilder) place(raw []byte) (*place, error) {
	if p, ok := b.places[string(raw)]; ok {
		return p, nil
	}
	values, err := b.reader.Partition(raw)
	p := &place{values: values}
	b.places[string(raw)] = p
	return p, err
}

// finish cuts the paths out of their one string.
func (b *entryBuilder) finish() planned {
	all, from := string(b.paths), 0
	for i, end := range b.ends {
		b.entries[i].Path, from = all[from:end], end
	}
	if len(b.entries) < cap(b.entries)*7/8 {
		b.entries = slices.Clone(b.entries)
	}
	return planned{entries: slices.Clip(b.entries), stats: &b.stats.manifestStats}
}

// entriesSize is the memory that entries take, in bytes, about.
func entriesSize(entries []fileEntry) int64 {
	size := 168 * int64(cap(entries))
	var last *place
	for i := range entries {
		e := &entries[i]
		size += int64(len(e.Path)) + 8*int64(len(e.Offsets))
		if e.place != last {
			last = e.place
			size += 128 + 64*int64(len(e.Partition))
		}
		if e.FirstRow != nil {
			size += 8
		}
		if e.deletes != nil {
			size += 192 + int64(len(e.deletes.path)) + 8*int64(len(e.deletes.keys))
		}
	}
	return size
}

// format gives the format of a file; those that are known share one string.
func format(name []byte) iceberg.FileFormat {
	for _, f := range []iceberg.FileFormat{iceberg.ParquetFile, iceberg.AvroFile, iceberg.OrcFile, iceberg.PuffinFile} {
		if string(name) == string(f) || strings.EqualFold(string(name), string(f)) {
			return f
		}
	}
	return iceberg.FileFormat(name)
}

// shortText is where writers cut the bounds of text that nobody told them to keep whole: paths cut there might be equal and not be the same.
const shortText = 16

func newDeleteEntry(e *manifest.Entry) (*deleteEntry, error) {
	out := &deleteEntry{equality: e.Content == manifest.EqualityDeletes, offset: pointer(e.ContentOffset), size: pointer(e.ContentSize)}
	if e.Target != nil {
		target := string(e.Target)
		out.target = &target
	}
	if out.equality {
		out.keys = slices.Clone(e.EqualityIDs)
		slices.Sort(out.keys)
		out.keys = slices.Compact(out.keys)
		return out, nil
	}
	lower, err := boundOf(e, manifest.LowerBounds, idDeletePath)
	if err != nil {
		return nil, err
	}
	upper, err := boundOf(e, manifest.UpperBounds, idDeletePath)
	out.path = onePath(lower, upper)
	return out, err
}

func pointer(n manifest.Optional) *int64 {
	if !n.Known {
		return nil
	}
	return &n.Value
}

func boundOf(e *manifest.Entry, m manifest.Metric, column int) (out []byte, err error) {
	err = e.Bounds(m, func(id int, bound []byte) {
		if id == column {
			out = bound
		}
	})
	return out, err
}

// onePath is the one path between two bounds; empty: there may be more.
func onePath(lower, upper []byte) string {
	if utf8.RuneCount(lower) > shortText && bytes.Equal(lower, upper) {
		return string(lower)
	}
	return ""
}
