package scantest

import (
	"fmt"
	"maps"
	"math/rand"
	"path/filepath"
	"slices"
	"strings"
)

// table is a random table: what its metadata says, and every row of every file.
type table struct {
	r        *rand.Rand
	seed     int64
	dir      string
	version  int
	make     *maker
	schemas  []*schema
	specs    []*spec
	commits  []*commit
	features map[string]int
	mapping  bool // it has a name mapping, and files without ids
	position bool // its first files have no ids and are read by position
	avro     bool // some files are Avro
	int96    bool // some timestamps are INT96
	theme    theme
	nextRow  int64
	files    int
	nextPart int
}

// commit is a snapshot with all that is live in it.
type commit struct {
	id        int64
	sequence  int64
	version   int // of the format at the time
	schema    *schema
	data      []*dataFile
	deletes   []*deleteFile
	manifests []*manifest
	list      string
}

// dataFile is a data file with its rows.
type dataFile struct {
	path     string
	schema   *schema // its fields are those of the file, in its order
	spec     *spec
	tuple    []any // of the partition, in the types of the schema
	sequence int64
	firstRow int64
	rows     []record
	size     int64
	stats    *statistics
}

// deleteFile holds deletes of one of three kinds: by position, by vector or by value.
type deleteFile struct {
	path      string
	spec      *spec
	tuple     []any
	schema    *schema // at the time, with the file's fields alone where it deletes by value
	sequence  int64
	positions map[*dataFile][]int64
	target    *dataFile // of a vector, or the only one of positions whose manifest says so
	vector    bool
	offset    int64
	length    int64
	keys      []int
	rows      []record
	size      int64
	records   int64
	stats     *statistics
}

// newTable makes a table in an empty folder.
func newTable(r *rand.Rand, seed int64, dir string) *table {
	t := &table{r: r, seed: seed, dir: dir, version: oneOf(r, 1, 2, 2, 3, 3, 3), features: map[string]int{}, nextPart: 1000, theme: themeOf(seed)}
	t.mapping = r.Intn(8) == 0
	t.position = !t.mapping && r.Intn(8) == 0
	t.avro, t.int96 = r.Intn(4) == 0, r.Intn(4) == 0
	t.theme.begin(t)
	t.make = &maker{r: r, version: t.version, reuse: !t.mapping, still: t.position, plain: t.theme == mappedAvro, held: t.held}
	t.schemas = []*schema{t.first()}
	t.addSpec()
	for i := range t.theme.commits(2 + r.Intn(6)) {
		if i > 0 && t.version < 3 && t.theme.upgrades(t, i) {
			t.version++
			t.make.version = t.version
			t.has(fmt.Sprintf("upgrade to version %d", t.version))
		}
		if i > 0 && (r.Intn(3) > 0 || t.theme.evolves()) {
			t.evolve()
		}
		if i > 0 && (r.Intn(3) == 0 || t.theme == droppedSources && i == 1) {
			t.addSpec()
		}
		t.commit(int64(i + 1))
	}
	t.has(fmt.Sprintf("format version %d", t.version))
	t.noteDeletes()
	return t
}

// first is the first schema. Where files are read by position, its columns have the ids of their places.
func (t *table) first() *schema {
	out := &schema{}
	n := 2 + t.r.Intn(6)
	if t.position {
		t.make.next = n
	}
	for i := range n {
		f := t.make.field(2)
		if t.position {
			for f.typ.holds(unknown) {
				f = t.make.field(2)
			}
			f.id = i + 1
		}
		if of := t.theme.column(t); i == 0 && of != nil {
			f.typ, f.required = of, false
		}
		if t.version > 2 && i == n-1 && t.r.Intn(3) == 0 {
			f.required, f.typ = false, &typ{kind: variants}
		}
		out.fields = append(out.fields, f)
	}
	return out
}

// evolve adds a schema. Columns that rows are deleted by change often.
func (t *table) evolve() {
	before := t.schema()
	after := t.make.evolve(before, t.frozen)
	for _, d := range t.commits[len(t.commits)-1].deletes {
		for _, id := range d.keys {
			i := slices.IndexFunc(after.fields, func(f *field) bool { return f.id == id })
			switch {
			case i < 0 || t.r.Intn(3) > 0:
			case t.r.Intn(2) == 0:
				t.make.promote(after.fields[i], t.frozen)
			case len(after.fields) > 2 && !t.held(id):
				after.fields = slices.Delete(after.fields, i, i+1)
			}
		}
	}
	t.theme.change(t, after)
	t.schemas = append(t.schemas, after)
	t.has("schema evolution")
	for _, what := range changes(before.fields, after.fields, "") {
		t.has(what)
	}
}

