package inprocess

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	pb "github.com/apache/arrow-go/v18/arrow/flight/gen/flight"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
)

// tool is a session of a client program, which remembers what came last.
type tool struct {
	t   *testing.T
	sql *flightsql.Client
	ctx context.Context
}

// answer is what a step gave.
type answer struct {
	columns []string
	rows    [][]string
}

// expect is what a step must give.
type expect struct {
	columns string // with commas; empty: any
	rows    int    // exactly, or some; not looked at where all of this is empty
	has     string // in some row, its values with bars between
	fails   string // in the error; empty: no error
}

// some stands for at least one row.
const some = -2

// step is one call of a tool.
type step struct {
	what string
	call func(*tool) (answer, error)
	want expect
}

// program is what a tool calls itself, the headers of its connection, and its calls in the order in which it sends them.
type program struct {
	agent   string
	headers []string
	steps   []step
}

// tools are the call sequences of tools for reports.
var tools = map[string]program{
	"DBeaver": {agent: "grpc-java-netty/1.71.0", steps: []step{
		{"product, quote, escape", info(), expect{rows: some}},
		{"catalogs", command(&pb.CommandGetCatalogs{}), expect{columns: "catalog_name", has: "lake", rows: some}},
		{"option catalog", option("catalog", "lake"), expect{}},
		{"schemas", command(&pb.CommandGetDbSchemas{Catalog: ptr("lake"), DbSchemaFilterPattern: ptr("%")}), expect{has: "lake|session", rows: some}},
		{"tables of a schema", command(&pb.CommandGetTables{Catalog: ptr("lake"), DbSchemaFilterPattern: ptr("session"), TableNameFilterPattern: ptr("%")}),
			expect{columns: "catalog_name,db_schema_name,table_name,table_type", rows: 1, has: "lake|session|t|TABLE"}},
		{"an escaped name", command(&pb.CommandGetTables{Catalog: ptr("lake"), DbSchemaFilterPattern: ptr("types"), TableNameFilterPattern: ptr(`all\_v2`)}), expect{rows: 1}},
		{"columns", command(&pb.CommandGetTables{Catalog: ptr("lake"), DbSchemaFilterPattern: ptr("types"), TableNameFilterPattern: ptr(`all\_v2`), IncludeSchema: true}), expect{rows: 1}},
		{"key of a table", command(&pb.CommandGetPrimaryKeys{Catalog: ptr("lake"), DbSchema: ptr("session"), Table: "t"}), expect{rows: 0}},
		{"keys of all", command(&pb.CommandGetPrimaryKeys{Catalog: ptr("lake"), DbSchema: ptr("session"), Table: "%"}), expect{rows: 0}},
		{"foreign keys", command(&pb.CommandGetImportedKeys{Catalog: ptr("lake"), DbSchema: ptr("session"), Table: "t"}), expect{rows: 0}},
		{"keys that refer to it", command(&pb.CommandGetExportedKeys{Catalog: ptr("lake"), DbSchema: ptr("session"), Table: "t"}), expect{rows: 0}},
		{"types of tables", command(&pb.CommandGetTableTypes{}), expect{rows: 2, has: "TABLE"}},
		{"test query", prepared("SELECT 1"), expect{rows: 1}},
		{"version", prepared("SELECT VERSION()"), expect{rows: 1}},
		{"data", prepared("SELECT * FROM `lake`.`types`.`all_v2`"), expect{rows: some}},
		{"a few of many rows, then it leaves", left("SELECT a.id FROM types.all_v2 a CROSS JOIN types.all_v2 b CROSS JOIN types.all_v2 c"), expect{}},
		{"data with its own limit", prepared(`SELECT x.* FROM "lake"."types"."all_v2" x`), expect{rows: some}},
		{"a nested schema as it lists it", prepared("SELECT * FROM `deep`.`session.sub`.`t`"), expect{rows: some}},
		{"a wrong statement", prepared("SELEC 1"), expect{fails: "yntax"}},
		{"goes on", prepared("SELECT 1"), expect{rows: 1}},
		{"the end", closeSession, expect{}},
	}},
	"Power BI over ADBC": {agent: "ADBC Flight SQL Driver v1.13.0", headers: []string{"database", "types"}, steps: []step{
		{"transactions?", info(8), expect{rows: 1}},
		{"navigator", prepared("SHOW DATABASES"), expect{columns: "database_name", has: "types", rows: some}},
		{"schemas", prepared("SELECT CATALOG_NAME, SCHEMA_NAME FROM INFORMATION_SCHEMA.SCHEMATA"), expect{columns: "CATALOG_NAME,SCHEMA_NAME", has: "lake|types", rows: some}},
		{"tables", prepared("SELECT table_catalog, table_schema, table_name, table_type FROM information_schema.tables WHERE table_schema = 'types'"),
			expect{has: "lake|types|all_v2|BASE TABLE", rows: some}},
		{"columns", prepared("SELECT column_name, ordinal_position, is_nullable, data_type FROM information_schema.columns WHERE table_schema = 'types' AND table_name = 'all_v2' ORDER BY ordinal_position"),
			expect{has: "id|1|YES|int", rows: some}},
		{"constraints", prepared("SELECT tc.constraint_name, kcu.column_name, ccu.table_name FROM information_schema.table_constraints tc JOIN information_schema.key_column_usage kcu " +
			"ON tc.constraint_name = kcu.constraint_name JOIN information_schema.constraint_column_usage ccu ON tc.constraint_name = ccu.constraint_name WHERE tc.table_name = 'all_v2'"), expect{rows: 0}},
		{"an alias without quotes", prepared(`select id Name from "types"."all_v2" limit 1`), expect{columns: "Name", rows: 1}},
		{"quoted names of two parts", prepared(`select "rows"."id" as "id", "rows"."s" as "S" from (select * from "types"."all_v2") "rows" limit 1000`), expect{rows: some, columns: "id,S"}},
		{"shape alone", prepared(`select * from (select * from "lake"."types"."all_v2") as "_" where 0 = 1`), expect{rows: 0}},
		{"count of rows", prepared(`select count(*) as "C1" from (select "_"."id" from "lake"."types"."all_v2" as "_") as "_"`), expect{columns: "C1", rows: 1}},
		{"groups", prepared(`select "_"."c" as "c", "_"."n" as "n" from (select "rows"."id" as "c", count(1) as "n" from "types"."all_v2" as "rows" group by "id") as "_" where not "_"."c" is null`),
			expect{columns: "c,n", rows: some}},
		{"the header's schema", prepared("SELECT current_schema()"), expect{has: "types", rows: 1}},
		{"schema of a result", schemaOf(`select * from "types"."all_v2" limit 0`), expect{}},
	}},
	"Power BI and Excel over ODBC": {agent: "grpc-c++/1.60.0", steps: []step{
		{"all of the info", info(), expect{rows: some}},
		{"types", command(&pb.CommandGetXdbcTypeInfo{}), expect{rows: some, has: "BIGINT|-5|19"}},
		{"one type", command(&pb.CommandGetXdbcTypeInfo{DataType: proto.Int32(12)}), expect{rows: 1, has: "STRING|12"}},
		{"catalogs", command(&pb.CommandGetCatalogs{}), expect{has: "lake", rows: some}},
		{"schemas", command(&pb.CommandGetDbSchemas{}), expect{has: "lake|types", rows: some}},
		{"types of tables", command(&pb.CommandGetTableTypes{}), expect{rows: 2, has: "TABLE"}},
		{"tables of every type", command(&pb.CommandGetTables{TableTypes: []string{}}), expect{has: "lake|session|t|TABLE", rows: some}},
		{"tables of two types", command(&pb.CommandGetTables{TableTypes: []string{"TABLE", "VIEW"}}), expect{has: "lake|session|t|TABLE", rows: some}},
		{"all tables", command(&pb.CommandGetTables{Catalog: ptr("lake"), DbSchemaFilterPattern: ptr("%"), TableNameFilterPattern: ptr("%")}), expect{rows: some}},
		{"columns", command(&pb.CommandGetTables{DbSchemaFilterPattern: ptr("session"), TableNameFilterPattern: ptr("t"), IncludeSchema: true}), expect{rows: some}},
		{"direct", query("SELECT TOP 10 `id` FROM `lake`.`types`.`all_v2`"), expect{columns: "id", rows: some}},
		{"a setting on the query path", query("SET spark.sql.iceberg.read.split-size = 1048576"), expect{columns: "key,value", rows: 1}},
		{"is kept", query("SET spark.sql.iceberg.read.split-size"), expect{rows: 1, has: "1048576"}},
		{"prepared", prepared("SELECT COUNT(*) AS n FROM `types`.`all_v2`"), expect{columns: "n", rows: 1}},
	}},
	"Superset": {agent: "grpc-c++/1.81.0", steps: []step{
		{"four codes", info(0, 2, 3, 504), expect{rows: 4}},
		{"ping", query("SELECT 1"), expect{rows: 1}},
		{"schemas", command(&pb.CommandGetDbSchemas{}), expect{has: "lake|types", rows: some}},
		{"tables", command(&pb.CommandGetTables{DbSchemaFilterPattern: ptr("types")}), expect{has: "lake|types|all_v2|TABLE", rows: some}},
		{"columns, nothing escaped", command(&pb.CommandGetTables{DbSchemaFilterPattern: ptr("types"), TableNameFilterPattern: ptr("all_v2"), IncludeSchema: true}), expect{rows: 1}},
		{"parameters", bind("SELECT table_name FROM information_schema.tables WHERE table_schema = ? AND table_name = ?", "types", "all_v2"), expect{has: "all_v2", rows: 1}},
		{"begin", query("BEGIN"), expect{}},
		{"where am I", query("SELECT current_catalog()"), expect{rows: 1, has: "lake"}},
		{"SQL Lab", query("SELECT *\nFROM types.all_v2\nLIMIT 1001"), expect{rows: some}},
		{"a chart", query("SELECT virtual_table.id AS id, COUNT(*) AS `count`\nFROM (SELECT * FROM types.all_v2) AS virtual_table GROUP BY virtual_table.id ORDER BY `count` DESC\n LIMIT 100"), expect{columns: "id,count", rows: some}},
		{"a range of times", query("SELECT COUNT(*) AS n\nFROM (SELECT DATE '2024-05-01' AS d)\nWHERE d >= '2024-01-01 00:00:00.000000' AND d < '2025-01-01 00:00:00.000000'"), expect{has: "1", rows: 1}},
		{"an error with line ends", query("SELECT *\nFROM none.such\nLIMIT 1"), expect{fails: "cannot be found"}},
		{"rollback", query("ROLLBACK"), expect{}},
		{"commit", query("COMMIT"), expect{}},
	}},
	"Metabase": {agent: "grpc-java-netty/1.63.0", steps: []step{
		{"ping", prepared("SELECT 1"), expect{rows: 1}},
		{"tables", prepared("SHOW TABLES IN session"), expect{rows: 1}},
		{"columns", prepared(`DESCRIBE "session"."t"`), expect{rows: some}},
		{"tables of the current driver", prepared("SELECT table_schema, table_name FROM information_schema.tables WHERE table_schema NOT IN ('information_schema')"),
			expect{has: "types|all_v2", rows: some}},
		{"fields of all tables", prepared("SELECT lower(table_schema) AS s, table_name, column_name, data_type, upper(is_nullable) AS n FROM information_schema.columns WHERE (1 >= 1) AND table_schema = 'types'"),
			expect{has: "types|all_v2|id|int|YES", rows: some}},
		{"parts of a day", prepared("SELECT dayofyear(DATE '2024-02-01') AS d, isodow(DATE '2024-02-04') AS w WHERE DATE '2024-02-01' < TIMESTAMP '2024-02-01 10:00:00'"), expect{has: "32|7", rows: 1}},
		{"a question", prepared("SELECT `types`.`all_v2`.`id` AS `id` FROM `types`.`all_v2` LIMIT 1048575"), expect{columns: "id", rows: some}},
		{"a count", prepared("SELECT COUNT(*) AS `count` FROM `types`.`all_v2`"), expect{columns: "count", rows: 1}},
	}},
	"Grafana": {agent: "grpc-go/1.60.0", headers: []string{"bucket-name", "types", "database", "types"}, steps: []step{
		{"info", info(), expect{rows: some}},
		{"tables", command(&pb.CommandGetTables{TableTypes: []string{"BASE TABLE"}}), expect{rows: some, has: "lake|session|t|TABLE"}},
		{"columns", command(&pb.CommandGetTables{TableNameFilterPattern: ptr("all_v2"), TableTypes: []string{"BASE TABLE"}, IncludeSchema: true}), expect{rows: 1}},
		{"health", query("select 1"), expect{rows: 1}},
		{"a panel", query("SELECT id AS time FROM types.all_v2"), expect{rows: some}},
	}},
	"Tableau": {agent: "grpc-java-netty/1.71.0", steps: []step{
		{"all of the info", info(), expect{rows: some}},
		{"types of tables", command(&pb.CommandGetTableTypes{}), expect{rows: 2}},
		{"keys", command(&pb.CommandGetPrimaryKeys{Catalog: ptr("lake"), DbSchema: ptr("session"), Table: "t"}), expect{rows: 0}},
		{"a subquery with an alias", prepared("SELECT `SUBQUERY`.`COL` AS `COL` FROM (SELECT 1 AS `COL`) `SUBQUERY`"), expect{columns: "COL", rows: 1}},
		{"limit", prepared("SELECT 1 AS `COL` FROM `types`.`all_v2` LIMIT 1"), expect{rows: 1}},
		{"group by ordinal", prepared("SELECT `id` FROM `types`.`all_v2` GROUP BY 1"), expect{rows: some}},
		{"an ordinal too far", prepared("SELECT `id` FROM `types`.`all_v2` GROUP BY 2"), expect{fails: "GROUP BY"}},
		{"a temporary table", prepared("CREATE LOCAL TEMPORARY TABLE `#T` (`COL` INTEGER)"), expect{fails: "reads only"}},
		{"into a table", prepared("INSERT INTO `session`.`t` SELECT * FROM `session`.`t`"), expect{fails: "reads only"}},
		{"into a new table", prepared("SELECT * INTO `#T` FROM `types`.`all_v2`"), expect{fails: "INTO"}},
		{"the shape of all, at prepare", shape("SELECT * FROM `types`.`all_v2`"), expect{}},
		{"drop", prepared("DROP TABLE `#T`"), expect{fails: "reads only"}},
		{"shape alone", prepared("SELECT * FROM (SELECT * FROM `types`.`all_v2`) `t` WHERE 1=0"), expect{rows: 0}},
		{"limit 0", prepared("SELECT * FROM `types`.`all_v2` LIMIT 0"), expect{rows: 0}},
		{"a sum with HAVING alone", prepared("SELECT SUM(1) AS `n` FROM `types`.`all_v2` HAVING (COUNT(1) > 0)"), expect{columns: "n", rows: 1}},
	}},
}

