package scantest

import (
	"bytes"
	le "encoding/binary"
	"fmt"
	"math"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/parquet/file"

	"github.com/skua-data/skua/fault"
)

// span is a number in a structure of thrift's compact protocol, with the way to it.
type span struct {
	from, to int
	what     string
}

// thriftSpans finds the numbers of structures: values, lengths of bytes, sizes of lists.
type thriftSpans struct {
	b   []byte
	at  int
	out []span
}

func (s *thriftSpans) varint(what string) uint64 {
	v, n := le.Uvarint(s.b[s.at:])
	s.out = append(s.out, span{s.at, s.at + n, what})
	s.at += n
	return v
}

func (s *thriftSpans) structure(path string) {
	for id := 0; ; {
		head := s.b[s.at]
		s.at++
		if head == 0 {
			return
		}
		id += int(head >> 4) // the format's fields have small numbers, so that no head is long
		s.value(head&15, fmt.Sprintf("%s.%d", path, id))
	}
}

func (s *thriftSpans) value(typ byte, path string) {
	switch typ {
	case 3:
		s.at++
	case 4, 5, 6:
		s.varint(path)
	case 7:
		s.at += 8
	case 8:
		s.at += int(s.varint(path + " length"))
	case 9, 10:
		head := s.b[s.at]
		s.at++
		n := uint64(head >> 4)
		if n == 15 {
			n = s.varint(path + " size")
		}
		for i := range n {
			if head&15 <= 2 {
				s.at++
				continue
			}
			s.value(head&15, fmt.Sprintf("%s[%d]", path, i))
		}
	case 12:
		s.structure(path)
	}
}

// absurd are values that numbers of a file are replaced by, as thrift has them.
func absurd() []uint64 {
	var out []uint64
	for _, v := range []int64{-1, 0, 1, 3, 127, 1 << 20, math.MaxInt32, math.MinInt32, math.MaxInt64, math.MinInt64} {
		out = append(out, uint64(v<<1)^uint64(v>>63))
	}
	return out
}

// padded is a varint of some length; false: the value is too long for it.
func padded(v uint64, length int) ([]byte, bool) {
	out := le.AppendUvarint(nil, v)
	if len(out) > length {
		return nil, false
	}
	for len(out) < length {
		out[len(out)-1] |= 0x80
		out = append(out, 0)
	}
	return out, true
}

// tortured is a table of one data file of many types, in several row groups and pages.
func tortured(t *testing.T) (*table, string) {
	t.Helper()
	r := rand.New(rand.NewSource(7))
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "data"), 0o700); err != nil {
		t.Fatal(err)
	}
	x := &table{r: r, dir: dir, version: 2, seed: 1, features: map[string]int{}, nextPart: 1000, specs: []*spec{{}}}
	x.make = &maker{r: r, version: 2, next: 20}
	p := func(k kind) *typ { return &typ{kind: k, precision: 9, scale: 2, length: 5} }
	x.schemas = []*schema{{fields: []*field{
		{id: 1, name: "i", required: true, typ: p(integer)}, {id: 2, name: "s", typ: p(text)}, {id: 3, name: "d", typ: p(decimal)}, {id: 4, name: "f", typ: p(double)},
		{id: 5, name: "l", typ: &typ{kind: list, fields: []*field{{id: 6, name: "element", typ: p(long)}}}},
		{id: 7, name: "m", typ: &typ{kind: mapping, fields: []*field{{id: 8, name: "key", required: true, typ: p(text)}, {id: 9, name: "value", typ: p(boolean)}}}},
		{id: 10, name: "x", typ: &typ{kind: structure, fields: []*field{{id: 11, name: "u", typ: p(uuid)}, {id: 12, name: "t", typ: p(timestamp)}}}},
	}}}
	c := &commit{id: 101, sequence: 1, schema: x.schemas[0]}
	f := &dataFile{path: filepath.Join(dir, "data", "tortured.parquet"), spec: x.specs[0], sequence: 1, schema: &schema{fields: c.schema.fields, all: c.schema.fields}, stats: &statistics{}}
	for range 60 {
		row := record{}
		for _, column := range c.schema.fields {
			row[column.id] = randomField(r, column)
		}
		f.rows = append(f.rows, row)
	}
	f.size = x.writeParquet(f.path, c.schema.fields, f.rows, true)
	c.data = []*dataFile{f}
	x.writeManifests(c, c.data, nil, nil)
	x.commits = []*commit{c}
	if err := x.save(); err != nil {
		t.Fatal(err)
	}
	return x, f.path
}

