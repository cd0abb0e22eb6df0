package scan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/iceberg-go"
	"github.com/google/uuid"
)

// randomColumn is a column of a random table. Files of the first schema may have it in a narrower type, or not at all.
type randomColumn struct {
	id       int
	name     string
	first    iceberg.Type // in the first schema; nil: it was added later
	now      iceberg.Type
	required bool
}

// randomFile is a data or delete file that exists in manifests only, with the rows that it would hold.
type randomFile struct {
	path      string
	schema    int // 0 or 1
	spec      int
	partition map[int]any
	tuple     string
	sequence  int64
	rows      [][]any // values in the form of predicate.Literal, by column
	entry     iceberg.DataFile

	content iceberg.ManifestEntryContent
	keys    []int  // of equality deletes
	target  string // the one data file that positions or a vector are for
	vector  bool
}

// randomTable is a table of metadata alone. Its rows are known, so that it can be told which files a scan must not leave out.
type randomTable struct {
	r        *rand.Rand
	dir      string
	version  int
	columns  []randomColumn
	schemas  [2]*iceberg.Schema
	specs    []iceberg.PartitionSpec
	location string
	branch   int64

	live    map[int64][]*randomFile // by snapshot
	deletes map[int64][]*randomFile
	lists   []iceberg.ManifestFile // of the snapshot being made
	n       int
}

