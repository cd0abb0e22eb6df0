package server

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestHadoopsSettingsReachTheStores(t *testing.T) {
	folder := t.TempDir()
	site := `<configuration><property><name>fs.s3a.endpoint</name><value>site</value></property>
		<property><name>fs.s3a.access.key</name><value>site</value></property>
		<property><name>fs.s3a.secret.key</name><value>site</value></property>
		<property><name>yarn.log</name><value>site</value></property></configuration>`
	if err := os.WriteFile(filepath.Join(folder, "core-site.xml"), []byte(site), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HADOOP_CONF_DIR", "")
	s, err := Load(Given{Flags: []string{
		"spark.sql.catalog.a=org.apache.iceberg.spark.SparkCatalog", "spark.sql.catalog.a.type=hadoop", "spark.sql.catalog.a.warehouse=s3a://b/w",
		"spark.sql.catalog.a.hadoop-conf-dir=" + folder, "spark.sql.catalog.a.hadoop.fs.s3a.access.key=own", "spark.sql.catalog.a.s3.acl=private",
		"spark.hadoop.fs.s3a.access.key=spark", "spark.hadoop.fs.s3a.secret.key=spark", "spark.hadoop.fs.s3a.fast.upload=true",
		"spark.sql.catalog.b=org.apache.iceberg.spark.SparkCatalog", "spark.sql.catalog.b.type=hadoop", "spark.sql.catalog.b.warehouse=s3a://b/w"}})
	if err != nil {
		t.Fatal(err)
	}
	c, err := NewConfig(s)
	if err != nil {
		t.Fatal(err)
	}
	for catalog, want := range map[int]map[string]string{
		0: {"hadoop.fs.s3a.access.key": "own", "hadoop.fs.s3a.secret.key": "spark", "hadoop.fs.s3a.endpoint": "site", "hadoop.yarn.log": ""},
		1: {"hadoop.fs.s3a.access.key": "spark", "hadoop.fs.s3a.endpoint": ""},
	} {
		for name, value := range want {
			if got := c.Catalogs[catalog].Properties[name]; got != value {
				t.Errorf("catalog %s: %s is %q, want %q", c.Catalogs[catalog].Name, name, got, value)
			}
		}
	}
	said := strings.Join(c.Warnings, "\n")
	for _, once := range []string{"spark.sql.catalog.a.s3.acl has no effect: it concerns writing", "spark.hadoop.fs.s3a.fast.upload has no effect"} {
		if strings.Count(said, once) != 1 {
			t.Errorf("%q is to be said once:\n%s", once, said)
		}
	}
	if strings.Contains(said, "there is no store for s3a") {
		t.Error("there is one")
	}
}
