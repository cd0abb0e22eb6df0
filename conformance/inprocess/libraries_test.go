package inprocess

import pb "github.com/apache/arrow-go/v18/arrow/flight/gen/flight"

// libraries are the call sequences of libraries that write their own SQL.
var libraries = map[string]program{
	"dbplyr": {agent: "ADBC Flight SQL Driver v1.13.0", steps: []step{
		{"transactions?", info(8), expect{rows: 1}},
		{"columns", prepared(`SELECT * FROM "types"."all_v2" AS "q01" WHERE (0 = 1)`), expect{rows: 0}},
		{"head", prepared("SELECT *\nFROM \"types\".\"all_v2\"\nLIMIT 11"), expect{rows: some}},
		{"count", prepared("SELECT \"b\", COUNT(*) AS \"n\"\nFROM \"types\".\"all_v2\"\nGROUP BY \"b\"\nORDER BY \"n\" DESC"), expect{columns: "b,n", rows: some}},
		{"mutate", prepared("SELECT \"all_v2\".*, CASE\nWHEN (\"i\" > 1.0) THEN 'a'\nWHEN NOT (\"i\" > 1.0) THEN 'b'\nEND AS \"k\"\nFROM \"types\".\"all_v2\""), expect{rows: some}},
		{"a window", prepared("SELECT \"q01\".*\nFROM (\n  SELECT \"all_v2\".*, ROW_NUMBER() OVER (PARTITION BY \"b\" ORDER BY \"id\") AS \"col01\"\n" +
			"  FROM \"types\".\"all_v2\"\n) AS \"q01\"\nWHERE (\"col01\" <= 1)"), expect{rows: some}},
		{"a join", prepared("SELECT \"all_v2_LHS\".\"id\" AS \"id\", \"all_v2_RHS\".\"s\" AS \"s.y\"\nFROM \"types\".\"all_v2\" AS \"all_v2_LHS\"\n" +
			"LEFT JOIN \"types\".\"all_v2\" AS \"all_v2_RHS\"\n  ON (\"all_v2_LHS\".\"id\" = \"all_v2_RHS\".\"id\")"), expect{columns: "id,s.y", rows: some}},
	}},
	"Ibis": {agent: "ADBC Flight SQL Driver v1.13.0", steps: []step{
		{"where am I", prepared("SELECT CURRENT_CATALOG(), CURRENT_SCHEMA()"), expect{rows: 1}},
		{"tables", prepared(`SELECT "table_name" FROM "information_schema"."tables" WHERE "table_catalog" = CURRENT_CATALOG() AND "table_schema" = 'types'`), expect{has: "all_v2", rows: some}},
		{"types of a query", prepared("DESCRIBE QUERY SELECT id, d9 FROM types.all_v2"), expect{has: "d9|decimal(9,2)", rows: 2}},
		{"an aggregation", prepared(`SELECT "t0"."b", SUM("t0"."d9") AS "s" FROM "types"."all_v2" AS "t0" WHERE "t0"."ntz" > CAST('0001-01-01T00:00:00' AS TIMESTAMP_NTZ) ` +
			`GROUP BY 1 HAVING COUNT(*) > CAST(0 AS TINYINT) ORDER BY "s" DESC NULLS LAST`), expect{columns: "b,s", rows: some}},
		{"a query of queries", prepared(`WITH "t1" AS (SELECT * FROM "types"."all_v2" AS "t0"), "t2" AS (SELECT "t1"."b", AVG("t1"."i") AS "m" FROM "t1" GROUP BY 1) SELECT * FROM "t2" LIMIT 3`),
			expect{columns: "b,m", rows: some}},
		{"a temporary table", prepared(`CREATE TEMPORARY TABLE "ibis_memtable" ("a" BIGINT)`), expect{fails: "reads only"}},
	}},
	"sqlalchemy-adbc": {agent: "ADBC Flight SQL Driver v1.13.0", steps: []step{
		{"schemas", command(&pb.CommandGetDbSchemas{Catalog: ptr("lake")}), expect{has: "lake|types", rows: some}},
		{"types of tables", command(&pb.CommandGetTableTypes{}), expect{rows: 2, has: "table"}},
		{"a table", command(&pb.CommandGetTables{DbSchemaFilterPattern: ptr("types"), TableNameFilterPattern: ptr("all_v2"), IncludeSchema: true}), expect{rows: 1}},
		{"a column like a text", bind("SELECT id FROM types.all_v2 WHERE s LIKE ?", "%_"), expect{columns: "id", rows: some}},
		{"a table without its schema, as pandas writes it", prepared(`SELECT * FROM "all_v2"`), expect{fails: "`types`.`all_v2`"}},
		{"goes on", prepared("SELECT 1"), expect{rows: 1}},
	}},
}
