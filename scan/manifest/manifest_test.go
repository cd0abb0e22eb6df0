package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/scan/avrofile"
)

// spelled writes an entry down.
func spelled(t testing.TB, r *Reader, e *Entry) string {
	t.Helper()
	partition, err := r.Partition(e.Partition)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	number := func(n Optional) string {
		if !n.Known {
			return "-"
		}
		return fmt.Sprint(n.Value)
	}
	fmt.Fprintf(&b, "%d %s/%s/%s %d %s %s %d rows %d bytes %v", e.Status, number(e.Snapshot), number(e.Sequence), number(e.FileSequence), e.Content, e.Path,
		e.Format, e.Records, e.Size, partition)
	for m := ValueCounts; m <= NaNCounts; m++ {
		if err := e.Counts(m, func(id int, n int64) { fmt.Fprintf(&b, " %d.%d=%d", m, id, n) }); err != nil {
			t.Fatal(err)
		}
	}
	for m := LowerBounds; m <= UpperBounds; m++ {
		if err := e.Bounds(m, func(id int, v []byte) { fmt.Fprintf(&b, " %d.%d=%q", m, id, v) }); err != nil {
			t.Fatal(err)
		}
	}
	fmt.Fprintf(&b, " %v %v %v %s %q %s %s", e.SplitOffsets, e.EqualityIDs, e.Encrypted, number(e.FirstRow), e.Target, number(e.ContentOffset), number(e.ContentSize))
	return b.String()
}

func readAll(t testing.TB, raw []byte, spec []Field) ([]string, error) {
	t.Helper()
	r, err := NewReader(raw, spec, avrofile.NewCodecs(BlockMost))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var out []string
	for e := (Entry{}); ; {
		switch err := r.Next(&e); {
		case err == io.EOF:
			return out, nil
		case err != nil:
			return out, err
		}
		out = append(out, spelled(t, r, &e))
	}
}

const sampleText = `1 77/5/4 0 s3://b/t/day=1/f.parquet PARQUET 1000 rows 123456 bytes map[1000:19000 1001:<nil>] 0.1=1000 0.2=1000 1.1=0 1.2=17 ` +
	`3.1="\x01\x00\x00\x00" 3.2="" 4.1="\xff\x00\x00\x00" 4.2="zz" [4 60000] [] false 9000 "" - -`

func everyID(fields []declared, id func(f declared) any) []declared {
	out := slices.Clone(fields)
	for i, f := range out {
		out[i].id = id(f)
	}
	return out
}

