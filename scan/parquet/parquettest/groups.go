// Package parquettest opens Parquet files in memory, for the tests of decoders.
package parquettest

import (
	"bytes"
	"context"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/scan/parquet"
)

// memoryFile is a storage.File of bytes.
type memoryFile struct{ *bytes.Reader }

func (memoryFile) Close() error { return nil }
func (memoryFile) Key() string  { return "memory" }

// Groups opens a file and gives its row groups with the columns wanted, all of which it has.
func Groups(t testing.TB, data []byte, want []arrow.Field) []*kernels.RowGroup {
	t.Helper()
	f, err := parquet.Open(context.Background(), memoryFile{bytes.NewReader(data)}, "memory.parquet")
	if err != nil {
		t.Fatal(err)
	}
	matches, err := f.Match(want, nil)
	if err != nil {
		t.Fatal(err)
	}
	var columns []kernels.Column
	for i, m := range matches {
		if !m.Present {
			t.Fatalf("%s is missing", want[i].Name)
		}
		columns = append(columns, m.Column)
	}
	var out []*kernels.RowGroup
	for _, g := range f.RowGroups(0, 1<<40, nil, nil) {
		out = append(out, f.RowGroup(g.Ordinal, columns))
	}
	return out
}
