package scan

import (
	"context"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/iceberg-go"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/predicate"
	"github.com/skua-data/skua/scan/avro"
	"github.com/skua-data/skua/scan/parquet"
	"github.com/skua-data/skua/storage"
)

// opened is an open data or delete file of any format. It is safe for concurrent use.
type opened interface {
	// Match finds wanted fields in the file.
	Match(want []arrow.Field, names *parquet.NameMapping) ([]parquet.Match, error)
	HasFieldIDs() bool
	// Rows is the number of rows in the file.
	Rows() int64
	// RowGroups lists what of the file belongs to a byte range: ranges that tile the file give each row once.
	RowGroups(start, length int64, filter predicate.Expr, matches func(id int) (parquet.Match, bool)) []parquet.Group
	// Read opens one of them for reading; columns come from Match.
	Read(ctx context.Context, g parquet.Group, columns []kernels.Column) (kernels.Reader, error)
	Close() error
}

// openFormat opens a file of a format, whose columns the decoder reads where the format is Parquet; a remote one of up to whole bytes is read at once. It takes the file over, also when it fails.
func (t *Table) openFormat(ctx context.Context, decoder kernels.Decoder, format iceberg.FileFormat, file storage.File, path string, whole int64) (opened, error) {
	switch strings.ToUpper(string(format)) {
	case string(iceberg.ParquetFile):
		f, err := t.scanner.footers.OpenWhole(ctx, file, path, whole)
		if err != nil {
			return nil, err
		}
		return parquetFile{f, decoder}, nil
	case string(iceberg.AvroFile):
		return t.openAvro(ctx, file, path)
	}
	file.Close()
	return nil, unknownFormat(format, path)
}

// openAvro opens an Avro file. Where its blocks lie is kept: every split needs it.
func (t *Table) openAvro(ctx context.Context, file storage.File, path string) (opened, error) {
	index, err := cached(ctx, t.scanner.cache, "avro "+file.Key(), func() (*avro.Index, int64, error) {
		x, err := avro.ReadIndex(ctx, file, path)
		if err != nil {
			return nil, 0, err
		}
		return x, x.Size(), nil
	})
	if err != nil {
		file.Close()
		return nil, err
	}
	return avro.Open(index, file, path), nil
}

func unknownFormat(format iceberg.FileFormat, path string) error {
	return fault.New(fault.Unsupported, "%s files are not supported: %s", strings.ToUpper(string(format)), path).In(path)
}

// parquetFile reads a Parquet file's row groups with one decoder.
type parquetFile struct {
	*parquet.File
	decoder kernels.Decoder
}

var _ opened = parquetFile{}

func (f parquetFile) Read(ctx context.Context, g parquet.Group, columns []kernels.Column) (kernels.Reader, error) {
	return f.File.Read(ctx, f.decoder, g, columns)
}

// byDictionary prunes row groups whose dictionaries have nothing that the filter keeps.
func (f *openFile) byDictionary(ctx context.Context, groups []parquet.Group) {
	if p, ok := f.file.(parquetFile); ok && f.pushed != nil {
		p.PruneByDictionary(ctx, groups, f.pushed, f.match)
	}
}

// pages selects the rows of a row group whose pages may have something that the filter keeps; nil: all.
func (f *openFile) pages(g parquet.Group) *kernels.Selection {
	p, ok := f.file.(parquetFile)
	if !ok || f.pushed == nil {
		return nil
	}
	if rows, known := f.indexed[g.Ordinal]; known {
		return rows
	}
	if f.indexed == nil {
		f.indexed = map[int]*kernels.Selection{}
	}
	f.indexed[g.Ordinal] = p.Pages(g, f.pushed, f.match)
	return f.indexed[g.Ordinal]
}
