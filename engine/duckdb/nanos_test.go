//go:build cgo

package duckdb

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// hostileNanos are nanoseconds since 1970 at which rounding, calendars and ranges go wrong.
var hostileNanos = []int64{math.MinInt64, math.MinInt64 + 1, -9214646400000000000, -1e18 - 1, -86400000000001, -86400000000000, -1500, -1001, -1000, -999, -1, 0, 1, 999, 1000, 1001,
	86399999999999, 951782400000000000, 1709210096123456789, 1711846799999999999, 1711846800000000000, 1729990800000000001, 9223286399999999999, math.MaxInt64 - 1, math.MaxInt64}

// nanosTable makes a table of them: n without a zone, z with one, k their number, and a row of nulls.
func nanosTable(t *testing.T) *memoryTable {
	var rows strings.Builder
	for i, v := range hostileNanos {
		fmt.Fprintf(&rows, `{"k":%d,"n":%d,"z":%d,"s":{"z":%d},"l":[%d,null],"m":[{"key":1,"value":%d}]},`, i, v, v, v, v, v)
	}
	zoned := &arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "UTC"}
	return newTable(t, "["+rows.String()+`{"k":-1,"n":null,"z":null,"s":null,"l":null,"m":null}]`, 7, arrow.Field{Name: "k", Type: arrow.PrimitiveTypes.Int64},
		arrow.Field{Name: "n", Type: &arrow.TimestampType{Unit: arrow.Nanosecond}}, arrow.Field{Name: "z", Type: zoned},
		arrow.Field{Name: "s", Type: arrow.StructOf(arrow.Field{Name: "z", Type: zoned, Nullable: true})}, arrow.Field{Name: "l", Type: arrow.ListOf(zoned)},
		arrow.Field{Name: "m", Type: arrow.MapOf(arrow.PrimitiveTypes.Int32, zoned)})
}

// otherInSpark are functions whose values over timestamps with nanoseconds are others in Spark's dialect: the seconds of unix_timestamp are cut off, truncated times have a zone,
// names are short, and microseconds are no field.
var otherInSpark = regexp.MustCompile(`\b(unix_timestamp|date_trunc|dayname|monthname|from_utc_timestamp)\(|datediff\(hour|MICROSECOND|date_format\(z|year\(z|YEAR FROM z`)

// texts runs a statement in both dialects in a zone, and gives its rows' first two columns as texts.
func (f *fixture) texts(zone *time.Location, sql string) (map[string]string, error) {
	var out map[string]string
	for _, dialect := range []string{"ansi", "spark"} {
		if dialect == "spark" && otherInSpark.MatchString(sql) {
			continue
		}
		q := f.query(sql, nil)
		q.Dialect, q.Zone = dialect, zone
		p, err := f.run.Compile(f.t.Context(), q)
		if err != nil {
			return nil, err
		}
		r, err := p.Open(f.t.Context())
		if err != nil {
			return nil, err
		}
		got := map[string]string{}
		for r.Next() {
			b := r.RecordBatch()
			for i := range int(b.NumRows()) {
				got[b.Column(0).ValueStr(i)] = textOf(b.Column(1), i)
			}
		}
		r.Release()
		if r.Err() != nil {
			return nil, r.Err()
		}
		if out != nil && fmt.Sprint(out) != fmt.Sprint(got) {
			return nil, fmt.Errorf("under ansi %v, under spark %v", out, got)
		}
		out = got
	}
	return out, nil
}

// textOf writes a value. Arrow's own text of timestamps ends with the year 9999.
func textOf(a arrow.Array, i int) string {
	in, ok := a.(*array.Timestamp)
	if !ok || in.IsNull(i) {
		return a.ValueStr(i)
	}
	t := in.DataType().(*arrow.TimestampType)
	at := time.Unix(0, int64(in.Value(i)))
	if t.Unit == arrow.Microsecond {
		at = time.UnixMicro(int64(in.Value(i)))
	}
	text := at.UTC().Format("2006-01-02T15:04:05.999999999")
	if t.TimeZone != "" {
		text += "Z"
	}
	return text
}

// floorMicros is the time with what is less than a microsecond left out.
func floorMicros(t time.Time) time.Time {
	return t.Add(-time.Duration(t.Nanosecond() % 1000))
}

func stamp(t time.Time) string {
	return strings.TrimSuffix(t.Format("2006-01-02T15:04:05.999999"), "Z")
}

