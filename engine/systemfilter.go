package engine

import (
	"slices"

	"github.com/skua-data/skua/predicate"
	"github.com/skua-data/skua/scan"
)

// maxPoints is how many tables that a filter names are looked for one by one, rather than in a listing.
const maxPoints = 64

// ask keeps what a filter, and a test of names in another case, ask of names, so that not every table need be opened. Whoever reads tests the filter itself.
func (s *systemSource) ask(filter predicate.Expr, folded scan.PartitionTest) {
	s.wanted, s.names = map[string][]string{}, nameTest{terms: folded.Terms}
	if filter != nil {
		for _, e := range predicate.Conjuncts(filter) {
			s.names.add(e)
			switch e := e.(type) {
			case predicate.Comparison:
				if e.Op == predicate.Eq {
					s.want(e.Field, e.Value)
				}
			case predicate.In:
				s.want(e.Field, e.Values...)
			}
		}
	}
	if folded.Expr != nil {
		for _, e := range predicate.Conjuncts(folded.Expr) {
			s.names.add(e)
		}
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
