package engine

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/predicate"
)

// maxPoints is how many tables that a filter names are looked for one by one, rather than in a listing.
const maxPoints = 64

// ask keeps what a filter asks of names, so that not every table need be opened. Whoever reads tests the filter itself.
func (s *systemSource) ask(filter predicate.Expr) {
	s.wanted, s.names = map[string][]string{}, nil
	if filter == nil {
		return
	}
	var names []predicate.Expr
	for _, e := range predicate.Conjuncts(filter) {
		if !slices.ContainsFunc(predicate.Fields(e), func(f predicate.Field) bool { return nameOf(TableEntry{}, f) == nil }) {
			names = append(names, e)
		}
		switch e := e.(type) {
		case predicate.Comparison:
			if e.Op == predicate.Eq {
				s.want(e.Field, e.Value)
			}
		case predicate.In:
			s.want(e.Field, e.Values...)
		}
	}
	if len(names) > 0 {
		s.names = predicate.Join(names)
	}
}

// want says that a column has one of some values.
func (s *systemSource) want(f predicate.Field, values ...predicate.Literal) {
	column := f.Path[0]
	if _, known := s.wanted[column]; known {
		return
	}
	texts := []string{}
	for _, v := range values {
		text, ok := v.Value.(string)
		if !ok {
			return
		}
		if !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	slices.Sort(texts)
	s.wanted[column] = texts
}

// filters gives filters that together find each table once that may be asked for, where these columns name the schema and the table.
func (s *systemSource) filters(schema, table string) (out []TableFilter) {
	schemas, tables := s.patterns(schema), s.patterns(table)
	if len(schemas)*len(tables) > maxPoints {
		schemas, tables = []*string{nil}, []*string{nil}
	}
	for _, inSchema := range schemas {
		for _, named := range tables {
			out = append(out, TableFilter{Catalog: &s.catalog, SchemaPattern: inSchema, NamePattern: named, names: s.names})
		}
	}
	return out
}

// patterns gives LIKE patterns for the values that the filter takes of a column; one that is nil where it takes any.
func (s *systemSource) patterns(column string) (out []*string) {
	values, asked := s.wanted[column]
	if !asked {
		return []*string{nil}
	}
	for _, v := range values {
		escaped := likeLiteral(v)
		out = append(out, &escaped)
	}
	return out
}

// nameOf gives what a column that names a catalog, a schema or a table holds of an entry; nil: it is none of those.
func nameOf(e TableEntry, f predicate.Field) *string {
	switch f.Path[0] {
	case "table_catalog", "constraint_catalog":
		return &e.Catalog
	case "table_schema", "constraint_schema":
		return &e.Schema
	case "table_name":
		return &e.Name
	}
	return nil
}

// chosen leaves out the tables that a filter rules out by their names. An error of the filter is left to whoever tests the rows.
func chosen(names predicate.Expr, tables []listed) []listed {
	if names == nil || len(tables) == 0 {
		return tables
	}
	columns := nameColumns{tables: tables}
	defer columns.release()
	keep, err := predicate.Evaluate(names, len(tables), &columns, memory.DefaultAllocator)
	if err != nil {
		return tables
	}
	defer keep.Release()
	n := 0
	for i := range tables {
		if keep.IsValid(i) && keep.Value(i) {
			tables[n] = tables[i]
			n++
		}
	}
	return tables[:n]
}

// nameColumns are the names of tables as columns.
type nameColumns struct {
	tables []listed
	made   []arrow.Array
}

// Column makes the column of a field.
func (c *nameColumns) Column(f predicate.Field) (arrow.Array, error) {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	for _, t := range c.tables {
		b.Append(*nameOf(t.out, f))
	}
	c.made = append(c.made, b.NewArray())
	return c.made[len(c.made)-1], nil
}

func (c *nameColumns) release() {
	for _, a := range c.made {
		a.Release()
	}
}
