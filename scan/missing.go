package scan

import (
	"context"
	"errors"
	"iter"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/storage"
)

// wholeStore is the store of a table whose metadata names the files that are asked for: one that is not there is a fault of the table's data. It must
// not look like a table that nobody knows. Plain files are nobody's to keep: they changed since they were listed.
type wholeStore struct {
	storage.Store
	table string
	plain bool
}

// Open opens a file that the table has.
func (s wholeStore) Open(ctx context.Context, at storage.Location, size int64) (storage.File, error) {
	f, err := s.Store.Open(ctx, at, size)
	if err != nil {
		return nil, s.missing(at, err)
	}
	return wholeFileOf{f, s, at}, nil
}

// ReadAll reads a file that the table has.
func (s wholeStore) ReadAll(ctx context.Context, at storage.Location, limit int64) ([]byte, error) {
	out, err := s.Store.ReadAll(ctx, at, limit)
	return out, s.missing(at, err)
}

// List lists a folder, which need not be there.
func (s wholeStore) List(ctx context.Context, folder storage.Location) iter.Seq2[storage.Info, error] {
	return s.Store.List(ctx, folder)
}

// filesChanged says that files of a table of plain files are not those that a plan is for.
func filesChanged(table string) *fault.Error {
	return fault.New(fault.Unavailable, "the files of %s changed since the statement was planned: run it again", table).In(table)
}

// missing says of an error that a file is not there, or is another, if it is that.
func (s wholeStore) missing(at storage.Location, err error) error {
	if s.plain && (fault.Is(err, fault.NotFound) || errors.Is(err, storage.ErrChanged)) {
		out := filesChanged(s.table)
		out.Cause = err
		return out
	}
	if !fault.Is(err, fault.NotFound) {
		return err
	}
	return fault.New(fault.Corrupt, "the file %s of table %s is missing: %w", at, s.table, err).In(at)
}

// wholeFileOf is a file of a wholeStore. A store that trusts a length finds out at the first read that there is no file.
type wholeFileOf struct {
	storage.File
	store wholeStore
	at    storage.Location
}

// Unwrap gives the file itself.
func (f wholeFileOf) Unwrap() storage.File { return f.File }

// ReadAt reads from the file.
func (f wholeFileOf) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.File.ReadAt(p, off)
	return n, f.store.missing(f.at, err)
}