// newRandomTable writes a table's metadata into dir.
func newRandomTable(t testing.TB, seed int64, dir string) *randomTable {
	x := &randomTable{r: rand.New(rand.NewSource(seed)), dir: dir, live: map[int64][]*randomFile{}, deletes: map[int64][]*randomFile{}}
	x.version = 2 + x.r.Intn(2)
	x.makeColumns()
	x.makeSpecs()
	var snapshots []map[string]any
	var files, deletes []*randomFile
	var manifests []iceberg.ManifestFile
	for s := range 1 + x.r.Intn(4) {
		id, sequence := int64(100+s), int64(s+1)
		manifests, files, deletes = x.commit(t, id, sequence, manifests, files, deletes)
		x.live[id], x.deletes[id] = slices.Clone(files), slices.Clone(deletes)
		list := filepath.Join(dir, fmt.Sprintf("snap-%d.avro", id))
		var out bytes.Buffer
		if err := iceberg.WriteManifestList(x.version, &out, id, nil, &sequence, 1000*sequence, manifests); err != nil {
			t.Fatal(err)
		}
		write(t, list, out.Bytes())
		// What was inherited is in the list as read.
		read, err := iceberg.ReadManifestList(bytes.NewReader(out.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		manifests = read
		schema := 0
		if s > 0 {
			schema = 1
		}
		snapshots = append(snapshots, map[string]any{"snapshot-id": id, "sequence-number": sequence, "timestamp-ms": 1000 * sequence, "manifest-list": list,
			"schema-id": schema, "summary": map[string]string{"operation": "append"}})
		if x.version == 3 {
			maps.Copy(snapshots[s], map[string]any{"first-row-id": 1000 * sequence, "added-rows": 10})
		}
	}
	x.branch = 100 + int64(x.r.Intn(len(snapshots)))
	x.writeMetadata(t, snapshots)
	return x
}

func write(t testing.TB, path string, raw []byte) {
	t.Helper()
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
}

// typeChoice is a type that a column may have had and have.
type typeChoice struct{ first, now iceberg.Type }

func typeChoices() []typeChoice {
	p := iceberg.PrimitiveTypes
	decimal := func(precision int) iceberg.Type { return iceberg.DecimalTypeOf(precision, 2) }
	return []typeChoice{{p.Bool, p.Bool}, {p.Int32, p.Int32}, {p.Int64, p.Int64}, {p.Float32, p.Float32}, {p.Float64, p.Float64}, {decimal(9), decimal(9)},
		{p.Date, p.Date}, {p.Timestamp, p.Timestamp}, {p.TimestampTz, p.TimestampTz}, {p.String, p.String}, {p.Binary, p.Binary}, {p.UUID, p.UUID},
		{p.Int32, p.Int64}, {p.Float32, p.Float64}, {decimal(5), decimal(20)}}
}

func (x *randomTable) makeColumns() {
	choices := typeChoices()
	var fields [2][]iceberg.NestedField
	for i := range 3 + x.r.Intn(4) {
		c := choices[x.r.Intn(len(choices))]
		column := randomColumn{id: i + 1, name: fmt.Sprintf("c%d", i+1), first: c.first, now: c.now, required: x.r.Intn(6) == 0}
		if x.r.Intn(8) == 0 && i > 0 {
			column.first, column.required = nil, false
		}
		x.columns = append(x.columns, column)
		if column.first != nil {
			fields[0] = append(fields[0], iceberg.NestedField{ID: column.id, Name: column.name, Type: column.first, Required: column.required})
		}
		fields[1] = append(fields[1], iceberg.NestedField{ID: column.id, Name: column.name, Type: column.now, Required: column.required})
	}
	x.schemas[0], x.schemas[1] = iceberg.NewSchema(0, fields[0]...), iceberg.NewSchema(1, fields[1]...)
}

// transforms lists what can be done with a type. Columns that are promoted keep to what promotion does not change.
func (x *randomTable) transforms(c randomColumn) []iceberg.Transform {
	out := []iceberg.Transform{iceberg.IdentityTransform{}, iceberg.VoidTransform{}}
	bucket, truncate := iceberg.BucketTransform{NumBuckets: 1 + x.r.Intn(4)}, iceberg.TruncateTransform{Width: 1 + x.r.Intn(4)}
	switch c.now.(type) {
	case iceberg.BooleanType:
		return out
	case iceberg.Float32Type, iceberg.Float64Type:
		return out
	case iceberg.DateType:
		return append(out, bucket, iceberg.YearTransform{}, iceberg.MonthTransform{}, iceberg.DayTransform{})
	case iceberg.TimestampType, iceberg.TimestampTzType:
		return append(out, bucket, iceberg.YearTransform{}, iceberg.MonthTransform{}, iceberg.DayTransform{}, iceberg.HourTransform{})
	case iceberg.UUIDType:
		return append(out, bucket)
	}
	return append(out, bucket, truncate)
}

func isFixed(t iceberg.Type) bool {
	_, decimal := t.(iceberg.DecimalType)
	_, id := t.(iceberg.UUIDType)
	return decimal || id
}

func (x *randomTable) makeSpecs() {
	next := 1000
	for id := range 1 + x.r.Intn(3) {
		var fields []iceberg.PartitionField
		for range x.r.Intn(3) {
			c := x.columns[x.r.Intn(len(x.columns))]
			if c.first == nil && id == 0 {
				continue
			}
			if slices.ContainsFunc(fields, func(f iceberg.PartitionField) bool { return f.SourceIDs[0] == c.id }) {
				continue
			}
			if isFixed(c.now) && slices.ContainsFunc(fields, func(f iceberg.PartitionField) bool { return isFixed(x.columns[f.SourceIDs[0]-1].now) }) {
				continue // the writer of manifests takes one value of fixed width
			}
			all := x.transforms(c)
			f := iceberg.PartitionField{SourceIDs: []int{c.id}, FieldID: next, Name: fmt.Sprintf("p%d", next), Transform: all[x.r.Intn(len(all))]}
			fields = append(fields, f)
			next++
		}
		x.specs = append(x.specs, iceberg.NewPartitionSpecID(id, fields...))
	}
}

// value is a random value of a type; domains are small, so that files and filters meet.
func (x *randomTable) value(typ iceberg.Type) any {
	n := int64(x.r.Intn(12)) - 4
	switch t := typ.(type) {
	case iceberg.BooleanType:
		return n%2 == 0
	case iceberg.Int32Type, iceberg.Int64Type:
		return n * 3
	case iceberg.Float32Type, iceberg.Float64Type:
		switch x.r.Intn(10) {
		case 0:
			return math.NaN()
		case 1:
			return math.Copysign(0, -1)
		case 2:
			return math.Inf(1)
		}
		return float64(n)
	case iceberg.DecimalType:
		return decimal128.FromI64(n * 50)
	case iceberg.DateType:
		return n * 200
	case iceberg.TimestampType, iceberg.TimestampTzType:
		return n*1800e6*7 + 5*int64(x.r.Intn(3))
	case iceberg.StringType:
		words := []string{"", "a", "ab", "abc", "b", "ba", "zebra crossings are striped", "zebra crossings are few", "é", "日本語です"}
		return words[x.r.Intn(len(words))]
	case iceberg.BinaryType:
		return [][]byte{{}, {0}, {1, 2}, {1, 2, 3}, {0xff}, {0xff, 0xff, 1}}[x.r.Intn(6)]
	case iceberg.UUIDType:
		out := make([]byte, 16)
		out[0], out[15] = []byte{0, 1, 0x7f, 0x80, 0xff}[x.r.Intn(5)], byte(x.r.Intn(2))
		return out
	default:
		panic(t)
	}
}

// literal is a value as iceberg-go has it.
func literal(v any, typ iceberg.Type) iceberg.Literal {
	switch t := typ.(type) {
	case iceberg.BooleanType:
		return iceberg.BoolLiteral(v.(bool))
	case iceberg.Int32Type:
		return iceberg.Int32Literal(v.(int64))
	case iceberg.Int64Type:
		return iceberg.Int64Literal(v.(int64))
	case iceberg.Float32Type:
		return iceberg.Float32Literal(v.(float64))
	case iceberg.Float64Type:
		return iceberg.Float64Literal(v.(float64))
	case iceberg.DecimalType:
		return iceberg.DecimalLiteral{Val: v.(decimal128.Num), Scale: t.Scale()}
	case iceberg.DateType:
		return iceberg.DateLiteral(v.(int64))
	case iceberg.TimestampType, iceberg.TimestampTzType:
		return iceberg.TimestampLiteral(v.(int64))
	case iceberg.StringType:
		return iceberg.StringLiteral(v.(string))
	case iceberg.BinaryType:
		return iceberg.BinaryLiteral(v.([]byte))
	case iceberg.UUIDType:
		return iceberg.UUIDLiteral(uuid.UUID(v.([]byte)))
	}
	panic(typ)
}

func (x *randomTable) typeIn(c randomColumn, schema int) iceberg.Type {
	if schema == 0 {
		return c.first
	}
	return c.now
}

func (x *randomTable) row(schema int) []any {
	out := make([]any, len(x.columns))
	for i, c := range x.columns {
		if typ := x.typeIn(c, schema); typ != nil && (c.required || x.r.Intn(5) > 0) {
			out[i] = x.value(typ)
		}
	}
	return out
}

// partitionOf is a row's partition: the values as they go into a manifest, and their text.
func (x *randomTable) partitionOf(spec int, schema int, row []any) (map[int]any, string) {
	out, text := map[int]any{}, fmt.Sprint(spec)
	for _, f := range specFields(x.specs[spec]) {
		c := x.columns[f.SourceIDs[0]-1]
		in := iceberg.Optional[iceberg.Literal]{}
		if v := row[c.id-1]; v != nil {
			in = iceberg.Optional[iceberg.Literal]{Valid: true, Val: literal(v, x.typeIn(c, schema))}
		}
		got := f.Transform.Apply(in)
		out[f.FieldID] = nil
		if got.Valid {
			out[f.FieldID] = got.Val.Any()
			text += fmt.Sprintf("|%v", canonical(got.Val.Any()))
		} else {
			text += "|null"
		}
	}
	return out, text
}

// canonical spells a partition value without its type, which promotion may have changed.
func canonical(v any) string {
	switch v := v.(type) {
	case float32:
		return fmt.Sprint(float64(v))
	case iceberg.Decimal:
		return v.Val.ToString(int32(v.Scale))
	case string:
		return fmt.Sprintf("%q", v)
	}
	return fmt.Sprint(v)
}

func specFields(s iceberg.PartitionSpec) []iceberg.PartitionField {
	var out []iceberg.PartitionField
	for _, f := range s.Fields() {
		out = append(out, f)
	}
	return out
}

// logicalTypes tells iceberg-go's writer what partition values mean.
func (x *randomTable) logicalTypes(spec, schema int) map[int]string {
	out := map[int]string{}
	for _, f := range specFields(x.specs[spec]) {
		source := x.typeIn(x.columns[f.SourceIDs[0]-1], schema)
		switch f.Transform.ResultType(source).(type) {
		case iceberg.DateType:
			out[f.FieldID] = "date"
		case iceberg.TimestampType, iceberg.TimestampTzType:
			out[f.FieldID] = "timestamp-micros"
		case iceberg.DecimalType:
			out[f.FieldID] = "decimal"
		case iceberg.UUIDType:
			out[f.FieldID] = "uuid"
		}
	}
	return out
}

// file makes a file of rows that share a partition.
func (x *randomTable) file(t testing.TB, content iceberg.ManifestEntryContent, spec, schema int, sequence int64) *randomFile {
	x.n++
	f := &randomFile{path: fmt.Sprintf("%s/data/file-%04d.parquet", x.dir, x.n), spec: spec, schema: schema, sequence: sequence, content: content}
	first := x.row(schema)
	f.rows = [][]any{first}
	f.partition, f.tuple = x.partitionOf(spec, schema, first)
	for range x.r.Intn(12) {
		row := x.row(schema)
		if x.r.Intn(2) == 0 { // values near the first row's
			for i := range row {
				if x.r.Intn(2) == 0 {
					row[i] = first[i]
				}
			}
		}
		if _, tuple := x.partitionOf(spec, schema, row); tuple == f.tuple {
			f.rows = append(f.rows, row)
		}
	}
	return f
}

// finish makes the manifest's entry of a file, with statistics that some writer might give.
func (x *randomTable) finish(t testing.TB, f *randomFile, format iceberg.FileFormat) *randomFile {
	b, err := iceberg.NewDataFileBuilder(x.specs[f.spec], f.content, f.path, format, f.partition, x.logicalTypes(f.spec, f.schema), nil, int64(max(len(f.rows), 1)), int64(1000+x.r.Intn(1<<20)))
	if err != nil {
		t.Fatal(err)
	}
	if f.content == iceberg.EntryContentPosDeletes {
		x.positionBounds(b, f)
	} else if x.r.Intn(8) > 0 {
		x.statistics(t, b, f)
	}
	if f.vector {
		b.ReferencedDataFile(f.target).ContentOffset(4).ContentSizeInBytes(int64(40 + x.r.Intn(100)))
	}
	if len(f.keys) > 0 {
		b.EqualityFieldIDs(f.keys)
	}
	f.entry = b.Build()
	return f
}

func (x *randomTable) positionBounds(b *iceberg.DataFileBuilder, f *randomFile) {
	if f.target == "" || f.vector {
		switch x.r.Intn(3) {
		case 0:
			b.LowerBoundValues(map[int][]byte{idDeletePath: []byte(x.dir)}).UpperBoundValues(map[int][]byte{idDeletePath: []byte(x.dir + "~")})
		case 1:
			b.LowerBoundValues(map[int][]byte{idDeletePath: []byte(x.dir + "/data/file-0002")}).UpperBoundValues(map[int][]byte{idDeletePath: []byte(x.dir + "/data/file-0008")})
		}
		return
	}
	if x.version > 2 && x.r.Intn(2) == 0 { // iceberg-go's manifests of version 2 have no room for it
		b.ReferencedDataFile(f.target)
		return
	}
	b.LowerBoundValues(map[int][]byte{idDeletePath: []byte(f.target)}).UpperBoundValues(map[int][]byte{idDeletePath: []byte(f.target)})
}

func (x *randomTable) statistics(t testing.TB, b *iceberg.DataFileBuilder, f *randomFile) {
	values, nulls, nans := map[int]int64{}, map[int]int64{}, map[int]int64{}
	lower, upper := map[int][]byte{}, map[int][]byte{}
	noNaNs, whole := x.r.Intn(3) == 0, x.r.Intn(4) == 0 // whole: deletes that keep the row beside the key
	for i, c := range x.columns {
		typ := x.typeIn(c, f.schema)
		if typ == nil || x.r.Intn(10) == 0 || len(f.keys) > 0 && !slices.Contains(f.keys, c.id) && !whole {
			continue
		}
		low, high := f.bounds(i)
		values[c.id] = int64(len(f.rows))
		for _, row := range f.rows {
			if row[i] == nil {
				nulls[c.id]++
			}
		}
		if _, ok := nulls[c.id]; !ok {
			nulls[c.id] = 0
		}
		if isFloatType(typ) && !noNaNs {
			nans[c.id] = f.nanCount(i)
		}
		if low == nil || x.r.Intn(10) == 0 {
			continue
		}
		lower[c.id], upper[c.id] = x.encoded(t, low, typ, false), x.encoded(t, high, typ, true)
		if upper[c.id] == nil {
			delete(upper, c.id)
		}
		if f.hasNaN(i) && noNaNs && x.r.Intn(2) == 0 { // as old writers did
			lower[c.id], upper[c.id] = x.encoded(t, math.NaN(), typ, false), x.encoded(t, math.NaN(), typ, false)
		}
	}
	b.ValueCounts(values).NullValueCounts(nulls).NaNValueCounts(nans).LowerBoundValues(lower).UpperBoundValues(upper)
	if x.r.Intn(2) == 0 {
		b.SplitOffsets([]int64{4, 500})
	}
}

func isFloatType(t iceberg.Type) bool {
	return t.Equals(iceberg.PrimitiveTypes.Float32) || t.Equals(iceberg.PrimitiveTypes.Float64)
}

func (f *randomFile) nanCount(i int) (n int64) {
	for _, row := range f.rows {
		if isNaN(row[i]) {
			n++
		}
	}
	return n
}

func (f *randomFile) hasNaN(i int) bool { return f.nanCount(i) > 0 }

func (f *randomFile) bounds(i int) (low, high any) {
	for _, row := range f.rows {
		v := row[i]
		if v == nil || isNaN(v) {
			continue
		}
		if c, _ := compare(v, low); low == nil || c < 0 {
			low = v
		}
		if c, _ := compare(v, high); high == nil || c > 0 {
			high = v
		}
	}
	return low, high
}

// encoded writes a bound; long texts are cut, upper ones rounded up.
func (x *randomTable) encoded(t testing.TB, v any, typ iceberg.Type, upper bool) []byte {
	if s, ok := v.(string); ok && utf8.RuneCountInString(s) > 5 {
		cut := []rune(s)[:5]
		if upper {
			cut[4]++
		}
		v = string(cut)
	}
	raw, err := literal(v, typ).MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	if raw == nil {
		raw = []byte{}
	}
	return raw
}

// commit makes a snapshot's new manifests, and now and then rewrites an old one.
func (x *randomTable) commit(t testing.TB, id, sequence int64, manifests []iceberg.ManifestFile, files, deletes []*randomFile) ([]iceberg.ManifestFile, []*randomFile, []*randomFile) {
	schema := 0
	if sequence > 1 {
		schema = 1
	}
	for range 1 + x.r.Intn(2) {
		spec := x.r.Intn(len(x.specs))
		if schema == 0 && !x.specFits(spec) {
			spec = 0
		}
		var added []*randomFile
		for range 1 + x.r.Intn(6) {
			added = append(added, x.finish(t, x.file(t, iceberg.EntryContentData, spec, schema, sequence), iceberg.ParquetFile))
		}
		var entries []iceberg.ManifestEntry
		for _, f := range added {
			entries = append(entries, iceberg.NewManifestEntry(iceberg.EntryStatusADDED, &id, nil, nil, f.entry))
		}
		entries, files = x.rewriteSome(id, spec, schema, entries, files)
		manifests = append(manifests, x.writeManifest(t, id, spec, schema, iceberg.ManifestContentData, entries))
		files = append(files, added...)
	}
	if x.r.Intn(2) == 0 {
		made := x.makeDeletes(t, schema, sequence, files, deletes)
		bySpec := map[int][]iceberg.ManifestEntry{}
		for _, d := range made {
			bySpec[d.spec] = append(bySpec[d.spec], iceberg.NewManifestEntry(iceberg.EntryStatusADDED, &id, nil, nil, d.entry))
		}
		for spec := range x.specs {
			if len(bySpec[spec]) > 0 {
				manifests = append(manifests, x.writeManifest(t, id, spec, schema, iceberg.ManifestContentDeletes, bySpec[spec]))
			}
		}
		deletes = append(deletes, made...)
	}
	return manifests, files, deletes
}

// specFits says whether the first schema has all columns of a spec.
func (x *randomTable) specFits(spec int) bool {
	for _, f := range specFields(x.specs[spec]) {
		if x.columns[f.SourceIDs[0]-1].first == nil {
			return false
		}
	}
	return true
}

// rewriteSome takes a live file of the same spec and schema out by a DELETED line; which manifest has the line means nothing to a plan, as long
// as its first line is gone too, so the file is one that no manifest has yet.
func (x *randomTable) rewriteSome(id int64, spec, schema int, entries []iceberg.ManifestEntry, files []*randomFile) ([]iceberg.ManifestEntry, []*randomFile) {
	if x.r.Intn(3) > 0 || len(files) == 0 {
		return entries, files
	}
	like := files[x.r.Intn(len(files))]
	if like.spec != spec || like.schema != schema {
		return entries, files
	}
	before := like.sequence
	kept := *like
	kept.path = strings.Replace(like.path, "file-", fmt.Sprintf("kept-%d-", id), 1)
	b, err := iceberg.NewDataFileBuilder(x.specs[spec], iceberg.EntryContentData, kept.path, iceberg.ParquetFile, kept.partition, x.logicalTypes(spec, schema), nil, int64(len(kept.rows)), 77)
	if err != nil {
		panic(err)
	}
	kept.entry = b.Build()
	gone, err := iceberg.NewDataFileBuilder(x.specs[spec], iceberg.EntryContentData, kept.path+"-gone", iceberg.ParquetFile, kept.partition, x.logicalTypes(spec, schema), nil, 1, 77)
	if err != nil {
		panic(err)
	}
	return append(entries, iceberg.NewManifestEntry(iceberg.EntryStatusEXISTING, &id, &before, &before, kept.entry),
		iceberg.NewManifestEntry(iceberg.EntryStatusDELETED, &id, &before, &before, gone.Build())), append(files, &kept)
}

func (x *randomTable) writeManifest(t testing.TB, id int64, spec, schema int, content iceberg.ManifestContent, entries []iceberg.ManifestEntry) iceberg.ManifestFile {
	x.n++
	path := filepath.Join(x.dir, fmt.Sprintf("manifest-%04d.avro", x.n))
	var out bytes.Buffer
	w, err := iceberg.NewManifestWriter(x.version, &out, x.specs[spec], x.schemas[schema], id, iceberg.WithManifestWriterContent(content))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		switch e.Status() {
		case iceberg.EntryStatusADDED:
			err = w.Add(e)
		case iceberg.EntryStatusDELETED:
			err = w.Delete(e)
		default:
			err = w.Existing(e)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	m, err := w.ToManifestFile(path, int64(out.Len()))
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, out.Bytes())
	return m
}

// makeDeletes makes delete files of all kinds against live files.
func (x *randomTable) makeDeletes(t testing.TB, schema int, sequence int64, files, before []*randomFile) []*randomFile {
	var out []*randomFile
	for range 1 + x.r.Intn(4) {
		target := files[x.r.Intn(len(files))]
		kind := x.r.Intn(4)
		f := &randomFile{spec: target.spec, schema: schema, sequence: sequence, partition: target.partition, tuple: target.tuple}
		if schema != target.schema && x.r.Intn(2) == 0 {
			continue
		}
		f.schema = target.schema
		x.n++
		f.path = fmt.Sprintf("%s/data/delete-%04d.parquet", x.dir, x.n)
		f.content = iceberg.EntryContentPosDeletes
		format := iceberg.ParquetFile
		switch {
		case kind == 0:
			f = x.equality(t, target, sequence)
		case kind == 1 && x.version == 3:
			if hasVector(append(slices.Clone(before), out...), target.path) {
				continue
			}
			f.target, f.vector, format = target.path, true, iceberg.PuffinFile
			f.path = strings.Replace(f.path, ".parquet", ".puffin", 1)
		case kind == 2:
			f.target = target.path
		}
		out = append(out, x.finish(t, f, format))
	}
	return out
}

func hasVector(list []*randomFile, path string) bool {
	return slices.ContainsFunc(list, func(d *randomFile) bool { return d.vector && d.target == path })
}

// equality makes equality deletes whose keys come from a file's rows or are random.
func (x *randomTable) equality(t testing.TB, target *randomFile, sequence int64) *randomFile {
	f := x.file(t, iceberg.EntryContentEqDeletes, target.spec, target.schema, sequence)
	f.path = strings.Replace(f.path, "file-", "equality-", 1)
	f.partition, f.tuple = target.partition, target.tuple
	f.rows = nil
	for range 1 + x.r.Intn(2) {
		if x.r.Intn(3) == 0 {
			f.rows = append(f.rows, x.row(target.schema))
			continue
		}
		f.rows = append(f.rows, target.rows[x.r.Intn(len(target.rows))])
	}
	for _, c := range x.columns {
		if x.typeIn(c, target.schema) != nil && x.r.Intn(3) == 0 {
			f.keys = append(f.keys, c.id)
		}
	}
	if len(f.keys) == 0 {
		for _, c := range x.columns {
			if x.typeIn(c, target.schema) != nil {
				f.keys = []int{c.id}
				break
			}
		}
	}
	return f
}

func (x *randomTable) writeMetadata(t testing.TB, snapshots []map[string]any) {
	var schemas []json.RawMessage
	for _, s := range x.schemas {
		raw, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		schemas = append(schemas, raw)
	}
	var specs []any
	for _, s := range x.specs {
		specs = append(specs, s)
	}
	last := snapshots[len(snapshots)-1]["snapshot-id"]
	tree := map[string]any{"format-version": x.version, "table-uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1", "location": x.dir, "last-sequence-number": len(snapshots),
		"last-updated-ms": 1000 * (len(snapshots) + 1), "last-column-id": len(x.columns), "current-schema-id": 1, "schemas": schemas, "default-spec-id": len(x.specs) - 1,
		"partition-specs": specs, "last-partition-id": 1100, "default-sort-order-id": 0, "sort-orders": []any{map[string]any{"order-id": 0, "fields": []any{}}},
		"snapshots": snapshots, "current-snapshot-id": last,
		"refs": map[string]any{"main": map[string]any{"snapshot-id": last, "type": "branch"}, "other": map[string]any{"snapshot-id": x.branch, "type": "branch"}}}
	if x.version == 3 {
		tree["next-row-id"] = 1 << 30
	}
	raw, err := json.Marshal(tree)
	if err != nil {
		t.Fatal(err)
	}
	x.location = filepath.Join(x.dir, "v1.metadata.json")
	write(t, x.location, raw)
}

// arrowTypeOf is a column's type in a scan.
func arrowTypeOf(typ iceberg.Type) arrow.DataType {
	out, _ := arrowType(typ)
	return out
}
