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
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/kernels/kernelstest"
)

// seeds are small files with many encodings.
func seeds(f *testing.F) {
	paths, err := filepath.Glob("testdata/*.parquet")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw, uint32(0), byte(0))
	}
	for i, l := range kernelstest.Layouts() {
		l.Options = append(l.Options, parquet.WithCompression(compress.Codecs.Uncompressed))
		for _, fields := range [][]arrow.Field{kernelstest.Flat(true)[:14], kernelstest.Nested()} {
			batch := kernelstest.Random(fields, 20, 0.2, int64(i), memory.DefaultAllocator)
			f.Add(kernelstest.Write(f, batch, l), uint32(7), byte(0xff))
			batch.Release()
		}
	}
}

// FuzzRead opens damaged files and reads all their columns: an error or rows, never a panic.
func FuzzRead(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte, at uint32, flip byte) {
		if len(data) > 0 {
			data = bytes.Clone(data)
			data[int(at)%len(data)] ^= flip
		}
		readDamaged(t, data)
	})
}

// readDamaged reads what it can and fails on errors that blame us.
func readDamaged(t *testing.T, data []byte) {
	file, err := Open(context.Background(), memoryFile{bytes.NewReader(data)}, "damaged.parquet")
	if err != nil {
		blame(t, err)
		return
	}
	var columns []kernels.Column
	for i, e := range file.root.children {
		if e.hasNilChild() {
			continue
		}
		m := matcher{root: file.root}
		field := naturalField(e, i+1)
		node, err := m.node(field, e, []string{e.name})
		if err != nil {
			blame(t, err)
			continue
		}
		columns = append(columns, kernels.Column{Field: field, Root: i, Leaves: leavesOf(&node), Node: node})
	}
	for _, g := range file.RowGroups(0, math.MaxInt64, nil, nil) {
		r, err := NewFallback().Open(context.Background(), file.RowGroup(g.Ordinal, columns))
		if err != nil {
			blame(t, err)
			continue
		}
		for i := range columns {
			for from := int64(0); from < min(g.Rows, 3000); from += 1000 {
				batch, err := r.Read(context.Background(), []int{i}, kernels.All(g.Rows), from, 1000)
				if err != nil {
					blame(t, err)
					break
				}
				batch.Release()
			}
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func (e *element) hasNilChild() bool {
	for _, c := range e.children {
		if c == nil || c.hasNilChild() {
			return true
		}
	}
	return false
}

func blame(t *testing.T, err error) {
	t.Helper()
	switch fault.KindOf(err) {
	case fault.Corrupt, fault.Unsupported, fault.Exhausted:
	default:
		t.Fatalf("kind %s: %v", fault.KindOf(err), err)
	}
}

func TestDamagedFilesAreErrors(t *testing.T) {
	whole, err := os.ReadFile("testdata/spark_nested_1.parquet")
	if err != nil {
		t.Fatal(err)
	}
	huge := bytes.Clone(whole)
	binary.LittleEndian.PutUint32(huge[len(huge)-8:], math.MaxUint32)
	encrypted := append(bytes.Clone(whole[:len(whole)-4]), "PARE"...)
	// A schema of one group in another, without end: 20 million levels would overflow any stack.
	deep := []byte{0x15, 0x02, 0x19, 0xfc, 0x80, 0x80, 0x80, 0x01}
	for range 1 << 17 {
		deep = append(deep, 0x48, 0x01, 'a', 0x15, 0x02, 0x00)
	}
	many := []byte{0x15, 0x02, 0x19, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x07, 0x00}
	children := []byte{0x15, 0x02, 0x19, 0x1c, 0x48, 0x01, 'a', 0x15, 0xfe, 0xff, 0xff, 0xff, 0x0f, 0x00, 0x16, 0x00, 0x19, 0x0c, 0x00}
	wide := append([]byte{0x15, 0x02, 0x19, 0xfc}, binary.AppendUvarint(nil, schemaMost+1)...)
	wide = append(wide, bytes.Repeat([]byte{0x48, 0x01, 'a', 0x00}, schemaMost+1)...)
	hollow := append([]byte{0x15, 0x02, 0x39, 0xfc}, binary.AppendUvarint(nil, structuresMost+1)...)
	hollow = append(hollow, make([]byte, structuresMost+2)...)
	for _, c := range []struct {
		name string
		data []byte
		kind fault.Kind
	}{
		{"schema of a quarter of a million columns", footerFile(wide), fault.Unsupported}, {"row groups of one byte each", footerFile(hollow), fault.Unsupported},
		{"empty", nil, fault.Corrupt}, {"magic only", []byte("PAR1PAR1"), fault.Corrupt}, {"text", []byte("a file that is no Parquet file"), fault.Corrupt},
		{"cut", whole[:len(whole)-20], fault.Corrupt}, {"footer longer than the file", huge, fault.Corrupt}, {"encrypted", encrypted, fault.Unsupported},
		{"schema without end", footerFile(deep), fault.Corrupt}, {"list of two billion", footerFile(many), fault.Corrupt}, {"group of two billion", footerFile(children), fault.Corrupt},
		{"data cut away", whole[len(whole)/2:], fault.Corrupt},
	} {
		_, err := Open(context.Background(), memoryFile{bytes.NewReader(c.data)}, "s3://bucket/damaged.parquet")
		if !fault.Is(err, c.kind) || !bytes.Contains([]byte(err.Error()), []byte("s3://bucket/damaged.parquet")) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func footerFile(footer []byte) []byte {
	out := append([]byte("PAR1"), footer...)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(footer)))
	return append(out, "PAR1"...)
}
