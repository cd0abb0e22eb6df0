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

// formatOf names the format of a table that is none of Iceberg's.
func formatOf(t record) string {
	store := t.inner(7)
	return catalogs.FormatOf(t.texts(9)["spark.sql.sources.provider"], store.inner(7).text(2), store.text(3))
}
