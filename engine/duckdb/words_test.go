//go:build cgo

package duckdb

import (
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
)

// TestWordsAreTheSessions: functions without arguments tell the session's and the statement's values wherever they stand, and columns of their names are
// columns.
func TestWordsAreTheSessions(t *testing.T) {
	f := newFixture(t)
	f.tables["logins"] = newTable(t, `[{"user":"zoe","current_role":"guest"}]`, 1, arrow.Field{Name: "user", Type: arrow.BinaryTypes.String}, arrow.Field{Name: "current_role", Type: arrow.BinaryTypes.String})
	for word, want := range map[string]string{
		"user": `"ann"`, "USER": `"ann"`, "user()": `"ann"`, "current_user": `"ann"`, "current_user()": `"ann"`, "current_role": `"ann"`, "{fn user()}": `"ann"`, "version()": `"9"`,
		"current_date": `"2026-01-02"`, "current_date()": `"2026-01-02"`, "curdate()": `"2026-01-02"`, "today()": `"2026-01-02"`, "DATE 'today'": `"2026-01-02"`, "DATE 'yesterday'": `"2026-01-01"`,
		"DATE 'tomorrow'": `"2026-01-03"`, "DATE 'epoch'": `"1970-01-01"`, "unix_timestamp()": "1767323045", "localtimestamp": `"2026-01-02T03:04:05.6"`, "TIMESTAMP_NTZ 'now'": `"2026-01-02T03:04:05.6"`,
		"TIMESTAMP_NTZ 'today'": `"2026-01-02T00:00:00"`, "TIMESTAMP_LTZ 'now'": `"2026-01-02T03:04:05.6Z"`, "current_timestamp": `"2026-01-02T03:04:05.6Z"`, "now()": `"2026-01-02T03:04:05.6Z"`,
		"getdate()": `"2026-01-02T03:04:05.6Z"`, "current_time": `"03:04:05.6"`, "localtime": `"03:04:05.6"`, "current_timestamp = now() AND now() = transaction_timestamp()": "true",
	} {
		for _, sql := range []string{"SELECT $ AS v FROM customers WHERE id = 1", "WITH q AS (SELECT $ AS v) SELECT v FROM q", "SELECT (SELECT $) AS v FROM customers WHERE id = 1",
			"SELECT max($) AS v FROM customers", "SELECT $ AS v FROM customers WHERE id = 1 AND $ IS NOT NULL GROUP BY $", "SELECT v FROM (SELECT $ AS v FROM customers WHERE id = 1 ORDER BY $) q"} {
			q := f.query(strings.ReplaceAll(sql, "$", word), nil)
			q.Clock = q.Clock.Add(600_000_000)
			p, err := f.run.Compile(t.Context(), q)
			if err != nil {
				t.Errorf("%s: %v", q.Text, err)
				continue
			}
			if got := strings.TrimSpace(read(t, p.(*program))); got != `[{"v":`+want+"}\n]" {
				t.Errorf("%s: %s, want %s", q.Text, got, want)
			}
		}
	}
	for sql, want := range map[string]string{
		"SELECT user, current_role FROM logins GROUP BY ALL": `{"current_role":"guest","user":"zoe"}`, "SELECT l.user AS v FROM logins l WHERE user = 'zoe'": `{"v":"zoe"}`,
		"SELECT user() AS v FROM logins": `{"v":"ann"}`, "SELECT user FROM customers WHERE id = 1": `{"user":"ann"}`, "SELECT current_role FROM customers WHERE id = 1": `{"current_role":"ann"}`,
		"SELECT name FROM customers WHERE lower(name) = user": `{"name":"Ann"}`,
	} {
		if got, err := f.rows(t.Context(), sql); err != nil || !strings.Contains(got, want) {
			t.Errorf("%s: %s %v, want %s", sql, got, err, want)
		}
	}
}