func ptr(s string) *string { return &s }

// command asks for metadata.
func command(m proto.Message) func(*tool) (answer, error) {
	return func(u *tool) (answer, error) {
		packed, err := anypb.New(m)
		must(u.t, err)
		cmd, err := proto.Marshal(packed)
		must(u.t, err)
		i, err := u.sql.Client.GetFlightInfo(u.ctx, &flight.FlightDescriptor{Type: flight.DescriptorCMD, Cmd: cmd})
		if err != nil {
			return answer{}, err
		}
		return u.read(i)
	}
}

// info asks for codes of SqlInfo; none: for all.
func info(codes ...uint32) func(*tool) (answer, error) {
	return command(&pb.CommandGetSqlInfo{Info: codes})
}

// query sends a statement directly.
func query(sql string) func(*tool) (answer, error) {
	return func(u *tool) (answer, error) {
		i, err := u.sql.Execute(u.ctx, sql)
		if err != nil {
			return answer{}, err
		}
		return u.read(i)
	}
}

// prepared sends a statement the way of JDBC and ADBC: what has no columns is an update.
func prepared(sql string) func(*tool) (answer, error) {
	return preparing(sql, func(u *tool, p *flightsql.PreparedStatement) (answer, error) {
		if p.DatasetSchema() == nil || p.DatasetSchema().NumFields() == 0 {
			_, err := p.ExecuteUpdate(u.ctx)
			return answer{}, err
		}
		i, err := p.Execute(u.ctx)
		if err != nil {
			return answer{}, err
		}
		out, err := u.read(i)
		if err == nil && !slices.Equal(out.columns, names(p.DatasetSchema())) {
			u.t.Errorf("%s: prepared as %s", sql, p.DatasetSchema())
		}
		return out, err
	})
}

