package engine

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/predicate"
	"github.com/skua-data/skua/scan"
)

// nameTest is what a filter of a table about tables asks of the names of catalogs, schemas and tables. The zero value asks nothing.
type nameTest struct {
	expr   predicate.Expr // nil: nothing
	terms  []scan.Term    // the names in another case that expr reads
	tables *regexp.Regexp // matches the name of every table for which expr may hold; nil: that of any
}

// add adds a condition, if it asks of nothing but names.
func (n *nameTest) add(e predicate.Expr) {
	if slices.ContainsFunc(predicate.Fields(e), func(f predicate.Field) bool { return n.nameOf(TableEntry{}, f) == nil }) {
		return
	}
	if n.expr == nil {
		n.expr = e
	} else {
		n.expr = predicate.And{Left: n.expr, Right: e}
	}
	if n.tables == nil {
		n.tables = n.namesOf(e)
	}
}

// source gives the column behind a field, and the case that it is brought into; empty: it stands as it is.
func (n *nameTest) source(f predicate.Field) (column, transform string) {
	for _, t := range n.terms {
		if t.ID == f.ID {
			return t.Source.Path[0], t.Transform
		}
	}
	return f.Path[0], ""
}

// nameOf gives what a column that names a catalog, a schema or a table holds of an entry; nil: it is none of those.
func (n *nameTest) nameOf(e TableEntry, f predicate.Field) *string {
	column, transform := n.source(f)
	name := e.Name
	switch column {
	case "table_catalog", "constraint_catalog":
		name = e.Catalog
	case "table_schema", "constraint_schema":
		name = e.Schema
	case "table_name":
	default:
		return nil
	}
	switch transform {
	case scan.Lower:
		name = strings.ToLower(name)
	case scan.Upper:
		name = strings.ToUpper(name)
	}
	return &name
}

// namesOf gives the expression of the names of tables for which a condition may hold; nil: any.
func (n *nameTest) namesOf(e predicate.Expr) *regexp.Regexp {
	var field predicate.Field
	var texts []string
	end := "$"
	switch e := e.(type) {
	case predicate.Comparison:
		if text, ok := e.Value.Value.(string); ok && e.Op == predicate.Eq {
			field, texts = e.Field, []string{text}
		}
	case predicate.In:
		field = e.Field
		for _, v := range e.Values {
			text, ok := v.Value.(string)
			if !ok {
				return nil
			}
			texts = append(texts, text)
		}
	case predicate.StartsWith:
		field, texts, end = e.Field, []string{e.Prefix}, ""
	}
	if len(texts) == 0 || len(texts) > maxPoints || slices.ContainsFunc(texts, func(t string) bool { return !utf8.ValidString(t) }) {
		return nil
	}
	column, transform := n.source(field)
	if column != "table_name" {
		return nil
	}
	for i, text := range texts {
		texts[i] = regexp.QuoteMeta(text)
	}
	pattern := "^(?:" + strings.Join(texts, "|") + ")" + end
	if transform != "" { // what other letters than ASCII's become is not told here
		pattern = "(?i:" + pattern + `)|[^\x00-\x7F]`
	}
	names, err := regexp.Compile(pattern)
	if err != nil {
		return nil
	}
	return names
}

// chosen leaves out the tables that the test rules out by their names. An error of the test is left to whoever tests the rows, and so are names in another case with
// letters that are not ASCII's.
func (n *nameTest) chosen(tables []listed) []listed {
	if n.expr == nil || len(tables) == 0 {
		return tables
	}
	columns := nameColumns{test: n, tables: tables}
	defer columns.release()
	keep, err := predicate.Evaluate(n.expr, len(tables), &columns, memory.DefaultAllocator)
	if err != nil {
		return tables
	}
	defer keep.Release()
	left := 0
	for i := range tables {
		if keep.IsValid(i) && keep.Value(i) || len(n.terms) > 0 && !isASCII(tables[i].out) {
			tables[left] = tables[i]
			left++
		}
	}
	return tables[:left]
}

// isASCII reports whether the names of a table have no other letters than ASCII's.
func isASCII(e TableEntry) bool {
	return !strings.ContainsFunc(e.Catalog+e.Schema+e.Name, func(r rune) bool { return r >= utf8.RuneSelf })
}

// nameColumns are the names of tables as columns.
type nameColumns struct {
	test   *nameTest
	tables []listed
	made   []arrow.Array
}

// Column makes the column of a field.
func (c *nameColumns) Column(f predicate.Field) (arrow.Array, error) {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	for _, t := range c.tables {
		b.Append(*c.test.nameOf(t.out, f))
	}
	c.made = append(c.made, b.NewArray())
	return c.made[len(c.made)-1], nil
}

func (c *nameColumns) release() {
	for _, a := range c.made {
		a.Release()
	}
}
