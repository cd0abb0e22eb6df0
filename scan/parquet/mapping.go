package parquet

import (
	"encoding/json"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/kernels"
)

// NameMapping gives field ids to the fields of files that carry none (the table property schema.name-mapping.default). It is immutable.
type NameMapping struct{ fields []mappedField }

type mappedField struct {
	ID     *int          `json:"field-id"`
	Names  []string      `json:"names"`
	Fields []mappedField `json:"fields"`
}

// ParseNameMapping reads the JSON of a name mapping.
func ParseNameMapping(text string) (*NameMapping, error) {
	m := &NameMapping{}
	if err := json.Unmarshal([]byte(text), &m.fields); err != nil {
		return nil, fault.New(fault.Invalid, "name mapping: %w", err)
	}
	if err := uniqueNames(m.fields); err != nil {
		return nil, err
	}
	return m, nil
}

// uniqueNames refuses a level at which a name stands for two fields: which is meant cannot be told.
func uniqueNames(fields []mappedField) error {
	seen := map[string]bool{}
	for _, f := range fields {
		own := map[string]bool{}
		for _, name := range f.Names {
			if seen[name] && !own[name] {
				return fault.New(fault.Invalid, "name mapping: two fields are named %q", name)
			}
			seen[name], own[name] = true, true
		}
		if err := uniqueNames(f.Fields); err != nil {
			return err
		}
	}
	return nil
}

// apply gives a copy of e's children with the ids of the mapping where they have none of their own; what it does not name stays without, and what
// it gives the id of another one too.
func apply(fields []mappedField, e *element) *element {
	out := *e
	out.children = make([]*element, len(e.children))
	for i, c := range e.children {
		if c == nil {
			continue
		}
		m := find(fields, mappedName(e.kind, i, c.name))
		child := apply(m.Fields, c)
		if child.id == noID && m.ID != nil && !slices.ContainsFunc(e.children, func(o *element) bool { return o != nil && o.id == *m.ID }) {
			child.id = *m.ID
		}
		out.children[i] = child
	}
	return &out
}

// mappedName is how a mapping calls a child: lists and maps have fixed names, whatever the file calls them.
func mappedName(parent kernels.Kind, i int, name string) string {
	switch parent {
	case kernels.List:
		return "element"
	case kernels.Map:
		return [...]string{"key", "value"}[i]
	}
	return name
}

func find(fields []mappedField, name string) mappedField {
	for _, f := range fields {
		for _, n := range f.Names {
			if n == name {
				return f
			}
		}
	}
	return mappedField{}
}

// NamesOf maps the names of fields, at every depth, to their ids: for files without ids of a format that is matched by name then.
func NamesOf(fields []arrow.Field) *NameMapping { return &NameMapping{namesOf(fields)} }

func namesOf(fields []arrow.Field) []mappedField {
	var out []mappedField
	for _, f := range fields {
		m := mappedField{Names: []string{f.Name}}
		if id, ok := FieldID(f); ok {
			m.ID = &id
		}
		switch t := f.Type.(type) {
		case *arrow.StructType:
			m.Fields = namesOf(t.Fields())
		case *arrow.ListType:
			m.Fields = namesOf([]arrow.Field{named("element", t.ElemField())})
		case *arrow.MapType:
			m.Fields = namesOf([]arrow.Field{named("key", t.KeyField()), named("value", t.ItemField())})
		}
		out = append(out, m)
	}
	return out
}

func named(name string, f arrow.Field) arrow.Field {
	f.Name = name
	return f
}

// Child gives what the mapping says of a name at its level: the id, if there is one, and the mapping of what is inside. Lists and maps hold
// element, key and value.
func (m *NameMapping) Child(name string) (id int, ok bool, inside *NameMapping) {
	f := find(m.fields, name)
	if f.ID != nil {
		id, ok = *f.ID, true
	}
	return id, ok, &NameMapping{f.Fields}
}
