package avro

import (
	"slices"
	"sort"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/predicate"
	"github.com/skua-data/skua/scan/parquet"
	"github.com/skua-data/skua/storage"
)

// File is an open Avro file. It is safe for concurrent use.
type File struct {
	index *Index
	file  storage.File
	name  string
	root  *schema // ids as the file has them, or those that Match gave it
}

// Open takes f over, whose index was read before.
func Open(x *Index, f storage.File, name string) *File {
	return &File{index: x, file: f, name: name, root: x.schema}
}

// Close closes the file.
func (f *File) Close() error { return f.file.Close() }

// HasFieldIDs says whether any field of the file carries a field id.
func (f *File) HasFieldIDs() bool { return f.index.schema.hasIDs() }

// Rows is the number of records in the file.
func (f *File) Rows() int64 { return f.index.rows }

// RowGroups gives the blocks of a byte range as one group: those whose sync marker in front begins in it. The filter proves nothing, since
// blocks have no statistics.
func (f *File) RowGroups(start, length int64, _ predicate.Expr, _ func(int) (parquet.Match, bool)) []parquet.Group {
	blocks := f.index.blocks
	from := sort.Search(len(blocks), func(i int) bool { return blocks[i].mark >= start })
	to := sort.Search(len(blocks), func(i int) bool { return blocks[i].mark-start >= length })
	if from >= to {
		return nil
	}
	last := blocks[to-1]
	g := parquet.Group{Ordinal: from, FirstRow: blocks[from].first, Rows: last.first + last.rows - blocks[from].first}
	if g.Rows == 0 {
		return nil
	}
	return []parquet.Group{g}
}

// Match finds each wanted field in the records: by field id at every depth, or by the mapping's names where the file has no ids, or by the
// names of the wanted fields where a whole file has none and there is no mapping either, as Iceberg does for this format.
func (f *File) Match(want []arrow.Field, names *parquet.NameMapping) ([]parquet.Match, error) {
	root := f.index.schema
	if names == nil && !root.hasIDs() {
		names = parquet.NamesOf(want)
	}
	if names != nil {
		root = withNames(root, names)
	}
	f.root = root
	out := make([]parquet.Match, len(want))
	for i, w := range want {
		at, typ := findField(root, w)
		if at < 0 {
			continue
		}
		node, err := match(w, typ, []string{w.Name})
		if err != nil {
			return nil, fault.Wrap(err, "read %s", f.name)
		}
		out[i] = parquet.Match{Present: true, Column: kernels.Column{Field: w, Root: at, Node: node}}
	}
	return out, nil
}

// withNames gives a copy of a type with the ids that a mapping has for its names, where fields have none of their own.
func withNames(s *schema, names *parquet.NameMapping) *schema {
	out := *s
	switch s.kind {
	case kindRecord:
		out.fields = nil
		for _, f := range s.fields {
			id, ok, inside := names.Child(f.name)
			if !ok || f.id != noID || slices.ContainsFunc(s.fields, func(o field) bool { return o.id == id }) {
				id = f.id
			}
			out.fields = append(out.fields, field{name: f.name, id: id, typ: withNames(f.typ, inside)})
		}
	case kindArray:
		if s.pair() {
			pair := *s.items
			_, _, insideKey := names.Child("key")
			_, _, insideValue := names.Child("value")
			pair.fields = []field{{s.items.fields[0].name, s.items.fields[0].id, withNames(s.items.fields[0].typ, insideKey)},
				{s.items.fields[1].name, s.items.fields[1].id, withNames(s.items.fields[1].typ, insideValue)}}
			out.items = &pair
			break
		}
		_, _, inside := names.Child("element")
		out.items = withNames(s.items, inside)
	case kindMap:
		_, _, inside := names.Child("value")
		out.items = withNames(s.items, inside)
	case kindUnion:
		out.branches = nil
		for _, b := range s.branches {
			out.branches = append(out.branches, withNames(b, names))
		}
	}
	return &out
}

// pair says whether an array holds a map's entries, which is how keys are written that are no strings.
func (s *schema) pair() bool {
	return s.kind == kindArray && s.logical == "map" && s.items.kind == kindRecord && len(s.items.fields) == 2
}

func findField(s *schema, want arrow.Field) (int, *schema) {
	id, ok := parquet.FieldID(want)
	for i, f := range s.fields {
		if ok && f.id == id {
			return i, f.typ
		}
	}
	return -1, nil
}

// match compares a wanted field with what the file has for it, and marks what is missing inside.
func match(want arrow.Field, typ *schema, path []string) (kernels.Node, error) {
	n := kernels.Node{Field: want, Kind: kernels.Leaf}
	value, _, ok := typ.optional()
	if !ok {
		return n, fault.New(fault.Unsupported, "column %s: Avro unions of more than null and a type are not supported", strings.Join(path, "."))
	}
	var err error
	switch t := want.Type.(type) {
	case *arrow.NullType:
		return n, nil
	case *arrow.StructType:
		if value.kind != kindRecord {
			return n, mismatch(path, value, want.Type)
		}
		n.Kind, n.Children = kernels.Struct, make([]kernels.Node, t.NumFields())
		for i, f := range t.Fields() {
			at, inner := findChild(value, f)
			if at < 0 {
				n.Children[i] = kernels.Node{Kind: kernels.Missing, Field: f}
			} else if n.Children[i], err = match(f, inner, append(path, f.Name)); err != nil {
				return n, err
			}
		}
	case *arrow.ListType:
		if value.kind != kindArray {
			return n, mismatch(path, value, want.Type)
		}
		n.Kind, n.Children = kernels.List, make([]kernels.Node, 1)
		n.Children[0], err = match(t.ElemField(), value.items, append(path, "element"))
	case *arrow.MapType:
		key, item := value.entries()
		if item == nil {
			return n, mismatch(path, value, want.Type)
		}
		n.Kind, n.Children = kernels.Map, make([]kernels.Node, 2)
		if n.Children[0], err = match(t.KeyField(), key, append(path, "key")); err == nil {
			n.Children[1], err = match(t.ItemField(), item, append(path, "value"))
		}
	default:
		if convert(value, want.Type) == nil {
			return n, mismatch(path, value, want.Type)
		}
	}
	return n, err
}

// findChild finds a field of a record; the parts of a variant, which have no ids, by their names.
func findChild(s *schema, want arrow.Field) (int, *schema) {
	if _, ok := parquet.FieldID(want); ok {
		return findField(s, want)
	}
	for i, f := range s.fields {
		if f.name == want.Name {
			return i, f.typ
		}
	}
	return -1, nil
}

// entries gives the types of a map's keys and values; nil where the type is no map.
func (s *schema) entries() (key, value *schema) {
	switch {
	case s.kind == kindMap:
		return &schema{kind: kindString}, s.items
	case s.kind == kindArray && s.items.kind == kindRecord && len(s.items.fields) == 2:
		return s.items.fields[0].typ, s.items.fields[1].typ
	}
	return nil, nil
}

func mismatch(path []string, s *schema, want arrow.DataType) error {
	return fault.New(fault.Unsupported, "column %s: reading an Avro %s as %s is not supported", strings.Join(path, "."), s, want)
}
