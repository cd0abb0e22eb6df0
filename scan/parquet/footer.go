// Package parquet reads Parquet files for a scan: the footer, which of its row groups a task owns and statistics let live, where the
// columns of a table are found in it, and the fallback decoder behind kernels.Decoder, which takes every column. It knows nothing of
// tables, deletes or plans.
package parquet

import (
	"context"
	"encoding/binary"

	"github.com/apache/arrow-go/v18/parquet/metadata"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/kernels/pages"
	"github.com/skua-data/skua/storage"
)

const (
	tailSize   = 8         // footer length and magic
	tailRead   = 64 << 10  // read at once from the end of a file at hand: most footers are smaller
	footerMost = 512 << 20 // a longer footer is refused
	magicPlain = "PAR1"
	magicCrypt = "PARE"
)

// File is an open Parquet file whose footer was read and checked. It is safe for concurrent use.
type File struct {
	*footer
	name    string
	file    storage.File
	ahead   ahead
	codecs  *codecs // of dictionaries that are read to prune
	uncount func()  // ends the counting of the footer for the statement
}

// footer is what a file says of itself. It is immutable and may be shared by those that open the same file.
type footer struct {
	metadata *metadata.FileMetaData
	root     *element // ids as the file has them
	first    []int64  // ordinal of each row group's first row
	start    []int64  // byte offset at which each row group starts
	size     int64    // of the file
	length   int64    // of the footer, in bytes
	tail     []byte   // what was read from the end of a remote file
	version  string   // of a remote file
}

// Open reads and checks the footer of f. Every error names the file by name; the File owns f and closes it, also when Open fails.
func Open(ctx context.Context, f storage.File, name string) (*File, error) {
	return (*Footers)(nil).Open(ctx, f, name)
}

// open does it without closing f. A remote file of up to whole bytes is read at once.
func open(ctx context.Context, f storage.File, whole int64) (_ *footer, err error) {
	defer fault.Recover(&err, fault.Corrupt, "read the footer")
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	out := &footer{size: f.Size()}
	raw, err := out.read(f, whole)
	if err != nil {
		return nil, err
	}
	out.length = int64(len(raw))
	if raw, err = checkFooter(raw); err != nil {
		return nil, err
	}
	if out.metadata, err = metadata.NewFileMetaData(raw, nil); err != nil {
		return nil, fault.New(fault.Corrupt, "footer: %w", err)
	}
	if out.metadata.IsSetEncryptionAlgorithm() {
		return nil, fault.New(fault.Unsupported, "encrypted Parquet files are not supported")
	}
	out.metadata.SetSourceFileSize(out.size)
	out.metadata.WriterVersion() // found out on the first call, which must not be one of several at once
	if out.root, err = buildTree(out.metadata.Schema); err != nil {
		return nil, err
	}
	return out, out.checkRowGroups()
}

// Close closes the file; all readers are closed before.
func (f *File) Close() error {
	f.ahead.close()
	f.uncount()
	return f.file.Close()
}

// Metadata is the file's footer. The caller leaves it as it is.
func (f *File) Metadata() *metadata.FileMetaData { return f.metadata }

// Rows is the number of rows of all row groups together.
func (f *File) Rows() int64 {
	n := len(f.first)
	if n == 0 {
		return 0
	}
	return f.first[n-1] + f.metadata.RowGroups[n-1].NumRows
}

// HasFieldIDs says whether any field of the file, at any depth, carries a field id.
func (f *File) HasFieldIDs() bool { return f.root.hasIDs() }

// RowGroup describes a row group for a decoder; columns come from Match.
func (f *File) RowGroup(ordinal int, columns []kernels.Column) *kernels.RowGroup {
	return &kernels.RowGroup{
		Name: f.name, File: f.bytes(f.file), Near: storage.RemoteOf(f.file) == nil, Metadata: f.metadata, Ordinal: ordinal,
		FirstRow: f.first[ordinal], Rows: f.metadata.RowGroups[ordinal].NumRows, Columns: columns,
	}
}

