//go:build cgo

package duckdb

import (
	"encoding/json"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/engine/duckdb/dialect"
)

// voids finds the result columns, and the parts of them, that have no type: what is NULL whatever happens, and the elements of empty collections. The engine makes whole
// numbers of them at last; a query in parentheses still tells them apart.
func (p *program) voids(c *connection, s *started, columns *arrow.Schema) {
	if !p.statement.Voids || !p.mayBeVoid(columns) {
		return
	}
	stage := min(p.stage, dialect.FinalTypes)
	text := p.statement.RenderWhole(p.spelling(s.id, stage)).Text
	serialized, err := c.text("SELECT json_serialize_plan(" + literal(text) + ", skip_null := true, skip_empty := true)")
	if err != nil {
		return
	}
	root, err := readPlan(serialized)
	if err != nil {
		return
	}
	for (root.Type == "LOGICAL_MATERIALIZED_CTE" || root.Type == "LOGICAL_RECURSIVE_CTE") && len(root.Children) > 0 {
		root = root.Children[len(root.Children)-1]
	}
	if root.Type != "LOGICAL_PROJECTION" || len(root.Expressions) != columns.NumFields() {
		return
	}
	for i, e := range root.Expressions {
		if e.Class != "BOUND_CAST" || e.Child == nil || p.pushed.kept[i] != nil {
			continue
		}
		if p.pushed.kept == nil {
			p.pushed.kept = map[int]arrow.DataType{}
		}
		p.pushed.kept[i] = e.Child.ReturnType.shape()
	}
}

// mayBeVoid reports whether a column whose type is no table's has whole numbers in it.
func (p *program) mayBeVoid(columns *arrow.Schema) bool {
	for i, f := range columns.Fields() {
		if p.pushed.kept[i] == nil && holdsInt(f.Type) {
			return true
		}
	}
	return false
}

func holdsInt(t arrow.DataType) bool {
	if n, ok := t.(arrow.NestedType); ok {
		for _, f := range n.Fields() {
			if holdsInt(f.Type) {
				return true
			}
		}
	}
	return t.ID() == arrow.INT32
}

// shape gives a type that has its parts and says which of them have no type: the others are one like another.
func (t planType) shape() arrow.DataType {
	var parts []planField
	child := planType{}
	if t.Info != nil {
		_, _ = json.Unmarshal(t.Info.Children, &parts), json.Unmarshal(t.Info.Child, &child)
	}
	switch {
	case t.ID == "NULL":
		return arrow.Null
	case t.ID == "LIST":
		return arrow.ListOf(child.shape())
	case t.ID == "STRUCT":
		fields := make([]arrow.Field, len(parts))
		for i, p := range parts {
			fields[i] = arrow.Field{Name: p.Name, Type: p.Type.shape(), Nullable: true}
		}
		return arrow.StructOf(fields...)
	case t.ID == "MAP":
		if entry, ok := child.shape().(*arrow.StructType); ok && entry.NumFields() == 2 {
			return arrow.MapOf(entry.Field(0).Type, entry.Field(1).Type)
		}
	}
	return arrow.PrimitiveTypes.Int32
}

// planField is a field of a struct's type.
type planField struct {
	Name string   `json:"first"`
	Type planType `json:"second"`
}