// changes names what differs between fields and their later selves.
func changes(before, after []*field, where string) []string {
	var out []string
	for _, f := range after {
		was := among(before, f.id)
		if was == nil {
			out = append(out, "columns added"+where)
			if f.initial != nil {
				out = append(out, "initial defaults"+where)
			}
			continue
		}
		if was.name != f.name {
			out = append(out, "columns renamed"+where)
		}
		if was.typ.kind != f.typ.kind || was.typ.precision != f.typ.precision {
			out = append(out, "columns promoted"+where)
		}
		inside := map[kind]string{structure: " in structs", list: " in lists", mapping: " in maps"}[f.typ.kind]
		if f.typ.kind == structure && where != "" { // of the list or map around it
			inside = where
		}
		if inside != "" && was.typ.kind == f.typ.kind {
			out = append(out, changes(was.typ.fields, f.typ.fields, inside)...)
		}
	}
	for _, f := range before {
		if among(after, f.id) == nil {
			out = append(out, "columns dropped"+where)
		}
	}
	return out
}

// noteDeletes notes what equality deletes are of.
func (t *table) noteDeletes() {
	for _, c := range t.commits {
		sets := map[string]bool{}
		for _, d := range c.deletes {
			if d.keys == nil {
				continue
			}
			sets[fmt.Sprint(d.keys)] = true
			for _, id := range d.keys {
				now, then := path(t.schema().fields, id), path(d.schema.fields, id)
				switch {
				case now == nil:
					t.has("equality deletes of dropped columns")
				case now[len(now)-1].typ.kind != then[len(then)-1].typ.kind || now[len(now)-1].typ.precision != then[len(then)-1].typ.precision:
					t.has("equality deletes of promoted columns")
				}
			}
		}
		if len(sets) > 1 {
			t.has("several sets of equality keys")
		}
	}
}

// name is what the table is called in SQL.
func (t *table) name() string { return fmt.Sprintf("t%d", t.seed) }

func (t *table) has(feature string) { t.features[feature] = 1 }

func (t *table) schema() *schema { return t.schemas[len(t.schemas)-1] }

// frozen says whether a field is the source of a partition: its type changes only as transforms allow.
func (t *table) frozen(id int) bool {
	return slices.ContainsFunc(t.specs, func(s *spec) bool { return t.source(s, id) })
}

// held says whether a field cannot be dropped: the current spec has it as a source, or any spec does in a table of version 1.
func (t *table) held(id int) bool {
	return t.version == 1 && t.frozen(id) || t.source(t.specs[len(t.specs)-1], id)
}

// source says whether a field or one inside of it is a source of a spec.
func (t *table) source(s *spec, id int) bool {
	return slices.ContainsFunc(s.fields, func(f partitionField) bool {
		p := path(t.schema().fields, f.source)
		return slices.ContainsFunc(p, func(on *field) bool { return on.id == id })
	})
}

// within says whether a schema has all sources of a spec.
func (s *spec) within(c *schema) bool {
	return !slices.ContainsFunc(s.fields, func(f partitionField) bool { return path(c.fields, f.source) == nil })
}

// addSpec adds a partition spec over the current schema.
func (t *table) addSpec() {
	s := &spec{id: len(t.specs)}
	if len(t.specs) > 0 && t.theme != droppedSources && t.r.Intn(3) == 0 { // partition by one field less, which stays as void
		last := t.specs[len(t.specs)-1]
		s.fields = slices.Clone(last.fields)
		if len(s.fields) > 0 {
			s.fields[t.r.Intn(len(s.fields))].transform = transform{name: "void"}
			t.has("partition fields that became void")
		}
		t.specs = append(t.specs, s)
		return
	}
	tries := 2 * t.r.Intn(4)
	if t.theme.partitions() {
		tries += 4
	}
	for n := range tries {
		if len(s.fields) == 3 {
			break
		}
		all := reachable(t.schema().fields)
		f := all[t.r.Intn(len(all))]
		transforms := transformsOf(t.r, f.typ)
		if of := t.theme.transform(); n == 0 && of != nil && among(t.schema().fields, t.schemas[0].fields[0].id) != nil {
			f = among(t.schema().fields, t.schemas[0].fields[0].id)
			transforms = of
		}
		if len(transforms) == 0 || slices.ContainsFunc(s.fields, func(p partitionField) bool { return p.source == f.id }) {
			continue
		}
		p := partitionField{id: t.nextPart, source: f.id, transform: oneOf(t.r, transforms...)}
		p.name = fmt.Sprintf(oneOf(t.r, "p%d", "p.%d", "1p-%d"), p.id)
		t.nextPart++
		s.fields = append(s.fields, p)
		t.has("partition by " + p.transform.name)
	}
	if s.id > 0 {
		t.has("spec evolution")
	}
	t.specs = append(t.specs, s)
}

// commit makes a snapshot.
func (t *table) commit(sequence int64) {
	c := &commit{id: 100 + sequence, sequence: sequence, version: t.version, schema: t.schema()}
	var before *commit
	if len(t.commits) > 0 {
		before = t.commits[len(t.commits)-1]
		c.data, c.deletes, c.manifests = slices.Clone(before.data), slices.Clone(before.deletes), slices.Clone(before.manifests)
	}
	if t.version == 1 {
		c.sequence = 0
	}
	removed := t.remove(c)
	var added []*dataFile
	if t.r.Intn(5) > 0 || before == nil || t.theme == droppedSources {
		added = t.append(c)
	}
	c.data = append(c.data, added...)
	var deletes []*deleteFile
	if t.version > 1 && len(c.data) > 0 && t.r.Intn(3) > 0 {
		deletes = t.delete(c)
	}
	t.writeManifests(c, added, deletes, removed)
	t.commits = append(t.commits, c)
}

