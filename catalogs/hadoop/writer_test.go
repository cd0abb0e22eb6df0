package hadoop

import (
	"testing"

	"github.com/apache/iceberg-go"
	creation "github.com/apache/iceberg-go/catalog"
	writer "github.com/apache/iceberg-go/catalog/hadoop"
	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/catalogs"
)

// What another implementation of the layout writes must be what is read here.
func TestTablesOfAnotherWriter(t *testing.T) {
	for _, codec := range []string{"none", "gzip"} {
		t.Run(codec, func(t *testing.T) {
			root := t.TempDir()
			w, err := writer.NewCatalog("w", root, iceberg.Properties{})
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			ns := table.Identifier{"shop"}
			if err := w.CreateNamespace(t.Context(), ns, nil); err != nil {
				t.Fatal(err)
			}
			id := table.Identifier{"shop", "orders"}
			schema := iceberg.NewSchema(0, iceberg.NestedField{ID: 1, Name: "id", Type: iceberg.PrimitiveTypes.Int64})
			made, err := w.CreateTable(t.Context(), id, schema, creation.WithProperties(iceberg.Properties{"write.metadata.compression-codec": codec}))
			if err != nil {
				t.Fatal(err)
			}
			c := open(t, root, nil)
			for _, value := range []string{"", "a", "b"} {
				if value != "" {
					tx := made.NewTransaction()
					if err := tx.SetProperties(iceberg.Properties{"note": value}); err != nil {
						t.Fatal(err)
					}
					if made, err = tx.Commit(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				got, err := c.Load(t.Context(), catalogs.LoadRequest{Identifier: id})
				if err != nil {
					t.Fatal(err)
				}
				parsed, err := table.ParseMetadataBytes(got.Metadata)
				if err != nil {
					t.Fatal(err)
				}
				if parsed.TableUUID() != made.Metadata().TableUUID() || parsed.Properties()["note"] != value {
					t.Errorf("read %s with note %q, want %s with %q", parsed.TableUUID(), parsed.Properties()["note"], made.Metadata().TableUUID(), value)
				}
				if got.MetadataLocation != pathForm(made.MetadataLocation()) {
					t.Errorf("at %s, want %s", got.MetadataLocation, made.MetadataLocation())
				}
			}
		})
	}
}
