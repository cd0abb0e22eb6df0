package scan

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/storage"
)

// Unread is a loaded table or view whose metadata was found, and is not read yet. It is for one goroutine.
type Unread struct {
	scanner *Scanner
	loaded  *catalogs.Table
	store   storage.Store
	file    storage.File // nil: the catalog sent the metadata along, or there is none
	key     string       // of the very bytes of the metadata; empty: there are none
}

// Find finds the metadata of a loaded table or view. The caller closes what it gets.
func (s *Scanner) Find(ctx context.Context, t *catalogs.Table) (*Unread, error) {
	u := &Unread{scanner: s, loaded: t}
	if t.Kind == catalogs.KindFiles && t.Files != nil {
		return u, nil
	}
	what := "table"
	switch {
	case strings.HasPrefix(t.MetadataLocation, listingScheme):
		return nil, fault.New(fault.NotFound, "the table %s of plain files is gone", quoteAll(t.Catalog, t.Identifier))
	case t.Kind == catalogs.KindView:
		what = "view"
	case t.Kind != catalogs.KindTable:
		return nil, fault.New(fault.Unsupported, "reading %s is not supported: it is no Iceberg table", quoteAll(t.Catalog, t.Identifier))
	}
	u.store = s.store(t)
	if err := u.find(ctx); err != nil {
		return nil, fault.Wrap(err, "load %s %s", what, quoteAll(t.Catalog, t.Identifier))
	}
	return u, nil
}

func (u *Unread) find(ctx context.Context) (err error) {
	switch {
	case u.loaded.Metadata != nil:
		u.key = fmt.Sprintf("inline %s %x", u.loaded.MetadataLocation, sha256.Sum256(u.loaded.Metadata))
		return nil
	case u.loaded.MetadataLocation == "":
		return fault.New(fault.Corrupt, "the catalog gave neither metadata nor its location")
	}
	if u.file, err = u.store.Open(ctx, u.loaded.MetadataLocation, -1); err != nil {
		return fault.Wrap(err, "open the metadata file")
	}
	u.key = "metadata " + u.file.Key()
	return nil
}

// Close lets go of the metadata's file.
func (u *Unread) Close() error {
	if u.file == nil {
		return nil
	}
	return u.file.Close()
}

// Kept gives what make makes of the table or view, and its size in bytes, once: it is kept for as long as the metadata stays the same to the byte, and until the memory is
// wanted for something else. What tells the things apart that are made of one table. What is made is immutable, and nothing of it depends on anything but the metadata and the table's
// name. Tables of plain files have no metadata: nothing is kept of them.
func (u *Unread) Kept(ctx context.Context, what string, make func() (any, int64, error)) (any, error) {
	if u.key == "" {
		made, _, err := make()
		return made, err
	}
	return cached(ctx, u.scanner.told, strings.Join([]string{what, u.loaded.Catalog, strings.Join(u.loaded.Identifier, "\x00"), u.key}, "\x00"), make)
}

// Table parses a table's metadata, or takes it from the cache.
func (u *Unread) Table(ctx context.Context) (*Table, error) {
	t := u.loaded
	switch {
	case u.key == "":
		return u.scanner.filesTable(t)
	case t.Kind != catalogs.KindTable:
		return nil, fault.New(fault.Unsupported, "reading %s is not supported: it is no Iceberg table", quoteAll(t.Catalog, t.Identifier))
	}
	out := &Table{scanner: u.scanner, catalog: t.Catalog, identifier: t.Identifier, location: t.MetadataLocation, store: u.store}
	metadata, err := cached(ctx, u.scanner.cache, u.key, func() (sizedMetadata, int64, error) {
		raw, size, release, err := u.read(ctx)
		if err != nil {
			return sizedMetadata{}, 0, err
		}
		defer release()
		return sized(size, t.MetadataLocation, raw)
	})
	if err != nil {
		return nil, fault.Wrap(err, "load table %s", out.Name())
	}
	out.metadata, out.defaults, out.size = metadata.Metadata, metadata.defaults, metadata.size
	return out, nil
}

// View gives the metadata of a view as JSON.
func (u *Unread) View(ctx context.Context) ([]byte, error) {
	raw, _, release, err := u.read(ctx)
	if err != nil {
		return nil, fault.Wrap(err, "load view %s", quoteAll(u.loaded.Catalog, u.loaded.Identifier))
	}
	release()
	return raw, nil
}

// read gives the metadata, unpacked, and its size as it lies there. It counts as the statement's until release is called.
func (u *Unread) read(ctx context.Context) (raw []byte, size int, release func(), err error) {
	if u.file == nil {
		return u.loaded.Metadata, len(u.loaded.Metadata), func() {}, nil
	}
	release = charge(ctx, min(u.file.Size(), maxMetadata))
	if raw, err = readWhole(ctx, u.file, u.loaded.MetadataLocation, maxMetadata); err == nil {
		size = len(raw)
		raw, err = gunzip(u.loaded.MetadataLocation, raw)
	}
	if err != nil {
		release()
	}
	return raw, size, release, err
}
