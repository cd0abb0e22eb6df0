package scantest

import (
	"fmt"
	"path/filepath"
	"slices"
)

// Field ids of the columns of position delete files.
const (
	idPath = 1<<31 - 1 - 101
	idPos  = 1<<31 - 1 - 102
)

// delete makes delete files against what is live in a commit. It gives those that are new; vectors that they replace are gone from the commit.
func (t *table) delete(c *commit) []*deleteFile {
	var out []*deleteFile
	for range 1 + t.r.Intn(3) {
		var made []*deleteFile
		switch t.r.Intn(3) {
		case 0:
			made = t.deleteByValue(c)
		case 1:
			if t.version > 2 {
				made = t.deleteByVector(c, out)
				break
			}
			fallthrough
		default:
			made = t.deleteByPosition(c)
		}
		out = append(out, made...)
		c.deletes = append(c.deletes, made...)
	}
	return slices.DeleteFunc(out, func(d *deleteFile) bool { return !slices.Contains(c.deletes, d) })
}

func (t *table) deletePath(extension string) string {
	t.files++
	return filepath.Join(t.dir, "data", fmt.Sprintf("delete-%04d.%s", t.files, extension))
}

// peers are the files of a commit in one file's partition that no vector covers.
func (t *table) peers(c *commit) []*dataFile {
	of := c.data[t.r.Intn(len(c.data))]
	name := of.place()
	return slices.DeleteFunc(slices.Clone(c.data), func(f *dataFile) bool {
		return f.place() != name || slices.ContainsFunc(c.deletes, func(d *deleteFile) bool { return d.vector && d.target == f })
	})
}

func (f *dataFile) place() string { return spellTuple(f.spec, f.whole(), f.tuple) }

// whole is a schema that knows the partition's sources, whether or not the file has them.
func (f *dataFile) whole() *schema { return &schema{fields: f.schema.all} }

func (t *table) somePositions(f *dataFile) []int64 {
	var out []int64
	all := t.r.Intn(10) == 0
	for i := range f.rows {
		if all || t.r.Intn(4) == 0 {
			out = append(out, int64(i))
		}
	}
	return out
}

func (t *table) deleteByPosition(c *commit) []*deleteFile {
	files := t.peers(c)
	if len(files) == 0 {
		return nil
	}
	t.has("position deletes")
	if t.r.Intn(2) == 0 {
		files = files[:1]
	}
	d := &deleteFile{path: t.deletePath(t.extension()), spec: files[0].spec, tuple: files[0].tuple, schema: files[0].schema, sequence: c.sequence, positions: map[*dataFile][]int64{}}
	var rows []record
	for _, f := range files {
		positions := t.somePositions(f)
		for _, p := range positions {
			rows = append(rows, record{idPath: f.path, idPos: p})
		}
		d.positions[f] = positions
	}
	if len(rows) == 0 {
		return nil
	}
	if t.r.Intn(3) == 0 { // out of order, and some twice
		t.r.Shuffle(len(rows), func(a, b int) { rows[a], rows[b] = rows[b], rows[a] })
		rows = append(rows, rows[0])
	}
	if len(files) == 1 && t.r.Intn(2) == 0 {
		d.target = files[0]
	}
	fields := []*field{{id: idPath, name: "file_path", required: true, typ: &typ{kind: text}}, {id: idPos, name: "pos", required: true, typ: &typ{kind: long}}}
	d.records = int64(len(rows))
	d.stats = &statistics{}
	if t.r.Intn(2) == 0 {
		d.stats = t.statisticsOf(fields, rows)
		d.stats.whole()
	}
	d.size = t.writeRows(d.path, fields, rows, true)
	return []*deleteFile{d}
}

// deleteByVector writes vectors for some files into one Puffin file. A vector takes over what was deleted of its file before.
func (t *table) deleteByVector(c *commit, before []*deleteFile) []*deleteFile {
	var out []*deleteFile
	name := t.deletePath("puffin")
	var blobs [][]byte
	for _, f := range c.data {
		if t.r.Intn(3) > 0 {
			continue
		}
		positions := t.somePositions(f)
		for _, d := range c.deletes {
			positions = append(positions, d.positions[f]...)
		}
		slices.Sort(positions)
		positions = slices.Compact(positions)
		if len(positions) == 0 {
			continue
		}
		c.deletes = slices.DeleteFunc(c.deletes, func(d *deleteFile) bool { return d.vector && d.target == f })
		out = append(out, &deleteFile{path: name, spec: f.spec, tuple: f.tuple, schema: f.schema, sequence: c.sequence, positions: map[*dataFile][]int64{f: positions},
			target: f, vector: true, records: int64(len(positions)), stats: &statistics{}})
		blobs = append(blobs, vectorBlob(positions))
	}
	if len(out) == 0 {
		return nil
	}
	t.has("deletion vectors")
	if slices.ContainsFunc(out, func(d *deleteFile) bool {
		return slices.ContainsFunc(c.deletes, func(old *deleteFile) bool { return !old.vector && len(old.positions[d.target]) > 0 })
	}) {
		t.has("vectors in place of position deletes")
	}
	size := writePuffin(name, out, blobs)
	for _, d := range out {
		d.size = size
	}
	return out
}

// deleteByValue writes keys, most of them of rows that there are.
func (t *table) deleteByValue(c *commit) []*deleteFile {
	var keys []*field
	for _, f := range reachable(c.schema.fields) {
		if f.typ.compared() && t.r.Intn(3) == 0 {
			keys = append(keys, f)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	keys = keys[:min(len(keys), 3)]
	of := c.data[t.r.Intn(len(c.data))]
	d := &deleteFile{path: t.deletePath(t.extension()), spec: of.spec, tuple: of.tuple, sequence: c.sequence, records: 1}
	if i := slices.IndexFunc(t.specs, func(s *spec) bool { return len(s.fields) == 0 }); i >= 0 && t.r.Intn(3) == 0 {
		d.spec, d.tuple = t.specs[i], nil
	}
	ids := map[int]bool{}
	for _, k := range keys {
		ids[k.id], d.keys = true, append(d.keys, k.id)
	}
	d.schema = &schema{id: c.schema.id, fields: only(c.schema.fields, ids), all: of.schema.all}
	for range 1 + t.r.Intn(4) {
		from := c.data[t.r.Intn(len(c.data))]
		row := record{}
		if i := t.r.Intn(len(from.rows)); t.r.Intn(4) > 0 {
			row = t.project(d.schema.fields, from, from.rows[i])
		} else {
			for _, f := range d.schema.fields {
				row[f.id] = randomField(t.r, f)
			}
		}
		d.rows = append(d.rows, row)
	}
	t.has("equality deletes")
	d.records = int64(len(d.rows))
	d.stats = t.statisticsOf(d.schema.fields, d.rows)
	d.size = t.writeRows(d.path, d.schema.fields, d.rows, true)
	return []*deleteFile{d}
}

// only keeps the fields of some ids, and the structs around them. Parents and keys become optional: any key may be null.
func only(fields []*field, ids map[int]bool) []*field {
	var out []*field
	for _, f := range cloneFields(fields) {
		f.required = false
		if f.typ.kind == structure {
			if f.typ.fields = only(f.typ.fields, ids); len(f.typ.fields) > 0 {
				out = append(out, f)
			}
			continue
		}
		if ids[f.id] {
			out = append(out, f)
		}
	}
	return out
}