// TestManifestsOfEveryWriter reads one entry as different writers have it: codecs, ids, orders of fields and of unions, runs of arrays.
func TestManifestsOfEveryWriter(t *testing.T) {
	plain := entryDeclared(fileDeclared(partitionDeclared()))
	none := func(declared) any { return nil }
	zero := func(declared) any { return 0 }
	wrong := 0
	counted := func(declared) any { wrong++; return 5000 + wrong }
	extra := func(fields []declared, names ...string) []declared {
		types := map[string]any{"x_map": map[string]any{"type": "map", "values": optional("string")}, "x_fixed": map[string]any{"type": "fixed", "name": "f", "size": 3},
			"x_deep":  recordOf("deep", declared{"a", 9001, "double"}, declared{"b", 9002, arrayOf(9003, recordOf("c", declared{"d", 9004, "boolean"}))}),
			"x_bytes": "bytes", "x_float": "float"}
		for i, n := range names {
			fields = slices.Insert(fields, i*2, declared{n, 8000 + i, types[n]})
		}
		return fields
	}
	with := func(change func(r record)) record {
		out := sample()
		change(out)
		return out
	}
	spec := []Field{{1000, "day"}, {1001, "name_bucket"}}
	awkward := []declared{{"a_x2Eb_x2Dc", nil, optional("int")}, {"_7th", nil, optional("int")}}
	awkwardValues := func(r record) { r["data_file"].(record)["partition"] = record{"a_x2Eb_x2Dc": 19_000, "_7th": nil} }
	reversed := fileDeclared(partitionDeclared())
	for i, f := range reversed {
		if u, ok := f.typ.([]any); ok {
			reversed[i].typ = []any{u[1], u[0]}
		}
	}
	slices.Reverse(reversed)
	for _, c := range []struct {
		name    string
		codec   string
		schema  []declared
		entry   record
		spec    []Field
		changes map[string]string // in the text expected
	}{
		{name: "no codec named", schema: plain},
		{name: "null", codec: "null", schema: plain},
		{name: "deflate", codec: "deflate", schema: plain},
		{name: "snappy", codec: "snappy", schema: plain},
		{name: "zstandard", codec: "zstandard", schema: plain},
		{name: "no ids", schema: everyID(entryDeclared(everyID(fileDeclared(everyID(partitionDeclared(), none)), none)), none), spec: spec},
		{name: "no ids and no names of the spec", schema: everyID(entryDeclared(everyID(fileDeclared(everyID(partitionDeclared(), none)), none)), none),
			spec: []Field{{1000, "d"}, {1001, "b"}}},
		{name: "every id is zero", schema: everyID(entryDeclared(everyID(fileDeclared(everyID(partitionDeclared(), zero)), zero)), zero), spec: spec},
		{name: "ids of no meaning", schema: everyID(entryDeclared(everyID(fileDeclared(partitionDeclared()), counted)), counted)},
		{name: "ids under other names", schema: entryDeclared([]declared{{"Path", 100, "string"}, {"Format", 101, "string"}, {"Tuple", 102, recordOf("r102", partitionDeclared()...)},
			{"Rows", 103, "long"}, {"Bytes", 104, "int"}}),
			entry: record{"status": 1, "snapshot_id": 77, "sequence_number": 5, "file_sequence_number": 4, "data_file": record{"Path": "s3://b/t/day=1/f.parquet",
				"Format": "PARQUET", "Tuple": record{"day": 19_000}, "Rows": 1000, "Bytes": 123_456}},
			changes: map[string]string{sampleText[strings.Index(sampleText, " 0.1="):]: ` [] [] false - "" - -`}},
		{name: "unknown fields", schema: extra(entryDeclared(extra(fileDeclared(partitionDeclared()), "x_map", "x_deep", "x_float")), "x_fixed", "x_bytes"),
			entry: with(func(r record) {
				r["x_fixed"], r["x_bytes"] = "abc", "some"
				f := r["data_file"].(record)
				f["x_map"], f["x_float"] = map[string]any{"k": "v", "n": nil}, float32(1)
				f["x_deep"] = record{"a": 1.5, "b": sized{record{"d": true}, record{"d": false}}}
			})},
		{name: "the keys of format version 1 alone", schema: []declared{{"status", 0, "int"}, {"snapshot_id", 1, "long"},
			{"data_file", 2, recordOf("r2", fileDeclared(partitionDeclared())[1:12]...)}},
			changes: map[string]string{"77/5/4": "77/-/-", "[4 60000] [] false 9000": "[] [] false -"}},
		{name: "runs of arrays with their bytes", schema: plain, entry: with(func(r record) {
			f := r["data_file"].(record)
			for k, v := range f {
				if l, ok := v.(list); ok {
					f[k] = sized(l)
				}
			}
		})},
		{name: "another order of fields and of unions", schema: entryDeclared(reversed)},
		{name: "names that Avro cannot have", schema: entryDeclared(fileDeclared(awkward)), entry: with(awkwardValues), spec: []Field{{1001, "7th"}, {1000, "a.b-c"}}},
		{name: "such names with ids", schema: entryDeclared(fileDeclared([]declared{{"a_x2Eb_x2Dc", 1000, optional("int")}, {"_7th", 1001, optional("int")}})), entry: with(awkwardValues)},
		{name: "counts and bounds that are null", schema: plain, entry: with(func(r record) {
			f := r["data_file"].(record)
			for _, k := range []string{"value_counts", "null_value_counts", "nan_value_counts", "lower_bounds", "upper_bounds", "split_offsets"} {
				f[k] = nil
			}
		}), changes: map[string]string{sampleText[strings.Index(sampleText, " 0.1="):strings.Index(sampleText, " [] false")]: " []"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			entry := c.entry
			if entry == nil {
				entry = sample()
			}
			want := sampleText
			for from, to := range c.changes {
				if !strings.Contains(want, from) {
					t.Fatalf("%q is not in the text", from)
				}
				want = strings.Replace(want, from, to, 1)
			}
			raw := written(t, schemaText(t, c.schema), c.codec, nil, []record{entry, entry}, nil, []record{entry})
			got, err := readAll(t, raw, c.spec)
			if err != nil || !slices.Equal(got, []string{want, want, want}) {
				t.Errorf("%v\ngot  %s\nwant %s", err, strings.Join(got, "\n     "), want)
			}
		})
	}
}

