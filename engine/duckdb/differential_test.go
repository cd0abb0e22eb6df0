//go:build cgo

package duckdb

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/engine"
)

// randomCell gives a value as JSON and as SQL.
func randomCell(r *rand.Rand, typ string) (json, sql string) {
	if r.IntN(6) == 0 {
		return "null", "NULL"
	}
	n := r.IntN(9) - 4
	switch typ {
	case "BIGINT", "INTEGER":
		return strconv.Itoa(n), strconv.Itoa(n)
	case "DOUBLE":
		v := []string{"0.0", "-0.0", "1.5", "-1.5", "2.25", "1e300", "NaN"}[r.IntN(7)]
		return strings.Replace(v, "NaN", `"NaN"`, 1), "CAST('" + v + "' AS DOUBLE)"
	case "DECIMAL(12, 2)":
		v := fmt.Sprintf("%d.%02d", n, r.IntN(100))
		return `"` + v + `"`, v
	case "VARCHAR":
		v := []string{"", "a", "ab", "abc", "b", "é", "a%"}[r.IntN(7)]
		return `"` + v + `"`, "'" + v + "'"
	case "DATE":
		v := fmt.Sprintf("2024-%02d-%02d", 1+r.IntN(3), 1+r.IntN(5))
		return `"` + v + `"`, "DATE '" + v + "'"
	case "TIMESTAMP":
		v := fmt.Sprintf("2024-01-%02d 0%d:00:00", 1+r.IntN(4), r.IntN(9))
		return `"` + v + `"`, "TIMESTAMP '" + v + "'"
	}
	v := strconv.FormatBool(n > 0)
	return v, v
}

// kinds are the columns of every random table: their names begin with the letter.
var kinds = []struct {
	letter, sql string
	arrow       arrow.DataType
}{
	{"k", "BIGINT", arrow.PrimitiveTypes.Int64}, {"i", "INTEGER", arrow.PrimitiveTypes.Int32}, {"d", "DOUBLE", arrow.PrimitiveTypes.Float64},
	{"p", "DECIMAL(12, 2)", &arrow.Decimal128Type{Precision: 12, Scale: 2}}, {"s", "VARCHAR", arrow.BinaryTypes.String}, {"t", "DATE", arrow.FixedWidthTypes.Date32},
	{"m", "TIMESTAMP", &arrow.TimestampType{Unit: arrow.Microsecond}}, {"b", "BOOLEAN", arrow.FixedWidthTypes.Boolean},
}

// randomQuery writes queries that have one answer, whatever their plan.
type randomQuery struct{ *rand.Rand }

func (r randomQuery) pick(of ...string) string { return of[r.IntN(len(of))] }

// column names a column of a relation; any of its kinds where none is asked for.
func (r randomQuery) column(alias string, letters ...string) string {
	if len(letters) == 0 {
		letters = []string{"k", "i", "d", "p", "s", "t", "m", "b"}
	}
	return alias + "." + r.pick(letters...)
}

func (r randomQuery) condition(alias string, depth int) string {
	if depth > 0 && r.IntN(2) == 0 {
		return r.pick("(%s AND %s)", "(%s OR %s)", "(NOT %s OR %s)")
	}
	k := kinds[r.IntN(len(kinds))]
	_, value := randomCell(r.Rand, k.sql)
	_, other := randomCell(r.Rand, k.sql)
	c := alias + "." + k.letter
	switch r.IntN(8) {
	case 0:
		return c + " IS NULL"
	case 1:
		return c + " IN (" + value + ", " + other + ")"
	case 2:
		return c + " NOT IN (" + value + ", " + other + ")"
	case 3:
		return c + " BETWEEN " + value + " AND " + other
	case 4:
		return alias + ".s LIKE " + r.pick("'a%'", "'%b'", "'a_'", "''")
	case 5:
		return r.pick("year("+alias+".t) = 2024", "date_trunc('month', "+alias+".m) = TIMESTAMP '2024-01-01'", "CAST("+alias+".m AS DATE) = DATE '2024-01-02'",
			alias+".k + 1 > 2", "CAST("+alias+".i AS BIGINT) = "+alias+".k", alias+".p > 1.5", alias+".i > 0.5", "coalesce("+alias+".k, 0) = 0")
	case 6:
		return c + " IS DISTINCT FROM " + value
	}
	return c + " " + r.pick("=", "<>", "<", "<=", ">", ">=") + " " + value
}

