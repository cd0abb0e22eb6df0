package parquet

import (
	"slices"
	"sort"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/kernels"
)

const fieldIDKey = "PARQUET:field_id"

// Match is where a wanted field is in a file.
type Match struct {
	Present bool
	Column  kernels.Column
	// Variants are the shredded variants in the column. Their parts are given in their place, so that the column's type is not the wanted
	// one until each is put together.
	Variants []Shredding
}

// Match finds each wanted field, in order. A file with field ids is matched by them at every depth, and those of its columns that have none by
// names, where there is a mapping; a file without ids by names too; else by position, ids counting from 1, as Iceberg does: inside structs the fields then stand for each other in order where both
// sides have as many, else by name. A wanted child of a struct that the file lacks is a Missing node. Types that do not go together are an
// error that names the column and both.
func (f *File) Match(want []arrow.Field, names *NameMapping) ([]Match, error) {
	m := matcher{root: f.root}
	switch {
	case names != nil:
		m.root = apply(names.fields, f.root)
	case f.HasFieldIDs():
	default:
		m.byPosition = true
	}
	return f.match(m, want)
}

type matcher struct {
	root       *element
	byPosition bool
	at         []int // the way from the column to the node that is being matched
	shredded   []Shredding
}

// inside matches the child of a node.
func (m *matcher) inside(child int, want arrow.Field, e *element, path []string) (kernels.Node, error) {
	m.at = append(m.at, child)
	defer func() { m.at = m.at[:len(m.at)-1] }()
	return m.node(want, e, path)
}

// top finds a top-level field.
func (m *matcher) top(want arrow.Field) (*element, int) {
	id, ok := FieldID(want)
	if !ok {
		return nil, 0
	}
	if m.byPosition {
		if id < 1 || id > len(m.root.children) {
			return nil, 0
		}
		return m.root.children[id-1], id - 1
	}
	for i, e := range m.root.children {
		if e.id == id {
			return e, i
		}
	}
	return nil, 0
}

// FieldID reads a field's Iceberg field id.
func FieldID(f arrow.Field) (int, bool) { return kernels.FieldID(f) }

func (m *matcher) node(want arrow.Field, e *element, path []string) (kernels.Node, error) {
	n := kernels.Node{Field: want, Leaf: e.leaf, Def: e.levels.def, Rep: e.levels.rep, Ancestor: e.levels.ancestor}
	var err error
	switch t := want.Type.(type) {
	case *arrow.NullType:
		return n, nil
	case *arrow.StructType:
		if isVariant(t) {
			return m.variant(want, e, path)
		}
		if e.kind != kernels.Struct || e.variant {
			return n, mismatch(path, e, want.Type)
		}
		n.Kind = kernels.Struct
		n.Children, err = m.children(t, e, path)
		n.Leaf = levelsLeaf(n.Children, e)
		if err == nil && len(m.shredded) > 0 {
			n.Field.Type = structOf(n.Children)
		}
	case *arrow.ListType:
		keysOnly := e.kind == kernels.Map && e.children[1] == nil // which the format calls a set
		if e.kind != kernels.List && !keysOnly {
			return n, mismatch(path, e, want.Type)
		}
		n.Kind, n.Children = kernels.List, make([]kernels.Node, 1)
		n.Children[0], err = m.inside(0, t.ElemField(), e.children[0], append(path, "element"))
		n.Leaf = n.Children[0].Leaf
		if err == nil && len(m.shredded) > 0 {
			n.Field.Type = arrow.ListOfField(n.Children[0].Field)
		}
	case *arrow.MapType:
		if e.kind != kernels.Map {
			return n, mismatch(path, e, want.Type)
		}
		n.Kind = kernels.Map
		n.Children, err = m.pair(t, e, path)
		n.Leaf = n.Children[0].Leaf
		if err == nil && len(m.shredded) > 0 {
			n.Field.Type = arrow.MapOfFields(n.Children[0].Field, n.Children[1].Field)
		}
	default:
		if e.kind != kernels.Leaf {
			return n, mismatch(path, e, want.Type)
		}
		n.Kind = kernels.Leaf
		if _, reason := conversionOf(e.column, want.Type); reason != "" {
			return n, fault.New(fault.Unsupported, "column %s: reading %s as %s is not supported%s", strings.Join(path, "."), describe(e), want.Type, reason)
		}
	}
	return n, err
}

