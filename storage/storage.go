// Package storage opens files by location: ranged reads, whole small files, listings, credentials and the location map. It knows
// schemes and bytes, and nothing of tables. Each kind of store is a folder below (local here); the composition root lists them.
package storage

import (
	"context"
	"io"
	"iter"
	"time"
)

// Location is a file's or a folder's address as metadata spells it: a URI with a scheme, or a bare absolute path, which means file.
type Location = string

// File is an open file. ReadAt is safe for concurrent use and reads ahead nothing; every error names the location.
type File interface {
	io.ReaderAt
	io.Closer
	// Size is the file's length in bytes, known since Open.
	Size() int64
	// Key names the bytes for a cache: store identity, location and what the store says of the version (size and modification time for
	// local files). Two stores never share a key.
	Key() string
}

// Info is what a listing knows of an entry.
type Info struct {
	Location Location // complete, in the spelling of the request's prefix
	Folder   bool
	Size     int64     // bytes; 0 for a folder
	Modified time.Time // of a folder it may be zero
	Version  string    // what Versioned's Version is of the file, opened; empty: the listing does not say
}

// Store reads one kind of store. It is safe for concurrent use. A missing object is fault.NotFound, a refused one fault.Denied, a broken store
// fault.Unavailable.
type Store interface {
	// Open opens a file for ranged reads. The context bounds opening and every later ReadAt. size is the length that metadata states, or -1; a
	// store may trust it to save a request, and a read beyond the true end then fails.
	Open(ctx context.Context, at Location, size int64) (File, error)
	// ReadAll reads a whole file of at most limit bytes (metadata, manifests); a larger one is fault.Exhausted.
	ReadAll(ctx context.Context, at Location, limit int64) ([]byte, error)
	// List yields the direct children of a folder in byte order of their names. A missing folder yields fault.NotFound.
	List(ctx context.Context, folder Location) iter.Seq2[Info, error]
}

// Prober is a Store that tells of one file at less cost than a listing.
type Prober interface {
	// Probe reports whether a file is there; false also where that cannot be told so.
	Probe(ctx context.Context, at Location) bool
}

// Credential is what a catalog vends for a part of a store. The longest prefix of a location wins.
type Credential struct {
	Prefix     Location
	Properties map[string]string // Iceberg's names, such as s3.access-key-id; secret, never logged
	Expires    time.Time         // zero: never
}