func (r randomQuery) where(alias string) string {
	text := r.condition(alias, 1)
	for strings.Contains(text, "%s") {
		text = strings.Replace(text, "%s", r.condition(alias, 0), 1)
	}
	return text
}

// query gives a statement whose columns are called c0, c1, ….
func (r randomQuery) query() string {
	switch r.IntN(12) {
	case 9, 10, 11:
		return r.first()
	case 0:
		return "SELECT x.k AS c0, x.s AS c1, x.d AS c2 FROM one x WHERE " + r.where("x")
	case 1:
		return "SELECT x.k AS c0, y.s AS c1, y.p AS c2 FROM one x " + r.pick("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN") + " two y ON x." + r.pick("k = y.k", "s = y.s", "i = y.i", "k = y.i",
			"t = y.t AND x.i = y.i", "p = y.p") + " WHERE " + r.where(r.pick("x", "y"))
	case 2:
		return "SELECT x.k AS c0 FROM one x " + r.pick("SEMI", "ANTI") + " JOIN two y ON x." + r.pick("k = y.k", "s = y.s", "p = y.p AND x.i = y.i") + " WHERE " + r.where("x")
	case 3:
		return "SELECT " + r.column("x", "s", "b", "i") + " AS c0, count(*) AS c1, sum(x.k) AS c2, min(x.p) AS c3, max(x.m) AS c4, count(DISTINCT x.s) AS c5, avg(x.i) AS c6 FROM one x WHERE " +
			r.where("x") + " GROUP BY 1 HAVING count(*) > " + r.pick("0", "1", "2")
	case 4:
		return "SELECT x.s AS c0, x.b AS c1, sum(x.p) AS c2, grouping(x.s) AS c3 FROM one x WHERE " + r.where("x") + " GROUP BY " + r.pick("ROLLUP (x.s, x.b)", "CUBE (x.s, x.b)", "GROUPING SETS ((x.s), (x.b), ())")
	case 5:
		return "SELECT x.k AS c0, " + r.pick("rank()", "dense_rank()", "sum(x.i)", "count(*)", "max(x.p)") + " OVER (PARTITION BY " + r.column("x", "s", "b", "t") + " ORDER BY " + r.column("x") +
			r.pick("", " DESC", " NULLS FIRST") + ") AS c1 FROM one x WHERE " + r.where("x")
	case 6:
		return "SELECT x.k AS c0 FROM one x WHERE x.k " + r.pick("IN", "NOT IN") + " (SELECT y.i FROM two y WHERE " + r.where("y") + ") AND " + r.where("x")
	case 7:
		return "SELECT x.k AS c0, x.s AS c1 FROM one x WHERE " + r.where("x") + " " + r.pick("UNION", "UNION ALL", "EXCEPT", "INTERSECT") + " SELECT y.i, y.s FROM two y WHERE " + r.where("y")
	}
	return "WITH q AS (SELECT y.s AS s, count(*) AS n, max(y.d) AS d FROM two y WHERE " + r.where("y") + " GROUP BY y.s) SELECT x.k AS c0, q.n AS c1, (SELECT min(z.p) FROM two z WHERE z.k = x.k) AS c2, " +
		"EXISTS (SELECT 1 FROM two z WHERE z.i = x.i AND " + r.where("z") + ") AS c3 FROM one x JOIN q ON q.s = x.s WHERE " + r.where("x")
}

