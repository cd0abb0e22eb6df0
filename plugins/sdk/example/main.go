// Command skua-catalog-folder is a catalog plugin to start from: each folder below a root is a namespace, and each file NAME.metadata.json in it is a
// table. Copy this folder, replace what is in catalog.go, and keep the test.
package main

import (
	"context"
	"os"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/plugins/sdk"
)

func main() {
	sdk.Serve(func(string) (catalogs.Constructor, error) { return open, nil }, sdk.WithVersion("0.1.0"))
}

// open checks the properties and returns at once. A catalog that is down should fail its first call, not its opening.
func open(_ context.Context, config catalogs.Config) (catalogs.Catalog, error) {
	root := config.Properties["root"]
	if root == "" {
		return nil, fault.New(fault.Invalid, "catalog %s: the folder of tables is not set", config.Name).Change("spark.sql.catalog." + config.Name + ".root")
	}
	return &folder{files: os.DirFS(root), root: root}, nil
}
