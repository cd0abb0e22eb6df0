package inprocess

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/skua-data/skua/catalogs/hive/hivetest"
	"github.com/skua-data/skua/conformance"
)

// parquetFile writes rows, JSON objects, as a Parquet file; times are INT96, as old writers have them.
func parquetFile(t *testing.T, at string, fields []arrow.Field, rows string) {
	t.Helper()
	schema := arrow.NewSchema(fields, nil)
	batch, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, strings.NewReader(rows))
	must(t, err)
	defer batch.Release()
	var out bytes.Buffer
	w, err := pqarrow.NewFileWriter(schema, &out, parquet.NewWriterProperties(), pqarrow.NewArrowWriterProperties(pqarrow.WithDeprecatedInt96Timestamps(true)))
	must(t, err)
	must(t, w.Write(batch))
	must(t, w.Close())
	must(t, os.MkdirAll(filepath.Dir(at), 0o755))
	must(t, os.WriteFile(at, out.Bytes(), 0o600))
}

// plainLake is a metastore that lists tables of plain files beside one of Iceberg's.
func plainLake(t *testing.T) map[string]string {
	t.Helper()
	dir := t.TempDir()
	nullable := func(name string, typ arrow.DataType) arrow.Field {
		return arrow.Field{Name: name, Type: typ, Nullable: true}
	}
	fields := []arrow.Field{nullable("ID", arrow.PrimitiveTypes.Int32), nullable("At", &arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "UTC"}),
		nullable("price", &arrow.Decimal128Type{Precision: 9, Scale: 2}), nullable("more", arrow.StructOf(nullable("X", arrow.PrimitiveTypes.Int32)))}
	parquetFile(t, dir+"/logs/country=CH/day=2026-01-01/a", fields, `[{"ID": 1, "At": "2026-01-01T10:00:00Z", "price": "1.50", "more": {"X": 7}}, {"ID": 2, "price": "2.50"}]`)
	parquetFile(t, dir+"/logs/country=CH/day=2026-01-02/a", fields[:1], `[{"ID": 3}]`)
	parquetFile(t, dir+"/elsewhere/a", fields, `[{"ID": 4, "price": "9.99"}]`)
	parquetFile(t, dir+"/logs/country=CH/day=2026-01-02/_hidden", fields[:1], `[{"ID": 99}]`)
	parquetFile(t, dir+"/whole/part-0.parquet", fields[:1], `[{"ID": 5}, {"ID": 6}]`)
	parquetFile(t, dir+"/small/a", []arrow.Field{nullable("b", arrow.PrimitiveTypes.Int8), nullable("s", arrow.PrimitiveTypes.Int16), nullable("c", arrow.BinaryTypes.String),
		nullable("v", arrow.BinaryTypes.String), nullable("d", arrow.FixedWidthTypes.Date32)}, `[{"b": 1, "s": 300, "c": "ab", "v": "ab", "d": "1000-01-01"}, {"b": -2, "s": -1, "c": "abcd"}, {}]`)
	columns := []map[int16]any{hivetest.Column("id", "bigint"), hivetest.Column("at", "timestamp"), hivetest.Column("price", "decimal(9,2)"),
		hivetest.Column("more", "struct<x:int,y:string>"), hivetest.Column("code", "varchar(3)")}
	keys := []map[int16]any{hivetest.Column("country", "string"), hivetest.Column("day", "date")}
	spark := map[string]string{"spark.sql.sources.provider": "parquet", "spark.sql.sources.schema": `{"type":"struct","fields":[{"name":"Id","type":"integer","nullable":true,"metadata":{"comment":"the key"}}]}`}
	found, err := filepath.Glob(warehouse + "/types/all_v2/metadata/v*.metadata.json")
	must(t, err)
	metastore := &hivetest.Server{
		Databases: map[string]map[string]string{"default": {}, "sales": {}},
		Tables: map[string]map[int16]any{
			"sales.logs":  hivetest.ParquetTable("sales", "logs", "file:"+dir+"/logs", columns, keys, map[string]string{"EXTERNAL": "TRUE", "team": "birds"}),
			"sales.whole": hivetest.ParquetTable("sales", "whole", "file:"+dir+"/whole", columns[:1], nil, spark),
			"sales.small": hivetest.ParquetTable("sales", "small", "file:"+dir+"/small", []map[int16]any{hivetest.Column("b", "tinyint"), hivetest.Column("s", "smallint"),
				hivetest.Column("c", "char(4)"), hivetest.Column("v", "varchar(4)"), hivetest.Column("d", "date")}, nil, map[string]string{}),
			"sales.texts": hivetest.Table("sales", "texts", "EXTERNAL_TABLE", map[string]string{}),
			"sales.ice": hivetest.Table("sales", "ice", "EXTERNAL_TABLE", map[string]string{"table_type": "ICEBERG",
				"metadata_location": root + "/types/all_v2/metadata/" + filepath.Base(found[len(found)-1])}),
		},
		Partitions: map[string][]map[int16]any{"sales.logs": {
			hivetest.ParquetPartition("sales", "logs", "file:"+dir+"/logs/country=CH/day=2026-01-01", columns, "CH", "2026-01-01"),
			hivetest.ParquetPartition("sales", "logs", "file:"+dir+"/logs/country=CH/day=2026-01-02", columns, "CH", "2026-01-02"),
			hivetest.ParquetPartition("sales", "logs", "file:"+dir+"/elsewhere", columns, "a/b", "__HIVE_DEFAULT_PARTITION__"),
		}},
	}
	uri, err := metastore.Start()
	must(t, err)
	t.Cleanup(metastore.Stop)
	settings := maps.Clone(lake(t))
	settings["spark.sql.catalog.spark_catalog"] = "com.nvidia.spark.rapids.iceberg.spark.RapidsSparkSessionCatalog"
	settings["spark.sql.catalog.spark_catalog.type"], settings["spark.sql.catalog.spark_catalog.uri"] = "hive", uri
	settings["spark.sql.catalog.plain"], settings["spark.sql.catalog.plain.type"], settings["spark.sql.catalog.plain.uri"] = "org.apache.iceberg.spark.SparkCatalog", "hive", uri
	return settings
}

