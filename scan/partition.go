package scan

import (
	"fmt"
	"sort"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/scan/metatable"
)

// spec is a partition spec bound to what is known of its source columns, in any schema of the table.
type spec struct {
	ID     int
	Fields []specField
}

// specField is one field of a spec. Source is -1 where the transform takes more than one column.
type specField struct {
	ID        int
	Name      string
	Source    int
	Transform iceberg.Transform
	Type      arrow.DataType // of the value; null where it cannot be told
	iceberg   iceberg.Type
}

// specs binds every spec of the table.
func specs(m table.Metadata) map[int]*spec {
	types := columnTypes(m)
	out := map[int]*spec{}
	for _, s := range m.PartitionSpecs() {
		bound := &spec{ID: s.ID()}
		for _, f := range s.Fields() {
			bound.Fields = append(bound.Fields, bindPartitionField(f, types))
		}
		out[s.ID()] = bound
	}
	return out
}

func bindPartitionField(f iceberg.PartitionField, types map[int]iceberg.Type) specField {
	out := specField{ID: f.FieldID, Name: f.Name, Source: -1, Transform: f.Transform, Type: arrow.Null, iceberg: iceberg.UnknownType{}}
	if len(f.SourceIDs) != 1 {
		return out
	}
	out.Source = f.SourceIDs[0]
	if source, ok := types[out.Source]; ok {
		out.iceberg = resultType(f.Transform, source)
		out.Type, _ = arrowType(out.iceberg)
	}
	return out
}

// resultType is the type of a transform's values, as Java's reader and Spark have it.
func resultType(t iceberg.Transform, source iceberg.Type) iceberg.Type {
	switch t.(type) {
	case iceberg.IdentityTransform, iceberg.TruncateTransform, iceberg.VoidTransform:
		return source
	case iceberg.DayTransform:
		return iceberg.DateType{}
	case iceberg.UnknownTransform:
		return iceberg.StringType{}
	}
	return iceberg.PrimitiveTypes.Int32
}

// columnTypes is every column that some schema of the table has, with the type of the newest such schema; the current one counts most.
func columnTypes(m table.Metadata) map[int]iceberg.Type {
	out := map[int]iceberg.Type{}
	for _, s := range oldestFirst(m) {
		collectTypes(s.Fields(), out)
	}
	return out
}

// topTypes is columnTypes without what lies inside of columns.
func topTypes(m table.Metadata) map[int]iceberg.Type {
	out := map[int]iceberg.Type{}
	for _, s := range oldestFirst(m) {
		for _, f := range s.Fields() {
			out[f.ID] = f.Type
		}
	}
	return out
}

// oldestFirst lists the schemas by age, and the current one at the end.
func oldestFirst(m table.Metadata) []*iceberg.Schema {
	schemas := append([]*iceberg.Schema(nil), m.Schemas()...)
	sort.SliceStable(schemas, func(i, j int) bool { return schemas[i].ID < schemas[j].ID })
	return append(schemas, m.CurrentSchema())
}

func collectTypes(fields []iceberg.NestedField, out map[int]iceberg.Type) {
	for _, f := range fields {
		out[f.ID] = f.Type
		if n, ok := f.Type.(iceberg.NestedType); ok {
			collectTypes(n.Fields(), out)
		}
	}
}

// unionPartition is the struct over the fields of all specs: sorted by field id, names of the newest spec, and for a field that became
// void the type it had before.
func unionPartition(all map[int]*spec) []iceberg.NestedField {
	ids := make([]int, 0, len(all))
	for id := range all {
		ids = append(ids, id)
	}
	sort.Sort(sort.Reverse(sort.IntSlice(ids)))
	chosen := map[int]specField{}
	for _, id := range ids {
		for _, f := range all[id].Fields {
			old, ok := chosen[f.ID]
			switch {
			case !ok:
				chosen[f.ID] = f
			case isVoid(old) && !isVoid(f):
				f.Name = old.Name
				chosen[f.ID] = f
			}
		}
	}
	out := make([]iceberg.NestedField, 0, len(chosen))
	for id, f := range chosen {
		out = append(out, iceberg.NestedField{ID: id, Name: f.Name, Type: f.iceberg})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].ID < out[j].ID })
	return out
}

func isVoid(f specField) bool {
	_, ok := f.Transform.(iceberg.VoidTransform)
	return ok
}

func isIdentity(f specField) bool {
	_, ok := f.Transform.(iceberg.IdentityTransform)
	return ok
}

// unionValue lays a file's partition out over the fields of all specs.
func unionValue(s *spec, union []iceberg.NestedField, values map[int]any, path string) (metatable.Struct, error) {
	out := make(metatable.Struct, len(union))
	for i, f := range union {
		typ, _ := arrowType(f.Type)
		for _, own := range s.Fields {
			if own.ID != f.ID || isVoid(own) {
				continue
			}
			v, ok := normalize(values[own.ID], typ)
			if !ok {
				return nil, fault.New(fault.Corrupt, "file %s has a partition value %v for %s, which is of type %s", path, values[own.ID], own.Name, typ).In(path)
			}
			out[i] = v
		}
	}
	return out, nil
}

// tupleKey names a partition of a spec; equal keys are equal partitions.
func tupleKey(s *spec, values map[int]any) string {
	var b strings.Builder
	b.WriteString(strconv.Itoa(s.ID))
	for _, f := range s.Fields {
		if isVoid(f) {
			continue
		}
		v, ok := normalize(values[f.ID], f.Type)
		if !ok {
			v = fmt.Sprintf("%T:%v", values[f.ID], values[f.ID])
		}
		if raw, isBytes := v.([]byte); isBytes {
			v = string(raw)
		}
		fmt.Fprintf(&b, "|%T%q", v, fmt.Sprint(v))
	}
	return b.String()
}
