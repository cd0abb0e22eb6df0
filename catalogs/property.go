package catalogs

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apache/iceberg-go"

	"github.com/skua-data/skua/fault"
)

// defaultRetention is Iceberg's default of cache.expiration-interval-ms.
const defaultRetention = 30 * time.Second

// spellings are the properties that Iceberg knows, as it writes them; one that ends in a dot stands for a family.
var spellings = []string{
	"type", "catalog-impl", "warehouse", "uri", "io-impl", "metrics-reporter-impl", "default-namespace", "clients",
	"cache-enabled", "cache.expiration-interval-ms", "cache.case-sensitive", "use-nullable-query-schema", "unique-table-location",
	"parquet-enabled", "avro-enabled", "orc-enabled", "rest-catalog-purge", "rest-metrics-reporting-enabled", "view-endpoints-supported", "token", "token-refresh-enabled", "token-exchange-enabled", "token-expires-in-ms", "credential", "scope", "oauth2-server-uri", "prefix",
	"snapshot-loading-mode", "rest-page-size", "namespace-separator", "scan-planning-mode", "lock-impl", "suppress-permission-error",
	"jdbc.user", "jdbc.password", "jdbc.schema-version", "jdbc.init-catalog-tables", "jdbc.strict-mode", "jdbc.",
	"table-default.", "table-override.", "view-default.", "view-override.", "hadoop.", "header.", "lock.", "io.manifest.", "http-client.",
	"iceberg.hive.", "iceberg.engine.hive.enabled", "list-all-tables", "client-pool-cache-keys", "auth.session-timeout-ms", "dynamodb.", "plugin.", "authentication.", "ref", "ref.hash", "client-api-version", "hive-conf-dir", "hadoop-conf-dir", "sts.endpoint", "audience", "resource", "s3.", "client.", "gcs.", "adls.", "glue.", "rest.", "nessie.", "hive.",
}

// idle is a property that is accepted and does nothing here; a name that ends in a dot stands for a family.
type idle struct{ name, why string }

var idles = []idle{
	{"table-default.", "it concerns the creation of tables"},
	{"table-override.", "it concerns the creation of tables"},
	{"view-default.", "it concerns the creation of views"},
	{"view-override.", "it concerns the creation of views"},
	{"use-nullable-query-schema", "it concerns the creation of tables"},
	{"unique-table-location", "it concerns the creation of tables"},
	{"parquet-enabled", "it concerns the creation of tables"},
	{"avro-enabled", "it concerns the creation of tables"},
	{"orc-enabled", "it concerns the creation of tables"},
	{"rest-catalog-purge", "it concerns the dropping of tables"},
	{"lock-impl", "it concerns commits"},
	{"lock.", "it concerns commits"},
	{"metrics-reporter-impl", "only the logging reporter is known: scans are counted and logged by the server itself"},
	{"iceberg.hive.", "it concerns commits"},
	{"iceberg.engine.hive.enabled", "it concerns the creation of tables"},
	{"dynamodb.", "it concerns commits"},
	{"list-all-tables", "a session catalog shows tables of other formats"},
	{"client-pool-cache-keys", "a catalog has connections of its own"},
	{"auth.session-timeout-ms", "a catalog has one session, which does not end"},
	{"io.manifest.", "manifests are cached by the server itself"},
	{"http-client.", "it chooses a Java client"},
	{"glue.skip-archive", "it concerns commits"},
	{"glue.skip-name-validation", "it concerns the creation of tables"},
	{"jdbc.schema-version", "both layouts are read, and none is changed"},
	{"jdbc.init-catalog-tables", "nothing is made in the database"},
	{"jdbc.strict-mode", "it concerns the creation of tables"},
	{"snapshot-loading-mode", "all snapshots are loaded"},
}

// foldKeys gives the properties with every key that Iceberg knows in its spelling. Two spellings of one key must not disagree.
func foldKeys(name string, properties iceberg.Properties) (iceberg.Properties, error) {
	out, from := make(iceberg.Properties, len(properties)), map[string]string{}
	for _, k := range slices.Sorted(maps.Keys(properties)) {
		folded, lower := spell(k), strings.ToLower(k)
		if first, seen := from[lower]; seen {
			if properties[first] != properties[k] {
				return nil, fault.New(fault.Invalid, "%s and %s are the same property with different values", key(name, first), key(name, k))
			}
			continue
		}
		from[lower] = k
		out[folded] = properties[k]
	}
	return out, nil
}

// spell gives a key in Iceberg's spelling: known names whole, of known families the name of the family.
func spell(k string) string {
	lower := strings.ToLower(k)
	for _, s := range spellings {
		if lower == s {
			return s
		}
		if strings.HasSuffix(s, ".") && strings.HasPrefix(lower, s) {
			return s + k[len(s):]
		}
	}
	return k
}

// warnings names the properties that do nothing here, and for Iceberg's own types those that Iceberg does not know, in order.
func warnings(d Definition) []string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(d.Properties)) {
		if d.Impl == "" && !known(k) {
			out = append(out, d.key(k)+" is no property that Iceberg knows; the catalog gets it as it is."+suggest(k, spellings))
		}
		for _, i := range idles {
			if i.name == "metrics-reporter-impl" && d.Properties[k] == loggingReporter {
				continue
			}
			if k == i.name || (strings.HasSuffix(i.name, ".") && strings.HasPrefix(k, i.name)) {
				out = append(out, d.key(k)+" has no effect: "+i.why)
			}
		}
	}
	return out
}

// loggingReporter is Iceberg's default, which the server's own log stands for.
const loggingReporter = "org.apache.iceberg.metrics.LoggingMetricsReporter"

// known reports whether a key is in spellings, whole or by its family.
func known(k string) bool {
	return slices.ContainsFunc(spellings, func(s string) bool {
		return k == s || (strings.HasSuffix(s, ".") && strings.HasPrefix(k, s))
	})
}

// retention says how long after its last use the Set remembers a table: zero not at all, negative for ever.
func (d Definition) retention() (time.Duration, error) {
	keep := defaultRetention
	if text, ok := d.Properties["cache.expiration-interval-ms"]; ok {
		ms, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return 0, fault.New(fault.Invalid, "%s: For input string: %q", d.key("cache.expiration-interval-ms"), text).
				Change(d.key("cache.expiration-interval-ms"))
		}
		keep = time.Duration(min(ms, int64(maxRetention/time.Millisecond))) * time.Millisecond
		if ms < 0 {
			keep = -1
		}
	}
	if enabled, ok := d.Properties["cache-enabled"]; ok && !strings.EqualFold(enabled, "true") {
		return 0, nil
	}
	return keep, nil
}

// maxRetention keeps the arithmetic of expiry inside time.Duration.
const maxRetention = 100 * 365 * 24 * time.Hour
