package parquet

import (
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/kernels"
)

// MatchNames finds each wanted field by its name, in any case and at every depth, as Spark does in files that belong to no table format; ids in the file play no
// role. Two fields of a file whose names differ in case alone are refused where one of them is wanted.
func (f *File) MatchNames(want []arrow.Field) ([]Match, error) {
	root, err := byName(want, f.root)
	if err != nil {
		return nil, fault.Wrap(err, "read %s", f.name)
	}
	return f.match(matcher{root: root}, want)
}

// match finds each wanted field by m.
func (f *File) match(m matcher, want []arrow.Field) ([]Match, error) {
	out := make([]Match, len(want))
	for i, field := range want {
		e, root := m.top(field)
		if e == nil {
			continue
		}
		m.at, m.shredded = nil, nil
		node, err := m.node(field, e, []string{field.Name})
		if err != nil {
			return nil, fault.Wrap(err, "read %s", f.name)
		}
		out[i] = Match{Present: true, Column: kernels.Column{Field: node.Field, Root: root, Leaves: leavesOf(&node), Node: node}, Variants: m.shredded}
	}
	return out, nil
}

// byName gives a copy of e whose children have the ids of the wanted fields of their names, and no others.
func byName(want []arrow.Field, e *element) (*element, error) {
	out := *e
	out.children = make([]*element, len(e.children))
	found := map[string]string{}
	for i, c := range e.children {
		if c == nil {
			continue
		}
		child := *c
		child.id = noID
		out.children[i] = &child
		for _, w := range want {
			if !strings.EqualFold(w.Name, c.name) {
				continue
			}
			if other, twice := found[w.Name]; twice {
				return nil, fault.New(fault.Unsupported, "the file has the columns %s and %s, which differ in case alone", other, c.name)
			}
			found[w.Name] = c.name
			inner, err := inside(w, c)
			if err != nil {
				return nil, err
			}
			out.children[i] = inner
		}
	}
	return &out, nil
}

// inside gives a copy of e with the id of a wanted field, and of what is inside of that.
func inside(want arrow.Field, e *element) (*element, error) {
	out := e
	var err error
	switch t := want.Type.(type) {
	case *arrow.StructType:
		if e.kind == kernels.Struct && !e.variant && !isVariant(t) {
			out, err = byName(t.Fields(), e)
		}
	case *arrow.ListType:
		out, err = entries(e, t.ElemField())
	case *arrow.MapType:
		out, err = entries(e, t.KeyField(), t.ItemField())
	}
	if err != nil {
		return nil, err
	}
	copied := *out
	copied.id = noID
	if id, ok := FieldID(want); ok {
		copied.id = id
	}
	return &copied, nil
}

// entries is inside for what a list or a map holds, which has no name of its own.
func entries(e *element, want ...arrow.Field) (*element, error) {
	if e.kind != kernels.List && e.kind != kernels.Map {
		return e, nil
	}
	out := *e
	out.children = make([]*element, len(e.children))
	for i, c := range e.children {
		if c == nil || i >= len(want) {
			out.children[i] = c
			continue
		}
		var err error
		if out.children[i], err = inside(want[i], c); err != nil {
			return nil, err
		}
	}
	return &out, nil
}