// read gives the bytes of the thrift structure at the end of a file. Of a remote file it reads more at once, which is kept: a small one needs no
// other request.
func (o *footer) read(f storage.File, whole int64) ([]byte, error) {
	if o.size < tailSize+int64(len(magicPlain)) {
		return nil, fault.New(fault.Corrupt, "%d bytes are too few for a Parquet file", o.size)
	}
	remote := storage.RemoteOf(f)
	tail := make([]byte, min(o.size, tailLength(o.size, remote, whole)))
	if err := pages.ReadAt(f, tail, o.size-int64(len(tail))); err != nil {
		return nil, err
	}
	if remote != nil {
		o.tail, o.version = tail, remote.Version()
	}
	length, err := footerLength(tail[len(tail)-tailSize:], o.size)
	if err != nil {
		return nil, err
	}
	if length+tailSize <= int64(len(tail)) {
		return tail[int64(len(tail))-tailSize-length : len(tail)-tailSize], nil
	}
	have := tail[:len(tail)-tailSize]
	raw := make([]byte, length)
	missing := length - int64(len(have))
	copy(raw[missing:], have)
	return raw, pages.ReadAt(f, raw[:missing], o.size-tailSize-length)
}

// tailLength is how much to read from the end of a file.
func tailLength(size int64, remote storage.Remote, whole int64) int64 {
	if remote == nil {
		return tailRead
	}
	access := remote.Access()
	if size <= max(access.Whole, whole) {
		return size
	}
	return max(access.Tail, tailSize)
}

// footerLength reads the last bytes of a file.
func footerLength(end []byte, size int64) (int64, error) {
	switch string(end[4:]) {
	case magicPlain:
	case magicCrypt:
		return 0, fault.New(fault.Unsupported, "encrypted Parquet files are not supported")
	default:
		return 0, fault.New(fault.Corrupt, "not a Parquet file: it ends in %q", end[4:])
	}
	length := int64(binary.LittleEndian.Uint32(end))
	if length > size-tailSize-int64(len(magicPlain)) || length > footerMost {
		return 0, fault.New(fault.Corrupt, "footer of %d bytes in a file of %d", length, size)
	}
	return length, nil
}

// checkRowGroups refuses footers whose numbers cannot be, and fills first and start.
func (f *footer) checkRowGroups() error {
	leaves, size := f.metadata.Schema.NumColumns(), f.size
	var rows int64
	for i, group := range f.metadata.RowGroups {
		if group.NumRows < 0 || rows > 1<<62-group.NumRows {
			return fault.New(fault.Corrupt, "row group %d has %d rows", i, group.NumRows)
		}
		if len(group.Columns) != leaves {
			return fault.New(fault.Corrupt, "row group %d has %d columns and the schema %d", i, len(group.Columns), leaves)
		}
		start := int64(-1)
		for leaf, chunk := range group.Columns {
			if chunk.CryptoMetadata != nil || chunk.MetaData == nil {
				return fault.New(fault.Unsupported, "encrypted Parquet columns are not supported")
			}
			if chunk.FilePath != nil && *chunk.FilePath != "" {
				return fault.New(fault.Unsupported, "Parquet column chunks in another file (%s) are not supported", *chunk.FilePath)
			}
			column := f.metadata.Schema.Column(leaf)
			m := chunk.MetaData
			from := m.DataPageOffset
			if d := m.DictionaryPageOffset; d != nil && *d > 0 && *d < from {
				from = *d
			}
			if start < 0 {
				start = from
			}
			if m.NumValues < 0 || (column.MaxRepetitionLevel() == 0 && m.NumValues != group.NumRows) ||
				(column.MaxRepetitionLevel() > 0 && m.NumValues < group.NumRows) {
				return fault.New(fault.Corrupt, "column %s has %d values in the %d rows of row group %d", column.Path(), m.NumValues, group.NumRows, i)
			}
			if m.NumValues > 0 && (from < 0 || m.TotalCompressedSize < 0 || from > size || m.TotalCompressedSize > size-from) {
				return fault.New(fault.Corrupt, "column %s of row group %d lies at %d+%d in a file of %d bytes", column.Path(), i, from, m.TotalCompressedSize, size)
			}
		}
		f.first, f.start = append(f.first, rows), append(f.start, max(start, 0))
		rows += group.NumRows
	}
	return nil
}