// preparing prepares a statement, does something with it, and closes it.
func preparing(sql string, do func(*tool, *flightsql.PreparedStatement) (answer, error)) func(*tool) (answer, error) {
	return func(u *tool) (answer, error) {
		p, err := u.sql.Prepare(u.ctx, sql)
		if err != nil {
			return answer{}, err
		}
		defer p.Close(u.ctx)
		return do(u, p)
	}
}

// bind prepares a statement and runs it with texts for its parameters.
func bind(sql string, values ...string) func(*tool) (answer, error) {
	return preparing(sql, func(u *tool, p *flightsql.PreparedStatement) (answer, error) {
		fields := make([]arrow.Field, len(values))
		for i := range values {
			fields[i] = arrow.Field{Name: fmt.Sprint(i), Type: arrow.BinaryTypes.String}
		}
		b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
		defer b.Release()
		for i, v := range values {
			b.Field(i).(*array.StringBuilder).Append(v)
		}
		p.SetParameters(b.NewRecordBatch())
		return u.run(p)
	})
}

// left reads one batch of a statement's rows and leaves the stream.
func left(sql string) func(*tool) (answer, error) {
	return func(u *tool) (answer, error) {
		i, err := u.sql.Execute(u.ctx, sql)
		if err != nil {
			return answer{}, err
		}
		ctx, leave := context.WithCancel(u.ctx)
		defer leave()
		r, err := u.sql.DoGet(ctx, i.Endpoint[0].Ticket)
		if err != nil {
			return answer{}, err
		}
		defer r.Release()
		if !r.Next() {
			return answer{}, fmt.Errorf("no rows: %w", r.Err())
		}
		return answer{}, nil
	}
}