// pair matches the key and the value of a map; a file's map may have keys only.
func (m *matcher) pair(t *arrow.MapType, e *element, path []string) ([]kernels.Node, error) {
	key, err := m.inside(0, t.KeyField(), e.children[0], append(path, "key"))
	inner := e.levels.entry()
	value := kernels.Node{Field: t.ItemField(), Leaf: key.Leaf, Def: inner.def, Rep: inner.rep, Ancestor: inner.ancestor}
	if err == nil && e.children[1] != nil {
		value, err = m.inside(1, t.ItemField(), e.children[1], append(path, "value"))
	}
	return []kernels.Node{key, value}, err
}

func mismatch(path []string, e *element, want arrow.DataType) error {
	return fault.New(fault.Unsupported, "column %s: reading %s as %s is not supported", strings.Join(path, "."), describe(e), want)
}

// children matches the fields of a struct.
func (m *matcher) children(t *arrow.StructType, e *element, path []string) ([]kernels.Node, error) {
	out := make([]kernels.Node, t.NumFields())
	for i, field := range t.Fields() {
		c := m.child(t, i, e)
		if c == nil {
			out[i] = kernels.Node{Field: field, Leaf: e.leaf, Def: e.levels.def, Rep: e.levels.rep, Ancestor: e.levels.ancestor}
			continue
		}
		var err error
		if out[i], err = m.inside(i, field, c, append(path, field.Name)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (m *matcher) child(t *arrow.StructType, i int, e *element) *element {
	field := t.Field(i)
	if m.byPosition {
		if t.NumFields() == len(e.children) {
			return e.children[i]
		}
		at := slices.IndexFunc(e.children, func(c *element) bool { return c.name == field.Name })
		if at < 0 {
			return nil
		}
		return e.children[at]
	}
	id, ok := FieldID(field)
	if !ok {
		return nil
	}
	at := slices.IndexFunc(e.children, func(c *element) bool { return c.id == id })
	if at < 0 {
		return nil
	}
	return e.children[at]
}

// levelsLeaf chooses the leaf whose levels tell a struct's nulls: one that is read anyway if there is one, and the least repeated of them.
func levelsLeaf(children []kernels.Node, e *element) int {
	repetition := map[int]int16{}
	e.leaves(func(l *element) { repetition[l.leaf] = l.column.MaxRepetitionLevel() })
	best := -1
	consider := func(leaf int) {
		if best < 0 || repetition[leaf] < repetition[best] {
			best = leaf
		}
	}
	for i := range children {
		if children[i].Kind != kernels.Missing {
			consider(children[i].Leaf)
		}
	}
	if best < 0 {
		e.leaves(func(l *element) { consider(l.leaf) })
	}
	return max(best, 0)
}

// leavesOf gives the leaves that a node needs, ascending.
func leavesOf(n *kernels.Node) []int {
	var out []int
	var walk func(*kernels.Node)
	walk = func(n *kernels.Node) {
		out = append(out, n.Leaf)
		for i := range n.Children {
			if n.Children[i].Kind != kernels.Missing {
				walk(&n.Children[i])
			}
		}
	}
	walk(n)
	sort.Ints(out)
	return slices.Compact(out)
}

// describe names an element's type in a file's own words.
func describe(e *element) string {
	switch {
	case e.variant:
		return "a variant"
	case e.kind == kernels.Struct:
		return "a group"
	case e.kind == kernels.List:
		return "a list"
	case e.kind == kernels.Map:
		return "a map"
	}
	out := e.column.PhysicalType().String()
	if logical := e.column.LogicalType(); logical != nil && logical.String() != "None" {
		out += " (" + logical.String() + ")"
	}
	return out
}