// remove takes some data files out, as an overwrite does.
func (t *table) remove(c *commit) []*dataFile {
	if len(c.data) == 0 || t.r.Intn(4) > 0 {
		return nil
	}
	t.has("removed files")
	var removed []*dataFile
	c.data = slices.DeleteFunc(c.data, func(f *dataFile) bool {
		gone := t.r.Intn(4) == 0
		if gone {
			removed = append(removed, f)
		}
		return gone
	})
	return removed
}

// append writes rows, one file for each partition that they fall into, or a few.
func (t *table) append(c *commit) []*dataFile {
	specs := slices.DeleteFunc(slices.Clone(t.specs), func(s *spec) bool { return !s.within(c.schema) })
	if len(specs) < len(t.specs) {
		t.has("specs whose source was dropped")
	}
	spec := specs[t.r.Intn(len(specs))]
	rows := 1 + t.r.Intn(30)
	if t.r.Intn(12) == 0 {
		rows = 300 + t.r.Intn(2500)
		t.has("large files")
	}
	groups, tuples := map[string][]record{}, map[string][]any{}
	for range rows {
		row := record{}
		for _, f := range c.schema.fields {
			row[f.id] = randomField(t.r, f)
		}
		tuple := spec.tuple(c.schema, row)
		key := fmt.Sprint(spellTuple(spec, c.schema, tuple), "/", rank(t.r.Intn(6) == 0))
		groups[key], tuples[key] = append(groups[key], row), tuple
	}
	var out []*dataFile
	keys := slices.Sorted(maps.Keys(groups))
	for _, key := range keys[:min(len(keys), 12)] {
		t.files++
		f := &dataFile{path: filepath.Join(t.dir, "data", fmt.Sprintf("data-%04d.%s", t.files, t.extension())), spec: spec, tuple: tuples[key], sequence: c.sequence, firstRow: -1,
			rows: groups[key]}
		bare := t.position && c.schema == t.schemas[0] && formatOf(f.path) == "PARQUET" && t.r.Intn(4) > 0
		if bare {
			f.schema = &schema{id: c.schema.id, fields: cloneFields(c.schema.fields), all: c.schema.fields}
			t.has("files read by position")
		} else {
			f.schema = t.written(c.schema, spec)
		}
		f.stats = t.statisticsOf(f.schema.fields, f.rows)
		f.size = t.writeRows(f.path, f.schema.fields, f.rows, !bare && (!t.mapping || t.r.Intn(2) == 0))
		out = append(out, f)
	}
	return out
}

// tuple is the partition of a row.
func (s *spec) tuple(c *schema, row record) []any {
	var out []any
	for _, f := range s.fields {
		p := path(c.fields, f.source)
		out = append(out, f.apply(p[len(p)-1].typ, dig(p, row)))
	}
	return out
}

// dig follows a path into a row.
func dig(p []*field, row record) any {
	v := any(row)
	for _, f := range p {
		inner, ok := v.(record)
		if !ok {
			return nil
		}
		v = inner[f.id]
	}
	return v
}

// spellTuple names a partition.
func spellTuple(s *spec, c *schema, tuple []any) string {
	out := []string{fmt.Sprint(s.id)}
	for i, f := range s.fields {
		out = append(out, spell(f.result(find(c.fields, f.source).typ), tuple[i]))
	}
	return strings.Join(out, "|")
}

// written is the schema of a file: unknown columns are in none, a few optional ones are left out by some writers, and the order is any.
// Columns of identity partitions may be left out too: the manifest has their value.
func (t *table) written(c *schema, s *spec) *schema {
	out := &schema{id: c.id, fields: cloneFields(c.fields), all: c.fields}
	out.fields = slices.DeleteFunc(out.fields, func(f *field) bool { return f.typ.kind == unknown })
	strip(out.fields)
	if t.r.Intn(3) == 0 {
		t.r.Shuffle(len(out.fields), func(a, b int) { out.fields[a], out.fields[b] = out.fields[b], out.fields[a] })
	}
	if len(out.fields) < 2 || t.r.Intn(4) > 0 {
		return out
	}
	for _, p := range s.fields {
		if p.transform.name != "identity" || len(out.fields) < 2 {
			continue
		}
		if i := slices.IndexFunc(out.fields, func(f *field) bool { return f.id == p.source }); i >= 0 {
			out.fields = slices.Delete(out.fields, i, i+1)
			t.has("files without partition columns")
		}
	}
	return out
}

// strip takes unknown fields out of structs that hold others too.
func strip(fields []*field) {
	for _, f := range fields {
		if f.typ.kind == structure {
			kept := slices.DeleteFunc(slices.Clone(f.typ.fields), func(c *field) bool { return c.typ.kind == unknown })
			if len(kept) > 0 {
				f.typ.fields = kept
			}
		}
		strip(f.typ.fields)
	}
}
