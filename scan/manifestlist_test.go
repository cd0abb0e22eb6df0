package scan

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/skua-data/skua/fault"
)

// avroList is a manifest list of one line. Each field is its Avro type, as JSON, and its bytes.
func avroList(fields [][3]string) []byte {
	var types []string
	body := ""
	for _, f := range fields {
		types = append(types, fmt.Sprintf(`{"name":%q,"type":%s}`, f[0], f[1]))
		body += f[2]
	}
	text := func(s string) string { return string(binary.AppendVarint(nil, int64(len(s)))) + s }
	const sync = "0123456789abcdef"
	out := "Obj\x01\x04" + text("avro.schema") + text(`{"type":"record","name":"manifest_file","fields":[`+strings.Join(types, ",")+`]}`) + text("format-version") + text("2") + "\x00" + sync
	return []byte(out + "\x02" + text(body) + sync)
}

// TestManifestListsThatCannotBe reads lists in which what a plan stands on is null, out of range or of no type that it can have: the error names the
// list or what it names, and nothing is read as zero.
func TestManifestListsThatCannotBe(t *testing.T) {
	const long, null = `"long"`, `["null","long"]`
	number := func(n int64) string { return string(binary.AppendVarint(nil, n)) }
	sound := [][3]string{{"manifest_path", `"string"`, "\x0amem:m"}, {"manifest_length", long, number(100)}, {"partition_spec_id", `"int"`, number(0)}, {"content", `"int"`, number(0)},
		{"sequence_number", long, number(3)}, {"min_sequence_number", long, number(3)}, {"added_snapshot_id", long, number(1)},
		{"added_files_count", `"int"`, number(1)}, {"existing_files_count", `"int"`, number(0)}, {"deleted_files_count", `"int"`, number(0)},
		{"added_rows_count", long, number(1)}, {"existing_rows_count", long, number(0)}, {"deleted_rows_count", long, number(0)}}
	s := newMemoryStore()
	of := plainTable(t, s, "2")
	plan := func(fields [][3]string) error {
		s.put("mem:list", avroList(fields))
		source, err := of.Source(t.Context(), Reference{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = source.Plan(t.Context(), Request{Fields: []int{1}, Limit: -1})
		return err
	}
	if err := plan(sound); err == nil || !strings.Contains(err.Error(), "mem:m") {
		t.Fatalf("a sound list of a manifest that there is not: %v", err)
	}
	for _, c := range []struct{ name, field, typ, value string }{
		{"no path", "manifest_path", `["null","string"]`, "\x00"}, {"an empty path", "manifest_path", `"string"`, "\x00"},
		{"no sequence number", "sequence_number", null, "\x00"}, {"content 7", "content", `"int"`, number(7)}, {"content -1", "content", `"int"`, number(-1)},
		{"spec 99", "partition_spec_id", `"int"`, number(99)}, {"a path that is a number", "manifest_path", long, number(5)}, {"text for a number", "content", `"string"`, "\x02a"},
		{"a path without end", "manifest_path", `"string"`, "\xfe\xff\xff\xff\x0f"},
	} {
		fields := append([][3]string(nil), sound...)
		for i := range fields {
			if fields[i][0] == c.field {
				fields[i][1], fields[i][2] = c.typ, c.value
			}
		}
		err := plan(fields)
		if !fault.Is(err, fault.Corrupt) || strings.Contains(err.Error(), "panic") {
			t.Errorf("%s: %s: %v", c.name, fault.KindOf(err), err)
		}
	}
}
