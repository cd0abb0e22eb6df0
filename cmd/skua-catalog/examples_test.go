package main

import (
	"bufio"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/iceberg-go"

	"github.com/skua-data/skua/catalogs"
)

// pasted are catalogs as people have them in their Spark configuration, with the type that serves each (a name with a dot is an outside plugin's) and what is said to
// have no effect.
var pasted = []struct{ name, text, serves, idle string }{
	{"RAPIDS, session catalog", `
		spark.sql.catalog.spark_catalog            com.nvidia.spark.rapids.iceberg.spark.RapidsSparkSessionCatalog
		spark.sql.catalog.spark_catalog.type       hadoop
		spark.sql.catalog.spark_catalog.warehouse  s3://my-bucket/warehouse/
		spark.sql.catalog.spark_catalog.io-impl    org.apache.iceberg.aws.s3.S3FileIO`, "hadoop", ""},
	{"RAPIDS, named catalog", `
		spark.sql.catalog.my_catalog            com.nvidia.spark.rapids.iceberg.spark.RapidsSparkCatalog
		spark.sql.catalog.my_catalog.type       hadoop
		spark.sql.catalog.my_catalog.warehouse  s3a://my-bucket/warehouse/`, "hadoop", ""},
	{"Iceberg, hive", `
		spark.sql.catalog.hive_prod              org.apache.iceberg.spark.SparkCatalog
		spark.sql.catalog.hive_prod.type         hive
		spark.sql.catalog.hive_prod.uri          thrift://metastore-host:9083`, "hive", ""},
	{"Iceberg, rest", `
		spark.sql.catalog.rest_prod              org.apache.iceberg.spark.SparkCatalog
		spark.sql.catalog.rest_prod.type         rest
		spark.sql.catalog.rest_prod.uri          http://localhost:8080`, "rest", ""},
	{"Iceberg, hadoop", `
		spark.sql.catalog.hadoop_prod            org.apache.iceberg.spark.SparkCatalog
		spark.sql.catalog.hadoop_prod.type       hadoop
		spark.sql.catalog.hadoop_prod.warehouse  hdfs://nn:8020/warehouse/path
		spark.sql.catalog.hadoop_prod.hadoop.fs.s3a.endpoint  http://aws-local:9000`, "hadoop", ""},
	{"Iceberg, session catalog of the metastore that hive-site.xml names", `
		spark.sql.catalog.spark_catalog          org.apache.iceberg.spark.SparkSessionCatalog
		spark.sql.catalog.spark_catalog.type     hive`, "hive", ""},
	{"Iceberg, a class of one's own", `
		spark.sql.catalog.custom_prod            org.apache.iceberg.spark.SparkCatalog
		spark.sql.catalog.custom_prod.catalog-impl  com.my.custom.CatalogImpl
		spark.sql.catalog.custom_prod.my-additional-catalog-config  my-value`, "com.my.custom.CatalogImpl", ""},
	{"Comet, rest", `
		spark.sql.catalog.rest_cat               org.apache.iceberg.spark.SparkCatalog
		spark.sql.catalog.rest_cat.catalog-impl  org.apache.iceberg.rest.RESTCatalog
		spark.sql.catalog.rest_cat.uri           http://localhost:8181
		spark.sql.catalog.rest_cat.warehouse     /tmp/warehouse`, "rest", ""},
	{"Comet, hive on S3", `
		spark.sql.catalog.s3_cat                 org.apache.iceberg.spark.SparkCatalog
		spark.sql.catalog.s3_cat.type            hive
		spark.sql.catalog.s3_cat.uri             thrift://metastore:9083
		spark.sql.catalog.s3_cat.io-impl         org.apache.iceberg.aws.s3.S3FileIO
		spark.sql.catalog.s3_cat.s3.endpoint     https://s3.example.com:9000
		spark.sql.catalog.s3_cat.s3.path-style-access  true
		spark.sql.catalog.s3_cat.client.region   us-east-1
		spark.sql.catalog.s3_cat.s3.access-key-id      AK
		spark.sql.catalog.s3_cat.s3.secret-access-key  SK`, "hive", ""},
	{"Glue", `
		spark.sql.catalog.glueCatalog                   org.apache.iceberg.spark.SparkCatalog
		spark.sql.catalog.glueCatalog.catalog-impl      org.apache.iceberg.aws.glue.GlueCatalog
		spark.sql.catalog.glueCatalog.io-impl           org.apache.iceberg.aws.s3.S3FileIO
		spark.sql.catalog.glueCatalog.warehouse         s3://bucket
		spark.sql.catalog.glueCatalog.http-client.type  apache`, "glue", "http-client.type"},
	{"JDBC", `
		spark.sql.catalog.j                   org.apache.iceberg.spark.SparkCatalog
		spark.sql.catalog.j.catalog-impl      org.apache.iceberg.jdbc.JdbcCatalog
		spark.sql.catalog.j.uri               jdbc:postgresql://localhost:5432/iceberg
		spark.sql.catalog.j.jdbc.user         admin
		spark.sql.catalog.j.jdbc.password     pass
		spark.sql.catalog.j.jdbc.schema-version  V1
		spark.sql.catalog.j.warehouse         s3://bucket`, "jdbc", "jdbc.schema-version"},
	{"Nessie", `
		spark.sql.catalog.nessie                  org.apache.iceberg.spark.SparkCatalog
		spark.sql.catalog.nessie.catalog-impl     org.apache.iceberg.nessie.NessieCatalog
		spark.sql.catalog.nessie.uri              http://localhost:19120/api/v2
		spark.sql.catalog.nessie.ref              main
		spark.sql.catalog.nessie.authentication.type  BEARER
		spark.sql.catalog.nessie.authentication.token t
		spark.sql.catalog.nessie.warehouse        s3://bucket`, "nessie", ""},
}

