package storage

import "errors"

// Versioned is what a File knows of its version: of the same place another time there may be other bytes. Files that wrap another give it as Unwrap; use VersionedOf.
type Versioned interface {
	// Version is what the store says of the bytes that were read so far, such as an ETag, or size and modification time of a local file; empty: nothing was
	// read, or the store has none.
	Version() string
	// Expect lets later reads fail with ErrChanged where the store has another version, so that what was kept of a file is never joined with bytes of another. It
	// comes before the first read.
	Expect(version string)
}

// ErrChanged is in the chain of errors that say that a file is not, or no longer, the one that was meant.
var ErrChanged = errors.New("the file was changed")

// VersionedOf gives f, or the file that it wraps, where that one has a version; nil: it has none.
func VersionedOf(f File) Versioned { return wrapped[Versioned](f) }

// wrapped gives f, or the file that it wraps, as what it is more than a File.
func wrapped[T any](f File) (none T) {
	for {
		if known, ok := f.(T); ok {
			return known
		}
		outer, ok := f.(interface{ Unwrap() File })
		if !ok {
			return none
		}
		f = outer.Unwrap()
	}
}
