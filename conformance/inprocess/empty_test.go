package inprocess

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skua-data/skua/catalogs/hive/hivetest"
)

// TestEmptyCatalogs: whoever looks around in a catalog without a table finds nothing, and no error.
func TestEmptyCatalogs(t *testing.T) {
	metastore := &hivetest.Server{}
	uri, err := metastore.Start()
	must(t, err)
	t.Cleanup(metastore.Stop)
	settings := maps.Clone(lake(t))
	for name, properties := range map[string]map[string]string{
		"folder": {"type": "hadoop", "warehouse": t.TempDir()}, "listed": {"type": "static", "uri": filepath.Join(t.TempDir(), "tables.json")}, "metastore": {"type": "hive", "uri": uri},
	} {
		settings["spark.sql.catalog."+name] = "org.apache.iceberg.spark.SparkCatalog"
		for k, v := range properties {
			settings["spark.sql.catalog."+name+"."+k] = v
		}
	}
	must(t, os.WriteFile(settings["spark.sql.catalog.listed.uri"], []byte("{}"), 0o600))
	client := connect(t, start(t, settings).Target())
	for _, catalog := range []string{"folder", "listed", "metastore"} {
		for _, c := range []struct{ sql, want string }{
			{"SHOW NAMESPACES IN " + catalog, ""}, {"SHOW TABLES IN " + catalog, ""}, {"SHOW VIEWS IN " + catalog, ""}, {"SHOW TABLE EXTENDED IN " + catalog + " LIKE '*'", ""},
			{"SELECT * FROM " + catalog + ".information_schema.tables", ""}, {"SELECT * FROM " + catalog + ".information_schema.columns", ""},
			{"SELECT count(*) FROM " + catalog + ".information_schema.schemata", "0"}, {"SELECT * FROM " + catalog + ".a.b", "error: [TABLE_OR_VIEW_NOT_FOUND]"},
			{"SHOW TABLES IN " + catalog + ".a", "error: [SCHEMA_NOT_FOUND]"},
		} {
			got := asked(t, client, c.sql)
			if got != c.want && (!strings.HasPrefix(c.want, "error") || !strings.Contains(got, strings.TrimPrefix(c.want, "error: "))) {
				t.Errorf("%s: %s, want %s", c.sql, got, c.want)
			}
		}
	}
}
