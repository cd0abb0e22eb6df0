package scantest

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// manifest is a manifest that was written.
type manifest struct {
	path     string
	size     int64
	spec     *spec
	schema   *schema
	deletes  bool
	sequence int64
	snapshot int64
	least    int64 // sequence number of its entries
	entries  []entry
	firstRow *int64
}

// entry is a line of a manifest: one of file and deletes.
type entry struct {
	status  int64 // 0: existing, 1: added, 2: deleted
	file    *dataFile
	deletes *deleteFile
	own     bool // it states its sequence number, instead of inheriting it
	rows    bool // it inherits its first row's id
}

// writeManifests writes the manifests of a commit and the list of all that are live.
func (t *table) writeManifests(c *commit, added []*dataFile, deletes []*deleteFile, removed []*dataFile) {
	var kept []*manifest
	live, vectors := map[*dataFile]bool{}, map[*deleteFile]bool{}
	for _, f := range c.data {
		live[f] = true
	}
	for _, d := range c.deletes {
		vectors[d] = true
	}
	for _, m := range c.manifests {
		gone := slices.ContainsFunc(m.entries, func(e entry) bool { return e.file != nil && !live[e.file] || e.deletes != nil && !vectors[e.deletes] })
		if gone || t.r.Intn(6) == 0 {
			if m = t.rewritten(m, c, live, vectors); m == nil {
				continue
			}
		}
		kept = append(kept, m)
	}
	c.manifests = kept
	bySpec := map[int][]entry{}
	for _, f := range added {
		bySpec[f.spec.id] = append(bySpec[f.spec.id], entry{status: 1, file: f, own: t.r.Intn(3) == 0})
	}
	for _, id := range slices.Sorted(maps.Keys(bySpec)) {
		c.manifests = append(c.manifests, t.writeManifest(&manifest{spec: bySpec[id][0].file.spec, schema: c.schema, entries: bySpec[id], sequence: c.sequence, snapshot: c.id}))
	}
	bySpec = map[int][]entry{}
	for _, d := range deletes {
		bySpec[d.spec.id] = append(bySpec[d.spec.id], entry{status: 1, deletes: d, own: t.r.Intn(3) == 0})
	}
	for _, id := range slices.Sorted(maps.Keys(bySpec)) {
		s := c.schema
		if of := bySpec[id][0].deletes; !of.spec.within(s) {
			s = &schema{id: of.schema.id, fields: of.schema.all}
		}
		c.manifests = append(c.manifests, t.writeManifest(&manifest{spec: bySpec[id][0].deletes.spec, schema: s, entries: bySpec[id], deletes: true, sequence: c.sequence, snapshot: c.id}))
	}
	t.writeList(c)
}

// rewritten is a manifest without what is gone; a line may say so. Nil: nothing is left.
func (t *table) rewritten(m *manifest, c *commit, live map[*dataFile]bool, vectors map[*deleteFile]bool) *manifest {
	out := &manifest{spec: m.spec, schema: m.schema, deletes: m.deletes, sequence: c.sequence, snapshot: c.id, firstRow: m.firstRow}
	some := false
	for _, e := range m.entries {
		if e.status == 2 {
			continue
		}
		e.status, e.own, e.rows = 0, true, false
		if e.file != nil && !live[e.file] || e.deletes != nil && !vectors[e.deletes] {
			if e.status = 2; t.r.Intn(2) == 0 {
				continue
			}
		} else {
			some = true
		}
		out.entries = append(out.entries, e)
	}
	if !some {
		return nil
	}
	t.has("rewritten manifests")
	return t.writeManifest(out)
}

func (t *table) writeManifest(m *manifest) *manifest {
	t.files++
	m.path = filepath.Join(t.dir, fmt.Sprintf("manifest-%04d.avro", t.files))
	m.least = m.sequence
	w := &avroWriter{}
	if t.version > 2 {
		t.number(m)
	}
	for _, e := range m.entries {
		t.writeEntry(w, m, e)
		m.least = min(m.least, e.sequence())
	}
	specJSON, err := json.Marshal(m.spec.fieldsJSON())
	if err != nil {
		panic(err)
	}
	schemaJSON, err := json.Marshal(map[string]any{"type": "struct", "schema-id": m.schema.id, "fields": fieldsJSON(m.schema.fields)})
	if err != nil {
		panic(err)
	}
	content := "data"
	if m.deletes {
		content = "deletes"
	}
	metadata := map[string]string{"schema": string(schemaJSON), "schema-id": fmt.Sprint(m.schema.id), "partition-spec": string(specJSON),
		"partition-spec-id": fmt.Sprint(m.spec.id), "format-version": fmt.Sprint(t.version), "content": content}
	raw := avroFile(t.entrySchema(m), metadata, len(m.entries), w.Bytes(), t.r.Intn(2) == 0)
	if err := os.WriteFile(m.path, raw, 0o600); err != nil {
		panic(err)
	}
	m.size = int64(len(raw))
	return m
}

