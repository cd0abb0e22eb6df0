package parquet

import (
	"bytes"
	"context"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/kernels/kernelstest"
)

// memoryFile is a storage.File of bytes.
type memoryFile struct{ *bytes.Reader }

func (memoryFile) Close() error { return nil }
func (memoryFile) Key() string  { return "memory" }

func openBytes(t testing.TB, data []byte) *File {
	t.Helper()
	f, err := Open(context.Background(), memoryFile{bytes.NewReader(data)}, "memory.parquet")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func matched(t testing.TB, f *File, want []arrow.Field, names *NameMapping) []kernels.Column {
	t.Helper()
	matches, err := f.Match(want, names)
	if err != nil {
		t.Fatal(err)
	}
	var out []kernels.Column
	for i, m := range matches {
		if !m.Present {
			t.Fatalf("%s is missing", want[i].Name)
		}
		out = append(out, m.Column)
	}
	return out
}

func openGroups(t testing.TB, data []byte, want []arrow.Field) []*kernels.RowGroup {
	f := openBytes(t, data)
	columns := matched(t, f, want, nil)
	var out []*kernels.RowGroup
	for _, g := range f.RowGroups(0, 1<<40, nil, nil) {
		out = append(out, f.RowGroup(g.Ordinal, columns))
	}
	return out
}

func TestFallbackPassesTheSuite(t *testing.T) {
	kernelstest.Run(t, NewFallback(), openGroups)
}