func TestTablesOfPlainFiles(t *testing.T) {
	noLeaks(t)
	client := connect(t, start(t, plainLake(t)).Target())
	for _, c := range []struct{ sql, want string }{
		{"SELECT id, price, more.x, country, day FROM spark_catalog.sales.logs ORDER BY id", `1|1.5|7|CH|2026-01-01; 2|2.5|(null)|CH|2026-01-01; 3|(null)|(null)|CH|2026-01-02; 4|9.99|(null)|a/b|(null)`},
		{"SELECT * FROM sales.logs WHERE at IS NOT NULL", `1|2026-01-01T10:00:00Z|1.5|{"x":7,"y":null}|(null)|CH|2026-01-01`},
		{"SELECT count(*) FROM sales.logs", `4`},
		{"SELECT count(*) FROM sales.logs WHERE day = DATE '2026-01-01'", `2`},
		{"SELECT id FROM sales.logs WHERE country = 'a/b' AND day IS NULL", `4`},
		{"SELECT id FROM sales.logs WHERE id > 2 AND country = 'CH'", `3`},
		{"SELECT country, sum(price) AS s FROM sales.logs GROUP BY country ORDER BY country", `CH|4; a/b|9.99`},
		{"SELECT max(day) AS d, min(id) AS i FROM sales.logs", `2026-01-02|1`},
		{"SELECT w.Id FROM sales.whole w JOIN sales.logs l ON w.id = l.id + 1", `5`},
		{"SELECT id FROM sales.whole ORDER BY id DESC LIMIT 1", `6`},
		{"DESCRIBE sales.whole", `Id|int|the key`},
		{"DESCRIBE sales.logs", `id|bigint|(null); at|timestamp|(null); price|decimal(9,2)|(null); more|struct<x:int,y:string>|(null); code|varchar(3)|(null); country|string|(null); day|date|(null); ` +
			`# Partition Information||; # col_name|data_type|comment; country|string|(null); day|date|(null)`},
		{"SHOW TBLPROPERTIES sales.logs", `team|birds`},
		{"SHOW TABLES IN sales", `sales|ice|false; sales|logs|false; sales|small|false; sales|texts|false; sales|whole|false`},
		{"SHOW TABLES IN plain.sales", `sales|ice|false`},
		{"SELECT count(*) > 0 AS ok FROM sales.ice", `true`},
		{"SELECT *, typeof(b), typeof(s), typeof(c) FROM sales.small WHERE b = 1", "1|300|ab  |ab|1000-01-01|TINYINT|SMALLINT|VARCHAR"},
		{"SELECT b + b, s * 2, sum(b) OVER () FROM sales.small WHERE s > 0", "2|600|1"},
		{"SELECT sum(b) AS x, max(s) AS y, min(c) AS z FROM sales.small", "-1|300|ab  "},
		{"DESCRIBE sales.small", "b|tinyint|(null); s|smallint|(null); c|char(4)|(null); v|varchar(4)|(null); d|date|(null)"},
		{"SELECT s FROM sales.small WHERE c = 'ab'", "300"},
		{"SELECT s FROM sales.small WHERE c = 'ab      '", "300"},
		{"SELECT s FROM sales.small WHERE c IN ('abcd ', 'x') OR c <=> 'q'", "-1"},
		{"SELECT s FROM sales.small WHERE c > 'ab'", "-1"},
		{"SELECT s FROM sales.small WHERE c BETWEEN 'a' AND 'abc'", "300"},
		{"SELECT s FROM sales.small WHERE c <> 'abcd e'", "300; -1"},
		{"SELECT s FROM sales.small WHERE v = 'ab' AND c LIKE 'ab%'", "300"},
		{"SELECT count(*) AS n, max(s) AS m FROM sales.small WHERE c = 'ab  ' GROUP BY c", "1|300"},
		{"SELECT max(s) AS m FROM sales.small WHERE c = 'ab' GROUP BY c", "error: comparing c, a char(4), with a text of another length"},
		{"SELECT a.s FROM sales.small a JOIN sales.small b ON a.c = b.c WHERE a.b = 1", "300"},
		{"SELECT d FROM sales.small WHERE d < DATE '1500-01-01'", "1000-01-01"},
		{"SHOW PARTITIONS sales.logs", "country=CH/day=2026-01-01; country=CH/day=2026-01-02; country=a%2Fb/day=__HIVE_DEFAULT_PARTITION__"},
		{"SHOW PARTITIONS spark_catalog.sales.logs PARTITION (DAY = '2026-1-2')", "country=CH/day=2026-01-02"},
		{"SHOW PARTITIONS sales.logs PARTITION (country = 'a/b', day = NULL)", "country=a%2Fb/day=__HIVE_DEFAULT_PARTITION__"},
		{"SHOW PARTITIONS sales.logs PARTITION (country = 'DE')", ""},
		{"SHOW PARTITIONS sales.logs PARTITION (id = 1)", "error: id is not a valid partition column in table `spark_catalog`.`sales`.`logs`."},
		{"SHOW PARTITIONS sales.whole", "error: [INVALID_PARTITION_OPERATION.PARTITION_SCHEMA_IS_EMPTY] The partition command is invalid. Table `spark_catalog`.`sales`.`whole` is not partitioned."},
		{"SHOW PARTITIONS sales.ice", "error: [INVALID_PARTITION_OPERATION.PARTITION_MANAGEMENT_IS_UNSUPPORTED] The partition command is invalid. Table `spark_catalog`.`sales`.`ice` does not support"},
		{"SHOW PARTITIONS sales.gone", "error: [TABLE_OR_VIEW_NOT_FOUND]"},
		{"CALL spark_catalog.system.ancestors_of('sales.logs')", "error: spark_catalog.sales.logs is a table of plain parquet files: it has no snapshots"},
		{"SELECT count(*) FROM sales.texts", "error: spark_catalog.sales.texts is no Iceberg table: tables of plain files (csv) are not supported"},
		{"SELECT count(*) FROM plain.sales.logs", "error: [TABLE_OR_VIEW_NOT_FOUND]"},
		{"SELECT * FROM sales.logs VERSION AS OF 1", "error: spark_catalog.sales.logs is a table of plain parquet files: it has no snapshots"},
		{"SELECT * FROM sales.logs.snapshots", "error: spark_catalog.sales.logs is a table of plain parquet files: it has no metadata table snapshots"},
	} {
		if got := asked(t, client, c.sql); got != c.want && (!strings.HasPrefix(c.want, "error") || !strings.Contains(got, strings.TrimPrefix(c.want, "error: "))) {
			t.Errorf("%s:\n%s\nwant %s", c.sql, got, c.want)
		}
	}
	for _, c := range []struct{ mode, want string }{{"LEGACY", "0999-12-27"}, {"EXCEPTION", "error: [INCONSISTENT_BEHAVIOR_CROSS_VERSION.READ_ANCIENT_DATETIME]"}, {"CORRECTED", "1000-01-01"}} {
		asked(t, client, "SET spark.sql.parquet.datetimeRebaseModeInRead = "+c.mode)
		if got := asked(t, client, "SELECT d FROM sales.small WHERE d IS NOT NULL"); got != c.want && (!strings.HasPrefix(c.want, "error") || !strings.Contains(got, strings.TrimPrefix(c.want, "error: "))) {
			t.Errorf("%s: %s", c.mode, got)
		}
	}
	for sql, parts := range map[string][]string{
		"EXPLAIN SELECT id FROM sales.logs WHERE day = DATE '2026-01-02'":             {"plain parquet files", "partitions: 1 of 3, left out: 2 by partition", "files: 1\n"},
		"EXPLAIN SELECT id FROM sales.logs WITH ('split-size' = '7', lookback = '3')": {"ignored option split-size = 7: of no effect", "ignored option lookback = 3: of no effect"},
		"SHOW READ OPTIONS FOR sales.logs WITH ('split-size' = '7')":                  {"split-size|7|ignored|(null)|spark_catalog.sales.logs|of no effect on a table of plain files"},
		"DESCRIBE EXTENDED sales.logs":                                                {"Provider|parquet|", "Type|EXTERNAL|"},
		"SHOW CREATE TABLE sales.whole":                                               {"USING parquet"},
		"SHOW TABLE EXTENDED IN sales LIKE 'whole'":                                   {"Provider: parquet"},
	} {
		got := asked(t, client, sql)
		for _, part := range parts {
			if !strings.Contains(got, part) {
				t.Errorf("%s lacks %q:\n%s", sql, part, got)
			}
		}
	}
}

