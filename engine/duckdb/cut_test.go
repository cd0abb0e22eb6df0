//go:build cgo

package duckdb

import (
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
)

// TestCutTimesArePushed: comparisons of what columns are cut to are pushed as ranges in Spark's dialect, and change no rows, wherever clocks are put back.
func TestCutTimesArePushed(t *testing.T) {
	f := newFixture(t)
	f.spark = true
	f.tables["moments"] = newTable(t, `[{"id":1,"day":"2024-03-01","ts":"2024-02-29T23:59:59Z","ntz":"2024-03-01T00:00:00"},{"id":2,"day":"2024-12-31","ts":"2006-10-29T02:30:30Z","ntz":"2024-12-31T23:59:59"},
		{"id":3,"day":null,"ts":null,"ntz":null},{"id":4,"day":"2025-01-01","ts":"2006-10-29T03:15:00Z","ntz":"2025-01-01T00:00:00"},{"id":5,"day":"2024-01-01","ts":"2024-03-01T00:00:00Z","ntz":"2023-12-31T12:00:00"}]`, 2,
		arrow.Field{Name: "id", Type: arrow.PrimitiveTypes.Int64}, arrow.Field{Name: "day", Type: arrow.FixedWidthTypes.Date32, Nullable: true},
		arrow.Field{Name: "ts", Type: &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}, Nullable: true}, arrow.Field{Name: "ntz", Type: &arrow.TimestampType{Unit: arrow.Microsecond}, Nullable: true})
	johns, err := time.LoadLocation("America/St_Johns") // whose clocks went back from a minute past midnight
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ where, pushed string }{
		{"year(day) = 2024", "(day >= 19723 AND day < 20089)"},
		{"year(day) IN (2023, 2025)", "((day >= 19358 AND day < 19723) OR (day >= 20089 AND day < 20454))"},
		{"year(ts) = 2024", "(ts >= 1704067200000000 AND ts < 1735689600000000)"},
		{"year(ts) BETWEEN 2006 AND 2007", "(ts >= 1136073600000000 AND ts < 1199145600000000)"},
		{"year(ts) > 2023", "ts >= 1704067200000000"},
		{"year(ts) <> 2024", ""},
		{"CAST(ts AS DATE) = DATE '2006-10-28'", "(ts >= 1161993600000000 AND ts < 1162080000000000)"},
		{"CAST(ts AS DATE) = DATE '2006-10-29'", "(ts >= 1162080000000000 AND ts < 1162166400000000)"},
		{"to_date(ts) < '2024-03-01'", "ts < 1709251200000000"},
		{"date(ntz) >= DATE '2024-12-31'", "ntz >= 1735603200000000"},
		{"date_trunc('month', ts) = TIMESTAMP '2024-03-01 00:00:00'", "(ts >= 1709251200000000 AND ts < 1711929600000000)"},
		{"date_trunc('day', ts) = '2006-10-28'", "(ts >= 1161993600000000 AND ts < 1162080000000000)"},
		{"date_trunc('hour', ts) <= TIMESTAMP '2006-10-29 03:00:00'", "ts < 1162094400000000"},
		{"date_trunc('week', ts) > TIMESTAMP '2024-02-20 00:00:00'", "ts >= 1708905600000000"},
		{"date_trunc('quarter', day) = TIMESTAMP '2024-10-01 00:00:00'", "(day >= 19997 AND day < 20089)"},
		{"trunc(day, 'MM') = DATE '2024-12-01'", "(day >= 20058 AND day < 20089)"},
		{"trunc(day, 'YEAR') IN (DATE '2024-01-01', DATE '2025-01-01')", "((day >= 19723 AND day < 20089) OR (day >= 20089 AND day < 20454))"},
	} {
		for _, zone := range []*time.Location{time.UTC, johns} {
			q := f.query("SELECT id FROM moments WHERE ("+c.where+") AND random() < 2 ORDER BY id", nil)
			q.Zone = zone
			p, err := f.run.Compile(t.Context(), q)
			if err != nil {
				t.Errorf("%s: %v", c.where, err)
				continue
			}
			program := p.(*program)
			if got := spell(program.pushed.filter(0)); zone == time.UTC && got != c.pushed {
				t.Errorf("%s: pushed %q, want %q", c.where, got, c.pushed)
			} else if (got == "") != (c.pushed == "") {
				t.Errorf("%s in %s: pushed %q", c.where, zone, got)
			}
			with := read(t, program)
			program.pushed = pushdown{}
			if without := read(t, program); with != without {
				t.Errorf("%s in %s: pushing the filter changes the rows:\n%s\n%s", c.where, zone, with, without)
			}
		}
	}
}
