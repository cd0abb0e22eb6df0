package scantest

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
)

// writeList writes the manifest list of a commit.
func (t *table) writeList(c *commit) {
	t.files++
	c.list = filepath.Join(t.dir, fmt.Sprintf("snap-%04d.avro", t.files))
	w := &avroWriter{}
	for _, m := range c.manifests {
		if t.version > 2 {
			t.number(m)
		}
		t.writeListed(w, m)
	}
	raw := avroFile(t.listSchema(), map[string]string{"format-version": fmt.Sprint(t.version), "snapshot-id": fmt.Sprint(c.id), "sequence-number": fmt.Sprint(c.sequence)},
		len(c.manifests), w.Bytes(), t.r.Intn(2) == 0)
	if err := os.WriteFile(c.list, raw, 0o600); err != nil {
		panic(err)
	}
}

// writeListed writes what a list says of a manifest, in the order of listSchema.
func (t *table) writeListed(w *avroWriter, m *manifest) {
	w.text(m.path)
	w.long(m.size)
	w.long(int64(m.spec.id))
	if t.version > 1 {
		w.long(int64(rank(m.deletes)))
		w.long(m.sequence)
		w.long(m.least)
	}
	w.long(m.snapshot)
	var files, rows [3]int64 // by status
	for _, e := range m.entries {
		files[e.status]++
		if e.file != nil {
			rows[e.status] += int64(len(e.file.rows))
		} else {
			rows[e.status] += e.deletes.records
		}
	}
	for _, counts := range [][3]int64{files, rows} {
		for _, n := range []int64{counts[1], counts[0], counts[2]} {
			if t.version == 1 {
				w.optional(true, func() { w.long(n) })
			} else {
				w.long(n)
			}
		}
	}
	w.optional(t.r.Intn(5) > 0, func() { w.items(len(m.spec.fields), func(i int) { m.writeSummary(w, i) }) })
	if t.version > 2 {
		w.optional(m.firstRow != nil, func() { w.long(*m.firstRow) })
	}
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
