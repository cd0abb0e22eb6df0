package parquet

import (
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/kernels"
)

const noID = -1

// element is a field of a file, with lists and maps freed of their layouts: a list has one child, a map a key and a value (nil where the
// file has keys only), whatever groups the file wraps them in.
type element struct {
	kind     kernels.Kind
	name     string
	id       int
	column   *schema.Column // of a leaf
	leaf     int            // its index, or that of the first leaf below
	variant  bool
	levels   levels
	children []*element
}

// levels are an element's levels as kernels.Node has them.
type levels struct{ def, rep, ancestor int16 }

// entry gives the levels of what a list at l holds.
func (l levels) entry() levels { return levels{def: l.def + 1, rep: l.rep + 1, ancestor: l.def + 1} }

func (e *element) hasIDs() bool {
	if e == nil {
		return false
	}
	if e.id != noID {
		return true
	}
	for _, c := range e.children {
		if c.hasIDs() {
			return true
		}
	}
	return false
}

// leaves calls visit for every leaf below e.
func (e *element) leaves(visit func(*element)) {
	if e == nil {
		return
	}
	if e.kind == kernels.Leaf {
		visit(e)
	}
	for _, c := range e.children {
		c.leaves(visit)
	}
}

type treeBuilder struct {
	schema *schema.Schema
	next   int // index of the next leaf
}

// buildTree gives a struct of the file's top-level fields.
func buildTree(s *schema.Schema) (*element, error) {
	b := &treeBuilder{schema: s}
	root := b.fields(s.Root(), levels{})
	root.id = noID
	if b.next != s.NumColumns() {
		return nil, fault.New(fault.Corrupt, "schema with %d leaves where %d are counted", b.next, s.NumColumns())
	}
	return root, nil
}

// field builds a field with its repetition.
func (b *treeBuilder) field(n schema.Node, l levels) *element {
	switch n.RepetitionType() {
	case parquet.Repetitions.Optional:
		l.def++
	case parquet.Repetitions.Repeated: // outside a LIST or MAP: a list that is never null
		e := &element{kind: kernels.List, name: n.Name(), id: id(n), leaf: b.next, levels: l}
		item := b.body(n, l.entry())
		item.id = noID
		e.children = []*element{item}
		return e
	}
	return b.body(n, l)
}

// body builds a field whose repetition is counted already.
func (b *treeBuilder) body(n schema.Node, l levels) *element {
	group, ok := n.(*schema.GroupNode)
	if !ok {
		e := &element{kind: kernels.Leaf, name: n.Name(), id: id(n), leaf: b.next, column: b.schema.Column(b.next), levels: l}
		b.next++
		return e
	}
	var repeated schema.Node
	if group.NumFields() == 1 && group.Field(0).RepetitionType() == parquet.Repetitions.Repeated {
		repeated = group.Field(0)
	}
	switch group.LogicalType().(type) {
	case schema.ListLogicalType:
		if repeated != nil {
			e := &element{kind: kernels.List, name: n.Name(), id: id(n), leaf: b.next, levels: l}
			e.children = []*element{b.item(group, repeated, l.entry())}
			return e
		}
	case schema.MapLogicalType:
		if pair, ok := repeated.(*schema.GroupNode); ok && (pair.NumFields() == 2 || pair.NumFields() == 1) {
			e := &element{kind: kernels.Map, name: n.Name(), id: id(n), leaf: b.next, levels: l, children: make([]*element, 2)}
			for i := range pair.NumFields() {
				e.children[i] = b.field(pair.Field(i), l.entry())
			}
			return e
		}
	}
	e := b.fields(group, l)
	_, e.variant = group.LogicalType().(schema.VariantLogicalType)
	return e
}

// fields builds a struct.
func (b *treeBuilder) fields(group *schema.GroupNode, l levels) *element {
	e := &element{kind: kernels.Struct, name: group.Name(), id: id(group), leaf: b.next, levels: l}
	for i := range group.NumFields() {
		e.children = append(e.children, b.field(group.Field(i), l))
	}
	return e
}

// item builds a list's element by the format's rules for lists, old and new (LogicalTypes.md, "Lists"): the repeated field is a wrapper
// only where it is a group of one field that is not itself repeated, with none of the names and annotations that make it the element.
func (b *treeBuilder) item(list *schema.GroupNode, repeated schema.Node, l levels) *element {
	group, ok := repeated.(*schema.GroupNode)
	if !ok || group.NumFields() != 1 || group.Name() == "array" || group.Name() == list.Name()+"_tuple" ||
		group.Field(0).RepetitionType() == parquet.Repetitions.Repeated || annotated(group) {
		return b.body(repeated, l)
	}
	return b.field(group.Field(0), l)
}

func annotated(n schema.Node) bool {
	switch n.LogicalType().(type) {
	case schema.ListLogicalType, schema.MapLogicalType:
		return true
	}
	return false
}

func id(n schema.Node) int {
	if v := int(n.FieldID()); v >= 0 {
		return v
	}
	return noID
}