// number gives a data manifest the id of its first row, where it has none, and ids to the rows of files that have none.
func (t *table) number(m *manifest) {
	if m.deletes || m.firstRow != nil {
		return
	}
	first := t.nextRow
	m.firstRow = &first
	for i, e := range m.entries {
		if e.file.firstRow >= 0 || e.status == 2 {
			continue
		}
		m.entries[i].rows, e.file.firstRow = true, t.nextRow
		t.nextRow += int64(len(e.file.rows))
	}
}

func (e entry) sequence() int64 {
	if e.file != nil {
		return e.file.sequence
	}
	return e.deletes.sequence
}

// writeEntry writes a line in the order of entrySchema.
func (t *table) writeEntry(w *avroWriter, m *manifest, e entry) {
	w.long(e.status)
	w.optional(true, func() { w.long(m.snapshot) })
	if t.version > 1 {
		own := e.own || e.status != 1
		w.optional(own, func() { w.long(e.sequence()) })
		w.optional(own, func() { w.long(e.sequence()) })
		w.long(e.content())
	}
	name, size, records, stats, tuple := "", int64(0), int64(0), (*statistics)(nil), []any(nil)
	if e.file != nil {
		name, size, records, stats, tuple = e.file.path, e.file.size, int64(len(e.file.rows)), e.file.stats, e.file.tuple
	} else {
		name, size, records, stats, tuple = e.deletes.path, e.deletes.size, e.deletes.records, e.deletes.stats, e.deletes.tuple
	}
	w.text(name)
	w.text(formatOf(name))
	for i, f := range m.spec.fields {
		w.optional(tuple[i] != nil, func() { w.value(f.result(m.source(f)), tuple[i]) })
	}
	w.long(records)
	w.long(size)
	if t.version == 1 {
		w.long(64 << 20)
	}
	writeStatistics(w, stats)
	if t.version > 1 {
		w.optional(e.deletes != nil && e.deletes.keys != nil, func() { w.items(len(e.deletes.keys), func(i int) { w.long(int64(e.deletes.keys[i])) }) })
		w.optional(e.deletes != nil && e.deletes.target != nil, func() { w.text(e.deletes.target.path) })
	}
	if t.version > 2 {
		w.optional(e.file != nil && !e.rows && e.file.firstRow >= 0, func() { w.long(e.file.firstRow) })
		vector := e.deletes != nil && e.deletes.vector
		w.optional(vector, func() { w.long(e.deletes.offset) })
		w.optional(vector, func() { w.long(e.deletes.length) })
	}
}

// source is the column that a partition field is of, as the manifest's schema has it.
func (m *manifest) source(f partitionField) *typ { return find(m.schema.fields, f.source).typ }

func (e entry) content() int64 {
	switch {
	case e.file != nil:
		return 0
	case e.deletes.keys != nil:
		return 2
	}
	return 1
}

func formatOf(name string) string {
	return strings.ToUpper(strings.TrimPrefix(filepath.Ext(name), "."))
}

func writeStatistics(w *avroWriter, s *statistics) {
	for _, counts := range []map[int]int64{s.values, s.nulls, s.nans} {
		w.optional(counts != nil, func() {
			ids := slices.Sorted(maps.Keys(counts))
			w.items(len(ids), func(i int) {
				w.long(int64(ids[i]))
				w.long(counts[ids[i]])
			})
		})
	}
	for _, bounds := range []map[int][]byte{s.lower, s.upper} {
		w.optional(bounds != nil, func() {
			ids := slices.Sorted(maps.Keys(bounds))
			w.items(len(ids), func(i int) {
				w.long(int64(ids[i]))
				w.octets(bounds[ids[i]])
			})
		})
	}
}