// first writes a statement that asks for the first rows of an order. What it selects is what it orders by, so that rows that tie are the same.
func (r randomQuery) first() string {
	how := func() string { return r.pick("", " DESC") + r.pick("", " NULLS FIRST", " NULLS LAST") }
	limit := fmt.Sprintf(" LIMIT %d", 1+r.IntN(6))
	if r.IntN(3) == 0 {
		limit += fmt.Sprintf(" OFFSET %d", r.IntN(4))
	}
	a, b := r.column("x"), r.column("x")
	order := " ORDER BY c0" + how() + ", c1" + how() + limit
	exact := r.pick("true", "x.k > -2", "x.s IS NOT NULL", "x.i IN (1, 2, 3)", r.where("x"))
	switch r.IntN(8) {
	case 0:
		return "SELECT DISTINCT " + a + " AS c0, " + b + " AS c1 FROM one x WHERE " + exact + order
	case 1:
		return "SELECT " + a + " AS c0, count(*) AS c1, sum(x.k) AS c2 FROM one x WHERE " + exact + " GROUP BY " + a + r.pick("", ", "+b) + " ORDER BY c0" + how() + ", c1, c2" + limit
	case 2:
		return "SELECT " + a + " AS c0, y.k AS c1 FROM one x " + r.pick("LEFT JOIN", "RIGHT JOIN", "JOIN", "FULL JOIN") + " two y ON x.k = y.k WHERE " + exact + order
	case 3:
		return "SELECT x.k AS c0, x.i AS c1 FROM one x WHERE " + exact + " UNION " + r.pick("ALL ", "") + "SELECT y.k, y.i FROM two y" + order
	case 4:
		return "SELECT count(*) AS c0, min(q.c0) AS c1, max(q.c1) AS c2 FROM (SELECT " + a + " AS c0, " + b + " AS c1 FROM one x WHERE " + exact + order + ") q"
	case 5:
		return "SELECT c0, c1 FROM (SELECT " + a + " AS c0, " + b + " AS c1 FROM one x WHERE " + exact + ") WHERE c1 IS NOT NULL" + order
	case 6:
		return "SELECT " + a + " AS c0, (SELECT max(z.p) FROM two z WHERE z.k = x.k) AS c1, x.i IN (SELECT z.i FROM two z) AS c2 FROM one x WHERE " + exact + " ORDER BY c0" + how() + ", c1, c2" + limit
	}
	return "SELECT " + a + " AS c0, " + b + " AS c1 FROM one x WHERE " + exact + order
}

// TestRandomQueriesAreAsOfNativeTables runs random queries over sources, with all that is pushed into them, and over the engine's own tables of the
// same rows. SKUA_QUERIES is how many, SKUA_SEED where they begin.
func TestRandomQueriesAreAsOfNativeTables(t *testing.T) {
	count, seed := 150, uint64(1)
	if v, err := strconv.Atoi(os.Getenv("SKUA_QUERIES")); err == nil {
		count = v
	}
	if v, err := strconv.ParseUint(os.Getenv("SKUA_SEED"), 10, 64); err == nil {
		seed = v
	}
	f := newFixture(t)
	native := nativeTables(t, f)
	r := randomQuery{rand.New(rand.NewPCG(seed, 7))}
	for _, name := range []string{"one", "two"} {
		var rows, values, columns []string
		var fields []arrow.Field
		for _, k := range kinds {
			columns, fields = append(columns, k.letter+" "+k.sql), append(fields, arrow.Field{Name: k.letter, Type: k.arrow})
		}
		for range 40 {
			var json, sql []string
			for _, k := range kinds {
				j, s := randomCell(r.Rand, k.sql)
				json, sql = append(json, `"`+k.letter+`":`+j), append(sql, s)
			}
			rows, values = append(rows, "{"+strings.Join(json, ",")+"}"), append(values, "("+strings.Join(sql, ", ")+")")
		}
		f.tables[name] = newTable(t, "["+strings.Join(rows, ",")+"]", 7, fields...)
		if err := native.exec("CREATE TEMP TABLE " + name + " (" + strings.Join(columns, ", ") + "); INSERT INTO " + name + " VALUES " + strings.Join(values, ", ")); err != nil {
			t.Fatal(err)
		}
	}
	for n := range count {
		sql := r.query()
		text := "SELECT CAST(q AS VARCHAR) AS v FROM (" + sql + ") AS q"
		want, err := native.column(text)
		if err != nil {
			t.Fatalf("seed %d, query %d: %s: %v", seed, n, sql, err)
		}
		objects := r.objects(sql)
		got, err := f.column(t, objects.query(f, "SELECT CAST(q AS VARCHAR) AS v FROM ("+objects.text+") AS q"))
		for _, list := range [][]string{got, want} { // zeros tie, whatever their sign
			for i := range list {
				list[i] = strings.ReplaceAll(list[i], "-0.0", "0.0")
			}
		}
		sort.Strings(want)
		sort.Strings(got)
		if err != nil || strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("seed %d, query %d: %s with %v\n%d rows, not %d: %v\n got %v\nwant %v", seed, n, objects.text, objects.variables, len(got), len(want), err, got, want)
		}
	}
}

