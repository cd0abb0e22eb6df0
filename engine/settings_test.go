package engine

import (
	"strings"
	"testing"

	"github.com/skua-data/skua/session"
)

// shown is a statement whose outcome a setting changes.
type shown struct{ key, value, sql string }

const (
	explainSales = "EXPLAIN SELECT id FROM sales"
	globalSize   = "spark.rapids.iceberg.global-setting.read-split-target-size"
)

// demonstrations has one for each of the session's settings that docs/options.md says has an effect on statements.
var demonstrations = map[string]shown{
	"spark.sql.caseSensitive":                                {value: "true", sql: "SELECT ID FROM sales"},
	"spark.sql.session.timeZone":                             {value: "Europe/Oslo", sql: "SELECT current_timezone()"},
	"skua.sql.time-travel-options":                           {value: "true", sql: "SELECT * FROM sales WITH (tag = 'first')"},
	"spark.sql.shuffle.partitions":                           {value: "7", sql: explainSales},
	"spark.rapids.iceberg.table-setting.*":                   {key: "spark.rapids.iceberg.table-setting.lake.db.sales.read-split-target-size", value: "7", sql: explainSales},
	"spark.rapids.iceberg.catalog-setting.*":                 {key: "spark.rapids.iceberg.catalog-setting.lake.read-split-target-size", value: "7", sql: explainSales},
	"spark.rapids.iceberg.global-setting.*":                  {key: globalSize, value: "7", sql: explainSales},
	"spark.sql.iceberg.read.split-size":                      {value: "7", sql: explainSales},
	"spark.sql.iceberg.read.adaptive-split-size.enabled":     {value: "false", sql: explainSales},
	"spark.sql.iceberg.read.adaptive-split-size.parallelism": {value: "7", sql: explainSales},
	"spark.sql.iceberg.planning.preserve-data-grouping":      {value: "true", sql: explainSales},
	"spark.sql.iceberg.aggregate-push-down.enabled":          {value: "false", sql: "EXPLAIN SELECT count(*) FROM sales"},
	"spark.comet.scan.icebergNative.enabled":                 {value: "false", sql: explainSales},
	"spark.sql.parquet.datetimeRebaseModeInRead":             {value: "LEGACY", sql: explainSales},
	"spark.sql.parquet.int96RebaseModeInRead":                {value: "LEGACY", sql: explainSales},
	"skua.decoder":          {value: "cpu", sql: explainSales},
	"skua.scan.concurrency": {value: "7", sql: explainSales},
	"spark.comet.scan.icebergNative.dataFileConcurrencyLimit": {value: "7", sql: explainSales},
	"skua.catalog-reference.*":                                {key: "skua.catalog-reference.lake", value: "dev", sql: explainSales},
	"spark.wap.branch":                                        {value: "audit", sql: "SELECT n FROM lake.db.wap"},
}

// atStart are the settings whose value at start counts, which others than the engine read, or which take but one value.
var atStart = map[string]bool{"spark.sql.defaultCatalog": true, "spark.default.parallelism": true, "skua.flight.partitions": true,
	"skua.flight.compression": true, "skua.flight.dictionaries": true, "skua.result.timestamps": true, "skua.result.nested": true, "skua.result.uuids": true,
	"skua.result.decimals": true, "skua.result.table-types": true, "skua.flight.max-message-size": true, "skua.sql.dialect": true, "spark.sql.readSideCharPadding": true}

// TestSettingsDoWhatThePageSays holds docs/options.md against statements: a setting with an effect changes one, a setting without changes none.
func TestSettingsDoWhatThePageSays(t *testing.T) {
	for _, o := range session.Options() {
		d, demonstrated := demonstrations[o.Key]
		switch {
		case o.Scope == session.Startup || atStart[o.Key]:
			continue
		case o.Effect && !demonstrated:
			t.Errorf("%s: the page says it has an effect, and nothing shows it", o.Key)
			continue
		case !o.Effect:
			d = shown{key: strings.TrimSuffix(o.Key, "*"), value: "false", sql: "EXPLAIN SELECT count(*) FROM sales WHERE id > 1"}
			if d.key != o.Key {
				d.key += "anything"
			}
		}
		if d.key == "" {
			d.key = o.Key
		}
		w, e := newWorld(t)
		s := w.session(t, e, "s")
		before := ask(t, e, s, d.sql)
		if out := ask(t, e, s, "SET `"+d.key+"` = "+d.value); !strings.HasPrefix(out, "update") {
			t.Errorf("%s: %s", d.key, out)
		}
		if after := ask(t, e, s, d.sql); (before != after) != o.Effect {
			t.Errorf("%s: effect %v is documented, %s gave\n%s\nand now\n%s", o.Key, o.Effect, d.sql, before, after)
		}
	}
}

