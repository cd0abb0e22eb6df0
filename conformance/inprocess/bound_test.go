package inprocess

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// bound are statements with parameters, the values that are bound, as JSON of one row, and the statement that says the same without parameters. Some are
// scans until their values are known.
var bound = []struct {
	sql    string
	types  []arrow.DataType
	values string
	same   string
}{
	{"SELECT id FROM types.all_v2 WHERE s LIKE ?", texts(1), `["%_"]`, "SELECT id FROM types.all_v2 WHERE s LIKE '%_'"},
	{"SELECT id FROM types.all_v2 WHERE s LIKE ? LIMIT 1", texts(1), `["_%"]`, "SELECT id FROM types.all_v2 WHERE s LIKE '_%' LIMIT 1"},
	{"SELECT count(*) FROM types.all_v2 WHERE s NOT LIKE ? OR s ILIKE ?", texts(2), `["a%", "%A"]`, "SELECT count(*) FROM types.all_v2 WHERE s NOT LIKE 'a%' OR s ILIKE '%A'"},
	{"SELECT id FROM types.all_v2 WHERE i IN (?, ?)", []arrow.DataType{arrow.PrimitiveTypes.Int64, arrow.BinaryTypes.String}, `[0, "1"]`, "SELECT id FROM types.all_v2 WHERE i IN (0, 1)"},
	{"SELECT ? AS v", []arrow.DataType{arrow.ListOf(arrow.PrimitiveTypes.Int64)}, `[[1, null]]`, "SELECT array(CAST(1 AS BIGINT), NULL) AS v"},
	{"SELECT ? AS v", []arrow.DataType{arrow.ListOf(arrow.PrimitiveTypes.Int64)}, `[null]`, "SELECT CAST(NULL AS ARRAY<BIGINT>) AS v"},
	{"SELECT ? AS v", []arrow.DataType{arrow.ListOf(arrow.Null)}, `[[null]]`, "SELECT array(CAST(NULL AS INT)) AS v"},
	{"SELECT ? AS v", []arrow.DataType{arrow.StructOf(arrow.Field{Name: "it's \"a", Type: arrow.BinaryTypes.String}, arrow.Field{Name: "b", Type: arrow.ListOf(arrow.FixedWidthTypes.Date32)})},
		`[{"it's \"a": "x'y", "b": ["2024-02-29"]}]`, `SELECT named_struct('it''s "a', 'x''y', 'b', array(DATE '2024-02-29')) AS v`},
	{"SELECT ? AS v", []arrow.DataType{arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Float64)}, `[[{"key": "a", "value": 1.5}]]`, "SELECT map('a', CAST(1.5 AS DOUBLE)) AS v"},
	{"SELECT count(*) FROM types.all_v2 WHERE array_contains(?, id)", []arrow.DataType{arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int32)}, `[[1, 2]]`, "SELECT count(*) FROM types.all_v2 WHERE id IN (1, 2)"},
	{"SELECT id FROM types.all_v2 WHERE id IN (SELECT unnest(?)) ORDER BY id", []arrow.DataType{arrow.LargeListOf(arrow.PrimitiveTypes.Int16)}, `[[1, 2]]`, "SELECT id FROM types.all_v2 WHERE id IN (1, 2) ORDER BY id"},
	{"SELECT TIMESTAMP_NTZ '2024-01-01 00:00:00' + ? AS v", []arrow.DataType{arrow.FixedWidthTypes.Duration_ms}, `["86405000ms"]`, "SELECT TIMESTAMP_NTZ '2024-01-02 00:00:05' AS v"},
	{"SELECT DATE '2024-01-31' + ? AS v", []arrow.DataType{arrow.FixedWidthTypes.MonthInterval}, `[{"months": 1}]`, "SELECT DATE '2024-01-31' + INTERVAL '1' MONTH AS v"},
}

func texts(n int) (out []arrow.DataType) {
	for range n {
		out = append(out, arrow.BinaryTypes.String)
	}
	return out
}

// record makes a batch of rows of JSON.
func record(t *testing.T, types []arrow.DataType, rows ...string) arrow.RecordBatch {
	t.Helper()
	var fields []arrow.Field
	for i, typ := range types {
		fields = append(fields, arrow.Field{Name: fmt.Sprint(i), Type: typ, Nullable: true})
	}
	columns := make([]arrow.Array, len(types))
	for i, typ := range types {
		var values []string
		for _, row := range rows {
			var parts []json.RawMessage
			must(t, json.Unmarshal([]byte(row), &parts))
			values = append(values, string(parts[i]))
		}
		var err error
		columns[i], _, err = array.FromJSON(memory.DefaultAllocator, typ, strings.NewReader("["+strings.Join(values, ",")+"]"))
		must(t, err)
		defer columns[i].Release()
	}
	return array.NewRecordBatch(arrow.NewSchema(fields, nil), columns, int64(len(rows)))
}