// sessionObjects are variables and temporary views in whose terms a statement is written again.
type sessionObjects struct {
	text      string
	variables map[string]string
	views     map[string]*engine.View
}

// literals are the constants of random queries that a variable may stand for.
var literals = regexp.MustCompile(`CAST\('[^']*' AS DOUBLE\)|DATE '[^']*'|TIMESTAMP '[^']*'`)

// objects puts variables into the places of some constants of a statement, and temporary views into those of its tables, or none of either.
func (r randomQuery) objects(sql string) sessionObjects {
	o := sessionObjects{text: sql, variables: map[string]string{}, views: map[string]*engine.View{}}
	variable := func(text, value string) string {
		name := fmt.Sprintf("v%d", len(o.variables))
		o.variables[name] = value
		return strings.Replace(text, value, r.pick("", "session.")+name, 1)
	}
	if r.IntN(2) == 0 {
		for _, value := range literals.FindAllString(sql, 3) {
			o.text = variable(o.text, value)
		}
	}
	if r.IntN(2) == 0 {
		for _, table := range []string{"one", "two"} {
			text := "SELECT * FROM " + table
			if r.IntN(2) == 0 { // of which the variable keeps all rows
				o.variables["all_"+table] = "CAST('-100' AS INT)"
				text += " WHERE coalesce(k, 0) > " + r.pick("", "session.") + "all_" + table
			}
			o.views["some_"+table] = &engine.View{Text: text, Dialect: "ansi"}
			o.text = strings.ReplaceAll(o.text, " "+table+" ", " some_"+table+" ")
		}
	}
	return o
}

// query gives a query that sees the objects.
func (o sessionObjects) query(f *fixture, sql string) engine.Query {
	known := func(parts []string) (string, bool) {
		if len(parts) == 2 && parts[0] == "session" {
			parts = parts[1:]
		}
		value, ok := o.variables[parts[0]]
		return value, ok && len(parts) == 1
	}
	for _, v := range o.views {
		v.Variable = known
	}
	q := viewQuery(f, sql, o.views)
	q.Variable = known
	return q
}

// column runs a query and gives its first column's texts.
func (f *fixture) column(t *testing.T, q engine.Query) ([]string, error) {
	p, err := f.run.Compile(t.Context(), q)
	if err != nil {
		return nil, err
	}
	r, err := p.Open(t.Context())
	if err != nil {
		return nil, err
	}
	defer r.Release()
	var out []string
	for r.Next() {
		c := r.RecordBatch().Column(0)
		for i := range c.Len() {
			out = append(out, strings.Clone(c.ValueStr(i)))
		}
	}
	return out, r.Err()
}

// nativeTables is a connection to a fixture's engine for tables of its own, open as long as the test.
func nativeTables(t *testing.T, f *fixture) *connection {
	t.Helper()
	i, done, err := f.run.(*executor).use()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(done)
	native, err := i.running.connect()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(native.close)
	return native
}
