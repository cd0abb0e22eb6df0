package catalogs

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/fault"
)

const plain = "org.apache.iceberg.spark.SparkCatalog"

func TestDefinitionTypes(t *testing.T) {
	for _, c := range []struct {
		name       string
		properties iceberg.Properties
		typ, impl  string
		fails      string // the error's text begins so; empty: no error
		kind       fault.Kind
	}{
		{"type", iceberg.Properties{"type": "hadoop"}, "hadoop", "", "", 0},
		{"type in any case", iceberg.Properties{"TYPE": "Hive"}, "hive", "", "", 0},
		{"Iceberg's class", iceberg.Properties{"catalog-impl": "org.apache.iceberg.jdbc.JdbcCatalog"}, "jdbc", "", "", 0},
		{"Iceberg's REST class", iceberg.Properties{"Catalog-Impl": "org.apache.iceberg.rest.RESTCatalog"}, "rest", "", "", 0},
		{"a plugin", iceberg.Properties{"catalog-impl": "com.my.custom.CatalogImpl", "my-additional-catalog-config": "my-value"}, "", "com.my.custom.CatalogImpl", "", 0},
		{"both", iceberg.Properties{"type": "hive", "catalog-impl": "x.Y"}, "", "",
			"Cannot create catalog c, both type and catalog-impl are set: type=hive, catalog-impl=x.Y", fault.Invalid},
		{"neither", iceberg.Properties{"warehouse": "/w"}, "", "", "Cannot create catalog c, neither type nor catalog-impl is set", fault.Invalid},
		{"unknown", iceberg.Properties{"type": "nonesuch"}, "", "", "Unknown catalog type: nonesuch; see", fault.Invalid},
		{"misspelt", iceberg.Properties{"type": "hadop"}, "", "", "Unknown catalog type: hadop Did you mean hadoop?", fault.Invalid},
		{"a path", iceberg.Properties{"catalog-impl": "/bin/sh"}, "", "", `Cannot initialize Catalog implementation "/bin/sh"`, fault.Invalid},
		{"a path upwards", iceberg.Properties{"catalog-impl": ".."}, "", "", `Cannot initialize Catalog implementation ".."`, fault.Invalid},
		{"an empty class", iceberg.Properties{"catalog-impl": ""}, "", "", `Cannot initialize Catalog implementation ""`, fault.Invalid},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, _, err := NewDefinition("c", plain, c.properties)
			if c.fails != "" {
				if !fault.Is(err, c.kind) || !strings.HasPrefix(err.Error(), c.fails) {
					t.Fatalf("got %v, want %s", err, c.fails)
				}
				return
			}
			if err != nil || d.Type != c.typ || d.Impl != c.impl {
				t.Fatalf("type %q, impl %q, %v", d.Type, d.Impl, err)
			}
			for k := range d.Properties {
				if strings.EqualFold(k, "type") || strings.EqualFold(k, "catalog-impl") {
					t.Errorf("%s is still a property", k)
				}
			}
		})
	}
}

func TestDefinitionNamesAndClasses(t *testing.T) {
	ok := iceberg.Properties{"type": "hadoop"}
	for _, c := range []struct{ name, class, fails string }{
		{"a.b", plain, "Invalid catalog name: a.b"},
		{"", plain, "Invalid catalog name: "},
		{"broken", "no.such.Class", "Cannot find catalog plugin class for catalog 'broken': no.such.Class."},
		{"near", "org.apache.iceberg.spark.SparkCatalogue", "Did you mean org.apache.iceberg.spark.SparkCatalog?"},
		{"none", "", "[CATALOG_NOT_FOUND] The catalog `none` not found."},
	} {
		if _, _, err := NewDefinition(c.name, c.class, ok); err == nil || !strings.Contains(err.Error(), c.fails) {
			t.Errorf("%q of class %q: %v, want %s", c.name, c.class, err, c.fails)
		}
	}
	for _, c := range []struct {
		class          string
		session, wraps bool
	}{
		{plain, false, false}, {"org.apache.iceberg.spark.SparkSessionCatalog", true, false},
		{"com.nvidia.spark.rapids.iceberg.spark.RapidsSparkCatalog", false, true},
		{"com.nvidia.spark.rapids.iceberg.spark.RapidsSparkSessionCatalog", true, true},
	} {
		d, warnings, err := NewDefinition("c", c.class, ok)
		if err != nil || d.Class.Session != c.session || d.Class.Wraps != c.wraps || d.Class.Name != c.class || len(warnings) != 0 {
			t.Errorf("%s: %+v, %v, %v", c.class, d, warnings, err)
		}
	}
}

