//go:build cgo

package duckdb

import (
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/extensions"

	"github.com/skua-data/skua/engine"
)

// TestColumnsOfTablesKeepTypesThatTheEngineLacks, wherever inside they are: a scan and a query have the same columns.
func TestColumnsOfTablesKeepTypesThatTheEngineLacks(t *testing.T) {
	two, uuid := &arrow.FixedSizeBinaryType{ByteWidth: 2}, extensions.NewUUIDType()
	parts := arrow.StructOf(arrow.Field{Name: "f", Type: two, Nullable: true}, arrow.Field{Name: "u", Type: uuid, Nullable: true}, arrow.Field{Name: "n", Type: arrow.Null, Nullable: true})
	f := newFixture(t)
	f.tables["z"] = newTable(t, `[{"k":1,"l":["f79c3e09-677c-4bbd-a479-3f349cb785e7",null],"s":{"f":"AQI=","u":"f79c3e09-677c-4bbd-a479-3f349cb785e7","n":null},"x":null,"m":[{"key":"a","value":"AQI="}]},
		{"k":2,"l":null,"s":null,"x":null,"m":null},{"k":3,"l":[],"s":{"f":null,"u":null,"n":null},"x":null,"m":[]}]`, 1,
		arrow.Field{Name: "k", Type: arrow.PrimitiveTypes.Int64}, arrow.Field{Name: "l", Type: arrow.ListOf(uuid)}, arrow.Field{Name: "s", Type: parts}, arrow.Field{Name: "x", Type: arrow.Null},
		arrow.Field{Name: "m", Type: arrow.MapOf(arrow.BinaryTypes.String, two)})
	const l, s, m = `["f79c3e09-677c-4bbd-a479-3f349cb785e7",null]`, `{"f":"AQI=","n":null,"u":"f79c3e09-677c-4bbd-a479-3f349cb785e7"}`, `[{"key":"a","value":"AQI="}]`
	list, structType := "list<element: extension<arrow.uuid>, nullable>", "struct<f: fixed_size_binary[2] nullable, u: extension<arrow.uuid> nullable, n: null nullable>"
	for _, c := range []struct{ sql, types, rows string }{
		{"SELECT l, s, x, m FROM z WHERE k + 1 = 2", list + "; " + structType + "; null; map<utf8, fixed_size_binary[2], items_nullable>", `{"l":` + l + `,"m":` + m + `,"s":` + s + `,"x":null}`},
		{"SELECT l, s FROM z WHERE k > 2 UNION ALL SELECT l, s FROM z WHERE k = 2", list + "; " + structType, `{"l":[],"s":{"f":null,"n":null,"u":null}} {"l":null,"s":null}`},
		{"SELECT s.f, s.u, s.n FROM z WHERE k + 0 = 1", "fixed_size_binary[2]; extension<arrow.uuid>; null", s},
		{"SELECT l, max(k) AS k FROM z WHERE k < 2 GROUP BY l", list + "; int64", `{"k":1,"l":` + l + `}`},
		{"SELECT b.s FROM z a LEFT JOIN z b ON a.k = b.k + 1 ORDER BY a.k", structType, `{"s":null} {"s":` + s + `} {"s":null}`},
	} {
		p, err := f.run.Compile(t.Context(), f.query(c.sql, nil))
		if err != nil {
			t.Errorf("%s: %v", c.sql, err)
			continue
		}
		var types []string
		for _, field := range p.Schema().Fields() {
			types = append(types, field.Type.String())
		}
		if got := strings.Join(types, "; "); got != c.types {
			t.Errorf("%s: %s, not %s", c.sql, got, c.types)
		}
		rows, err := f.rows(t.Context(), c.sql)
		if got := strings.NewReplacer("\n,", " ", "\n", "").Replace(strings.Trim(rows, "[]")); got != c.rows && strings.Trim(got, "[]") != strings.Trim(c.rows, "[]") || err != nil {
			t.Errorf("%s: %s, not %s; %v", c.sql, got, c.rows, err)
		}
	}
}

// TestColumnsOfTablesSayWhoseTheyAre, and those that are computed do not.
func TestColumnsOfTablesSayWhoseTheyAre(t *testing.T) {
	f := newFixture(t)
	for sql, want := range map[string]string{
		"SELECT o.id, c.name AS n, c.id + 1, upper(status) FROM orders o LEFT JOIN customers c ON o.customer = c.id ORDER BY o.id": "orders customers - -",
		"SELECT status, max(id), count(*) FROM orders GROUP BY status":                                                             "orders - -",
		"WITH q AS (SELECT id AS a FROM orders WHERE id % 2 = 0) SELECT DISTINCT a FROM q":                                         "orders",
		"SELECT id FROM orders WHERE id % 2 = 0 UNION ALL SELECT id FROM customers":                                                "-",
		"SELECT CAST(id AS STRING), coalesce(id, 1), 1 FROM orders ORDER BY id":                                                    "- - -",
		"SELECT (SELECT max(name) FROM customers) AS m, id FROM orders ORDER BY id":                                                "- -",
	} {
		p, err := f.run.Compile(t.Context(), f.query(sql, nil))
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		var got []string
		for _, field := range p.Schema().Fields() {
			table, ok := field.Metadata.GetValue(engine.TableKey)
			if !ok {
				table = "-"
			}
			got = append(got, table)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %s, want %s", sql, got, want)
		}
	}
}

// TestColumnsThatAreParametersHaveNoTypeBeforeTheyAreBound, by whatever the engine would take them for.
func TestColumnsThatAreParametersHaveNoTypeBeforeTheyAreBound(t *testing.T) {
	f := newFixture(t)
	for sql, want := range map[string]string{
		"SELECT x, count(*) FROM (SELECT ? AS x) GROUP BY x": "null int64",
		"SELECT max(?) FROM orders":                          "null",
		"VALUES (?)":                                         "null",
		"SELECT coalesce(?, ?), id FROM orders":              "null int64",
		"SELECT id * ? FROM orders":                          "int64",
		"SELECT id = ?, status FROM orders":                  "bool utf8",
	} {
		p, err := f.run.Compile(t.Context(), f.query(sql, nil))
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		var types []string
		for _, field := range p.Schema().Fields() {
			types = append(types, field.Type.String())
		}
		if got := strings.Join(types, " "); got != want {
			t.Errorf("%s: %s, not %s", sql, got, want)
		}
	}
}
