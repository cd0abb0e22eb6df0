package scantest

import (
	"slices"
	"sort"
	"strings"
)

// Field ids of the metadata columns that queries ask for.
const (
	idFile        = 1<<31 - 1 - 1
	idOrdinal     = 1<<31 - 1 - 2
	idDeleted     = 1<<31 - 1 - 3
	idSpec        = 1<<31 - 1 - 4
	idPartition   = 1<<31 - 1 - 5
	idRow         = 1<<31 - 1 - 107
	idLastUpdated = 1<<31 - 1 - 108
)

// metadataColumns are the metadata columns with their types.
func (t *table) metadataColumns() []*field {
	out := []*field{{id: idFile, name: "_file", typ: &typ{kind: text}}, {id: idOrdinal, name: "_pos", typ: &typ{kind: long}},
		{id: idDeleted, name: "_deleted", typ: &typ{kind: boolean}}, {id: idSpec, name: "_spec_id", typ: &typ{kind: integer}}}
	if p := t.partitions(); p != nil {
		out = append(out, &field{id: idPartition, name: "_partition", typ: p})
	}
	if t.version > 2 {
		out = append(out, &field{id: idRow, name: "_row_id", typ: &typ{kind: long}}, &field{id: idLastUpdated, name: "_last_updated_sequence_number", typ: &typ{kind: long}})
	}
	return out
}

// partitions is the type of _partition: all fields of all specs. It is nil where there are none, and where a source was dropped.
func (t *table) partitions() *typ {
	out := &typ{kind: structure}
	for _, s := range t.specs {
		if !s.within(t.schema()) {
			return nil
		}
		for _, f := range s.fields {
			p := path(t.schema().fields, f.source)
			if among(out.fields, f.id) == nil {
				out.fields = append(out.fields, &field{id: f.id, name: f.name, typ: f.result(p[len(p)-1].typ)})
			}
		}
	}
	if len(out.fields) == 0 {
		return nil
	}
	return out
}

// partition is the value of _partition for a file's rows.
func (f *dataFile) partition() record {
	out := record{}
	for i, p := range f.spec.fields {
		out[p.id] = f.tuple[i]
	}
	return out
}

// answer gives the rows of a query as text: in the query's order where it has one, else sorted.
func (t *table) answer(q *query) []string {
	var out []string
	var values [][]any
	marks := slices.ContainsFunc(q.output, func(p []*field) bool { return p[len(p)-1].id == idDeleted })
	fields := append(slices.Clone(q.schema.fields), t.metadataColumns()...)
	for _, f := range q.commit.data {
		for i, stored := range f.rows {
			deleted := q.commit.deleted(t, f, i)
			if deleted && !marks {
				continue
			}
			row := t.project(q.schema.fields, f, stored)
			row[idFile], row[idOrdinal], row[idDeleted], row[idSpec] = f.path, int64(i), deleted, int64(f.spec.id)
			row[idPartition] = f.partition()
			if q.commit.version > 2 { // rows have no ids in what was written before the upgrade
				row[idRow], row[idLastUpdated] = f.firstRow+int64(i), f.sequence
			}
			if q.filter != nil && truth(q.filter, fields, row) != yes {
				continue
			}
			var line []any
			for _, p := range q.output {
				line = append(line, dig(p, row))
			}
			values = append(values, line)
		}
	}
	if q.sorted {
		slices.SortFunc(values, q.compare)
		if q.limit >= 0 {
			values = values[:min(q.limit, len(values))]
		}
	}
	for _, line := range values {
		text := ""
		for i, p := range q.output {
			text += spell(p[len(p)-1].typ, line[i]) + ";"
		}
		out = append(out, text)
	}
	if !q.sorted {
		sort.Strings(out)
	}
	return out
}