// TestAbsurdNumbersOfAFileAreErrors replaces every number of a file's footer and page headers by absurd ones: the scan fails and names the file, or
// both decoders give the same rows; never does it panic or ask for memory without bounds.
func TestAbsurdNumbersOfAFileAreErrors(t *testing.T) {
	x, name := tortured(t)
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	q := &query{commit: x.commits[0], schema: x.schemas[0]}
	for _, f := range x.schemas[0].fields {
		q.output = append(q.output, []*field{f})
	}
	want := x.answer(q)
	readers := newReaders()
	for _, r := range readers {
		if got, err := r.read(t.Context(), x, q); err != nil || !slices.Equal(got, want) {
			t.Fatalf("%s: %s, %v", r.name, difference(got, want), err)
		}
	}
	tried, failed := 0, 0
	try := func(what string, changed []byte) {
		if err := os.WriteFile(name, changed, 0o600); err != nil {
			t.Fatal(err)
		}
		tried++
		var rows [][]string
		for _, r := range readers {
			got, err := r.read(t.Context(), x, q)
			if err == nil {
				rows = append(rows, got)
				continue
			}
			failed++
			switch fault.KindOf(err) {
			case fault.Corrupt, fault.Unsupported, fault.Exhausted:
			default:
				t.Errorf("%s, %s: kind %s: %v", what, r.name, fault.KindOf(err), err)
			}
			if text := err.Error(); !strings.Contains(text, name) || strings.Contains(text, "panic") || strings.Contains(text, "runtime error") {
				t.Errorf("%s, %s: %v", what, r.name, err)
			}
		}
		if len(rows) == 2 && !slices.Equal(rows[0], rows[1]) {
			t.Errorf("%s: the decoders differ: %s", what, difference(rows[0], rows[1]))
		}
	}
	footer := int(le.LittleEndian.Uint32(raw[len(raw)-8:]))
	body, structure := raw[:len(raw)-8-footer], raw[len(raw)-8-footer:len(raw)-8]
	spans := &thriftSpans{b: structure}
	spans.structure("footer")
	step := 7
	switch {
	case testing.Short():
		step = 17
	case *tables >= 100: // the long run
		step = 1
	}
	for i := 0; i < len(spans.out); i += step {
		s := spans.out[i]
		for n, v := range absurd() {
			if (n+i)%3 > 0 && testing.Short() {
				continue
			}
			changed := slices.Concat(structure[:s.from], le.AppendUvarint(nil, v), structure[s.to:])
			try(fmt.Sprintf("%s = %#x", s.what, v), slices.Concat(body, changed, le.LittleEndian.AppendUint32(nil, uint32(len(changed))), []byte("PAR1")))
		}
	}
	for _, s := range pageSpans(t, raw) {
		for _, v := range absurd() {
			if number, ok := padded(v, s.to-s.from); ok {
				try(fmt.Sprintf("%s = %#x", s.what, v), slices.Concat(raw[:s.from], number, raw[s.to:]))
			}
		}
	}
	t.Logf("%d changed files, of which readers refused %d", tried, failed)
	if failed < tried/2 {
		t.Errorf("only %d of %d changed files are refused", failed, 2*tried)
	}
}

// pageSpans finds the numbers in the header of each column chunk's first page.
func pageSpans(t *testing.T, raw []byte) []span {
	t.Helper()
	r, err := file.NewParquetReader(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var out []span
	for _, group := range r.MetaData().RowGroups {
		for i, c := range group.Columns {
			at := c.MetaData.DataPageOffset
			if d := c.MetaData.DictionaryPageOffset; d != nil && *d > 0 {
				at = min(at, *d)
			}
			s := &thriftSpans{b: raw, at: int(at)}
			s.structure(fmt.Sprintf("page header of column %d", i))
			out = append(out, s.out...)
		}
	}
	return out
}