// shape prepares a statement and never runs it.
func shape(sql string) func(*tool) (answer, error) {
	return func(u *tool) (answer, error) {
		p, err := u.sql.Prepare(u.ctx, sql)
		if err != nil {
			return answer{}, err
		}
		defer p.Close(u.ctx)
		if p.DatasetSchema() == nil || p.DatasetSchema().NumFields() == 0 {
			return answer{}, fmt.Errorf("no schema")
		}
		return answer{}, nil
	}
}

func schemaOf(sql string) func(*tool) (answer, error) {
	return func(u *tool) (answer, error) {
		s, err := u.sql.GetExecuteSchema(u.ctx, sql)
		if err == nil && len(s.Schema) == 0 {
			err = fmt.Errorf("no schema")
		}
		return answer{}, err
	}
}

func option(key, value string) func(*tool) (answer, error) {
	return func(u *tool) (answer, error) {
		values, err := flight.NewSessionOptionValues(map[string]any{key: value})
		must(u.t, err)
		r, err := u.sql.SetSessionOptions(u.ctx, &flight.SetSessionOptionsRequest{SessionOptions: values})
		if err == nil && len(r.Errors) > 0 {
			err = fmt.Errorf("%v", r.Errors)
		}
		return answer{}, err
	}
}

func closeSession(u *tool) (answer, error) {
	_, err := u.sql.CloseSession(u.ctx, &flight.CloseSessionRequest{})
	return answer{}, err
}

