package dialect

import (
	"slices"
	"strings"
)

// joinedColumn is a column of what is joined.
type joinedColumn struct {
	text     string
	name     string
	relation int // -1: of several
}

func (j *joinedStar) of(types []Type) (Type, error) { return types[0], nil }

// asking writes the star as it stands, beside a question.
func (j *joinedStar) asking(w *writer, question string) {
	w.pieces(j.star)
	w.text(", " + question + " AS skua_star")
}

func (j *joinedStar) write(w *writer, types []Type) {
	var out []string
	for _, c := range j.columns(w, types) {
		if !slices.ContainsFunc(j.without, func(n [2]string) bool { return j.means(n, c) }) {
			out = append(out, c.text+" AS "+QuoteIdent(c.name))
		}
	}
	if out == nil {
		w.pieces(j.star)
		return
	}
	w.text(strings.Join(out, ", "))
}

// means reports whether a name, maybe with a relation's in front, is a column's.
func (j *joinedStar) means(name [2]string, c joinedColumn) bool {
	return strings.EqualFold(name[1], c.name) && (name[0] == "" || c.relation >= 0 && strings.EqualFold(name[0], j.relations[c.relation].name))
}

func (j *joinedStar) mapped(pieces func([]piece) []piece) typed {
	out := *j
	out.star = pieces(j.star)
	return &out
}

// columns gives the columns of the star in Spark's order; nil: that is not known.
func (j *joinedStar) columns(w *writer, types []Type) []joinedColumn {
	own := j.own(w, types)
	if own == nil {
		return nil
	}
	var all []joinedColumn
	for i, r := range j.relations {
		keys := r.using
		if r.natural {
			keys = sameNames(all, own[i])
		}
		var ok bool
		if all, ok = joinColumns(all, slices.Clone(own[i]), r, keys, own); !ok {
			return nil
		}
	}
	if j.whose == "" {
		return all
	}
	for i, r := range j.relations {
		if strings.EqualFold(r.name, j.whose) {
			return own[i]
		}
	}
	return nil
}

// own gives the columns of each relation; nil: the engine did not tell them.
func (j *joinedStar) own(w *writer, types []Type) [][]joinedColumn {
	var out [][]joinedColumn
	for i, r := range j.relations {
		if r.alone() {
			out = append(out, nil)
			continue
		}
		if len(types) == 0 {
			return nil
		}
		have := fields(types[0])
		types = types[1:]
		if have == nil {
			return nil
		}
		hidden := j.hidden(w, r.name)
		columns := []joinedColumn{}
		for _, f := range have {
			if !slices.ContainsFunc(hidden, func(n string) bool { return strings.EqualFold(n, f.name) }) {
				columns = append(columns, joinedColumn{QuoteIdent(r.name) + "." + QuoteIdent(f.name), f.name, i})
			}
		}
		out = append(out, columns)
	}
	return out
}

// hidden gives the columns of a table that its star leaves out.
func (j *joinedStar) hidden(w *writer, name string) []string {
	if w.Hidden == nil {
		return nil
	}
	for _, p := range j.star {
		if p.level == nil {
			continue
		}
		for _, i := range p.level.tables {
			if strings.EqualFold(w.statement.Tables[i].Alias, name) {
				return w.Hidden(i)
			}
		}
	}
	return nil
}

// sameNames gives the names that columns of both sides have.
func sameNames(left, right []joinedColumn) (out []string) {
	for _, c := range left {
		if find(right, c.name) >= 0 {
			out = append(out, c.name)
		}
	}
	return out
}

func find(columns []joinedColumn, name string) int {
	return slices.IndexFunc(columns, func(c joinedColumn) bool { return strings.EqualFold(c.name, name) })
}

// joinColumns gives the columns of a join, and puts those that it compares first in the relations that they are of; false: one is missing.
func joinColumns(left, right []joinedColumn, r joinedRelation, keys []string, own [][]joinedColumn) (out []joinedColumn, ok bool) {
	first := map[int][]joinedColumn{}
	for _, k := range keys {
		l := find(left, k)
		if l < 0 {
			return nil, false
		}
		key := left[l]
		left = slices.Delete(slices.Clone(left), l, l+1)
		first[key.relation] = append(first[key.relation], key)
		if !r.alone() {
			i := find(right, k)
			if i < 0 {
				return nil, false
			}
			other := right[i]
			right = slices.Delete(right, i, i+1)
			first[other.relation] = append(first[other.relation], other)
			switch r.kind {
			case "RIGHT":
				key = other
			case "FULL":
				key = joinedColumn{"COALESCE(" + key.text + ", " + other.text + ")", key.name, -1}
			}
		}
		out = append(out, key)
	}
	for relation, keys := range first {
		if relation >= 0 {
			own[relation] = toFront(own[relation], keys)
		}
	}
	return append(append(out, left...), right...), true
}

// toFront gives columns with some of them first.
func toFront(columns, first []joinedColumn) []joinedColumn {
	return append(slices.Clone(first), slices.DeleteFunc(slices.Clone(columns), func(c joinedColumn) bool { return slices.Contains(first, c) })...)
}
