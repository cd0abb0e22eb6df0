package scan

import (
	"encoding/json"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/iceberg-go"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/predicate"
)

// Geometry and geography come as their well-known binary form, in fields that carry the metadata of the Arrow extension geoarrow.wkb. Their
// bounds in metadata are points and not values, so that no comparison may be held against them.
const (
	extensionNameKey     = "ARROW:extension:name"
	extensionMetadataKey = "ARROW:extension:metadata"
	extensionWKB         = "geoarrow.wkb"
)

// geometryMetadata gives the extension's metadata of a geometry or geography; false: the type is neither.
func geometryMetadata(t iceberg.Type) (string, bool) {
	crs, edges := "", ""
	switch t := t.(type) {
	case iceberg.GeometryType:
		crs = t.CRS()
	case iceberg.GeographyType:
		crs, edges = t.CRS(), t.Algorithm()
	default:
		return "", false
	}
	m := map[string]string{}
	switch srid, ok := strings.CutPrefix(crs, "srid:"); {
	case ok:
		m["crs"], m["crs_type"] = srid, "srid"
	case strings.HasPrefix(crs, "projjson:"):
		m["crs"] = crs // names a property of the table
	case crs != "":
		m["crs"], m["crs_type"] = crs, "authority_code"
	}
	if edges != "" {
		m["edges"] = edges
	}
	raw, err := json.Marshal(m)
	if err != nil {
		return "{}", true
	}
	return string(raw), true
}

func isGeometry(f arrow.Field) bool {
	name, _ := f.Metadata.GetValue(extensionNameKey)
	return name == extensionWKB
}

// refuseGeometry refuses a filter that asks more of a geometry than whether it is null.
func refuseGeometry(e predicate.Expr, index map[int]fieldPath) error {
	switch e := e.(type) {
	case predicate.And:
		if err := refuseGeometry(e.Left, index); err != nil {
			return err
		}
		return refuseGeometry(e.Right, index)
	case predicate.Or:
		return refuseGeometry(predicate.And(e), index)
	case predicate.Not:
		return refuseGeometry(e.Expr, index)
	case predicate.IsNull:
		return nil
	}
	for _, f := range predicate.Fields(e) {
		if isGeometry(index[f.ID].Field) {
			return fault.New(fault.Unsupported, "comparing column %s is not supported: it is a geometry or a geography; IS NULL is", strings.Join(f.Path, "."))
		}
	}
	return nil
}
