package parquet

import (
	"bytes"
	"context"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/predicate"
)

// FuzzFooter opens a file with an arbitrary footer and asks it for columns by id, by a mapping and by position, and which row groups a filter
// leaves.
func FuzzFooter(f *testing.F) {
	paths, err := filepath.Glob("testdata/*.parquet")
	if err != nil || len(paths) == 0 {
		f.Fatal(paths, err)
	}
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		n := int(binary.LittleEndian.Uint32(raw[len(raw)-8:]))
		f.Add(raw[len(raw)-8-n : len(raw)-8])
	}
	names, err := ParseNameMapping(`[{"field-id":1,"names":["id","i"]},{"field-id":2,"names":["s"],"fields":[{"field-id":3,"names":["element"]}]}]`)
	if err != nil {
		f.Fatal(err)
	}
	number := arrow.Field{Name: "n", Type: arrow.PrimitiveTypes.Int64, Nullable: true, Metadata: arrow.NewMetadata([]string{fieldIDKey}, []string{"1"})}
	text := arrow.Field{Name: "s", Type: arrow.BinaryTypes.String, Nullable: true, Metadata: arrow.NewMetadata([]string{fieldIDKey}, []string{"2"})}
	filter := predicate.Comparison{Op: predicate.Gt, Field: predicate.Field{ID: 1, Type: number.Type}, Value: predicate.Literal{Type: number.Type, Value: int64(3)}}
	f.Fuzz(func(t *testing.T, footer []byte) {
		raw := append(append([]byte("PAR1"), make([]byte, 4096)...), footer...)
		raw = append(binary.LittleEndian.AppendUint32(raw, uint32(len(footer))), "PAR1"...)
		file, err := Open(context.Background(), memoryFile{bytes.NewReader(raw)}, "damaged.parquet")
		if err != nil {
			blame(t, err)
			return
		}
		for _, mapping := range []*NameMapping{nil, names} {
			for _, want := range []arrow.Field{number, text} {
				m, err := file.Match([]arrow.Field{want}, mapping)
				if err != nil {
					blame(t, err)
					continue
				}
				file.RowGroups(0, math.MaxInt64, filter, func(id int) (Match, bool) { return m[0], id == 1 && m[0].Present && want.Name == "n" })
			}
		}
	})
}
