package scan

import (
	"bytes"
	"context"
	"slices"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/scan/metatable"
)

// entry is a line of a manifest, with what it inherits filled in.
type entry = metatable.Entry

// manifests lists a snapshot's manifests in the order of its manifest list, or of the list in the metadata that old tables have instead.
// No snapshot: none.
func (t *Table) manifests(ctx context.Context, s *table.Snapshot) ([]iceberg.ManifestFile, error) {
	switch {
	case s == nil:
		return nil, nil
	case s.ManifestList == "":
		return t.inlineManifests(ctx, s)
	}
	file, err := t.store.Open(ctx, s.ManifestList, -1)
	if err != nil {
		return nil, fault.Wrap(err, "open manifest list")
	}
	defer file.Close()
	return cached(ctx, t.scanner.cache, "manifest list "+file.Key(), func() (out []iceberg.ManifestFile, size int64, err error) {
		defer fault.Recover(&err, fault.Corrupt, "manifest list %s", s.ManifestList)
		defer charge(ctx, min(file.Size(), maxManifest))()
		raw, err := readWhole(ctx, file, s.ManifestList, maxManifest)
		if err != nil {
			return nil, 0, err
		}
		out, err = iceberg.ReadManifestList(bytes.NewReader(raw))
		if err != nil {
			return nil, 0, fault.New(fault.Corrupt, "manifest list %s: %w", s.ManifestList, err)
		}
		if slices.ContainsFunc(out, func(m iceberg.ManifestFile) bool { return m.FilePath() == "" }) {
			return nil, 0, fault.New(fault.Corrupt, "manifest list %s names a manifest without a path", s.ManifestList)
		}
		return out, int64(len(raw))*8 + 512*int64(len(out)), nil
	})
}

// inlineManifests describes manifests that only the metadata names. Such manifests hold data files of format version 1.
func (t *Table) inlineManifests(ctx context.Context, s *table.Snapshot) ([]iceberg.ManifestFile, error) {
	if len(s.ManifestLocations) == 0 && t.metadata.Version() > 1 {
		return nil, fault.New(fault.Corrupt, "snapshot %d names no manifest list", s.SnapshotID).In(t.MetadataLocation())
	}
	var out []iceberg.ManifestFile
	for _, at := range s.ManifestLocations {
		m, err := t.inlineManifest(ctx, s, at)
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

func (t *Table) inlineManifest(ctx context.Context, s *table.Snapshot, at string) (m iceberg.ManifestFile, err error) {
	defer fault.Recover(&err, fault.Corrupt, "manifest %s", at)
	file, err := t.store.Open(ctx, at, -1)
	if err != nil {
		return nil, fault.Wrap(err, "open manifest")
	}
	defer file.Close()
	raw, err := readWhole(ctx, file, at, maxManifest)
	if err != nil {
		return nil, err
	}
	bare := iceberg.NewManifestFile(1, at, int64(len(raw)), 0, s.SnapshotID).Build()
	reader, err := iceberg.NewManifestReader(bare, bytes.NewReader(raw))
	if err != nil {
		return nil, fault.New(fault.Corrupt, "manifest %s: %w", at, err)
	}
	defer reader.Close()
	id, err := reader.PartitionSpecID()
	if err != nil {
		id = t.metadata.DefaultPartitionSpec() // the key is younger than the format
	}
	return iceberg.NewManifestFile(1, at, int64(len(raw)), int32(id), s.SnapshotID).AddedFiles(-1).ExistingFiles(-1).DeletedFiles(-1).Build(), nil
}

// entries reads a manifest whole through the cache, deleted entries included, for metadata tables. The result is shared: it must not be changed.
func (t *Table) entries(ctx context.Context, m iceberg.ManifestFile) ([]entry, error) {
	at := m.FilePath()
	file, key, err := t.openManifest(ctx, m)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return cached(ctx, t.scanner.cache, "manifest "+key, func() (out []entry, size int64, err error) {
		defer fault.Recover(&err, fault.Corrupt, "manifest %s", at)
		defer charge(ctx, min(file.Size(), maxManifest))()
		raw, err := readWhole(ctx, file, at, maxManifest)
		if err != nil {
			return nil, 0, err
		}
		list, err := iceberg.ReadManifest(m, bytes.NewReader(raw), false)
		if err != nil {
			return nil, 0, fault.New(fault.Corrupt, "manifest %s: %w", at, err)
		}
		out = make([]entry, len(list))
		for i, e := range list {
			out[i] = entry{Status: e.Status(), Snapshot: e.SnapshotID(), Sequence: e.SequenceNum(), FileSeq: e.FileSequenceNum(), File: e.DataFile()}
			size += entrySize(e.DataFile())
		}
		return out, size, nil
	})
}

func deref(p *int64) int64 {
	if p == nil {
		return -1
	}
	return *p
}

// sizeHint trusts a length that metadata states, unless it says nothing.
func sizeHint(n int64) int64 {
	if n <= 0 {
		return -1
	}
	return n
}

// entrySize estimates the memory of a decoded entry.
func entrySize(f iceberg.DataFile) int64 {
	return 1024 + int64(len(f.FilePath())) + 96*int64(len(f.ColumnSizes())+len(f.ValueCounts())+len(f.NullValueCounts())+len(f.NaNValueCounts())) +
		160*int64(len(f.LowerBoundValues())+len(f.UpperBoundValues())) + 8*int64(len(f.SplitOffsets()))
}