func startOfWeek(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day()-(int(t.Weekday())+6)%7, 0, 0, 0, 0, time.UTC)
}

func epochDay(t time.Time) int64 {
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC).Unix() / 86400
}

// partsOfTimes are expressions over $ with what they give of a time on the wall.
var partsOfTimes = []struct {
	expr string
	want func(t time.Time) any
}{
	{"year($)", func(t time.Time) any { return t.Year() }}, {"quarter($)", func(t time.Time) any { return (int(t.Month()) + 2) / 3 }},
	{"month($)", func(t time.Time) any { return int(t.Month()) }}, {"day($)", func(t time.Time) any { return t.Day() }},
	{"dayofmonth($)", func(t time.Time) any { return t.Day() }}, {"dayofyear($)", func(t time.Time) any { return t.YearDay() }},
	{"weekofyear($)", func(t time.Time) any { _, w := t.ISOWeek(); return w }}, {"isodow($)", func(t time.Time) any { return (int(t.Weekday())+6)%7 + 1 }},
	{"hour($)", func(t time.Time) any { return t.Hour() }}, {"minute($)", func(t time.Time) any { return t.Minute() }},
	{"second($)", func(t time.Time) any { return t.Second() }}, {"extract(HOUR FROM $)", func(t time.Time) any { return t.Hour() }},
	{"extract(YEAR FROM $)", func(t time.Time) any { return t.Year() }}, {"date_part('minute', $)", func(t time.Time) any { return t.Minute() }},
	{"date_part(day, $)", func(t time.Time) any { return t.Day() }}, {"extract(MICROSECOND FROM $)", func(t time.Time) any { return t.Second()*1e6 + t.Nanosecond()/1000 }},
	{"dayname($)", func(t time.Time) any { return t.Weekday().String() }}, {"monthname($)", func(t time.Time) any { return t.Month().String() }},
	{"strftime($, '%Y-%m-%d %H:%M:%S')", func(t time.Time) any { return t.Format("2006-01-02 15:04:05") }},
	{"isfinite($)", func(time.Time) any { return true }}, {"isinf($)", func(time.Time) any { return false }},
}

