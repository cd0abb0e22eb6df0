package manifest

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"math"
	"testing"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"

	"github.com/skua-data/skua/scan/avrofile"
)

// record is a record's values by field name; list and pairs are an array's; sized is an array that is written in runs whose bytes are told.
type (
	record map[string]any
	list   []any
	sized  []any
)

// column is an entry of a map with number keys.
func column(id int, value any) record { return record{"key": id, "value": value} }

// written makes an Avro file of a schema: each of blocks is a block of records.
func written(t testing.TB, schema, codec string, metadata map[string]string, blocks ...[]record) []byte {
	t.Helper()
	root, err := avrofile.ParseSchema([]byte(schema))
	if err != nil {
		t.Fatal(err)
	}
	out := []byte(avrofile.Magic)
	all := map[string]string{"avro.schema": schema, "avro.codec": codec}
	for k, v := range metadata {
		all[k] = v
	}
	out = binary.AppendVarint(out, int64(len(all)))
	for k, v := range all {
		out = appendText(appendText(out, k), v)
	}
	out = binary.AppendVarint(out, 0)
	marker := []byte("0123456789abcdef")
	out = append(out, marker...)
	for _, b := range blocks {
		var plain []byte
		for _, r := range b {
			plain = appendValue(t, plain, root, r)
		}
		raw := packed(t, codec, plain)
		out = binary.AppendVarint(out, int64(len(b)))
		out = binary.AppendVarint(out, int64(len(raw)))
		out = append(append(out, raw...), marker...)
	}
	return out
}

func appendText(out []byte, s string) []byte {
	return append(binary.AppendVarint(out, int64(len(s))), s...)
}

func packed(t testing.TB, codec string, plain []byte) []byte {
	t.Helper()
	switch codec {
	case "deflate":
		var out bytes.Buffer
		w, err := flate.NewWriter(&out, 6)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(plain); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	case "snappy":
		return binary.BigEndian.AppendUint32(s2.EncodeSnappy(nil, plain), crc32.ChecksumIEEE(plain))
	case "zstandard":
		w, err := zstd.NewWriter(nil)
		if err != nil {
			t.Fatal(err)
		}
		return w.EncodeAll(plain, nil)
	}
	return plain
}

func appendValue(t testing.TB, out []byte, n *avrofile.Type, v any) []byte {
	t.Helper()
	switch n.Kind {
	case avrofile.Union:
		for i, b := range n.Branches {
			if (b.Kind == avrofile.Null) == (v == nil) {
				return appendValue(t, binary.AppendVarint(out, int64(i)), b, v)
			}
		}
	case avrofile.Null:
		return out
	case avrofile.Boolean:
		if v.(bool) {
			return append(out, 1)
		}
		return append(out, 0)
	case avrofile.Int, avrofile.Long:
		return binary.AppendVarint(out, int64(v.(int)))
	case avrofile.Float:
		return binary.LittleEndian.AppendUint32(out, math.Float32bits(v.(float32)))
	case avrofile.Double:
		return binary.LittleEndian.AppendUint64(out, math.Float64bits(v.(float64)))
	case avrofile.String, avrofile.Bytes:
		return appendText(out, v.(string))
	case avrofile.Fixed:
		return append(out, v.(string)...)
	case avrofile.Record:
		for _, f := range n.Fields {
			out = appendValue(t, out, f.Type, v.(record)[f.Name])
		}
		return out
	case avrofile.Map:
		for k, e := range v.(map[string]any) {
			out = appendValue(t, appendText(binary.AppendVarint(out, 1), k), n.Items, e)
		}
		return append(out, 0)
	case avrofile.Array:
		if items, ok := v.(sized); ok {
			for _, e := range items {
				one := appendValue(t, nil, n.Items, e)
				out = binary.AppendVarint(binary.AppendVarint(out, -1), int64(len(one)))
				out = append(out, one...)
			}
			return append(out, 0)
		}
		items := v.(list)
		if len(items) > 0 {
			out = binary.AppendVarint(out, int64(len(items)))
		}
		for _, e := range items {
			out = appendValue(t, out, n.Items, e)
		}
		return append(out, 0)
	}
	t.Fatalf("%v cannot be written as %s", v, n.Kind)
	return nil
}

