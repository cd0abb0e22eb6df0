package plain

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/apache/iceberg-go"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/fault"
)

const (
	serde  = "org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe"
	format = "org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat"
)

func described(t *testing.T, s Stored) (*catalogs.Table, error) {
	t.Helper()
	s.Name = "db.t"
	out := &catalogs.Table{MetadataLocation: "left behind"}
	err := s.Table(out)
	if out.Kind == catalogs.KindFiles && out.MetadataLocation != "" {
		t.Errorf("plain files with metadata: %+v", out)
	}
	return out, err
}

func TestFormats(t *testing.T) {
	for _, c := range []struct {
		stored Stored
		want   string
	}{
		{Stored{SerDe: serde, InputFormat: format}, "parquet"},
		{Stored{SerDe: "parquet.hive.serde.ParquetHiveSerDe", InputFormat: "parquet.hive.DeprecatedParquetInputFormat"}, "parquet"},
		{Stored{Parameters: map[string]string{providerKey: "parquet"}}, "parquet"},
		{Stored{Parameters: map[string]string{providerKey: "PARQUET"}, SerDe: "x"}, "parquet"},
		{Stored{Parameters: map[string]string{providerKey: "hive"}, SerDe: serde, InputFormat: format}, "parquet"},
		{Stored{SerDe: "org.apache.hadoop.hive.ql.io.orc.OrcSerde"}, "orc"},
		{Stored{SerDe: "org.apache.hadoop.hive.serde2.avro.AvroSerDe"}, "avro"},
		{Stored{SerDe: "org.apache.hadoop.hive.serde2.OpenCSVSerde"}, "csv"},
		{Stored{SerDe: "org.apache.hive.hcatalog.data.JsonSerDe"}, "json"},
		{Stored{SerDe: "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe", InputFormat: "org.apache.hadoop.mapred.TextInputFormat"}, "text"},
		{Stored{SerDe: serde, InputFormat: "org.apache.hudi.hadoop.HoodieParquetInputFormat"}, "hudi"},
		{Stored{SerDe: serde, InputFormat: "org.apache.hadoop.hive.ql.io.SymlinkTextInputFormat"}, "symlink"},
		{Stored{SerDe: serde, InputFormat: "com.example.Own"}, "com.example.Own"},
		{Stored{Parameters: map[string]string{providerKey: "delta"}, SerDe: serde, InputFormat: format}, "delta"},
		{Stored{Parameters: map[string]string{providerKey: "com.example.source"}, SerDe: serde, InputFormat: format}, "com.example.source"},
		{Stored{Parameters: map[string]string{"storage_handler": "org.apache.hadoop.hive.hbase.HBaseStorageHandler"}, SerDe: serde}, "hbase"},
		{Stored{Parameters: map[string]string{"transactional": "TRUE"}, SerDe: serde, InputFormat: format}, "transactional parquet"},
		{Stored{}, "unknown"},
	} {
		c.stored.Location, c.stored.Columns = "file:/w/t", []Column{{Name: "a", Type: "int"}}
		if got, err := described(t, c.stored); err != nil || got.Format != c.want || (got.Files != nil) != (c.want == "parquet") {
			t.Errorf("%+v: %q, %v, want %q", c.stored, got.Format, err, c.want)
		}
	}
	if _, err := described(t, Stored{Type: "MATERIALIZED_VIEW", SerDe: serde}); !fault.Is(err, fault.Unsupported) {
		t.Errorf("a materialized view: %v", err)
	}
}

