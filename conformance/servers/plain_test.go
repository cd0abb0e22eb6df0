package servers

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/glue"
	"github.com/aws/aws-sdk-go-v2/service/glue/types"

	"github.com/skua-data/skua/catalogs/hive/hivetest"
	"github.com/skua-data/skua/conformance/servers/launch"
)

// plainFile writes rows, JSON objects of the column ID, as a Parquet file.
func plainFile(t *testing.T, at, rows string) {
	t.Helper()
	schema := arrow.NewSchema([]arrow.Field{{Name: "ID", Type: arrow.PrimitiveTypes.Int32, Nullable: true}}, nil)
	batch, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, strings.NewReader(rows))
	if err != nil {
		t.Fatal(err)
	}
	defer batch.Release()
	var out bytes.Buffer
	w, err := pqarrow.NewFileWriter(schema, &out, parquet.NewWriterProperties(), pqarrow.DefaultWriterProps())
	if err == nil {
		err = w.Write(batch)
	}
	if err == nil {
		err = w.Close()
	}
	if err == nil {
		err = os.MkdirAll(filepath.Dir(at), 0o755)
	}
	if err == nil {
		err = os.WriteFile(at, out.Bytes(), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// days are the partitions of the table plain.logs with their places; the last is at a place of its own.
var days = map[string]string{"2026-01-01": "logs/country=a%2Fb/day=2026-01-01", "2026-01-02": "logs/country=a%2Fb/day=2026-01-02", "__HIVE_DEFAULT_PARTITION__": "elsewhere"}

// plainFiles writes the files of the tables.
func plainFiles(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	plainFile(t, dir+"/"+days["2026-01-01"]+"/a", `[{"ID": 1}, {"ID": 2}]`)
	plainFile(t, dir+"/"+days["2026-01-02"]+"/a", `[{"ID": 3}]`)
	plainFile(t, dir+"/elsewhere/a", `[{"ID": 4}]`)
	plainFile(t, dir+"/whole/a", `[{"ID": 5}, {"ID": null}]`)
	return dir
}

// askPlain asks the tables of plain files of a session catalog.
func askPlain(t *testing.T, c served) {
	t.Helper()
	for _, q := range []struct{ sql, want string }{
		{"SELECT id, country, day FROM plain.logs ORDER BY id", `[{"country":"a/b","day":"2026-01-01","id":1},` +
			`{"country":"a/b","day":"2026-01-01","id":2},{"country":"a/b","day":"2026-01-02","id":3},{"country":"a/b","day":null,"id":4}]`},
		{"SELECT count(*) AS n FROM plain.logs WHERE day = DATE '2026-01-01'", `[{"n":2}]`},
		{"SELECT id FROM plain.logs WHERE day IS NULL AND country = 'a/b'", `[{"id":4}]`},
		{"SELECT count(*) AS n, count(id) AS i FROM plain.whole", `[{"i":1,"n":2}]`},
		{"SELECT count(*) AS n FROM plain.many", `[{"n":0}]`},
	} {
		if got := ask(t, c, q.sql); strings.ReplaceAll(got, "\n", "") != q.want {
			t.Errorf("%s:\n%s\nwant %s", q.sql, got, q.want)
		}
	}
	if got := ask(t, c, "EXPLAIN SELECT id FROM plain.many WHERE day < DATE '1970-01-11'"); !strings.Contains(got, "partitions: 10 of 600") {
		t.Errorf("many partitions: %s", got)
	}
	for _, name := range []string{"logs", "many", "whole"} {
		if got := ask(t, c, "SHOW TABLES IN plain"); !strings.Contains(got, name) {
			t.Errorf("%s is not listed: %s", name, got)
		}
	}
}

// manyDays are the days of the partitions of plain.many, none of which was ever written.
func manyDays(each func(day string)) {
	for i := range 600 {
		each(arrow.Date32(i).FormattedString())
	}
}

// TestPlainTablesOfHive reads tables of Parquet files that a metastore lists, by both versions' ways to ask for partitions.
func TestPlainTablesOfHive(t *testing.T) {
	for _, name := range []string{"hive3", "hive4"} {
		t.Run(name, func(t *testing.T) {
			wanted(t, name)
			at := start(t, name, nil).Address
			dir := plainFiles(t)
			call := func(method string, arguments map[int16]any) {
				t.Helper()
				if _, err := hivetest.Call(t.Context(), at, method, arguments); err != nil {
					t.Fatal(err)
				}
			}
			columns, keys := []map[int16]any{hivetest.Column("id", "bigint")}, []map[int16]any{hivetest.Column("country", "string"), hivetest.Column("day", "date")}
			external := map[string]string{"EXTERNAL": "TRUE"}
			call("create_database", map[int16]any{1: map[int16]any{1: "plain", 3: "file://" + dir + "/db"}})
			call("create_table", map[int16]any{1: hivetest.ParquetTable("plain", "logs", "file://"+dir+"/logs", columns, keys, external)})
			call("create_table", map[int16]any{1: hivetest.ParquetTable("plain", "whole", "file://"+dir+"/whole", columns, nil, external)})
			call("create_table", map[int16]any{1: hivetest.ParquetTable("plain", "many", "file://"+dir+"/many", columns, keys[1:], external)})
			var parts []map[int16]any
			for day, folder := range days {
				parts = append(parts, hivetest.ParquetPartition("plain", "logs", "file://"+dir+"/"+folder, columns, "a/b", day))
			}
			call("add_partitions", map[int16]any{1: parts})
			parts = nil
			manyDays(func(day string) {
				parts = append(parts, hivetest.ParquetPartition("plain", "many", "file://"+dir+"/many/day="+day, columns, day))
			})
			call("add_partitions", map[int16]any{1: parts})
			askPlain(t, serve(t, map[string]map[string]string{"spark_catalog": {"": "org.apache.iceberg.spark.SparkSessionCatalog", "type": "hive", "uri": "thrift://" + at}}))
		})
	}
}

// TestPlainTablesOfGlue is TestPlainTablesOfHive for Glue.
func TestPlainTablesOfGlue(t *testing.T) {
	wanted(t, "moto")
	at := "http://" + start(t, "moto", launch.Settings{}).Address
	client := glue.New(glue.Options{Region: "us-east-1", BaseEndpoint: aws.String(at), Credentials: credentials.NewStaticCredentialsProvider("test", "planted", "")})
	dir := plainFiles(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	stored := func(location string) *types.StorageDescriptor {
		return &types.StorageDescriptor{Location: aws.String("file://" + dir + "/" + location), Columns: []types.Column{{Name: aws.String("id"), Type: aws.String("bigint")}},
			InputFormat: aws.String("org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat"),
			SerdeInfo:   &types.SerDeInfo{SerializationLibrary: aws.String("org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe")}}
	}
	keys := []types.Column{{Name: aws.String("country"), Type: aws.String("string")}, {Name: aws.String("day"), Type: aws.String("date")}}
	_, err := client.CreateDatabase(t.Context(), &glue.CreateDatabaseInput{DatabaseInput: &types.DatabaseInput{Name: aws.String("plain")}})
	must(err)
	for name, partitioned := range map[string][]types.Column{"logs": keys, "whole": nil, "many": keys[1:]} {
		_, err := client.CreateTable(t.Context(), &glue.CreateTableInput{DatabaseName: aws.String("plain"), TableInput: &types.TableInput{Name: aws.String(name),
			TableType: aws.String("EXTERNAL_TABLE"), PartitionKeys: partitioned, StorageDescriptor: stored(name)}})
		must(err)
	}
	add := func(table string, inputs []types.PartitionInput) {
		t.Helper()
		for len(inputs) > 0 {
			n := min(100, len(inputs)) // Glue takes no more at once
			_, err := client.BatchCreatePartition(t.Context(), &glue.BatchCreatePartitionInput{DatabaseName: aws.String("plain"), TableName: &table, PartitionInputList: inputs[:n]})
			must(err)
			inputs = inputs[n:]
		}
	}
	var logs, many []types.PartitionInput
	for day, folder := range days {
		logs = append(logs, types.PartitionInput{Values: []string{"a/b", day}, StorageDescriptor: stored(folder)})
	}
	manyDays(func(day string) {
		many = append(many, types.PartitionInput{Values: []string{day}, StorageDescriptor: stored("many/day=" + day)})
	})
	add("logs", logs)
	add("many", many)
	askPlain(t, serve(t, map[string]map[string]string{"spark_catalog": {"": "org.apache.iceberg.spark.SparkSessionCatalog", "type": "glue", "glue.endpoint": at, "client.region": "us-east-1",
		"glue.access-key-id": "test", "glue.secret-access-key": "planted"}}))
}
