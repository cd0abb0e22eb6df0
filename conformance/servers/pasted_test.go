package servers

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/catalogs/static"
	"github.com/skua-data/skua/conformance/servers/launch"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/storage"
	"github.com/skua-data/skua/storage/local"
)

// customTables names the file of tables of the catalog class com.my.custom.CatalogImpl, which this test's own program is.
const customTables = "CUSTOM_TABLES"

// custom is the constructor of that class; it wants the property that is pasted.
func custom(string) (catalogs.Constructor, error) {
	return func(ctx context.Context, c catalogs.Config) (catalogs.Catalog, error) {
		if got := c.Properties["my-additional-catalog-config"]; got != "my-value" {
			return nil, fault.New(fault.Invalid, "my-additional-catalog-config is %q", got)
		}
		c.Properties = with(c.Properties, "uri", os.Getenv(customTables))
		return static.New([]storage.Kind{local.Kind})(ctx, c)
	}, nil
}

// pasted reads a configuration as it stands in a file of Spark's, with hosts and buckets put in place of the names that the documentation has.
func pasted(text string, places ...string) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(strings.NewReplacer(places...).Replace(text)) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			out[key] = strings.TrimSpace(value)
		}
	}
	return out
}

// holds asks a statement and expects its answer to hold texts.
func holds(t *testing.T, c served, sql string, texts ...string) {
	t.Helper()
	got := ask(t, c, sql)
	for _, text := range texts {
		if !strings.Contains(got, text) || strings.HasPrefix(got, "error") && !strings.Contains(text, "error") {
			t.Errorf("%s: %.2000s\nlacks %s", sql, got, text)
		}
	}
}

// count is how an answer of one number is written.
func count(n int) string { return fmt.Sprintf(`:%d}`, n) }

// The rows of the lake's tables.
const (
	salesRows   = 300_000
	productRows = 500
)

// keysOfTheEnvironment gives the S3 store and its keys as the environment of AWS' own tools has them: a pasted configuration names neither.
func keysOfTheEnvironment(t *testing.T, s *store) {
	for k, v := range map[string]string{"AWS_ENDPOINT_URL": "http://" + s.address, "AWS_ACCESS_KEY_ID": launch.S3Key, "AWS_SECRET_ACCESS_KEY": launch.S3Secret, "AWS_REGION": "us-east-1"} {
		t.Setenv(k, v)
	}
}