func TestHiveTypes(t *testing.T) {
	for text, want := range map[string]string{
		"boolean": "boolean", "tinyint": "int", "smallint": "int", "int": "int", "INTEGER": "int", "bigint": "long", "float": "float", "double": "double",
		"double precision": "double", "string": "string", "char(10)": "string", "varchar(20)": "string", "binary": "binary", "date": "date",
		"timestamp": "timestamptz", "timestamp with local time zone": "timestamptz", "decimal": "decimal(10, 0)", "decimal(5)": "decimal(5, 0)",
		"decimal(38,18)": "decimal(38, 18)", "decimal( 9 , 2 )": "decimal(9, 2)", "numeric(3,1)": "decimal(3, 1)",
		"array<int>": "list<int>", "array<array<string>>": "list<list<string>>", "map<string,decimal(9,2)>": "map<string, decimal(9, 2)>",
		"struct<a:int,b:struct<c:string>>": "struct<1: a: optional int, 2: b: optional struct<3: c: optional string>>",
		"struct<`a b`:int, c-d:bigint>":    "struct<1: a b: optional int, 2: c-d: optional long>",
		"map<string,array<struct<x:int>>>": "map<string, list<struct<4: x: optional int>>>",
		"uniontype<int,string>":            "", "interval_day_time": "", "": "", "array<>": "", "array<int": "", "map<int>": "", "struct<a>": "", "int)": "", "array<int>>": "",
		"decimal(39,2)": "", "decimal(5,6)": "", "char(x)": "", "struct<`a:int>": "", strings.Repeat("array<", 100) + "int" + strings.Repeat(">", 100): "",
	} {
		n := ids(0)
		got, err := hiveType(text, &n)
		switch {
		case want == "" && !fault.Is(err, fault.Unsupported):
			t.Errorf("%.80q: %v, %v", text, got, err)
		case want != "" && (err != nil || strings.Join(strings.Fields(got.String()), " ") != want):
			t.Errorf("%q: %v, %v, want %s", text, got, err, want)
		}
	}
}

const sparkSchema = `{"type":"struct","fields":[
	{"name":"Id","type":"long","nullable":false,"metadata":{"comment":"the key"}},
	{"name":"day","type":"date","nullable":true,"metadata":{}},
	{"name":"Nested","type":{"type":"struct","fields":[{"name":"innerName","type":{"type":"array","elementType":"short","containsNull":true},"nullable":true,"metadata":{}}]},"nullable":true,"metadata":{}},
	{"name":"m","type":{"type":"map","keyType":"string","valueType":"decimal(12,3)","valueContainsNull":true},"nullable":true,"metadata":{}},
	{"name":"at","type":"timestamp_ntz","nullable":true,"metadata":{}},
	{"name":"code","type":"string","nullable":true,"metadata":{"__CHAR_VARCHAR_TYPE_STRING":"varchar(9)"}}]}`

func hiveColumns() ([]Column, []Column) {
	return []Column{{"id", "bigint", ""}, {"nested", "struct<innername:array<smallint>>", ""}, {"m", "map<string,decimal(12,3)>", ""}, {"at", "timestamp", ""},
		{"code", "varchar(9)", ""}}, []Column{{"day", "date", ""}}
}