// declared is a field of a schema in the making.
type declared struct {
	name string
	id   any // absent where nil
	typ  any
}

func recordOf(name string, fields ...declared) map[string]any {
	var list []any
	for _, f := range fields {
		m := map[string]any{"name": f.name, "type": f.typ}
		if f.id != nil {
			m["field-id"] = f.id
		}
		list = append(list, m)
	}
	return map[string]any{"type": "record", "name": name, "fields": list}
}

func optional(typ any) any { return []any{"null", typ} }

func pairsOf(name string, key, value int, typ any) any {
	return optional(map[string]any{"type": "array", "logicalType": "map", "items": recordOf(name, declared{"key", key, "int"}, declared{"value", value, typ})})
}

func arrayOf(id int, typ any) any {
	return optional(map[string]any{"type": "array", "element-id": id, "items": typ})
}

// partitionDeclared, fileDeclared and entryDeclared are the fields of a manifest of format version 3, in the order of most writers.
func partitionDeclared() []declared {
	return []declared{{"day", 1000, optional("int")}, {"name_bucket", 1001, optional("int")}}
}

func fileDeclared(partition []declared) []declared {
	return []declared{{"content", 134, "int"}, {"file_path", 100, "string"}, {"file_format", 101, "string"}, {"partition", 102, recordOf("r102", partition...)},
		{"record_count", 103, "long"}, {"file_size_in_bytes", 104, "long"}, {"column_sizes", 108, pairsOf("k117", 117, 118, "long")},
		{"value_counts", 109, pairsOf("k119", 119, 120, "long")}, {"null_value_counts", 110, pairsOf("k121", 121, 122, "long")},
		{"nan_value_counts", 137, pairsOf("k138", 138, 139, "long")}, {"lower_bounds", 125, pairsOf("k126", 126, 127, "bytes")},
		{"upper_bounds", 128, pairsOf("k129", 129, 130, "bytes")}, {"key_metadata", 131, optional("bytes")}, {"split_offsets", 132, arrayOf(133, "long")},
		{"equality_ids", 135, arrayOf(136, "int")}, {"sort_order_id", 140, optional("int")}, {"first_row_id", 142, optional("long")},
		{"referenced_data_file", 143, optional("string")}, {"content_offset", 144, optional("long")}, {"content_size_in_bytes", 145, optional("long")}}
}

func entryDeclared(file []declared) []declared {
	return []declared{{"status", 0, "int"}, {"snapshot_id", 1, optional("long")}, {"sequence_number", 3, optional("long")},
		{"file_sequence_number", 4, optional("long")}, {"data_file", 2, recordOf("r2", file...)}}
}

func schemaText(t testing.TB, entry []declared) string {
	t.Helper()
	raw, err := json.Marshal(recordOf("manifest_entry", entry...))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// sample is a data file's entry with everything in it.
func sample() record {
	return record{"status": 1, "snapshot_id": 77, "sequence_number": 5, "file_sequence_number": 4, "data_file": record{
		"content": 0, "file_path": "s3://b/t/day=1/f.parquet", "file_format": "PARQUET", "partition": record{"day": 19_000, "name_bucket": nil},
		"record_count": 1000, "file_size_in_bytes": 123_456, "column_sizes": list{column(1, 500), column(2, 600)},
		"value_counts": list{column(1, 1000), column(2, 1000)}, "null_value_counts": list{column(1, 0), column(2, 17)}, "nan_value_counts": list{},
		"lower_bounds": list{column(1, "\x01\x00\x00\x00"), column(2, "")}, "upper_bounds": list{column(1, "\xff\x00\x00\x00"), column(2, "zz")},
		"key_metadata": nil, "split_offsets": list{4, 60_000}, "equality_ids": nil, "sort_order_id": 0, "first_row_id": 9000, "referenced_data_file": nil,
		"content_offset": nil, "content_size_in_bytes": nil}}
}

func renamed(in record, names map[string]string) record {
	out := record{}
	for k, v := range in {
		if r, ok := v.(record); ok {
			v = renamed(r, names)
		}
		if n, ok := names[k]; ok {
			k = n
		}
		out[k] = v
	}
	return out
}
