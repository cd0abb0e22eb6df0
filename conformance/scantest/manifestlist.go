package scantest

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
)

// listed is a field of a manifest list: its schema, and how a manifest's value is written.
type listed struct {
	schema   map[string]any
	optional bool // writers may leave it out
	write    func(w *avroWriter, m *manifest)
}

// writeList writes the manifest list of a commit. Writers differ in which optional fields they have, and in what order.
func (t *table) writeList(c *commit) {
	t.files++
	c.list = filepath.Join(t.dir, fmt.Sprintf("snap-%04d.avro", t.files))
	columns := t.listColumns()
	if t.r.Intn(4) == 0 {
		t.r.Shuffle(len(columns), func(a, b int) { columns[a], columns[b] = columns[b], columns[a] })
		t.has("manifest lists in another order")
	}
	if t.r.Intn(4) == 0 {
		columns = slices.DeleteFunc(columns, func(l listed) bool { return l.optional })
		t.has("manifest lists without optional fields")
	}
	fields := []any{}
	for _, l := range columns {
		fields = append(fields, l.schema)
	}
	w := &avroWriter{}
	for _, m := range c.manifests {
		if t.version > 2 {
			t.number(m)
		}
		for _, l := range columns {
			l.write(w, m)
		}
	}
	metadata := map[string]string{"format-version": fmt.Sprint(t.version), "snapshot-id": fmt.Sprint(c.id), "sequence-number": fmt.Sprint(c.sequence)}
	if t.r.Intn(4) == 0 {
		metadata = nil
		t.has("manifest lists that state nothing")
	}
	raw := avroFile(recordOf("manifest_file", fields...), metadata, len(c.manifests), w.Bytes(), t.r.Intn(2) == 0)
	if err := os.WriteFile(c.list, raw, 0o600); err != nil {
		panic(err)
	}
}

// listColumns are the fields of a manifest list in the order of the specification.
func (t *table) listColumns() []listed {
	out := []listed{
		{avroField(500, "manifest_path", "string"), false, func(w *avroWriter, m *manifest) { w.text(m.path) }},
		{avroField(501, "manifest_length", "long"), false, func(w *avroWriter, m *manifest) { w.long(m.size) }},
		{avroField(502, "partition_spec_id", "int"), false, func(w *avroWriter, m *manifest) { w.long(int64(m.spec.id)) }},
	}
	if t.version > 1 {
		out = append(out, listed{avroField(517, "content", "int"), false, func(w *avroWriter, m *manifest) { w.long(int64(rank(m.deletes))) }},
			listed{avroField(515, "sequence_number", "long"), false, func(w *avroWriter, m *manifest) { w.long(m.sequence) }},
			listed{avroField(516, "min_sequence_number", "long"), false, func(w *avroWriter, m *manifest) { w.long(m.least) }})
	}
	out = append(out, listed{avroField(503, "added_snapshot_id", "long"), false, func(w *avroWriter, m *manifest) { w.long(m.snapshot) }})
	for i, name := range []string{"added", "existing", "deleted"} {
		status := []int{1, 0, 2}[i]
		out = append(out, t.listCount(504+i, name+"_files_count", "int", func(m *manifest) int64 { files, _ := m.counts(); return files[status] }))
	}
	for i, name := range []string{"added", "existing", "deleted"} {
		status := []int{1, 0, 2}[i]
		out = append(out, t.listCount(512+i, name+"_rows_count", "long", func(m *manifest) int64 { _, rows := m.counts(); return rows[status] }))
	}
	summary := recordOf("r508", avroField(509, "contains_null", "boolean"), optionalField(518, "contains_nan", "boolean"), optionalField(510, "lower_bound", "bytes"),
		optionalField(511, "upper_bound", "bytes"))
	out = append(out, listed{optionalField(507, "partitions", map[string]any{"type": "array", "items": summary, "element-id": 508}), true, func(w *avroWriter, m *manifest) {
		w.optional(t.r.Intn(5) > 0, func() { w.items(len(m.spec.fields), func(i int) { m.writeSummary(w, i) }) })
	}}, listed{optionalField(519, "key_metadata", "bytes"), true, func(w *avroWriter, _ *manifest) { w.optional(false, nil) }})
	if t.version > 2 {
		out = append(out, listed{optionalField(520, "first_row_id", "long"), false, func(w *avroWriter, m *manifest) {
			w.optional(m.firstRow != nil, func() { w.long(*m.firstRow) })
		}})
	}
	return out
}

// listCount is a count, which the first format version may lack.
func (t *table) listCount(id int, name, typ string, of func(m *manifest) int64) listed {
	if t.version == 1 {
		return listed{optionalField(id, name, typ), true, func(w *avroWriter, m *manifest) { w.optional(t.r.Intn(4) > 0, func() { w.long(of(m)) }) }}
	}
	return listed{avroField(id, name, typ), false, func(w *avroWriter, m *manifest) { w.long(of(m)) }}
}

// counts are files and rows by status.
func (m *manifest) counts() (files, rows [3]int64) {
	for _, e := range m.entries {
		files[e.status]++
		if e.file != nil {
			rows[e.status] += int64(len(e.file.rows))
		} else {
			rows[e.status] += e.deletes.records
		}
	}
	return files, rows
}

// writeSummary writes what the values of a partition field are in a manifest.
func (m *manifest) writeSummary(w *avroWriter, i int) {
	f := m.spec.fields[i]
	source := m.source(f)
	var low, high any
	null, nan := false, false
	for _, e := range m.entries {
		tuple := []any(nil)
		if e.file != nil {
			tuple = e.file.tuple
		} else {
			tuple = e.deletes.tuple
		}
		v := tuple[i]
		n, isFloat := v.(float64)
		switch {
		case v == nil:
			null = true
			continue
		case isFloat && math.IsNaN(n):
			nan = true
			continue
		}
		if low == nil || order(v, low) < 0 {
			low = v
		}
		if high == nil || order(v, high) > 0 {
			high = v
		}
	}
	w.boolean(null)
	w.optional(true, func() { w.boolean(nan) })
	w.optional(low != nil, func() { w.octets(single(f.result(source), low)) })
	w.optional(high != nil, func() { w.octets(single(f.result(source), high)) })
}