// asked gives an answer's rows as text, or the error.
func asked(t *testing.T, client *conformance.Client, sql string) string {
	t.Helper()
	answer, err := client.Ask(t.Context(), conformance.Question{SQL: sql, Path: conformance.PathQuery})
	if err != nil {
		return "error: " + err.Error()
	}
	defer answer.Release()
	var rows []string
	for _, batch := range answer.Batches {
		for i := range int(batch.NumRows()) {
			rows = append(rows, strings.Join(rowOf(batch, i), "|"))
		}
	}
	return strings.Join(rows, "; ")
}

func TestPlainFilesThatChangeAfterPlanning(t *testing.T) {
	client := connect(t, start(t, plainLake(t)).Target())
	at := strings.TrimPrefix(asked(t, client, "SELECT DISTINCT _file FROM sales.whole"), "file:")
	ctx := client.Context(t.Context())
	for _, change := range []func(){
		func() {
			parquetFile(t, at, []arrow.Field{{Name: "ID", Type: arrow.PrimitiveTypes.Int32, Nullable: true}}, `[{"ID": 7}, {"ID": 8}]`)
			later := time.Now().Add(time.Hour)
			must(t, os.Chtimes(at, later, later))
		},
		func() { must(t, os.Remove(at)) },
	} {
		info, err := client.Flight().Execute(ctx, "SELECT id FROM sales.whole")
		must(t, err)
		change()
		for _, e := range info.Endpoint {
			r, err := client.Flight().DoGet(ctx, e.Ticket)
			if err == nil {
				for r.Next() {
					t.Errorf("rows %v", r.RecordBatch())
				}
				err = r.Err()
				r.Release()
			}
			if status.Code(err) != codes.Unavailable || !strings.Contains(err.Error(), "changed since the statement was planned: run it again") {
				t.Errorf("%v", err)
			}
		}
	}
}