func TestDefinitionProperties(t *testing.T) {
	given := iceberg.Properties{"Type": "jdbc", "WAREHOUSE": "/W", "Uri": "jdbc:sqlite:/A", "jdbc.User": "U", "JDBC.useSSL": "true", "S3.Path-Style-Access": "true",
		"Hadoop.fs.s3a.Endpoint": "h", "My.Own.Key": "v", "Header.X-Y": "z"}
	d, warnings, err := NewDefinition("c", plain, given)
	if err != nil {
		t.Fatal(err)
	}
	want := iceberg.Properties{"warehouse": "/W", "uri": "jdbc:sqlite:/A", "jdbc.user": "U", "jdbc.useSSL": "true", "s3.Path-Style-Access": "true",
		"hadoop.fs.s3a.Endpoint": "h", "My.Own.Key": "v", "header.X-Y": "z"}
	if fmt.Sprint(d.Properties) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", d.Properties, want)
	}
	if want := []string{"spark.sql.catalog.c.My.Own.Key is no property that Iceberg knows; the catalog gets it as it is."}; !slices.Equal(warnings, want) {
		t.Errorf("warnings %q", warnings)
	}
	if given["Type"] != "jdbc" || len(given) != 9 {
		t.Error("the caller's map was changed")
	}
	if _, _, err := NewDefinition("c", plain, iceberg.Properties{"type": "hadoop", "warehouse": "/a", "Warehouse": "/b"}); !fault.Is(err, fault.Invalid) ||
		!strings.Contains(err.Error(), "spark.sql.catalog.c.Warehouse and spark.sql.catalog.c.warehouse are the same property") {
		t.Errorf("got %v", err)
	}
	if _, _, err := NewDefinition("c", plain, iceberg.Properties{"type": "hadoop", "warehouse": "/a", "Warehouse": "/a"}); err != nil {
		t.Errorf("two spellings that agree: %v", err)
	}
}

func TestDefinitionWarnings(t *testing.T) {
	var p = iceberg.Properties{"type": "hadoop", "warehouse": "/w", "cache-enabled": "false", "default-namespace": "a"}
	idle := []string{"table-default.write.format.default", "table-override.x", "view-default.x", "view-override.x", "use-nullable-query-schema", "http-client.type",
		"metrics-reporter-impl", "lock-impl", "lock.table", "io.manifest.cache-enabled", "snapshot-loading-mode", "rest-catalog-purge", "parquet-enabled",
		"iceberg.hive.lock-check-min-wait-ms", "list-all-tables", "dynamodb.region", "client-pool-cache-keys", "auth.session-timeout-ms", "iceberg.engine.hive.enabled"}
	for _, k := range idle {
		p[k] = "secret"
	}
	_, warnings, err := NewDefinition("c", plain, p)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(idle)
	if len(warnings) != len(idle) {
		t.Fatalf("%d warnings for %d idle properties: %q", len(warnings), len(idle), warnings)
	}
	for i, k := range idle {
		if !strings.HasPrefix(warnings[i], "spark.sql.catalog.c."+k+" has no effect: ") || strings.Contains(warnings[i], "secret") {
			t.Errorf("warning %q, want one of %s", warnings[i], k)
		}
	}
}

func TestFileIO(t *testing.T) {
	for _, class := range fileIOs {
		if _, _, err := NewDefinition("c", plain, iceberg.Properties{"type": "hadoop", "io-impl": class}); err != nil {
			t.Errorf("%s: %v", class, err)
		}
	}
	_, _, err := NewDefinition("c", plain, iceberg.Properties{"type": "hadoop", "io-impl": "com.my.FileIO"})
	if !fault.Is(err, fault.Unsupported) || !strings.HasPrefix(err.Error(), "Cannot initialize FileIO implementation com.my.FileIO: ") ||
		!strings.Contains(err.Error(), "not supported") {
		t.Errorf("got %v", err)
	}
}

