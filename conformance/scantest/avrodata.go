package scantest

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
)

// writeAvro writes rows as an Avro file and gives its size.
func (t *table) writeAvro(name string, fields []*field, rows []record, withIDs bool) int64 {
	t.has("Avro files")
	if !withIDs && !avroNames(fields) {
		withIDs = true // the names of the mapping cannot be those of the file
	}
	if !withIDs {
		t.has("Avro files without field ids")
	}
	a := &avroLayout{t: t, withIDs: withIDs, last: map[*field]bool{}}
	schema := a.record("table", 0, fields)
	w := &avroWriter{}
	for _, row := range rows {
		a.put(w, &typ{kind: structure, fields: fields}, row)
	}
	raw := avroFile(schema, nil, len(rows), w.Bytes(), t.r.Intn(2) == 0)
	if err := os.WriteFile(name, raw, 0o600); err != nil {
		panic(err)
	}
	return int64(len(raw))
}

var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// avroNames says whether all names are such as Avro can have.
func avroNames(fields []*field) bool {
	return !slices.ContainsFunc(fields, func(f *field) bool { return !plainName.MatchString(f.name) || !avroNames(f.typ.fields) })
}

// avroLayout chooses how fields lie in an Avro file.
type avroLayout struct {
	t       *table
	withIDs bool
	last    map[*field]bool // null is the second branch of the union
	records int
}

func (a *avroLayout) record(name string, id int, fields []*field) any {
	a.records++
	out := []any{}
	for _, f := range fields {
		m := map[string]any{"name": avroName(f.name), "type": a.optional(f)}
		if m["name"] != f.name {
			m["iceberg-field-name"] = f.name
		}
		if a.withIDs {
			m["field-id"] = f.id
		}
		if !f.required && !a.last[f] {
			m["default"] = nil
		}
		out = append(out, m)
	}
	return recordOf(fmt.Sprintf("%s%d_%d", name, id, a.records), out...)
}

// optional is a field's type, in a union with null where it may be null.
func (a *avroLayout) optional(f *field) any {
	inner := a.typ(f)
	if f.required || f.typ.kind == unknown {
		return inner
	}
	if a.last[f] = a.t.r.Intn(4) == 0; a.last[f] {
		return []any{inner, "null"}
	}
	return []any{"null", inner}
}

func (a *avroLayout) typ(f *field) any {
	with := func(m map[string]any, ids map[string]int) any {
		if a.withIDs {
			for key, id := range maps.All(ids) {
				m[key] = id
			}
		}
		return m
	}
	switch t := f.typ; t.kind {
	case unknown:
		return "null"
	case structure:
		return a.record("r", f.id, t.fields)
	case list:
		return with(map[string]any{"type": "array", "items": a.optional(t.fields[0])}, map[string]int{"element-id": t.fields[0].id})
	case mapping:
		k, v := t.fields[0], t.fields[1]
		if k.typ.kind == text {
			return with(map[string]any{"type": "map", "values": a.optional(v)}, map[string]int{"key-id": k.id, "value-id": v.id})
		}
		return map[string]any{"type": "array", "logicalType": "map", "items": a.record("kv", f.id, t.fields)}
	case variants:
		a.records++
		return map[string]any{"type": "record", "name": fmt.Sprintf("v%d_%d", f.id, a.records), "logicalType": "variant", "fields": []any{
			map[string]any{"name": "metadata", "type": "bytes"}, map[string]any{"name": "value", "type": "bytes"}}}
	case decimal, uuid, fixed: // named types are each their own
		a.records++
		m := avroType(t, f.id)
		m.(map[string]any)["name"] = fmt.Sprintf("n%d_%d", f.id, a.records)
		return m
	}
	return avroType(f.typ, f.id)
}

// put writes a value.
func (a *avroLayout) put(w *avroWriter, t *typ, v any) {
	switch t.kind {
	case unknown:
	case structure:
		for _, f := range t.fields {
			a.field(w, f, v.(record)[f.id])
		}
	case list:
		w.items(len(v.([]any)), func(i int) { a.field(w, t.fields[0], v.([]any)[i]) })
	case mapping:
		w.items(len(v.([][2]any)), func(i int) {
			e := v.([][2]any)[i]
			a.put(w, t.fields[0].typ, e[0])
			a.field(w, t.fields[1], e[1])
		})
	case variants:
		keys := v.(*variantValue).keys()
		w.octets(variantMetadata(keys))
		w.octets(v.(*variantValue).encode(keys))
	case geometry:
		w.octets(v.([]byte))
	default:
		w.value(t, v)
	}
}

func (a *avroLayout) field(w *avroWriter, f *field, v any) {
	if f.required || f.typ.kind == unknown {
		a.put(w, f.typ, v)
		return
	}
	w.long(int64(rank((v == nil) == a.last[f])))
	if v != nil {
		a.put(w, f.typ, v)
	}
}
