package session

import (
	"strings"
	"testing"
)

// near is a stand-in for the nearest name: equal but for case, or one letter more, less or other at the same place.
func near(name string, known []string) string {
	for _, k := range known {
		a, b := strings.ToLower(name), strings.ToLower(k)
		i := 0
		for i < len(a) && i < len(b) && a[i] == b[i] {
			i++
		}
		if a == b || a[i:] == b[min(i+1, len(b)):] || a[min(i+1, len(a)):] == b[i:] || a[min(i+1, len(a)):] == b[min(i+1, len(b)):] {
			return k
		}
	}
	return ""
}

func TestJudge(t *testing.T) {
	const size = "read-split-target-size"
	for _, c := range []struct {
		key      string
		standing Standing
		near     string
		hint     string
	}{
		{"spark.sql.catalog.lake", Listed, "", ""},
		{"spark.sql.catalog.lake.warehouse", Listed, "", ""},
		{"spark.sql.catlog.lake", Near, "spark.sql.catalog.lake", "did you mean spark.sql.catalog.lake?"},
		{"spark.sql.catlog.lake.type", Near, "spark.sql.catalog.lake.type", ""},
		{"spak.sql.catalog.lake", Near, "spark.sql.catalog.lake", ""},
		{"spark.sql.session.timezone", Near, "spark.sql.session.timeZone", ""},
		{"spark.sql.shuffle.partition", Near, "spark.sql.shuffle.partitions", ""},
		{"spark.sql.iceberg.read.split-siz", Near, "spark.sql.iceberg.read.split-size", ""},
		{"spark.sql.iceberg.handle-timestamp-without-timezone", Listed, "", ""},
		{"spark.driver.memory", Listed, "", ""},
		{"spark.hadoop.fs.defaultFS", Listed, "", ""},
		{"spark.hadoopRDD.ignoreEmptySplits", Listed, "", ""},
		{"spark.sql.catalogImplementation", Listed, "", ""},
		{"spark.sql.ansi.enabled", Listed, "", ""},
		{"spark.rapids.sql.enabled", Listed, "", ""},
		{"spark.rapids.iceberg.bogus", Stray, "", "there are only spark.rapids.iceberg.table-setting.*, spark.rapids.iceberg.catalog-setting.*, spark.rapids.iceberg.global-setting.*"},
		{"spark.rapids.iceberg.table-settings.lake.db.t." + size, Near, "spark.rapids.iceberg.table-setting.lake.db.t." + size, ""},
		{"spark.rapids.iceberg.table-setting.lake.db.t." + size, Listed, "", ""},
		{"spark.rapids.iceberg.table-setting.lake.db.t.read-split-size", Stray, "", "there are only read-split-target-size, read-split-planning-lookback, read-split-open-file-cost"},
		{"spark.rapids.iceberg.global-setting.read-split-target-siz", Stray, "spark.rapids.iceberg.global-setting." + size, "did you mean spark.rapids.iceberg.global-setting." + size + "?"},
		{"skua.core", Near, "skua.cores", ""},
		{"skua.nonsense", Unknown, "", ""},
		{"skua.cores", Listed, "", ""},
		{"wholly.unknown", Unknown, "", ""},
	} {
		j := Judge(c.key, near)
		if j.Standing != c.standing || j.Near != c.near || c.hint != "" && j.Hint() != c.hint {
			t.Errorf("%s: %+v, hint %q", c.key, j, j.Hint())
		}
		if (j.Hint() == "") != (c.near == "" && c.standing != Stray) {
			t.Errorf("%s: hint %q", c.key, j.Hint())
		}
	}
}

func TestDoubt(t *testing.T) {
	for _, c := range []struct{ key, value, want string }{
		{"spark.rapids.iceberg.global-setting.read-split-target-size", "134217728", ""},
		{"spark.rapids.iceberg.global-setting.read-split-target-size", "abc", "expected a whole number, such as 134217728"},
		{"spark.rapids.iceberg.catalog-setting.lake.read-split-open-file-cost", "", "expected a whole number"},
		{"spark.rapids.iceberg.table-setting.lake.a.b.read-split-target-size", "512m", "write the number 536870912 for 512m"},
		{"spark.sql.iceberg.read.split-size", "x", "expected a whole number"},
		{"spark.sql.iceberg.read.adaptive-split-size.parallelism", "7", ""},
		{"spark.sql.iceberg.read.adaptive-split-size.enabled", "x", ""},
		{"spark.driver.memory", "x", ""},
	} {
		if got := Doubt(c.key, c.value); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s=%s: %q, want %q", c.key, c.value, got, c.want)
		}
	}
}