// TestPartitionValues reads a value of every type that a partition may have.
func TestPartitionValues(t *testing.T) {
	logical := func(typ, name string) any { return map[string]any{"type": typ, "logicalType": name} }
	for _, c := range []struct {
		typ   any
		value any
		want  string
	}{
		{"boolean", true, "bool true"},
		{"int", -5, "int64 -5"},
		{logical("int", "date"), 19_000, "manifest.Date 19000"},
		{"long", 1 << 40, "int64 1099511627776"},
		{logical("long", "timestamp-micros"), -1, "int64 -1"},
		{"float", float32(1.5), "float32 1.5"},
		{"double", -2.5, "float64 -2.5"},
		{"string", "é", "string é"},
		{"bytes", "\x01\x02", "[]uint8 [1 2]"},
		{map[string]any{"type": "fixed", "name": "u", "size": 2, "logicalType": "uuid"}, "\x01\xff", "[]uint8 [1 255]"},
		{map[string]any{"type": "fixed", "name": "d", "size": 2, "logicalType": "decimal", "precision": 4, "scale": 2}, "\x01\xff", "manifest.Decimal {[1 255] 2}"},
		{map[string]any{"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 1}, "\xff", "manifest.Decimal {[255] 1}"},
	} {
		schema := schemaText(t, entryDeclared(fileDeclared([]declared{{"p", 1000, c.typ}, {"q", 1001, optional(c.typ)}})))
		if strings.Contains(schema, `"fixed"`) { // a name may be given once
			schema = schemaText(t, entryDeclared(fileDeclared([]declared{{"p", 1000, c.typ}})))
		}
		entry := sample()
		entry["data_file"].(record)["partition"] = record{"p": c.value, "q": nil}
		r, err := NewReader(written(t, schema, "", nil, []record{entry}), nil, avrofile.NewCodecs(BlockMost))
		if err != nil {
			t.Fatal(err)
		}
		var e Entry
		if err := r.Next(&e); err != nil {
			t.Fatal(err)
		}
		values, err := r.Partition(e.Partition)
		if got := fmt.Sprintf("%T %v", values[1000], values[1000]); err != nil || got != c.want || values[1001] != nil {
			t.Errorf("%v: %s and %v, want %s, %v", c.typ, got, values[1001], c.want, err)
		}
	}
}

// TestHeadersTell reads what a manifest says of itself.
func TestHeadersTell(t *testing.T) {
	schema := schemaText(t, entryDeclared(fileDeclared(partitionDeclared())))
	for _, c := range []struct {
		metadata map[string]string
		want     string
	}{
		{nil, `1 "" 0 false <nil>`},
		{map[string]string{"format-version": "2", "content": "deletes", "partition-spec-id": "3"}, `2 "deletes" 3 true <nil>`},
		{map[string]string{"format-version": "two"}, `0 "" 0 false the format version "two" is no version`},
	} {
		r, err := NewReader(written(t, schema, "", c.metadata), nil, avrofile.NewCodecs(BlockMost))
		if err != nil {
			t.Fatal(err)
		}
		version, err := r.Version()
		id, ok := r.SpecID()
		if got := fmt.Sprintf("%d %q %d %v %v", version, r.Content(), id, ok, err); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

// TestDamagedManifestsAreRefused: every cut, and what cannot be.
func TestDamagedManifestsAreRefused(t *testing.T) {
	plain := schemaText(t, entryDeclared(fileDeclared(partitionDeclared())))
	whole := written(t, plain, "", nil, []record{sample()})
	begin := bytes.LastIndex(whole[:len(whole)-16], []byte("0123456789abcdef")) + 16
	for cut := range len(whole) {
		if cut == begin {
			continue // a manifest without entries
		}
		if _, err := readAll(t, whole[:cut], nil); !fault.Is(err, fault.Corrupt) {
			t.Fatalf("the first %d of %d bytes: %v", cut, len(whole), err)
		}
	}
	with := func(name string, v any) record {
		out := sample()
		out["data_file"].(record)[name] = v
		return out
	}
	changed := func(at int, b byte) []byte {
		out := slices.Clone(whole)
		out[at] = b
		return out
	}
	for _, c := range []struct {
		name string
		raw  []byte
		kind fault.Kind
		text string
	}{
		{"a marker that differs", changed(len(whole)-1, 'x'), fault.Corrupt, "does not end where it says"},
		{"more entries than bytes", changed(begin, 0x7e), fault.Corrupt, "63 entries in"},
		{"no file", written(t, plain, "", nil, []record{with("file_path", "")}), fault.Corrupt, "names no file"},
		{"a content of no meaning", written(t, plain, "", nil, []record{with("content", 3)}), fault.Corrupt, "3 is no content"},
		{"fewer than no bytes", written(t, plain, "", nil, []record{with("file_size_in_bytes", -1)}), fault.Corrupt, "-1 bytes"},
		{"an unknown codec", written(t, plain, "lz77", nil, []record{sample()}), fault.Unsupported, "codec lz77"},
		{"no path in the schema", written(t, schemaText(t, entryDeclared(fileDeclared(nil)[2:])), "", nil), fault.Corrupt, "file_path"},
		{"a path that is a number", written(t, schemaText(t, entryDeclared(append([]declared{{"file_path", 100, "long"}}, fileDeclared(nil)[2:]...))), "", nil),
			fault.Corrupt, "file_path is of type long"},
		{"a schema that holds itself", written(t, `{"type":"record","name":"r","fields":[]}`, "", map[string]string{"avro.schema": `{"type":"record","name":"r","fields":[{"name":"x","type":"r"}]}`}),
			fault.Unsupported, "hold themselves"},
		{"a schema of two to the hundredth fields", bomb(t), fault.Corrupt, "entries have no field"},
	} {
		_, err := readAll(t, c.raw, nil)
		if !fault.Is(err, c.kind) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// bomb is a file whose schema names each type twice in the next.
func bomb(t *testing.T) []byte {
	inner := `"null"`
	var fields []string
	for i := range 60 {
		fields = append(fields, fmt.Sprintf(`{"name":"f%d","type":{"type":"record","name":"r%d","fields":[{"name":"a","type":%s},{"name":"b","type":%s}]}}`, i, i, inner, inner))
		inner = fmt.Sprintf(`"r%d"`, i)
	}
	return written(t, `{"type":"record","name":"r","fields":[]}`, "", map[string]string{"avro.schema": `{"type":"record","name":"r","fields":[` + strings.Join(fields, ",") + `]}`})
}

// TestBuffersAreUsedAgain: a reader that was closed gives its buffer to the next, and entries of the next do not show the ones before.
func TestBuffersAreUsedAgain(t *testing.T) {
	schema := schemaText(t, entryDeclared(fileDeclared(partitionDeclared())))
	other := sample()
	other["data_file"].(record)["file_path"] = "s3://b/t/day=2/another-file-with-a-longer-name.parquet"
	other["data_file"].(record)["lower_bounds"] = nil
	codecs := avrofile.NewCodecs(BlockMost)
	for _, codec := range []string{"deflate", "snappy", "zstandard"} {
		for range 3 {
			for _, entry := range []record{sample(), other} {
				raw := written(t, schema, codec, nil, []record{entry}, []record{sample()})
				r, err := NewReader(raw, nil, codecs)
				if err != nil {
					t.Fatal(err)
				}
				var e Entry
				for range 2 {
					if err := r.Next(&e); err != nil {
						t.Fatal(err)
					}
				}
				if got := spelled(t, r, &e); got != sampleText {
					t.Errorf("%s: %s", codec, got)
				}
				if err := r.Next(&e); !errors.Is(err, io.EOF) {
					t.Error(err)
				}
				r.Close()
			}
		}
	}
}

// FuzzReader reads damaged manifests to their end.
func FuzzReader(f *testing.F) {
	schema := schemaText(f, entryDeclared(fileDeclared(partitionDeclared())))
	for _, codec := range []string{"", "deflate", "snappy", "zstandard"} {
		f.Add(written(f, schema, codec, map[string]string{"format-version": "3"}, []record{sample(), sample()}, []record{sample()}))
	}
	f.Add(written(f, schemaText(f, everyID(entryDeclared(fileDeclared(partitionDeclared())), func(declared) any { return nil })), "", nil, []record{sample()}))
	f.Fuzz(func(t *testing.T, raw []byte) {
		r, err := NewReader(raw, []Field{{1000, "day"}, {1001, "b"}}, avrofile.NewCodecs(BlockMost))
		for e := (Entry{}); err == nil; {
			if err = r.Next(&e); err == nil {
				for m := ValueCounts; m <= NaNCounts && err == nil; m++ {
					err = e.Counts(m, func(int, int64) {})
				}
				for m := LowerBounds; m <= UpperBounds && err == nil; m++ {
					err = e.Bounds(m, func(int, []byte) {})
				}
			}
			if err == nil {
				_, err = r.Partition(e.Partition)
			}
		}
		switch fault.KindOf(err) {
		case fault.Corrupt, fault.Unsupported, fault.Exhausted:
		default:
			if !errors.Is(err, io.EOF) {
				t.Fatalf("kind %s: %v", fault.KindOf(err), err)
			}
		}
	})
}
