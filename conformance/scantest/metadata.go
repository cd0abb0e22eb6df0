package scantest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// branch is the name of the branch that every table has beside main, and tag that of its tag. Both are at the middle snapshot.
const (
	branch = "side"
	tag    = "marked"
)

func (s *spec) fieldsJSON() []any {
	out := []any{}
	for _, f := range s.fields {
		out = append(out, map[string]any{"field-id": f.id, "source-id": f.source, "name": f.name, "transform": f.transform.String()})
	}
	return out
}

// location is the table's metadata file.
func (t *table) location() string { return filepath.Join(t.dir, "v1.metadata.json") }

// middle is the commit that branch and tag are at.
func (t *table) middle() *commit { return t.commits[len(t.commits)/2] }

// save writes the metadata file.
func (t *table) save() error {
	var schemas, specs, snapshots, log []any
	for _, s := range t.schemas {
		schemas = append(schemas, map[string]any{"type": "struct", "schema-id": s.id, "fields": fieldsJSON(s.fields)})
	}
	for _, s := range t.specs {
		specs = append(specs, map[string]any{"spec-id": s.id, "fields": s.fieldsJSON()})
	}
	var parent *commit
	for i, c := range t.commits {
		s := map[string]any{"snapshot-id": c.id, "timestamp-ms": 1_700_000_000_000 + int64(i)*1000, "manifest-list": c.list, "schema-id": c.schema.id,
			"summary": map[string]string{"operation": "append"}}
		if c.version > 1 {
			s["sequence-number"] = c.sequence
		}
		if parent != nil {
			s["parent-snapshot-id"] = parent.id
		}
		if c.version > 2 {
			s["first-row-id"], s["added-rows"] = 0, 0
		}
		snapshots, parent = append(snapshots, s), c
		log = append(log, map[string]any{"snapshot-id": c.id, "timestamp-ms": s["timestamp-ms"]})
	}
	last := t.commits[len(t.commits)-1]
	m := map[string]any{"format-version": t.version, "table-uuid": fmt.Sprintf("00000000-0000-0000-0000-%012d", t.seed), "location": t.dir,
		"last-updated-ms": 1_800_000_000_000, "last-column-id": t.make.next, "current-schema-id": t.schema().id, "schemas": schemas,
		"default-spec-id": t.specs[len(t.specs)-1].id, "partition-specs": specs, "last-partition-id": t.nextPart, "default-sort-order-id": 0,
		"sort-orders": []any{map[string]any{"order-id": 0, "fields": []any{}}}, "snapshots": snapshots, "snapshot-log": log, "current-snapshot-id": last.id,
		"refs": map[string]any{"main": map[string]any{"snapshot-id": last.id, "type": "branch"}, branch: map[string]any{"snapshot-id": t.middle().id, "type": "branch"},
			tag: map[string]any{"snapshot-id": t.middle().id, "type": "tag"}}, "properties": map[string]string{}}
	switch t.version {
	case 1:
		m["schema"], m["partition-spec"] = schemas[len(schemas)-1], t.specs[len(t.specs)-1].fieldsJSON()
		delete(m, "refs")
	case 3:
		m["next-row-id"] = t.nextRow
		fallthrough
	default:
		m["last-sequence-number"] = last.sequence
	}
	if t.mapping {
		text, err := json.Marshal(t.nameMapping())
		if err != nil {
			return err
		}
		m["properties"] = map[string]string{"schema.name-mapping.default": string(text)}
		t.has("name mapping")
	}
	raw, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return os.WriteFile(t.location(), raw, 0o600)
}

// nameMapping maps every name that a field ever had to the field. Tables that have one give no name to two fields.
func (t *table) nameMapping() []any {
	var levels [][]*field
	for _, s := range t.schemas {
		levels = append(levels, s.fields)
	}
	return mappingOf(levels)
}

func mappingOf(levels [][]*field) []any {
	var ids []int
	names, inner := map[int][]string{}, map[int][][]*field{}
	for _, fields := range levels {
		for _, f := range fields {
			if names[f.id] == nil {
				ids = append(ids, f.id)
			}
			if !slices.Contains(names[f.id], f.name) {
				names[f.id] = append(names[f.id], f.name)
			}
			inner[f.id] = append(inner[f.id], f.typ.fields)
		}
	}
	out := []any{}
	for _, id := range ids {
		m := map[string]any{"field-id": id, "names": append([]string{}, names[id]...)}
		if fields := mappingOf(inner[id]); len(fields) > 0 {
			m["fields"] = fields
		}
		out = append(out, m)
	}
	return out
}