// TestBoundValuesMeanWhatTheyMeanInTheText runs statements with parameters, whose values may make more of them than a scan.
func TestBoundValuesMeanWhatTheyMeanInTheText(t *testing.T) {
	u := connected(t, start(t, lake(t)), "grpc-go/1.85.0")
	for _, c := range bound {
		want, err := query(c.same)(u)
		if err != nil {
			t.Errorf("%s: %v", c.same, err)
			continue
		}
		if len(want.rows) == 0 {
			t.Errorf("%s: no rows to compare with", c.same)
		}
		got, err := preparing(c.sql, func(u *tool, p *flightsql.PreparedStatement) (answer, error) {
			p.SetParameters(record(t, c.types, c.values))
			return u.run(p)
		})(u)
		if err != nil {
			t.Errorf("%s, %s: %v", c.sql, c.values, err)
			continue
		}
		if fmt.Sprint(got.rows) != fmt.Sprint(want.rows) {
			t.Errorf("%s, %s: %v, want %v", c.sql, c.values, got.rows, want.rows)
		}
	}
	for _, c := range []struct {
		sql  string
		rows []string
		want int
	}{
		{"SELECT id FROM types.all_v2 WHERE i = ?", nil, 0},
		{"SELECT id, count(*) AS n FROM types.all_v2 WHERE i = ? GROUP BY id", nil, 0},
		{"SELECT count(*) AS n FROM types.all_v2 WHERE i = ?", []string{"[1]", "[2]", "[null]"}, 3},
	} {
		got, err := preparing(c.sql, func(u *tool, p *flightsql.PreparedStatement) (answer, error) {
			sets := record(t, []arrow.DataType{arrow.PrimitiveTypes.Int64}, c.rows...)
			reader, err := array.NewRecordReader(sets.Schema(), []arrow.RecordBatch{sets})
			must(t, err)
			p.SetRecordReader(reader)
			return u.run(p)
		})(u)
		if err != nil || len(got.rows) != c.want || len(got.columns) == 0 {
			t.Errorf("%s with %d sets of parameters: %v, %v", c.sql, len(c.rows), got, err)
		}
	}
}

// TestNumbersAndTimesAsJavaBindsThem: its driver binds a decimal only by its own scale, and a time as milliseconds; it binds what it is told.
func TestNumbersAndTimesAsJavaBindsThem(t *testing.T) {
	u := connected(t, start(t, lake(t)), "grpc-java-netty/1.71.0")
	for _, c := range []struct{ sql, value, same string }{
		{"SELECT id FROM types.all_v2 WHERE d9 <= ?", "[1.5]", "SELECT id FROM types.all_v2 WHERE d9 <= 1.5"},
		{"SELECT id, d9 FROM types.all_v2 WHERE d9 < ? AND id IN (SELECT id FROM types.all_v2) ORDER BY id", "[1]", "SELECT id, d9 FROM types.all_v2 WHERE d9 < 1 ORDER BY id"},
		{"SELECT coalesce(d9, ?) AS v FROM types.all_v2 ORDER BY id", "[1.25]", "SELECT coalesce(d9, CAST(1.25 AS DECIMAL(9, 2))) AS v FROM types.all_v2 ORDER BY id"},
		{"SELECT count(*) FROM types.time_col WHERE t > ?", `["00:00:00.001"]`, "SELECT count(*) FROM types.time_col WHERE t > TIME '00:00:00.001'"},
	} {
		want, err := query(c.same)(u)
		must(t, err)
		got, err := preparing(c.sql, func(u *tool, p *flightsql.PreparedStatement) (answer, error) {
			types := []arrow.DataType{p.ParameterSchema().Field(0).Type}
			p.SetParameters(record(t, types, c.value))
			return u.run(p)
		})(u)
		if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s, %s: %v, %v, want %v", c.sql, c.value, got, err, want)
		}
	}
}

// run runs a prepared statement and reads it.
func (u *tool) run(p *flightsql.PreparedStatement) (answer, error) {
	i, err := p.Execute(u.ctx)
	if err != nil {
		return answer{}, err
	}
	return u.read(i)
}
