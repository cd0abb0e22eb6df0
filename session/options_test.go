package session

import (
	"errors"
	"flag"
	"os"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "rewrite golden files")

func TestOptionsPageIsTrue(t *testing.T) {
	const page = "../docs/options.md"
	if *update {
		if err := os.MkdirAll("../docs", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(page, []byte(Document()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != Document() {
		t.Error("docs/options.md differs from the option table; run go test ./session -update")
	}
}

func TestOptionTableIsSound(t *testing.T) {
	seen := map[string]bool{}
	for _, o := range Options() {
		if seen[o.Key] {
			t.Errorf("%s is listed twice", o.Key)
		}
		seen[o.Key] = true
		if o.Doc == "" || !strings.HasSuffix(o.Doc, ".") {
			t.Errorf("%s: documented with %q, want sentences", o.Key, o.Doc)
		}
		if o.Default != "" {
			if err := Validate(o, o.Default); err != nil {
				t.Errorf("%s: its own default: %v", o.Key, err)
			}
		}
		if (o.Type == Enum) != (len(o.Values) > 0) {
			t.Errorf("%s: values without an enum, or an enum without values", o.Key)
		}
	}
}

// TestRowsStandAlone: config check and SET -v show one row without its neighbours.
func TestRowsStandAlone(t *testing.T) {
	docs := map[string]string{}
	for _, o := range Options() {
		docs[o.Key] = o.Doc
	}
	for _, o := range ReadOptions() {
		docs[o.Name] = o.Doc
	}
	for _, p := range tableProperties {
		docs[p.name] = p.doc
	}
	for key, doc := range docs {
		for _, word := range []string{"The same", "the same", "likewise", "See `", "The other"} {
			if strings.Contains(doc, word) {
				t.Errorf("%s: %q leans on another row", key, doc)
			}
		}
	}
}

func TestLookup(t *testing.T) {
	for _, c := range []struct{ key, row string }{
		{"spark.sql.shuffle.partitions", "spark.sql.shuffle.partitions"},
		{"SPARK.SQL.SHUFFLE.PARTITIONS", ""},
		{"spark.sql.catalog.prod.s3.secret-access-key", "spark.sql.catalog.*"},
		{"spark.sql.iceberg.executor-cache.timeout", "spark.sql.iceberg.executor-cache.*"},
		{"spark.sql.iceberg.some-new-thing", "spark.sql.iceberg.*"},
		{"spark.rapids.iceberg.table-setting.a.b.c.read-split-target-size", "spark.rapids.iceberg.table-setting.*"},
		{"spark.rapids.sql.enabled", "spark.*"},
		{"skua.location-map.1.from", "skua.location-map.*"},
		{"skua.nonsense", ""},
		{"my.key", ""},
	} {
		o, ok := Lookup(c.key)
		if ok != (c.row != "") || o.Key != c.row {
			t.Errorf("%s: found %q", c.key, o.Key)
		}
	}
	if Known("skua.nonsense") || !Known("my.key") || !Known("skua.cores") {
		t.Error("only unknown keys inside skua.* are refused")
	}
}

func TestValidate(t *testing.T) {
	for _, c := range []struct{ key, value, want string }{
		{"spark.sql.shuffle.partitions", "7", ""},
		{"spark.sql.shuffle.partitions", "abc", `[INVALID_CONF_VALUE.TYPE_MISMATCH] The value 'abc' in the config "spark.sql.shuffle.partitions" is invalid. It should be a/an 'int' value. SQLSTATE: 22022`},
		{"spark.sql.shuffle.partitions", "2147483648", `[INVALID_CONF_VALUE.TYPE_MISMATCH] The value '2147483648' in the config "spark.sql.shuffle.partitions" is invalid. It should be a/an 'int' value. SQLSTATE: 22022`},
		{"spark.sql.caseSensitive", "TRUE", ""},
		{"spark.sql.caseSensitive", "yes", `[INVALID_CONF_VALUE.TYPE_MISMATCH] The value 'yes' in the config "spark.sql.caseSensitive" is invalid. It should be a/an 'boolean' value. SQLSTATE: 22022`},
		{"spark.sql.session.timeZone", "Europe/Oslo", ""},
		{"spark.sql.session.timeZone", "Nowhere/X", `[INVALID_CONF_VALUE.TIME_ZONE] The value 'Nowhere/X' in the config "spark.sql.session.timeZone" is invalid. Cannot resolve the given timezone. SQLSTATE: 22022`},
		{"spark.sql.iceberg.vectorization.enabled", "maybe", ""},
		{"skua.log.level", "WARN", ""},
		{"skua.log.level", "x", `[INVALID_CONF_VALUE.OUT_OF_RANGE_OF_OPTIONS] The value 'x' in the config "skua.log.level" is invalid. It should be one of 'debug, info, warn, error'. SQLSTATE: 22022`},
		{"skua.memory.limit", "512m", ""},
		{"skua.memory.limit", "lots", `[INVALID_CONF_VALUE.TYPE_MISMATCH] The value 'lots' in the config "skua.memory.limit" is invalid. It should be a/an 'bytes' value. Write a size such as 512m, or a number of bytes. SQLSTATE: 22022`},
		{"skua.drain.timeout", "soon", `[INVALID_CONF_VALUE.TYPE_MISMATCH] The value 'soon' in the config "skua.drain.timeout" is invalid. It should be a/an 'duration' value. Write a duration such as 30s. SQLSTATE: 22022`},
		{"skua.cores", "all", `[INVALID_CONF_VALUE.TYPE_MISMATCH] The value 'all' in the config "skua.cores" is invalid. It should be a/an 'int' value. Write a whole number such as 200. SQLSTATE: 22022`},
		{"skua.flight.partitions", "true", ""},
		{"skua.flight.partitions", "0", `[INVALID_CONF_VALUE.TYPE_MISMATCH] The value '0' in the config "skua.flight.partitions" is invalid. It should be a/an 'boolean or count' value. Write true, false, or a number such as 8. SQLSTATE: 22022`},
		{"spark.rapids.iceberg.global-setting.read-split-target-size", "not a number, and that is the scan's business", ""},
	} {
		o, ok := Lookup(c.key)
		if !ok {
			t.Fatalf("%s is not in the table", c.key)
		}
		err := Validate(o, c.value)
		if (err == nil) != (c.want == "") || err != nil && err.Error() != c.want {
			t.Errorf("%s=%s: %v, want %s", c.key, c.value, err, c.want)
		}
		var v *ValueError
		if err != nil && !errors.As(err, &v) {
			t.Errorf("%s=%s: the error is a %T", c.key, c.value, err)
		}
	}
}

func TestParseZone(t *testing.T) {
	at := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		text    string
		seconds int
		ok      bool
	}{
		{"UTC", 0, true}, {"Z", 0, true}, {"GMT", 0, true}, {"Europe/Oslo", 3600, true}, {"PST", -8 * 3600, true},
		{"+02:00", 7200, true}, {"+2", 7200, true}, {"-8", -8 * 3600, true}, {"UTC+01:30", 5400, true}, {"+0530", 19800, true}, {"+01:02:03", 3723, true},
		{"-18:00", -18 * 3600, true}, {"+18:01", 0, false}, {"+01:60", 0, false}, {"", 0, false}, {"Local", 0, false}, {"Nowhere/X", 0, false}, {"../etc/passwd", 0, false},
	} {
		loc, err := ParseZone(c.text)
		if (err == nil) != c.ok {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		if err == nil {
			if _, got := at.In(loc).Zone(); got != c.seconds {
				t.Errorf("%q: %d seconds, want %d", c.text, got, c.seconds)
			}
		}
	}
}
