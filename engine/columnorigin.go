package engine

import "github.com/apache/arrow-go/v18/arrow"

// The metadata of a result's column that is a table's column as it stands: which table's.
const (
	CatalogKey = "skua:catalog"
	SchemaKey  = "skua:schema" // spelled as listings do
	TableKey   = "skua:table"
)

// OriginMetadata says of a result's column that it is one of a table, whose full name these are the parts of: catalog, namespace, name. What has no catalog, such as a
// temporary view, is nobody's.
func OriginMetadata(parts []string) arrow.Metadata {
	if len(parts) < 2 {
		return arrow.Metadata{}
	}
	last := len(parts) - 1
	return arrow.NewMetadata([]string{CatalogKey, SchemaKey, TableKey}, []string{parts[0], SchemaName(parts[1:last]), parts[last]})
}