func TestRetention(t *testing.T) {
	for _, c := range []struct {
		enabled, interval string
		want              time.Duration
	}{
		{"", "", 30 * time.Second}, {"true", "", 30 * time.Second}, {"TRUE", "500", 500 * time.Millisecond}, {"yes", "", 0}, {"false", "-1", 0},
		{"", "0", 0}, {"true", "0", 0}, {"", "-1", -1}, {"", "-9223372036854775808", -1}, {"", "+7", 7 * time.Millisecond}, {"", "9223372036854775807", maxRetention},
	} {
		p := iceberg.Properties{"type": "hadoop"}
		if c.enabled != "" {
			p["cache-enabled"] = c.enabled
		}
		if c.interval != "" {
			p["cache.expiration-interval-ms"] = c.interval
		}
		d, _, err := NewDefinition("c", plain, p)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := d.retention(); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
	for _, bad := range []string{"", "x", "1s", "1_000", "99999999999999999999", " 1"} {
		_, _, err := NewDefinition("c", plain, iceberg.Properties{"type": "hadoop", "cache.expiration-interval-ms": bad})
		if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), fmt.Sprintf("For input string: %q", bad)) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestDefaultNamespace(t *testing.T) {
	for _, c := range []struct {
		class, property string
		want            table.Identifier
	}{
		{plain, "", nil}, {plain, "a.b", table.Identifier{"a", "b"}}, {"org.apache.iceberg.spark.SparkSessionCatalog", "a", table.Identifier{"default"}},
	} {
		p := iceberg.Properties{"type": "hadoop"}
		if c.property != "" {
			p["Default-Namespace"] = c.property
		}
		d, _, err := NewDefinition("c", c.class, p)
		if err != nil || !slices.Equal(d.DefaultNamespace(), c.want) {
			t.Errorf("%+v: %v, %v", c, d.DefaultNamespace(), err)
		}
	}
}

func TestNearest(t *testing.T) {
	known := []string{"sales", "customer", "orders", "Δέλτα"}
	for name, want := range map[string]string{"sale": "sales", "SALES": "sales", "slaes": "sales", "custmoer": "customer", "odrer": "", "xyz": "", "": "", "order": "orders",
		"δελτα": "Δέλτα", strings.Repeat("s", 10_000): ""} {
		if got := Nearest(name, known); got != want {
			t.Errorf("Nearest(%.20q) = %q, want %q", name, got, want)
		}
	}
	if got := Nearest("ab", []string{"ac", "ab", "ad"}); got != "ab" {
		t.Errorf("an exact name must win, got %q", got)
	}
	if got := Nearest("ab", nil); got != "" {
		t.Errorf("got %q", got)
	}
}

// TestPropertiesThatPeopleHaveAreKnown: what stands in people's Spark configuration is never called unknown.
func TestPropertiesThatPeopleHaveAreKnown(t *testing.T) {
	p := iceberg.Properties{"type": "rest"}
	for _, k := range strings.Fields(`io-impl warehouse uri clients cache-enabled cache.expiration-interval-ms cache.case-sensitive metrics-reporter-impl default-namespace
		jdbc.user jdbc.password jdbc.ssl jdbc.schema-version client.region client.assume-role.arn client.assume-role.region client.assume-role.external-id
		client.assume-role.tags.team client.credentials-provider client.credentials-provider.x client.factory client.pool.cache.eviction-interval-ms
		s3.endpoint s3.region s3.access-key-id s3.secret-access-key s3.session-token s3.path-style-access s3.sse.type s3.sse.key s3.acl s3.retry.num-retries
		s3.remote-signing-enabled http-client.type http-client.urlconnection.socket-timeout-ms http-client.apache.max-connections glue.id glue.skip-archive glue.endpoint
		glue.access-key-id glue.secret-access-key glue.region gcs.oauth2.token gcs.oauth2.token-expires-at gcs.service.host gcs.no-auth gcs.project-id
		adls.sas-token.acct adls.connection-string.acct adls.auth.shared-key.account.name adls.auth.shared-key.account.key token credential scope oauth2-server-uri
		rest.sigv4-enabled rest.signing-region rest.signing-name prefix audience resource header.x-mine rest.auth.type iceberg.hive.lock-check-min-wait-ms
		iceberg.hive.lock-check-max-wait-ms table-default.write.format.default table-override.read.split.target-size hadoop.fs.s3a.endpoint lock-impl lock.table
		io.manifest.cache-enabled ref authentication.type scan-planning-mode snapshot-loading-mode rest-page-size namespace-separator`) {
		p[k] = "x"
	}
	p["io-impl"], p["cache.expiration-interval-ms"] = "org.apache.iceberg.aws.s3.S3FileIO", "0"
	_, warnings, err := NewDefinition("c", plain, p)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range warnings {
		if strings.Contains(w, "no property that Iceberg knows") {
			t.Error(w)
		}
	}
}
