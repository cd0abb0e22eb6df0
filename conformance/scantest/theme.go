package scantest

// theme is what a table has for sure, so that what chance brings seldom is common enough. Tables have themes in turn, by their seeds.
type theme int

const (
	byHour theme = iota
	byYear
	droppedSources // of partition specs
	changedStructs // fields inside of structs change, and so on
	changedLists
	changedMaps
	oldVersion
	upgraded
	mappedAvro // Avro files without ids
	anything
	changedListsOld // in tables of version 2
	byPosition      // files of no ids, read by the places of their columns
	themes
)

func themeOf(seed int64) theme { return theme((seed%int64(themes) + int64(themes)) % int64(themes)) }

// begin sets what a table of the theme is.
func (th theme) begin(t *table) {
	switch th {
	case byHour, byYear:
		t.mapping = t.mapping && t.r.Intn(2) == 0
	case droppedSources:
		t.version = max(t.version, 2)
	case changedStructs, changedLists, changedMaps:
		t.version, t.position = 3, false
	case changedListsOld:
		t.version, t.position = 2, false
	case oldVersion, upgraded:
		t.version = 1
	case byPosition:
		t.mapping, t.position = false, true
	case mappedAvro:
		t.mapping, t.position, t.avro = true, false, true
	}
}

// commits is the number of commits where chance says n.
func (th theme) commits(n int) int {
	if th == anything {
		return n
	}
	return max(n, 4)
}

func (th theme) upgrades(t *table, commit int) bool {
	switch th {
	case oldVersion, changedListsOld:
		return false
	case upgraded:
		return t.version == 1 && commit == 2 || t.version == 2 && t.r.Intn(4) == 0
	}
	return t.r.Intn(4) == 0
}

// evolves says that every commit has a schema of its own.
func (th theme) evolves() bool { return th.inside() || th == droppedSources }

// inside says that what changes is inside of the first column.
func (th theme) inside() bool {
	return th == changedStructs || th == changedLists || th == changedMaps || th == changedListsOld
}

func (th theme) partitions() bool { return th == byHour || th == byYear || th == droppedSources }

// transform is one of what the first column is partitioned by; nil: by whatever chance says.
func (th theme) transform() []transform {
	switch th {
	case byHour:
		return []transform{{name: "hour"}}
	case byYear:
		return []transform{{name: "year"}}
	}
	return nil
}

// column is the type of the first column; nil: any.
func (th theme) column(t *table) *typ {
	inner := func() *typ {
		out := &typ{kind: structure}
		for _, k := range []kind{integer, float, decimal, text} {
			f := &field{id: t.make.id(), typ: &typ{kind: k}}
			if k == decimal {
				f.typ.precision, f.typ.scale = 9, 2
			}
			f.name = t.make.name(f.id)
			out.fields = append(out.fields, f)
		}
		return out
	}
	switch th {
	case byHour, byYear:
		kinds := []kind{timestamp, timestampTZ}
		if t.version > 2 {
			kinds = append(kinds, timestampNS, timestampTZNS)
		}
		return &typ{kind: oneOf(t.r, kinds...)}
	case droppedSources:
		return &typ{kind: oneOf(t.r, integer, long, text, date)}
	case changedStructs:
		return inner()
	case changedLists, changedListsOld:
		return &typ{kind: list, fields: []*field{{id: t.make.id(), name: "element", typ: inner()}}}
	case changedMaps:
		return &typ{kind: mapping, fields: []*field{{id: t.make.id(), name: "key", required: true, typ: &typ{kind: text}}, {id: t.make.id(), name: "value", typ: inner()}}}
	}
	return nil
}

// change changes a new schema as the theme wants.
func (th theme) change(t *table, s *schema) {
	first := among(s.fields, t.schemas[0].fields[0].id)
	switch {
	case th.inside() && first != nil:
		for range 3 {
			t.make.inside(first.typ, t.frozen)
		}
		if th == changedStructs && t.r.Intn(2) == 0 {
			t.make.promote(first.typ.fields[t.r.Intn(len(first.typ.fields))], t.frozen)
		}
	case th == droppedSources && len(t.specs) > 1:
		for _, p := range t.specs[0].fields {
			if f := among(s.fields, p.source); f != nil && len(s.fields) > 2 && !t.held(f.id) {
				kept := s.fields[:0:0]
				for _, o := range s.fields {
					if o != f {
						kept = append(kept, o)
					}
				}
				s.fields = kept
			}
		}
	}
}
