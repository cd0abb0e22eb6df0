package main

import (
	"slices"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/catalogs/glue"
	"github.com/skua-data/skua/catalogs/hadoop"
	"github.com/skua-data/skua/catalogs/hive"
	"github.com/skua-data/skua/catalogs/jdbc"
	"github.com/skua-data/skua/catalogs/nessie"
	"github.com/skua-data/skua/catalogs/rest"
	"github.com/skua-data/skua/catalogs/static"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/storage"
	"github.com/skua-data/skua/storage/adls"
	"github.com/skua-data/skua/storage/gcs"
	"github.com/skua-data/skua/storage/hdfs"
	"github.com/skua-data/skua/storage/local"
	"github.com/skua-data/skua/storage/s3"
)

// bundledType is a catalog type of this build.
type bundledType struct {
	name, about string
	constructor catalogs.Constructor
}

// bundled lists the catalog types of this build.
func bundled() []bundledType {
	kinds := stores()
	return []bundledType{
		{"hadoop", "a warehouse folder, as HadoopCatalog lays it out", hadoop.New(kinds)},
		{"static", "a JSON file of table names and metadata locations", static.New(kinds)},
		{"hive", "a Hive metastore, version 2, 3 or 4", hive.New(kinds)},
		{"rest", "a service that speaks Iceberg's REST protocol", rest.New(kinds)},
		{"nessie", "a Nessie server, by its own API", nessie.New(kinds)},
		{"glue", "an AWS Glue data catalog", glue.New(kinds)},
		{"jdbc", "a database of tables, as JdbcCatalog lays it out", jdbc.New(kinds)},
	}
}

// stores lists the kinds of stores that the catalogs read.
func stores() []storage.Kind {
	return []storage.Kind{local.Kind, s3.Kind, gcs.Kind, adls.Kind, hdfs.Kind}
}

// knownTypes are Iceberg's types that this build lacks.
func knownTypes() []string { return []string{"bigquery"} }

// constructor finds a type's constructor.
func constructor(typ string) (catalogs.Constructor, error) {
	for _, t := range bundled() {
		if t.name == typ {
			return t.constructor, nil
		}
	}
	if slices.Contains(knownTypes(), typ) {
		return nil, fault.New(fault.Unsupported, "catalog type %s is not supported by this build yet", typ)
	}
	return nil, fault.New(fault.Unsupported, "Unknown catalog type: %s", typ)
}