func TestColumns(t *testing.T) {
	columns, keys := hiveColumns()
	spelled := func(s Stored) string {
		t.Helper()
		s.Location, s.Columns, s.Keys = "s3://b/t", columns, keys
		s.SerDe, s.InputFormat = serde, format
		got, err := described(t, s)
		if err != nil {
			return err.Error()
		}
		var out []string
		for i, f := range got.Files.Schema.Fields() {
			if f.ID != i+1 || f.Required {
				t.Errorf("field %v", f)
			}
			out = append(out, f.Name+" "+strings.Join(strings.Fields(f.Type.String()), " "))
		}
		raw, err := json.Marshal(got.Files.Schema)
		back := &iceberg.Schema{}
		if err := json.Unmarshal(raw, back); err != nil || !back.Equals(got.Files.Schema) {
			t.Errorf("the schema does not survive its JSON: %v, %s, %v", back, raw, err)
		}
		return fmt.Sprint(strings.Join(out, "; "), " by ", got.Files.Partitions, got.Files.Listed)
	}
	const hive = "id long; nested struct<7: innername: optional list<int>>; m map<string, decimal(12, 3)>; at timestamptz; code string; day date by [day] true"
	parts := map[string]string{schemaKey + ".numParts": "2", schemaKey + ".part.0": sparkSchema[:100], schemaKey + ".part.1": sparkSchema[100:]}
	provided := func(more ...string) map[string]string {
		out := map[string]string{providerKey: "parquet", schemaKey: sparkSchema, schemaKey + ".numPartCols": "1", schemaKey + ".partCol.0": "day"}
		for i := 0; i < len(more); i += 2 {
			out[more[i]] = more[i+1]
		}
		return out
	}
	const spark = "Id long; Nested struct<7: innerName: optional list<int>>; m map<string, decimal(12, 3)>; at timestamp; code string; day date by [day] "
	if got := spelled(Stored{}); got != hive {
		t.Errorf("Hive's own: %s", got)
	}
	if got := spelled(Stored{Parameters: provided()}); got != spark+"false" {
		t.Errorf("Spark's source: %s", got)
	}
	if got := spelled(Stored{Parameters: provided(trackedKey, "catalog")}); got != spark+"true" {
		t.Errorf("Spark's source, partitions in the catalog: %s", got)
	}
	// The zone of the timestamps differs, so somebody altered the table since: Hive's columns count.
	if got := spelled(Stored{Parameters: parts}); !strings.HasPrefix(got, "id long") {
		t.Errorf("altered by Hive: %s", got)
	}
	columns[3].Type = "timestamp_ntz"
	if got := spelled(Stored{Parameters: parts}); got != spark+"true" {
		t.Errorf("a table of Hive's with Spark's schema in parts: %s", got)
	}
	delete(parts, schemaKey+".part.1")
	if got := spelled(Stored{Parameters: parts}); !strings.Contains(got, "lacks part 1 of 2") {
		t.Errorf("a part is missing: %s", got)
	}
	for what, parameters := range map[string]map[string]string{
		"is no schema": provided(schemaKey, `{"type":"array"}`), "which is no column": provided(schemaKey+".partCol.0", "gone"), "partCol.0 is missing": provided(schemaKey+".partCol.0", ""),
		"numPartCols is no number": provided(schemaKey+".numPartCols", "99"),
		`type "interval"`:          provided(schemaKey, `{"type":"struct","fields":[{"name":"day","type":"interval"}]}`),
		"default for the rows":     provided(schemaKey, `{"type":"struct","fields":[{"name":"day","type":"date","metadata":{"EXISTS_DEFAULT":"DATE '2020-01-01'"}}]}`),
		"collation":                provided(schemaKey, `{"type":"struct","fields":[{"name":"day","type":"string","metadata":{"__COLLATIONS":{}}}]}`),
		"two columns are called":   provided(schemaKey, `{"type":"struct","fields":[{"name":"day","type":"date"},{"name":"DAY","type":"date"}]}`),
		"partitions by a column":   provided(schemaKey, `{"type":"struct","fields":[{"name":"day","type":{"type":"array","elementType":"long"}}]}`),
		"no columns":               provided(schemaKey, `{"type":"struct","fields":[]}`, schemaKey+".numPartCols", "0"),
	} {
		if got := spelled(Stored{Parameters: parameters}); !strings.Contains(got, what) || !strings.Contains(got, "db.t") {
			t.Errorf("%s: %s", what, got)
		}
	}
}

