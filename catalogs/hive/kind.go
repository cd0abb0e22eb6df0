package hive

import (
	"strings"

	"github.com/skua-data/skua/catalogs"
)

// isIceberg reports whether a table's parameters say that it is Iceberg's.
func isIceberg(t record) bool {
	typ := strings.ToLower(t.texts(9)["table_type"])
	return typ == "iceberg" || typ == "iceberg-view"
}

// kindOf says what a table of the metastore is.
func kindOf(t record) catalogs.Kind {
	switch typ := strings.ToLower(t.texts(9)["table_type"]); {
	case typ == "iceberg":
		return catalogs.KindTable
	case typ == "iceberg-view", t.text(12) == "VIRTUAL_VIEW":
		return catalogs.KindView
	}
	return catalogs.KindFiles
}