func TestWhatPeoplePasteIsTakenAsItStands(t *testing.T) {
	site := t.TempDir()
	text := "<configuration><property><name>hive.metastore.uris</name><value>thrift://site:9083</value></property></configuration>"
	if err := os.WriteFile(filepath.Join(site, "hive-site.xml"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HIVE_CONF_DIR", site)
	for _, c := range pasted {
		t.Run(c.name, func(t *testing.T) {
			name, class, properties := "", "", iceberg.Properties{}
			for lines := bufio.NewScanner(strings.NewReader(c.text)); lines.Scan(); {
				key, value, _ := strings.Cut(strings.TrimSpace(lines.Text()), " ")
				rest, ok := strings.CutPrefix(key, "spark.sql.catalog.")
				if !ok {
					continue
				}
				if n, property, nested := strings.Cut(rest, "."); nested {
					properties[property] = strings.TrimSpace(value)
				} else {
					name, class = n, strings.TrimSpace(value)
				}
			}
			d, warnings, err := catalogs.NewDefinition(name, class, properties)
			if err != nil {
				t.Fatal(err)
			}
			if d.Type+d.Impl != c.serves {
				t.Errorf("served by %s, want %s", d.Type+d.Impl, c.serves)
			}
			for _, w := range warnings {
				if c.idle == "" || !strings.Contains(w, c.idle) {
					t.Errorf("warning: %s", w)
				}
			}
			if c.idle != "" && !slices.ContainsFunc(warnings, func(w string) bool { return strings.Contains(w, c.idle) }) {
				t.Errorf("nothing says that %s has no effect", c.idle)
			}
			if d.Type == "" {
				return
			}
			open, err := constructor(d.Type)
			if err != nil {
				t.Fatal(err)
			}
			catalog, err := open(t.Context(), catalogs.Config{Name: d.Name, Properties: d.Properties})
			if err != nil {
				t.Fatal(err)
			}
			if err := catalog.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