// compare orders two rows of a query. Nulls come last unless the query says otherwise; in Spark's dialect first, where values ascend.
func (q *query) compare(a, b []any) int {
	for i, how := range q.order {
		descending, first := strings.Contains(how, "DESC"), q.spark && !strings.Contains(how, "DESC")
		if strings.Contains(how, "NULLS") {
			first = strings.Contains(how, "FIRST")
		}
		c := 0
		switch {
		case a[i] == nil || b[i] == nil:
			if c = rank(a[i] != nil) - rank(b[i] != nil); !first {
				c = -c
			}
		case descending:
			c = order(b[i], a[i])
		default:
			c = order(a[i], b[i])
		}
		if c != 0 {
			return c
		}
	}
	return 0
}

// deleted says whether a row of a data file is deleted in a commit.
func (c *commit) deleted(t *table, f *dataFile, ordinal int) bool {
	return slices.ContainsFunc(c.deletes, func(d *deleteFile) bool {
		if d.keys == nil {
			return d.sequence >= f.sequence && slices.Contains(d.positions[f], int64(ordinal))
		}
		if d.sequence <= f.sequence || len(d.spec.fields) > 0 && !d.spec.void() && d.place() != f.place() {
			return false
		}
		return d.hits(t, f, f.rows[ordinal])
	})
}

// void says whether a spec partitions by nothing.
func (s *spec) void() bool {
	return !slices.ContainsFunc(s.fields, func(f partitionField) bool { return f.transform.name != "void" })
}

func (d *deleteFile) place() string {
	return spellTuple(d.spec, &schema{fields: d.schema.all}, d.tuple)
}

// hits says whether a row has one of the keys. Values are compared as those of the column's newest type.
func (d *deleteFile) hits(t *table, f *dataFile, stored record) bool {
	for _, row := range d.rows {
		equal := true
		for _, id := range d.keys {
			now := t.newest(id)
			own := path(d.schema.fields, id)
			key := promoted(dig(own, row), own[len(own)-1].typ, now[len(now)-1].typ)
			has := t.project(now[:1], f, stored)
			equal = equal && spell(now[len(now)-1].typ, key) == spell(now[len(now)-1].typ, dig(now, has))
		}
		if equal {
			return true
		}
	}
	return false
}

// newest is the way to a field in the newest schema that has it.
func (t *table) newest(id int) []*field {
	for i := len(t.schemas) - 1; i >= 0; i-- {
		if p := path(t.schemas[i].fields, id); p != nil {
			return p
		}
	}
	return nil
}

// project gives a stored row the shape of some fields.
func (t *table) project(fields []*field, f *dataFile, stored record) record {
	out := record{}
	for _, want := range fields {
		out[want.id] = t.shaped(want, among(f.schema.fields, want.id), stored[want.id], f)
	}
	return out
}

// among looks among fields, not inside them.
func among(fields []*field, id int) *field {
	for _, f := range fields {
		if f.id == id {
			return f
		}
	}
	return nil
}

// shaped brings a stored value into the shape of a field; own is what the file has for it, nil: nothing.
func (t *table) shaped(want, own *field, v any, f *dataFile) any {
	if own == nil {
		for i, p := range f.spec.fields {
			if p.source == want.id && p.transform.name == "identity" {
				return promoted(f.tuple[i], find(f.schema.all, want.id).typ, want.typ)
			}
		}
		return want.initial
	}
	if v == nil {
		return nil
	}
	switch want.typ.kind {
	case structure:
		out := record{}
		for _, c := range want.typ.fields {
			out[c.id] = t.shaped(c, among(own.typ.fields, c.id), v.(record)[c.id], f)
		}
		return out
	case list:
		var out []any
		for _, e := range v.([]any) {
			out = append(out, t.shaped(want.typ.fields[0], own.typ.fields[0], e, f))
		}
		return out
	case mapping:
		var out [][2]any
		for _, e := range v.([][2]any) {
			out = append(out, [2]any{e[0], t.shaped(want.typ.fields[1], own.typ.fields[1], e[1], f)})
		}
		return out
	}
	return promoted(v, own.typ, want.typ)
}