// TestSettingsAtStart shows the effect of those that count when a session begins.
func TestSettingsAtStart(t *testing.T) {
	w, e := newWorld(t)
	begin := func(key, value string) *session.Session {
		state, err := e.NewState(session.NewConf(map[string]string{key: value}))
		if err != nil {
			t.Fatal(err)
		}
		return session.New("s", "ann", state, w.now)
	}
	if out := ask(t, e, begin(defaultCatalog, "bare"), "SHOW CURRENT NAMESPACE"); !strings.Contains(out, "bare | ") {
		t.Error(out)
	}
	if out := ask(t, e, begin(parallelismKey, "300"), "EXPLAIN SELECT n FROM bare.db.t"); !strings.Contains(out, "adaptive-split-size-parallelism = 300 (session, "+parallelismKey+")") {
		t.Error(out)
	}
}

// TestSkuasConcurrencyWinsOverComets sets both, in either order.
func TestSkuasConcurrencyWinsOverComets(t *testing.T) {
	set := []string{"SET skua.scan.concurrency = 3", "SET spark.comet.scan.icebergNative.dataFileConcurrencyLimit = 5"}
	for _, first := range []int{0, 1} {
		w, e := newWorld(t)
		s := w.session(t, e, "s")
		ask(t, e, s, set[first])
		ask(t, e, s, set[1-first])
		out := ask(t, e, s, explainSales)
		if !strings.Contains(out, "concurrency = 3 (session, skua.scan.concurrency)") || strings.Contains(out, "concurrency = 5") {
			t.Error(out)
		}
	}
}

// optionDemonstrations has a statement for each read option with an effect.
var optionDemonstrations = map[string]shown{
	"split-size":                  {value: "5"},
	"lookback":                    {value: "5"},
	"file-open-cost":              {value: "5"},
	"batch-size":                  {value: "5"},
	"branch":                      {value: "'first'"},
	"version-as-of":               {value: "1"},
	"timestamp-as-of":             {value: "'1970-01-01 00:00:01'"},
	"snapshot-id":                 {value: "1"},
	"as-of-timestamp":             {value: "1"},
	"tag":                         {value: "'first'"},
	"aggregate-push-down-enabled": {value: "false"},
	"start-snapshot-id":           {value: "1"},
	"end-snapshot-id":             {value: "1"},
	"start-timestamp":             {value: "1"},
	"end-timestamp":               {value: "1"},
}

// TestReadOptionsDoWhatThePageSays does the same for read options, in both spellings.
func TestReadOptionsDoWhatThePageSays(t *testing.T) {
	w, e := newWorld(t)
	s := w.session(t, e, "s")
	const from = "EXPLAIN SELECT count(*) FROM sales"
	before := ask(t, e, s, from)
	for _, o := range session.ReadOptions() {
		d, demonstrated := optionDemonstrations[o.Name]
		if o.Effect != demonstrated {
			t.Errorf("%s: effect %v is documented, shown %v", o.Name, o.Effect, demonstrated)
			continue
		}
		if !o.Effect {
			d.value = "7"
		}
		first := ""
		for _, spelled := range []string{o.Name, o.Spelled(), strings.ReplaceAll(o.Name, "-", "")} {
			after := ask(t, e, s, from+" WITH (`"+spelled+"` = "+d.value+")")
			if (before != after) != o.Effect {
				t.Errorf("%s: effect %v is documented, and it gave\n%s", spelled, o.Effect, after)
			}
			if first == "" {
				first = after
			}
			if after != first {
				t.Errorf("%s gave\n%s\nother than %s\n%s", spelled, after, o.Name, first)
			}
		}
	}
}
