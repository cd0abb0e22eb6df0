// Package avro reads Avro data and delete files for a scan: the blocks of a file, which of them a byte range owns, where the columns of a
// table are found in the records, and the values as Arrow. It knows nothing of tables, deletes or plans, and writes nothing.
package avro

import (
	"slices"
	"sort"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/predicate"
	"github.com/skua-data/skua/scan/avrofile"
	"github.com/skua-data/skua/scan/parquet"
	"github.com/skua-data/skua/storage"
)

// File is an open Avro file. It is safe for concurrent use.
type File struct {
	index *Index
	file  storage.File
	name  string
	root  *avrofile.Type // ids as the file has them, or those that Match gave it
}

// Open takes f over, whose index was read before.
func Open(x *Index, f storage.File, name string) *File {
	return &File{index: x, file: f, name: name, root: x.schema}
}

// Close closes the file.
func (f *File) Close() error { return f.file.Close() }

// HasFieldIDs says whether any field of the file carries a field id.
func (f *File) HasFieldIDs() bool { return f.index.schema.HasIDs() }

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
	if names == nil && !root.HasIDs() {
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
func withNames(s *avrofile.Type, names *parquet.NameMapping) *avrofile.Type {
	out := *s
	switch s.Kind {
	case avrofile.Record:
		out.Fields = nil
		for _, f := range s.Fields {
			id, ok, inside := names.Child(f.Name)
			if !ok || f.ID != avrofile.NoID || slices.ContainsFunc(s.Fields, func(o avrofile.Field) bool { return o.ID == id }) {
				id = f.ID
			}
			out.Fields = append(out.Fields, avrofile.Field{Name: f.Name, ID: id, Type: withNames(f.Type, inside)})
		}
	case avrofile.Array:
		if isPairs(s) {
			pair := *s.Items
			_, _, insideKey := names.Child("key")
			_, _, insideValue := names.Child("value")
			pair.Fields = slices.Clone(s.Items.Fields)
			pair.Fields[0].Type, pair.Fields[1].Type = withNames(pair.Fields[0].Type, insideKey), withNames(pair.Fields[1].Type, insideValue)
			out.Items = &pair
			break
		}
		_, _, inside := names.Child("element")
		out.Items = withNames(s.Items, inside)
	case avrofile.Map:
		_, _, inside := names.Child("value")
		out.Items = withNames(s.Items, inside)
	case avrofile.Union:
		out.Branches = nil
		for _, b := range s.Branches {
			out.Branches = append(out.Branches, withNames(b, names))
		}
	}
	return &out
}

// optional takes a union of null and one type apart: the branch of null, or -1 where a value is always there. False: another union.
func optional(s *avrofile.Type) (value *avrofile.Type, null int, ok bool) {
	if s.Kind != avrofile.Union {
		return s, -1, true
	}
	if len(s.Branches) == 1 {
		return s.Branches[0], -1, s.Branches[0].Kind != avrofile.Union
	}
	if len(s.Branches) != 2 {
		return nil, 0, false
	}
	for i, b := range s.Branches {
		if b.Kind == avrofile.Null {
			other := s.Branches[1-i]
			return other, i, other.Kind != avrofile.Union
		}
	}
	return nil, 0, false
}

// isPairs says whether an array holds a map's entries, which is how keys are written that are no strings.
func isPairs(s *avrofile.Type) bool {
	return s.Kind == avrofile.Array && s.Logical == "map" && s.Items.Kind == avrofile.Record && len(s.Items.Fields) == 2
}

func findField(s *avrofile.Type, want arrow.Field) (int, *avrofile.Type) {
	id, ok := parquet.FieldID(want)
	for i, f := range s.Fields {
		if ok && f.ID == id {
			return i, f.Type
		}
	}
	return -1, nil
}

// match compares a wanted field with what the file has for it, and marks what is missing inside.
func match(want arrow.Field, typ *avrofile.Type, path []string) (kernels.Node, error) {
	n := kernels.Node{Field: want, Kind: kernels.Leaf}
	value, _, ok := optional(typ)
	if !ok {
		return n, fault.New(fault.Unsupported, "column %s: Avro unions of more than null and a type are not supported", strings.Join(path, "."))
	}
	var err error
	switch t := want.Type.(type) {
	case *arrow.NullType:
		return n, nil
	case *arrow.StructType:
		if value.Kind != avrofile.Record {
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
		if value.Kind != avrofile.Array {
			return n, mismatch(path, value, want.Type)
		}
		n.Kind, n.Children = kernels.List, make([]kernels.Node, 1)
		n.Children[0], err = match(t.ElemField(), value.Items, append(path, "element"))
	case *arrow.MapType:
		key, item := entries(value)
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
func findChild(s *avrofile.Type, want arrow.Field) (int, *avrofile.Type) {
	if _, ok := parquet.FieldID(want); ok {
		return findField(s, want)
	}
	for i, f := range s.Fields {
		if f.Name == want.Name {
			return i, f.Type
		}
	}
	return -1, nil
}

// entries gives the types of a map's keys and values; nil where the type is no map.
func entries(s *avrofile.Type) (key, value *avrofile.Type) {
	switch {
	case s.Kind == avrofile.Map:
		return &avrofile.Type{Kind: avrofile.String}, s.Items
	case s.Kind == avrofile.Array && s.Items.Kind == avrofile.Record && len(s.Items.Fields) == 2:
		return s.Items.Fields[0].Type, s.Items.Fields[1].Type
	}
	return nil, nil
}

func mismatch(path []string, s *avrofile.Type, want arrow.DataType) error {
	return fault.New(fault.Unsupported, "column %s: reading an Avro %s as %s is not supported", strings.Join(path, "."), s, want)
}
