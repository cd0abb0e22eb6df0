package storetest_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/catalogs/catalogtest"
	"github.com/skua-data/skua/catalogs/hadoop"
	"github.com/skua-data/skua/storage"
	"github.com/skua-data/skua/storage/adls"
	"github.com/skua-data/skua/storage/gcs"
	"github.com/skua-data/skua/storage/s3"
	"github.com/skua-data/skua/storage/storetest"
)

// TestHadoopCatalogs runs the suite of catalogs on a warehouse in each store.
func TestHadoopCatalogs(t *testing.T) {
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	metadata, err := os.ReadFile("../../catalogs/hadoop/testdata/v2.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, base, bucket string
		kind               storage.Kind
		start              func(testing.TB) *storetest.Server
		properties         func(url string) iceberg.Properties
	}{
		{"s3", "s3://bucket", "bucket", s3.Kind, storetest.NewS3, func(url string) iceberg.Properties {
			return iceberg.Properties{"s3.endpoint": url, "s3.path-style-access": "true", "s3.access-key-id": "me", "s3.secret-access-key": storetest.Secret}
		}},
		{"gcs", "gs://bucket", "bucket", gcs.Kind, storetest.NewGCS, func(url string) iceberg.Properties {
			return iceberg.Properties{"gcs.service.host": url, "gcs.no-auth": "true"}
		}},
		{"adls", "abfss://box@acct.dfs.core.windows.net", "box", adls.Kind, storetest.NewADLS, func(url string) iceberg.Properties {
			return iceberg.Properties{"adls.connection-string.acct": url + "/acct", "adls.sas-token.acct": "sig=" + storetest.Secret}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := c.start(t)
			server.Put(c.bucket+"/w/sales/eu/orders/metadata/v2.metadata.json", metadata)
			server.Put(c.bucket+"/w/sales/eu/orders/metadata/version-hint.text", []byte("2"))
			server.Put(c.bucket+"/w/sales/eu/orders/data/x.parquet", nil)
			server.Put(c.bucket+"/w/empty/", nil)
			for i := range 10 { // more than a page
				server.Put(fmt.Sprintf("%s/w/sales/n%d/.keep", c.bucket, i), nil)
			}
			properties := c.properties(server.URL)
			properties["warehouse"] = c.base + "/w"
			namespaces := []catalogtest.Namespace{{Identifier: table.Identifier{"empty"}, Properties: iceberg.Properties{"location": c.base + "/w/empty"}},
				{Identifier: table.Identifier{"sales"}, Properties: iceberg.Properties{"location": c.base + "/w/sales"}}, {Identifier: table.Identifier{"sales", "eu"}}}
			for i := range 10 {
				namespaces = append(namespaces, catalogtest.Namespace{Identifier: table.Identifier{"sales", fmt.Sprintf("n%d", i)}})
			}
			catalogtest.Run(t, func(t *testing.T) (catalogs.Catalog, catalogtest.Expected) {
				catalog, err := hadoop.New([]storage.Kind{c.kind})(t.Context(), catalogs.Config{Name: "lake", Properties: properties})
				if err != nil {
					t.Fatal(err)
				}
				return catalog, catalogtest.Expected{
					Capabilities: catalogs.Capabilities{NestedNamespaces: true, RootTables: true, Unchanged: true},
					Namespaces:   namespaces,
					Tables: []catalogtest.Table{{Identifier: table.Identifier{"sales", "eu", "orders"},
						MetadataLocation: c.base + "/w/sales/eu/orders/metadata/v2.metadata.json"}},
				}
			})
			server.Put(c.bucket+"/w/sales/eu/orders/metadata/v3.metadata.json", []byte(strings.Replace(string(metadata), "{", "{ ", 1)))
			catalog, err := hadoop.New([]storage.Kind{c.kind})(t.Context(), catalogs.Config{Name: "lake", Properties: properties})
			if err != nil {
				t.Fatal(err)
			}
			defer catalog.Close()
			got, err := catalog.Load(t.Context(), catalogs.LoadRequest{Identifier: table.Identifier{"sales", "eu", "orders"}})
			if err != nil || !strings.HasSuffix(got.MetadataLocation, "/v3.metadata.json") {
				t.Errorf("a version after the hint: %v, %v", got, err)
			}
		})
	}
}