func TestTypesWithoutALikeInASchema(t *testing.T) {
	columns := []Column{{"a", "tinyint", ""}, {"b", "struct<x:smallint,y:char(3)>", ""}, {"c", "map<varchar(4),array<tinyint>>", ""}, {"d", "int", ""}}
	types := func(s Stored) string {
		t.Helper()
		s.Location, s.SerDe, s.InputFormat = "s3://b/t", serde, format
		if s.Columns == nil {
			s.Columns = columns
		}
		got, err := described(t, s)
		if err != nil {
			return err.Error()
		}
		if text := got.Files.Schema.String(); strings.Contains(text, "char") || strings.Contains(text, "tiny") {
			t.Errorf("%s", text)
		}
		return fmt.Sprint(got.Files.Types)
	}
	const want = "map[1:tinyint 5:smallint 6:char(3) 7:varchar(4) 9:tinyint]"
	if got := types(Stored{}); got != want {
		t.Errorf("Hive's: %s", got)
	}
	schema := func(fields string) map[string]string {
		return map[string]string{schemaKey: `{"type":"struct","fields":[` + fields + `]}`}
	}
	const a, d = `{"name":"a","type":"byte"},`, `,{"name":"d","type":"integer"}`
	// The types of texts stand in the schema itself, or beside it in the metadata of the column, in whole.
	const inside = `{"name":"b","type":{"type":"struct","fields":[{"name":"x","type":"short"},{"name":"y","type":"char(3)"}]}},` +
		`{"name":"c","type":{"type":"map","keyType":"varchar(4)","valueType":{"type":"array","elementType":"byte"}}}`
	const beside = `{"name":"b","type":{"type":"struct","fields":[{"name":"x","type":"short"},{"name":"y","type":"string"}]},"metadata":{"__CHAR_VARCHAR_TYPE_STRING":"struct<x:smallint,y:char(3)>"}},` +
		`{"name":"c","type":{"type":"map","keyType":"string","valueType":{"type":"array","elementType":"byte"}},"metadata":{"__CHAR_VARCHAR_TYPE_STRING":"map<varchar(4),array<tinyint>>"}}`
	for name, fields := range map[string]string{"inside": a + inside + d, "beside": a + beside + d} {
		provided := schema(fields)
		provided[providerKey] = "parquet"
		if got := types(Stored{Parameters: provided}); got != want {
			t.Errorf("Spark's, %s: %s", name, got)
		}
		if got := types(Stored{Parameters: schema(fields)}); got != want {
			t.Errorf("Spark's of a table of Hive's, %s: %s", name, got)
		}
	}
	// Hive made a longer text of one since: its columns count.
	longer := append([]Column{}, columns...)
	longer[1].Type = "struct<x:smallint,y:char(5)>"
	if got := types(Stored{Columns: longer, Parameters: schema(a + inside + d)}); got != strings.Replace(want, "char(3)", "char(5)", 1) {
		t.Errorf("altered: %s", got)
	}
}

func TestLocations(t *testing.T) {
	base := Stored{SerDe: serde, InputFormat: format, Columns: []Column{{"a", "int", ""}}, Location: "s3://b/t"}
	if got, err := described(t, base); err != nil || got.Files.Location != "s3://b/t" || got.Files.Listed {
		t.Errorf("%+v, %v", got.Files, err)
	}
	base.Parameters, base.SerDeParameters = map[string]string{providerKey: "parquet", "k": "v", "comment": "said", "spark.sql.create.version": "3.5"}, map[string]string{"path": "s3://b/own"}
	base.Location = "file:/w/t-__PLACEHOLDER__"
	got, err := described(t, base)
	if err != nil || got.Files.Location != "s3://b/own" || got.Files.Comment != "said" || fmt.Sprint(got.Files.Properties) != "map[k:v spark.sql.sources.provider:parquet]" && fmt.Sprint(got.Files.Properties) != "map[k:v]" {
		t.Errorf("%+v, %v", got.Files, err)
	}
	base.SerDeParameters = nil
	if _, err := described(t, base); !fault.Is(err, fault.Corrupt) {
		t.Errorf("a placeholder alone: %v", err)
	}
}

func TestFormatOfAPartition(t *testing.T) {
	if got := (Stored{}).FormatOfPartition(serde, format); got != "" {
		t.Error(got)
	}
	if got := (Stored{}).FormatOfPartition("org.apache.hadoop.hive.ql.io.orc.OrcSerde", "org.apache.hadoop.hive.ql.io.orc.OrcInputFormat"); got != "orc" {
		t.Error(got)
	}
	// What Spark makes and Hive cannot read is kept under Hive's default classes.
	source := Stored{Parameters: map[string]string{providerKey: "parquet"}}
	if got := source.FormatOfPartition("org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe", "org.apache.hadoop.mapred.SequenceFileInputFormat"); got != "" {
		t.Error(got)
	}
}