func names(s *arrow.Schema) (out []string) {
	for _, f := range s.Fields() {
		out = append(out, f.Name)
	}
	return out
}

// read reads every endpoint.
func (u *tool) read(i *flight.FlightInfo) (out answer, err error) {
	if len(i.Schema) == 0 {
		u.t.Error("a FlightInfo without a schema")
	}
	for _, e := range i.Endpoint {
		r, err := u.sql.DoGet(u.ctx, e.Ticket)
		if err != nil {
			return out, err
		}
		out.columns = names(r.Schema())
		for r.Next() {
			for n := range int(r.RecordBatch().NumRows()) {
				out.rows = append(out.rows, rowOf(r.RecordBatch(), n))
			}
		}
		err = r.Err()
		r.Release()
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

func rowOf(b arrow.RecordBatch, n int) (row []string) {
	for _, c := range b.Columns() {
		if u, ok := c.(array.Union); ok {
			row = append(row, fmt.Sprint(u.TypeCode(n)))
			continue
		}
		row = append(row, c.ValueStr(n))
	}
	return row
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (e expect) judge(t *testing.T, what string, got answer, err error) {
	t.Helper()
	if e.fails != "" {
		if err == nil || !strings.Contains(err.Error(), e.fails) {
			t.Errorf("%s: %v, want an error that tells %q", what, err, e.fails)
		}
		return
	}
	switch {
	case err != nil:
		t.Errorf("%s: %v", what, err)
	case e.rows == some && len(got.rows) == 0, e.rows >= 0 && len(got.rows) != e.rows && e != (expect{}):
		t.Errorf("%s: %d rows, want %d", what, len(got.rows), e.rows)
	case e.columns != "" && strings.Join(got.columns, ",") != e.columns:
		t.Errorf("%s: columns %q, want %s", what, got.columns, e.columns)
	case e.has != "" && !slices.ContainsFunc(got.rows, func(row []string) bool { return strings.Contains("|"+strings.Join(row, "|")+"|", "|"+e.has+"|") }):
		t.Errorf("%s: no row has %s: %.300v", what, e.has, got.rows)
	}
}

// nested is a catalog with a table in a namespace of two levels: the fixture's, under another name.
func nested(t *testing.T) map[string]string {
	t.Helper()
	warehouse := t.TempDir()
	must(t, os.CopyFS(filepath.Join(warehouse, "session", "sub", "t"), os.DirFS(filepath.Join("..", "testdata", "warehouse", "session", "t"))))
	return map[string]string{"spark.sql.catalog.deep": "org.apache.iceberg.spark.SparkCatalog", "spark.sql.catalog.deep.type": "hadoop",
		"spark.sql.catalog.deep.warehouse": warehouse, "spark.sql.defaultCatalog": "lake"}
}

// connected is a session of a program that calls itself agent, until the test's end.
func connected(t *testing.T, s *Running, agent string, headers ...string) *tool {
	t.Helper()
	sql, err := flightsql.NewClient(s.Target().Address, nil, []flight.ClientMiddleware{flight.NewClientCookieMiddleware()},
		grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithUserAgent(agent))
	must(t, err)
	ctx, cancel := context.WithTimeout(metadata.AppendToOutgoingContext(t.Context(), headers...), 2*time.Minute)
	t.Cleanup(func() {
		cancel()
		sql.Close()
	})
	return &tool{t, sql, ctx}
}

// TestToolsGetWhatTheyAskFor replays what programs send, each in a session of its own.
func TestToolsGetWhatTheyAskFor(t *testing.T) {
	settings := lake(t)
	maps.Copy(settings, nested(t))
	s, err := Start(t.Context(), Config{Settings: settings})
	must(t, err)
	t.Cleanup(func() { must(t, s.Stop()) })
	programs := maps.Clone(tools)
	maps.Copy(programs, libraries)
	for name, program := range programs {
		t.Run(name, func(t *testing.T) {
			u := connected(t, s, program.agent, program.headers...)
			for _, step := range program.steps {
				got, err := step.call(u)
				step.want.judge(t, step.what, got, err)
			}
		})
	}
}