func TestPastedRAPIDS(t *testing.T) {
	wanted(t, "s3")
	s := storeOf(t, "s3")
	keysOfTheEnvironment(t, s)
	put := putS3(t, s.address, "warehouse")
	// The tables that the configuration names are those of the lake, under other names.
	if err := s.lake.Each(func(name string, data []byte) error {
		for from, to := range map[string]string{"shop/sales/metadata/": "default/store_sales/metadata/", "shop/products/metadata/": "default/other/metadata/"} {
			if rest, ok := strings.CutPrefix(name, from); ok {
				return put(to+rest, data)
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for _, form := range []struct{ name, class string }{{"spark_catalog", "RapidsSparkSessionCatalog"}, {"my_catalog", "RapidsSparkCatalog"}} {
		t.Run(form.name, func(t *testing.T) {
			settings := pasted(`
				spark.sql.catalog.NAME            com.nvidia.spark.rapids.iceberg.spark.CLASS
				spark.sql.catalog.NAME.type       hadoop
				spark.sql.catalog.NAME.warehouse  s3://my-bucket/warehouse/
				spark.sql.catalog.NAME.io-impl    org.apache.iceberg.aws.s3.S3FileIO
				spark.rapids.iceberg.global-setting.read-split-target-size                                       536870912
				spark.rapids.iceberg.catalog-setting.NAME.read-split-target-size                                 1073741824
				spark.rapids.iceberg.table-setting.NAME.default.store_sales.read-split-target-size               2147483648
				spark.rapids.iceberg.table-setting.NAME.default.store_sales.read-split-planning-lookback         1000
				spark.sql.catalog.wrapped            com.nvidia.spark.rapids.iceberg.spark.RapidsSparkCatalog
				spark.sql.catalog.wrapped.type       hadoop
				spark.sql.catalog.wrapped.warehouse  s3://my-bucket/lake/
				spark.sql.catalog.plain            org.apache.iceberg.spark.SparkCatalog
				spark.sql.catalog.plain.type       hadoop
				spark.sql.catalog.plain.warehouse  s3a://my-bucket/lake/
				spark.hadoop.fs.s3a.path.style.access  true`, "my-bucket", launch.Bucket, "NAME", form.name, "CLASS", form.class)
			c := serveSettings(t, settings)
			holds(t, c, "SELECT count(*) FROM "+form.name+".default.store_sales", count(salesRows))
			holds(t, c, "SELECT count(*) FROM "+form.name+".default.other", count(productRows))
			holds(t, c, "EXPLAIN SELECT sale_id FROM "+form.name+".default.store_sales", "2147483648", "table-setting."+form.name+".default.store_sales.read-split-target-size", "1000",
				"table-setting."+form.name+".default.store_sales.read-split-planning-lookback")
			holds(t, c, "EXPLAIN SELECT name FROM "+form.name+".default.other", "1073741824", "catalog-setting."+form.name+".read-split-target-size")
			holds(t, c, "EXPLAIN SELECT sale_id FROM wrapped.shop.sales", "536870912", "global-setting.read-split-target-size")
			if got := ask(t, c, "EXPLAIN SELECT sale_id FROM plain.shop.sales"); strings.Contains(got, "global-setting") || strings.HasPrefix(got, "error") || !strings.Contains(got, "134217728") {
				t.Errorf("the catalog that is not wrapped: %s", got)
			}
			holds(t, c, "SELECT count(*) FROM plain.shop.sales", count(salesRows))
		})
	}
}

func TestPastedIceberg(t *testing.T) {
	wanted(t, "hive4", "rest", "hdfs")
	h, home := storeOf(t, "hdfs"), lakeAt(t, "")
	enter, properties := openHive(t, "hive4")
	enter(t, home, "")
	metastore := strings.Split(properties["uri"], ",")[1]
	rest := start(t, "rest", nil).Address
	enterREST(t, "http://"+rest, home, "")
	site := t.TempDir()
	if err := os.WriteFile(filepath.Join(site, "hive-site.xml"), []byte("<configuration><property><name>hive.metastore.uris</name><value>"+metastore+"</value></property></configuration>"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HIVE_CONF_DIR", site)
	enterFile, file := openStatic(t)
	enterFile(t, home, "")
	t.Setenv(customTables, file["uri"])
	settings := pasted(`
		spark.sql.catalog.hive_prod              org.apache.iceberg.spark.SparkCatalog
		spark.sql.catalog.hive_prod.type         hive
		spark.sql.catalog.hive_prod.uri          thrift://metastore-host:9083
		spark.sql.catalog.rest_prod              org.apache.iceberg.spark.SparkCatalog
		spark.sql.catalog.rest_prod.type         rest
		spark.sql.catalog.rest_prod.uri          http://localhost:8080
		spark.sql.catalog.hadoop_prod            org.apache.iceberg.spark.SparkCatalog
		spark.sql.catalog.hadoop_prod.type       hadoop
		spark.sql.catalog.hadoop_prod.warehouse  hdfs://nn:8020/warehouse/path
		spark.sql.catalog.hadoop_prod.hadoop.fs.s3a.endpoint  http://aws-local:9000
		spark.sql.catalog.spark_catalog          org.apache.iceberg.spark.SparkSessionCatalog
		spark.sql.catalog.spark_catalog.type     hive
		spark.sql.catalog.custom_prod            org.apache.iceberg.spark.SparkCatalog
		spark.sql.catalog.custom_prod.catalog-impl  com.my.custom.CatalogImpl
		spark.sql.catalog.custom_prod.my-additional-catalog-config  my-value
		spark.sql.extensions                     org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions
		spark.sql.iceberg.vectorization.enabled  false`,
		"thrift://metastore-host:9083", metastore, "localhost:8080", rest, "hdfs://nn:8020/warehouse/path", h.lake.Base)
	c := serveSettings(t, settings)
	for _, catalog := range []string{"hive_prod", "rest_prod", "hadoop_prod", "spark_catalog", "custom_prod"} {
		holds(t, c, "SELECT count(*) FROM "+catalog+".shop.sales", count(salesRows))
		holds(t, c, "SELECT count(*) FROM "+catalog+".shop.products", count(productRows))
	}
	// The plain catalog shows Iceberg's tables only, the session catalog also what is none.
	plainTable(t, strings.TrimPrefix(metastore, "thrift://"))
	if got := ask(t, c, "SHOW TABLES IN hive_prod.shop"); strings.Contains(got, "old_logs") {
		t.Errorf("the plain catalog: %s", got)
	}
	holds(t, c, "SHOW TABLES IN spark_catalog.shop", "old_logs", "sales")
}

func TestPastedComet(t *testing.T) {
	wanted(t, "hive4", "rest", "s3")
	s, home := storeOf(t, "s3"), lakeAt(t, "")
	enter, properties := openHive(t, "hive4")
	enter(t, s.lake, "")
	rest := start(t, "rest", nil).Address
	enterREST(t, "http://"+rest, home, "")
	settings := pasted(`
		spark.plugins                            org.apache.spark.CometPlugin
		spark.shuffle.manager                    org.apache.spark.sql.comet.execution.shuffle.CometShuffleManager
		spark.comet.explainFallback.enabled      true
		spark.comet.scan.icebergNative.enabled   true
		spark.comet.scan.icebergNative.dataFileConcurrencyLimit  4
		spark.memory.offHeap.enabled             true
		spark.memory.offHeap.size                2g
		spark.sql.catalog.rest_cat               org.apache.iceberg.spark.SparkCatalog
		spark.sql.catalog.rest_cat.catalog-impl  org.apache.iceberg.rest.RESTCatalog
		spark.sql.catalog.rest_cat.uri           http://localhost:8181
		spark.sql.catalog.rest_cat.warehouse     /tmp/warehouse
		spark.sql.catalog.s3_cat                 org.apache.iceberg.spark.SparkCatalog
		spark.sql.catalog.s3_cat.type            hive
		spark.sql.catalog.s3_cat.uri             thrift://metastore:9083
		spark.sql.catalog.s3_cat.io-impl         org.apache.iceberg.aws.s3.S3FileIO
		spark.sql.catalog.s3_cat.s3.endpoint     https://s3.example.com:9000
		spark.sql.catalog.s3_cat.s3.path-style-access  true
		spark.sql.catalog.s3_cat.client.region   us-east-1
		spark.sql.catalog.s3_cat.s3.access-key-id      AK
		spark.sql.catalog.s3_cat.s3.secret-access-key  SK`,
		"localhost:8181", rest, "thrift://metastore:9083", strings.Split(properties["uri"], ",")[1], "https://s3.example.com:9000", "http://"+s.address, "AK", launch.S3Key, "SK", launch.S3Secret)
	c := serveSettings(t, settings)
	for _, catalog := range []string{"rest_cat", "s3_cat"} {
		holds(t, c, "SELECT count(*) FROM "+catalog+".shop.sales", count(salesRows))
		holds(t, c, "SELECT count(*) FROM "+catalog+".shop.sales WHERE system.bucket(16, customer_id) = 3 AND system.truncate(10, customer_id) >= 0", `:1`)
	}
	holds(t, c, "EXPLAIN ANALYZE SELECT * FROM s3_cat.shop.products", "bytes")
	// The same store through Hadoop's keys, and with keys left out, from the environment.
	for name, channel := range map[string]map[string]string{
		"spark.hadoop": {"spark.hadoop.fs.s3a.endpoint": "http://" + s.address, "spark.hadoop.fs.s3a.path.style.access": "true", "spark.hadoop.fs.s3a.access.key": launch.S3Key,
			"spark.hadoop.fs.s3a.secret.key": launch.S3Secret},
		"environment": {},
	} {
		t.Run(name, func(t *testing.T) {
			if len(channel) == 0 {
				keysOfTheEnvironment(t, s)
			}
			for k, v := range map[string]string{"": "org.apache.iceberg.spark.SparkCatalog", ".type": "hive", ".uri": properties["uri"]} {
				channel["spark.sql.catalog.s3_cat"+k] = v
			}
			holds(t, serveSettings(t, channel), "SELECT count(*) FROM s3_cat.shop.sales", count(salesRows))
		})
	}
}

func TestPastedGlue(t *testing.T) {
	wanted(t, "moto", "s3")
	s := storeOf(t, "s3")
	enter, properties := openGlue(t)
	enter(t, s.lake, "")
	keysOfTheEnvironment(t, s)
	t.Setenv("AWS_ENDPOINT_URL_GLUE", properties["glue.endpoint"])
	settings := pasted(`
		spark.sql.catalog.glueCatalog                   org.apache.iceberg.spark.SparkCatalog
		spark.sql.catalog.glueCatalog.catalog-impl      org.apache.iceberg.aws.glue.GlueCatalog
		spark.sql.catalog.glueCatalog.io-impl           org.apache.iceberg.aws.s3.S3FileIO
		spark.sql.catalog.glueCatalog.warehouse         s3://<bucket>
		spark.sql.catalog.glueCatalog.http-client.type  apache
		spark.sql.extensions                            org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions
		spark.sql.defaultCatalog                        glueCatalog`, "<bucket>", launch.Bucket)
	c := serveSettings(t, settings)
	holds(t, c, "SELECT count(*) FROM glueCatalog.shop.sales", count(salesRows))
	holds(t, c, "SELECT count(*) FROM shop.sales", count(salesRows)) // the default catalog's
}
