package scantest

import (
	"fmt"
	"math"
	"math/rand"
	"slices"
)

// maker makes fields with ids of their own.
type maker struct {
	r       *rand.Rand
	version int
	next    int
	reuse   bool              // names of dropped fields
	still   bool              // what is inside of columns does not change
	plain   bool              // names are of letters and digits
	held    func(id int) bool // says whether a field cannot be dropped
}

func (m *maker) id() int {
	m.next++
	return m.next
}

// name is unique, and of all kinds.
func (m *maker) name(id int) string {
	if m.plain {
		return fmt.Sprintf(oneOf(m.r, "c%d", "Pos%d", "column_%d"), id)
	}
	return fmt.Sprintf(oneOf(m.r, "c%d", "c%d", "c%d", "C %d", "é%d", "a.b-%d", "Pos%d"), id)
}

func (m *maker) field(depth int) *field {
	f := &field{id: m.id()}
	f.name, f.required = m.name(f.id), m.r.Intn(6) == 0
	f.typ = m.typ(depth)
	switch {
	case f.typ.kind == unknown:
		f.required = false
	case f.typ.kind == list && m.r.Intn(3) == 0: // such as a file may have as a repeated field alone
		f.required, f.typ.fields[0].required = true, f.typ.fields[0].typ.kind != unknown
	}
	return f
}

// typ makes a type that the format version has, nested at most depth deep.
func (m *maker) typ(depth int) *typ {
	if depth > 0 && m.r.Intn(3) == 0 {
		return m.nested(depth - 1)
	}
	return m.primitive(m.r.Intn(20) > 0)
}

func (m *maker) nested(depth int) *typ {
	switch m.r.Intn(4) {
	case 0:
		e := m.part(depth)
		e.name = "element"
		if m.r.Intn(3) == 0 {
			e.required = e.typ.kind != unknown
		}
		return &typ{kind: list, fields: []*field{e}}
	case 1:
		k, v := &field{id: m.id(), name: "key", required: true}, m.part(depth)
		k.typ, v.name = m.primitive(false), "value"
		for !k.typ.compared() || k.typ.kind == float || k.typ.kind == double {
			k.typ = m.primitive(false)
		}
		return &typ{kind: mapping, fields: []*field{k, v}}
	}
	return m.structure(depth)
}

func (m *maker) structure(depth int) *typ {
	out := &typ{kind: structure}
	for range 1 + m.r.Intn(3) {
		out.fields = append(out.fields, m.field(depth))
	}
	return out
}

// part is what a list or a map holds: often a struct, which changes inside.
func (m *maker) part(depth int) *field {
	f := m.field(depth)
	if depth > 0 && m.r.Intn(2) == 0 {
		f.typ = m.structure(depth - 1)
	}
	return f
}

func (m *maker) primitive(promotable bool) *typ {
	kinds := []kind{boolean, integer, integer, long, float, double, decimal, decimal, date, clock, timestamp, timestampTZ, text, text, uuid, fixed, binary}
	if m.version > 2 {
		kinds = append(kinds, timestampNS, timestampTZNS)
		if !promotable {
			kinds = append(kinds, unknown, geometry, variants, variants)
		}
	}
	t := &typ{kind: oneOf(m.r, kinds...)}
	switch t.kind {
	case decimal:
		t.precision = oneOf(m.r, 4, 9, 12, 18, 25, 38)
		t.scale = m.r.Intn(min(t.precision, 6))
		if t.precision < 4+t.scale {
			t.scale = 0
		}
	case fixed:
		t.length = 1 + m.r.Intn(20)
	}
	return t
}

// evolve gives the next schema: a copy with a few changes. Fields that are frozen stay, since partitions are by them.
func (m *maker) evolve(s *schema, frozen func(id int) bool) *schema {
	out := &schema{id: s.id + 1, fields: cloneFields(s.fields)}
	for range 1 + m.r.Intn(4) {
		out.fields = m.change(out.fields, frozen, true)
	}
	return out
}

// change makes one change among fields or inside of one of them.
func (m *maker) change(fields []*field, frozen func(id int) bool, top bool) []*field {
	if nested := slices.IndexFunc(fields, func(f *field) bool { return f.typ.nested() && !m.still && m.r.Intn(2) == 0 }); nested >= 0 {
		m.inside(fields[nested].typ, frozen)
		return fields
	}
	i := m.r.Intn(len(fields))
	f := fields[i]
	switch m.r.Intn(6) {
	case 0, 1:
		return slices.Insert(fields, m.r.Intn(len(fields)+1), m.added(""))
	case 2:
		if len(fields) < 2 || m.held(f.id) || top && len(fields) < 3 {
			return fields
		}
		fields = slices.Delete(fields, i, i+1)
		if m.reuse && m.r.Intn(2) == 0 { // another of the same name
			fields = append(fields, m.added(f.name))
		}
	case 3:
		f.name = m.name(m.id())
	case 4:
		m.r.Shuffle(len(fields), func(a, b int) { fields[a], fields[b] = fields[b], fields[a] })
	case 5:
		m.promote(f, frozen)
	}
	return fields
}

func (m *maker) inside(t *typ, frozen func(id int) bool) {
	switch t.kind {
	case structure:
		t.fields = m.change(t.fields, frozen, false)
	case list, mapping:
		e := t.fields[len(t.fields)-1]
		if e.typ.nested() {
			m.inside(e.typ, frozen)
		} else {
			m.promote(e, frozen)
		}
	}
}

// added is a new field, which old rows have no value of: optional, or with an initial default.
func (m *maker) added(name string) *field {
	f := m.field(1)
	f.required = false
	if name != "" {
		f.name = name
	}
	if m.version < 3 || !f.typ.compared() || m.r.Intn(2) == 0 {
		return f
	}
	v := randomValue(m.r, f.typ)
	if n, ok := v.(float64); ok && (math.IsNaN(n) || math.IsInf(n, 0)) {
		return f
	}
	f.initial, f.required = v, m.r.Intn(2) == 0
	return f
}

// promote makes a field's type wider, where it can be.
func (m *maker) promote(f *field, frozen func(id int) bool) {
	switch f.typ.kind {
	case integer:
		f.typ.kind = long
	case float:
		f.typ.kind = double
	case decimal:
		f.typ.precision = min(38, f.typ.precision+1+m.r.Intn(12))
	case date:
		if m.version > 2 && !frozen(f.id) && f.initial == nil {
			f.typ.kind = timestamp // and not nanoseconds, which the first and the last day are out of the range of
		}
	}
}
