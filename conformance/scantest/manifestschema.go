package scantest

import (
	"fmt"
	"regexp"
	"strings"
)

func avroField(id int, name string, typ any) map[string]any {
	return map[string]any{"name": name, "type": typ, "field-id": id}
}

func optionalField(id int, name string, typ any) map[string]any {
	return map[string]any{"name": name, "type": []any{"null", typ}, "default": nil, "field-id": id}
}

func recordOf(name string, fields ...any) map[string]any {
	return map[string]any{"type": "record", "name": name, "fields": fields}
}

// entrySchema is the Avro schema of a manifest's lines.
func (t *table) entrySchema(m *manifest) any {
	counts := func(id int, name string, key, value int) any {
		return optionalField(id, name, pairs(key, value, "long"))
	}
	partition := []any{}
	for _, f := range m.spec.fields {
		partition = append(partition, optionalField(f.id, avroName(f.name), avroType(f.result(m.source(f)), f.id)))
	}
	file := []any{avroField(100, "file_path", "string"), avroField(101, "file_format", "string"), avroField(102, "partition", recordOf("r102", partition...)),
		avroField(103, "record_count", "long"), avroField(104, "file_size_in_bytes", "long")}
	if t.version == 1 {
		file = append(file, avroField(105, "block_size_in_bytes", "long"))
	}
	file = append(file, counts(109, "value_counts", 119, 120), counts(110, "null_value_counts", 121, 122), counts(137, "nan_value_counts", 138, 139),
		optionalField(125, "lower_bounds", pairs(126, 127, "bytes")), optionalField(128, "upper_bounds", pairs(129, 130, "bytes")))
	entry := []any{avroField(0, "status", "int"), optionalField(1, "snapshot_id", "long")}
	if t.version > 1 {
		file = append([]any{avroField(134, "content", "int")}, file...)
		file = append(file, optionalField(135, "equality_ids", map[string]any{"type": "array", "items": "int", "element-id": 136}), optionalField(143, "referenced_data_file", "string"))
		entry = append(entry, optionalField(3, "sequence_number", "long"), optionalField(4, "file_sequence_number", "long"))
	}
	if t.version > 2 {
		file = append(file, optionalField(142, "first_row_id", "long"), optionalField(144, "content_offset", "long"), optionalField(145, "content_size_in_bytes", "long"))
	}
	return recordOf("manifest_entry", append(entry, avroField(2, "data_file", recordOf("r2", file...)))...)
}

// pairs is a map with keys that are no text, which Avro has as an array.
func pairs(key, value int, typ string) any {
	return map[string]any{"type": "array", "logicalType": "map", "items": recordOf(fmt.Sprintf("k%d_v%d", key, value), avroField(key, "key", "int"), avroField(value, "value", typ))}
}

var notInNames = regexp.MustCompile(`[^A-Za-z0-9_]`)

// avroName turns a name into one that Avro can have.
func avroName(name string) string {
	out := notInNames.ReplaceAllStringFunc(name, func(c string) string { return fmt.Sprintf("_x%X", c[0]) })
	if strings.ContainsAny(out[:1], "0123456789") {
		out = "_" + out
	}
	return out
}

// avroType is how a partition value lies in a manifest.
func avroType(t *typ, id int) any {
	switch t.kind {
	case integer:
		return "int"
	case long, boolean, float, double:
		return names[t.kind]
	case decimal:
		return map[string]any{"type": "fixed", "size": decimalSize(t.precision), "name": fmt.Sprintf("decimal_%d", id), "logicalType": "decimal", "precision": t.precision, "scale": t.scale}
	case date:
		return map[string]any{"type": "int", "logicalType": "date"}
	case clock:
		return map[string]any{"type": "long", "logicalType": "time-micros"}
	case timestamp, timestampTZ:
		return map[string]any{"type": "long", "logicalType": "timestamp-micros", "adjust-to-utc": t.kind == timestampTZ}
	case timestampNS, timestampTZNS:
		return map[string]any{"type": "long", "logicalType": "timestamp-nanos", "adjust-to-utc": t.kind == timestampTZNS}
	case text:
		return "string"
	case uuid:
		return map[string]any{"type": "fixed", "size": 16, "name": fmt.Sprintf("uuid_fixed_%d", id), "logicalType": "uuid"}
	case fixed:
		return map[string]any{"type": "fixed", "size": t.length, "name": fmt.Sprintf("fixed_%d", id)}
	}
	return "bytes"
}