// TestFunctionsOfNanoseconds holds every function of a timestamp, over timestamps with nanoseconds, against Go's calendar.
func TestFunctionsOfNanoseconds(t *testing.T) {
	f := newFixture(t)
	f.tables["nanos"] = nanosTable(t)
	local := func(want func(t time.Time) any) func(ns int64) any {
		return func(ns int64) any { return want(floorMicros(time.Unix(0, ns).UTC())) }
	}
	type row struct {
		expr string
		want func(ns int64) any
	}
	rows := []row{
		{"CAST(n AS STRING)", func(ns int64) any { return time.Unix(0, ns).UTC().Format("2006-01-02 15:04:05.999999999") }},
		{"n || ''", func(ns int64) any { return time.Unix(0, ns).UTC().Format("2006-01-02 15:04:05.999999999") }},
		{"epoch_ns(n)", func(ns int64) any { return ns }}, {"epoch_ns(z)", func(ns int64) any { return ns }},
		{"nanosecond(n)", func(ns int64) any { u := time.Unix(0, ns).UTC(); return int64(u.Second())*1e9 + int64(u.Nanosecond()) }},
		{"unix_micros(n)", local(func(t time.Time) any { return t.UnixMicro() })}, {"unix_micros(z)", local(func(t time.Time) any { return t.UnixMicro() })},
		{"unix_millis(z)", local(func(t time.Time) any { return t.UnixMilli() })}, {"unix_seconds(z)", local(func(t time.Time) any { return t.Unix() })},
		{"unix_timestamp(z)", local(func(t time.Time) any { return t.Unix() })},
		{"CAST(n AS TIMESTAMP_NTZ)", local(func(t time.Time) any { return stamp(t) })}, {"CAST(z AS TIMESTAMP_LTZ)", local(func(t time.Time) any { return stamp(t) + "Z" })},
		{"CAST(n AS DATE)", local(func(t time.Time) any { return t.Format(time.DateOnly) })}, {"to_date(n)", local(func(t time.Time) any { return t.Format(time.DateOnly) })},
		{"date(n)", local(func(t time.Time) any { return t.Format(time.DateOnly) })}, {"n::DATE", local(func(t time.Time) any { return t.Format(time.DateOnly) })},
		{"CAST(n AS TIME)", local(func(t time.Time) any { return t.Format("15:04:05.000000") })},
		{"unix_date(n)", local(func(t time.Time) any { return epochDay(t) })}, {"datediff(n, DATE '1970-01-01')", local(func(t time.Time) any { return epochDay(t) })},
		{"datediff(DATE '1970-01-01', n)", local(func(t time.Time) any { return -epochDay(t) })},
		{"datediff(hour, n, TIMESTAMP_NTZ '1970-01-01 00:00:00')", local(func(t time.Time) any { return -int64(math.Floor(float64(t.Unix()) / 3600)) })},
		{"date_add(n, 1)", local(func(t time.Time) any { return t.AddDate(0, 0, 1).Format(time.DateOnly) })},
		{"date_sub(n, 1)", local(func(t time.Time) any { return t.AddDate(0, 0, -1).Format(time.DateOnly) })},
		{"last_day(n)", local(func(t time.Time) any {
			return time.Date(t.Year(), t.Month()+1, 0, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
		})},
		{"trunc(n, 'MM')", local(func(t time.Time) any { return t.Format("2006-01-") + "01" })}, {"trunc(n, 'YEAR')", local(func(t time.Time) any { return t.Format("2006-") + "01-01" })},
		{"date_trunc('YEAR', n)", local(func(t time.Time) any { return t.Format("2006-") + "01-01T00:00:00" })},
		{"date_trunc('MONTH', n)", local(func(t time.Time) any { return t.Format("2006-01-") + "01T00:00:00" })},
		{"date_trunc('week', n)", local(func(t time.Time) any { return stamp(startOfWeek(t)) })},
		{"date_trunc('DAY', n)", local(func(t time.Time) any { return t.Format("2006-01-02") + "T00:00:00" })},
		{"date_trunc('HOUR', n)", local(func(t time.Time) any { return t.Format("2006-01-02T15:00:00") })},
		{"date_trunc('minute', n)", local(func(t time.Time) any { return t.Format("2006-01-02T15:04:00") })},
		{"date_trunc('second', n)", local(func(t time.Time) any { return t.Format("2006-01-02T15:04:05") })},
		{"date_trunc('millisecond', n)", local(func(t time.Time) any { return stamp(t.Add(-time.Duration(t.Nanosecond() % 1e6))) })},
		{"date_format(n, 'yyyy/MM/dd HH:mm:ss.SSSSSS')", local(func(t time.Time) any { return t.Format("2006/01/02 15:04:05.000000") })},
		{"n + INTERVAL 1 DAY", local(func(t time.Time) any { return stamp(t.AddDate(0, 0, 1)) })}, {"n - INTERVAL 1 HOUR", local(func(t time.Time) any { return stamp(t.Add(-time.Hour)) })},
		{"dateadd(minute, 5, n)", local(func(t time.Time) any { return stamp(t.Add(5 * time.Minute)) })},
		{"system.years(n)", local(func(t time.Time) any { return t.Year() - 1970 })}, {"system.years(z)", local(func(t time.Time) any { return t.Year() - 1970 })},
		{"system.months(n)", local(func(t time.Time) any { return (t.Year()-1970)*12 + int(t.Month()) - 1 })},
		{"system.days(n)", local(func(t time.Time) any { return t.Format(time.DateOnly) })}, {"system.days(z)", local(func(t time.Time) any { return t.Format(time.DateOnly) })},
		{"system.hours(n)", local(func(t time.Time) any { return int64(math.Floor(float64(t.Unix()) / 3600)) })},
		{"system.hours(z)", local(func(t time.Time) any { return int64(math.Floor(float64(t.Unix()) / 3600)) })},
		{"system.bucket(16, n)", func(ns int64) any { return bucketOfNanos(ns, 16) }}, {"system.bucket(16, z)", func(ns int64) any { return bucketOfNanos(ns, 16) }},
		{"n < TIMESTAMP_NTZ '1970-01-01 00:00:00'", func(ns int64) any { return ns < 0 }}, {"n = TIMESTAMP_NTZ '1969-12-31 23:59:59.999999'", func(ns int64) any { return ns == -1000 }},
		{"n >= DATE '1970-01-01'", func(ns int64) any { return ns >= 0 }}, {"n = '1969-12-31 23:59:59.999999999'", func(ns int64) any { return ns == -1 }},
		{"z <= TIMESTAMP_LTZ '1970-01-01 00:00:00+00'", func(ns int64) any { return ns <= 0 }}, {"z = TIMESTAMP_LTZ '1970-01-01 00:00:00.000001+00'", func(ns int64) any { return ns == 1000 }},
		{"n BETWEEN TIMESTAMP_NTZ '1970-01-01 00:00:00' AND TIMESTAMP_NTZ '1970-01-01 00:00:00.000001'", func(ns int64) any { return ns >= 0 && ns <= 1000 }},
		{"epoch_ns(greatest(n, TIMESTAMP_NTZ '1970-01-01 00:00:00'))", func(ns int64) any { return max(ns, 0) }},
		{"epoch_ns(coalesce(n, DATE '2000-01-01'))", func(ns int64) any { return ns }}, {"epoch_ns(s.z)", func(ns int64) any { return ns }},
		{"epoch_ns(element_at(l, 1))", func(ns int64) any { return ns }}, {"epoch_ns(element_at(m, 1))", func(ns int64) any { return ns }},
	}
	york := zoneOf(t, "America/New_York")
	for _, p := range partsOfTimes {
		rows = append(rows, row{strings.ReplaceAll(p.expr, "$", "n"), local(p.want)})
		if strings.HasPrefix(p.expr, "is") && !strings.HasPrefix(p.expr, "isodow") {
			continue
		}
		rows = append(rows, row{strings.ReplaceAll(p.expr, "$", "z"), func(ns int64) any { return p.want(floorMicros(time.Unix(0, ns)).In(york)) }})
	}
	for _, r := range rows {
		got, err := f.texts(york, "SELECT k, "+r.expr+" AS v FROM nanos")
		if err != nil {
			t.Errorf("%s: %v", r.expr, err)
			continue
		}
		for i, ns := range hostileNanos {
			if want := fmt.Sprint(r.want(ns)); strings.TrimSuffix(got[strconv.Itoa(i)], ".000000") != strings.TrimSuffix(want, ".000000") {
				t.Errorf("%s of %d (%s): %s, want %s", r.expr, ns, time.Unix(0, ns).UTC().Format(time.RFC3339Nano), got[strconv.Itoa(i)], want)
			}
		}
		if v := got["-1"]; v != array.NullValueStr && !strings.Contains(r.expr, "coalesce") && !strings.Contains(r.expr, "greatest") {
			t.Errorf("%s of NULL: %s", r.expr, v)
		}
	}
}

func bucketOfNanos(ns, n int64) int64 {
	micros := floorMicros(time.Unix(0, ns)).UnixMicro()
	return int64(murmur3(int64Bytes(uint64(micros)))&0x7fffffff) % n
}

func zoneOf(t *testing.T, name string) *time.Location {
	zone, err := time.LoadLocation(name)
	if err != nil {
		t.Skip(err)
	}
	return zone
}

// TestNanosecondsKeepThemselves: what only moves and orders values keeps their nanoseconds and their zone.
func TestNanosecondsKeepThemselves(t *testing.T) {
	f := newFixture(t)
	f.tables["nanos"] = nanosTable(t)
	sorted := slices.Clone(hostileNanos)
	slices.Sort(sorted)
	var all []string
	for _, ns := range sorted {
		all = append(all, time.Unix(0, ns).UTC().Format("2006-01-02T15:04:05.999999999"))
	}
	least, most := all[0], all[len(all)-1]
	for _, c := range []struct {
		sql  string
		want []string
	}{
		{"SELECT $ FROM nanos WHERE k >= 0 ORDER BY $", all}, {"SELECT DISTINCT $ FROM nanos WHERE $ IS NOT NULL ORDER BY 1", all},
		{"SELECT $ FROM nanos WHERE k >= 0 GROUP BY $ ORDER BY $", all}, {"SELECT $ FROM nanos WHERE k >= 0 UNION SELECT $ FROM nanos WHERE k = 1 ORDER BY 1", all},
		{"SELECT max($) FROM nanos", []string{most}}, {"SELECT min($) FROM nanos", []string{least}}, {"SELECT $ FROM nanos ORDER BY $ DESC NULLS LAST LIMIT 1", []string{most}},
		{"SELECT first_value($) OVER (ORDER BY $ NULLS LAST) FROM nanos LIMIT 1", []string{least}}, {"SELECT max_by($, epoch_ns($)) FROM nanos", []string{most}},
		{"SELECT explode(collect_list($)) AS x FROM nanos ORDER BY 1", all}, {"SELECT a.$ FROM nanos a JOIN nanos b ON a.$ = b.$ ORDER BY 1", all},
		{"WITH q AS (SELECT CASE WHEN k < 0 THEN NULL ELSE $ END AS x FROM nanos) SELECT x FROM q WHERE x IS NOT NULL ORDER BY x", all},
		{"SELECT coalesce($, $) FROM nanos WHERE $ IN (SELECT $ FROM nanos) ORDER BY 1", all}, {"SELECT (SELECT max($) FROM nanos) FROM nanos LIMIT 1", []string{most}},
	} {
		for _, column := range []string{"n", "z"} {
			sql, want := strings.ReplaceAll(c.sql, "$", column), strings.Join(c.want, " ")
			typ := "timestamp[ns]"
			if column == "z" {
				want, typ = strings.ReplaceAll(want, " ", "Z ")+"Z", "timestamp[ns, tz=UTC]"
			}
			p, err := f.run.Compile(t.Context(), f.query(sql, nil))
			if err != nil {
				t.Errorf("%s: %v", sql, err)
				continue
			}
			if got := p.Schema().Field(0).Type.String(); got != typ {
				t.Errorf("%s: %s, want %s", sql, got, typ)
			}
			if got := strings.Join(firstColumn(t, p.(*program)), " "); got != want {
				t.Errorf("%s:\n got %s\nwant %s", sql, got, want)
			}
		}
	}
}

// firstColumn runs a program and gives the values of its first column.
func firstColumn(t *testing.T, p *program) (out []string) {
	r, err := p.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	for r.Next() {
		column := r.RecordBatch().Column(0)
		for i := range column.Len() {
			out = append(out, column.ValueStr(i))
		}
	}
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	return out
}

// TestNanosecondsAreRefused: what would lose a zone, or has no answer, is an error that says what to write.
func TestNanosecondsAreRefused(t *testing.T) {
	f := newFixture(t)
	f.tables["nanos"] = nanosTable(t)
	for _, sql := range []string{
		"SELECT CAST(z AS DATE) FROM nanos", "SELECT CAST(z AS STRING) FROM nanos", "SELECT 'at ' || z FROM nanos", "SELECT concat('at ', z) FROM nanos", "SELECT CAST(z AS TIMESTAMP_NTZ) FROM nanos",
		"SELECT CAST(n AS TIMESTAMP_LTZ) FROM nanos", "SELECT k FROM nanos WHERE z = n", "SELECT z FROM nanos UNION SELECT n FROM nanos",
		"SELECT k FROM nanos WHERE n < TIMESTAMP_LTZ '2000-01-01 00:00:00+00'", "SELECT k FROM nanos WHERE n < TIMESTAMP_NTZ '9999-01-01 00:00:00'", "SELECT k FROM nanos WHERE n > DATE '0001-01-01'",
		"SELECT k FROM nanos WHERE z < TIMESTAMP_LTZ '9999-01-01 00:00:00+00'", "SELECT nanosecond(z) FROM nanos", "SELECT to_json(z) FROM nanos", "SELECT to_json(s) FROM nanos", "SELECT to_json(l) FROM nanos",
		"SELECT json_object('a', z) FROM nanos", "SELECT json_array(k, z) FROM nanos", "SELECT CAST(z AS JSON) FROM nanos", "SELECT CAST(s AS JSON) FROM nanos", "SELECT json_quote(z) FROM nanos",
		"SELECT json_group_object(k, z) FROM nanos", "SELECT json_group_array(m) FROM nanos", "SELECT row_to_json(s) FROM nanos", "SELECT array_to_json(l) FROM nanos",
		"SELECT k FROM nanos WHERE length(to_json(s)) > 3", "SELECT count(*) FROM nanos GROUP BY to_json(l)", "SELECT k FROM nanos ORDER BY to_json(s)",
		"SELECT n.k FROM nanos n JOIN nanos o ON to_json(n.s) = to_json(o.s)", "SELECT z::DATE FROM nanos",
	} {
		if _, err := f.rows(t.Context(), sql); err == nil || !strings.Contains(err.Error(), "CAST(… AS TIMESTAMP_") {
			t.Errorf("%s: %v", sql, err)
		}
	}
}
