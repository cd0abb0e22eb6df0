package flightsql

import (
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	upstream "github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	"github.com/apache/arrow-go/v18/arrow/flight/flightsql/schema_ref"
	pb "github.com/apache/arrow-go/v18/arrow/flight/gen/flight"

	"github.com/skua-data/skua/engine"
)

// sqlType is a type as metadata calls tell it.
type sqlType struct {
	name           string
	code           pb.XdbcDataType
	size           int32  // precision or length; 0: none
	prefix, suffix string // of a literal
	params         []string
	scales         [2]int32
	radix          int32 // 0: not a number
	searchable     pb.Searchable
}

// sqlTypes are the types of columns, in the order of their codes.
var sqlTypes = []sqlType{
	{name: "BOOLEAN", code: pb.XdbcDataType_XDBC_BIT, size: 1, searchable: pb.Searchable_SEARCHABLE_BASIC},
	{name: "TINYINT", code: pb.XdbcDataType_XDBC_TINYINT, size: 3, radix: 10, searchable: pb.Searchable_SEARCHABLE_BASIC},
	{name: "BIGINT", code: pb.XdbcDataType_XDBC_BIGINT, size: 19, radix: 10, searchable: pb.Searchable_SEARCHABLE_BASIC},
	{name: "BINARY", code: pb.XdbcDataType_XDBC_VARBINARY, size: 2147483647, prefix: "X'", suffix: "'", searchable: pb.Searchable_SEARCHABLE_BASIC},
	{name: "ARRAY", code: pb.XdbcDataType_XDBC_LONGVARCHAR, size: 2147483647, searchable: pb.Searchable_SEARCHABLE_NONE},
	{name: "MAP", code: pb.XdbcDataType_XDBC_LONGVARCHAR, size: 2147483647, searchable: pb.Searchable_SEARCHABLE_NONE},
	{name: "STRUCT", code: pb.XdbcDataType_XDBC_LONGVARCHAR, size: 2147483647, searchable: pb.Searchable_SEARCHABLE_NONE},
	{name: "VARIANT", code: pb.XdbcDataType_XDBC_LONGVARCHAR, size: 2147483647, searchable: pb.Searchable_SEARCHABLE_NONE},
	{name: "DECIMAL", code: pb.XdbcDataType_XDBC_DECIMAL, size: 38, params: []string{"precision", "scale"}, scales: [2]int32{0, 38}, radix: 10, searchable: pb.Searchable_SEARCHABLE_BASIC},
	{name: "INT", code: pb.XdbcDataType_XDBC_INTEGER, size: 10, radix: 10, searchable: pb.Searchable_SEARCHABLE_BASIC},
	{name: "SMALLINT", code: pb.XdbcDataType_XDBC_SMALLINT, size: 5, radix: 10, searchable: pb.Searchable_SEARCHABLE_BASIC},
	{name: "FLOAT", code: pb.XdbcDataType_XDBC_REAL, size: 7, radix: 10, searchable: pb.Searchable_SEARCHABLE_BASIC},
	{name: "DOUBLE", code: pb.XdbcDataType_XDBC_DOUBLE, size: 15, radix: 10, searchable: pb.Searchable_SEARCHABLE_BASIC},
	{name: "STRING", code: pb.XdbcDataType_XDBC_VARCHAR, size: 2147483647, prefix: "'", suffix: "'", searchable: pb.Searchable_SEARCHABLE_FULL},
	{name: "DATE", code: pb.XdbcDataType_XDBC_DATE, size: 10, prefix: "DATE '", suffix: "'", searchable: pb.Searchable_SEARCHABLE_BASIC},
	{name: "TIME", code: pb.XdbcDataType_XDBC_TIME, size: 15, searchable: pb.Searchable_SEARCHABLE_BASIC},
	{name: "TIMESTAMP", code: pb.XdbcDataType_XDBC_TIMESTAMP, size: 26, prefix: "TIMESTAMP '", suffix: "'", searchable: pb.Searchable_SEARCHABLE_BASIC},
	{name: "TIMESTAMP_NTZ", code: pb.XdbcDataType_XDBC_TIMESTAMP, size: 26, prefix: "TIMESTAMP_NTZ '", suffix: "'", searchable: pb.Searchable_SEARCHABLE_BASIC},
}

// typeInfo lists the types, or those with one code.
func (s *Server) typeInfo(code *int32) listing {
	return s.list(schema_ref.XdbcTypeInfo, listingRows, func(b *array.RecordBuilder, flush func() bool) error {
		for _, t := range sqlTypes {
			if code != nil && *code != int32(t.code) {
				continue
			}
			if t.appendTo(b); !flush() {
				break
			}
		}
		return nil
	})
}

func (t sqlType) appendTo(b *array.RecordBuilder) {
	integer := func(column int, v int32) { b.Field(column).(*array.Int32Builder).Append(v) }
	optional := func(column int, v int32, set bool) {
		if set {
			integer(column, v)
			return
		}
		b.Field(column).AppendNull()
	}
	boolean := func(column int, v bool) { b.Field(column).(*array.BooleanBuilder).Append(v) }
	text(b, 0, t.name)
	integer(1, int32(t.code))
	optional(2, t.size, t.size > 0)
	for column, v := range map[int]string{3: t.prefix, 4: t.suffix} {
		if v == "" {
			b.Field(column).AppendNull()
		} else {
			text(b, column, v)
		}
	}
	t.appendParams(b.Field(5).(*array.ListBuilder))
	integer(6, int32(pb.Nullable_NULLABILITY_NULLABLE))
	boolean(7, t.name == "STRING")
	integer(8, int32(t.searchable))
	if t.radix > 0 {
		boolean(9, false)
	} else {
		b.Field(9).AppendNull()
	}
	boolean(10, false)
	boolean(11, false)
	text(b, 12, t.name)
	optional(13, t.scales[0], t.name == "DECIMAL")
	optional(14, t.scales[1], t.name == "DECIMAL")
	integer(15, int32(t.code))
	b.Field(16).AppendNull()
	optional(17, t.radix, t.radix > 0)
	b.Field(18).AppendNull()
}

func (t sqlType) appendParams(b *array.ListBuilder) {
	if len(t.params) == 0 {
		b.AppendNull()
		return
	}
	b.Append(true)
	b.ValueBuilder().(*array.StringBuilder).AppendValues(t.params, nil)
}

// remarksKey is where a source's schema has a column's comment.
const remarksKey = "REMARKS"

// tableSchema is a table's schema as GetTables tells it, with the metadata that drivers make their column lists of.
func tableSchema(e engine.TableEntry) *arrow.Schema {
	if e.Columns == nil {
		return arrow.NewSchema(nil, nil)
	}
	fields := make([]arrow.Field, 0, e.Columns.NumFields())
	for _, f := range e.Columns.Fields() {
		typ, err := wireType(f.Type)
		if err != nil { // told as it is: this is a description, no result
			typ = f.Type
		}
		fields = append(fields, arrow.Field{Name: f.Name, Type: typ, Nullable: f.Nullable, Metadata: columnMetadata(e, f)})
	}
	return arrow.NewSchema(fields, nil)
}

func columnMetadata(e engine.TableEntry, f arrow.Field) arrow.Metadata {
	keys, values := typeMetadata(f.Type)
	keys = append(keys, upstream.CatalogNameKey, upstream.SchemaNameKey, upstream.TableNameKey)
	values = append(values, e.Catalog, e.Schema, e.Name)
	if comment, ok := f.Metadata.GetValue(remarksKey); ok {
		keys, values = append(keys, upstream.RemarksKey), append(values, comment)
	}
	extension := extensionMetadata(f.Metadata)
	return arrow.NewMetadata(append(keys, extension.Keys()...), append(values, extension.Values()...))
}

// typeMetadata is what drivers make of a column's type, as metadata of its field.
func typeMetadata(t arrow.DataType) (keys, values []string) {
	name, precision, scale := columnType(t)
	keys = []string{upstream.TypeNameKey, upstream.IsAutoIncrementKey, upstream.IsCaseSensitiveKey, upstream.IsReadOnlyKey, upstream.IsSearchableKey}
	values = []string{name, "0", flag(name == "STRING"), "1", flag(!isNested(t))}
	if precision > 0 {
		keys = append(keys, upstream.PrecisionKey, upstream.ScaleKey)
		values = append(values, strconv.Itoa(precision), strconv.Itoa(scale))
	}
	return keys, values
}

func flag(v bool) string {
	if v {
		return "1"
	}
	return "0"
}

func isNested(t arrow.DataType) bool {
	if e, ok := t.(arrow.ExtensionType); ok { // which has the methods of a nested type, whatever it stores
		return isNested(e.StorageType())
	}
	_, nested := t.(arrow.NestedType)
	return nested
}

// variantType is how Iceberg's variants are sent.
var variantType = arrow.StructOf(arrow.Field{Name: "metadata", Type: arrow.BinaryTypes.Binary}, arrow.Field{Name: "value", Type: arrow.BinaryTypes.Binary})

// columnType gives a type's name among sqlTypes, and for numbers and times its precision and scale.
func columnType(t arrow.DataType) (name string, precision, scale int) {
	switch t := t.(type) {
	case *arrow.Decimal128Type:
		return "DECIMAL", int(t.Precision), int(t.Scale)
	case *arrow.TimestampType:
		name, precision, scale = "TIMESTAMP", 26, 6
		if t.TimeZone == "" {
			name = "TIMESTAMP_NTZ"
		}
		if t.Unit == arrow.Nanosecond {
			precision, scale = 29, 9
		}
		return name, precision, scale
	case arrow.ExtensionType:
		return columnType(t.StorageType())
	}
	switch t.ID() {
	case arrow.NULL:
		return "VOID", 0, 0
	case arrow.BOOL:
		return "BOOLEAN", 1, 0
	case arrow.INT8:
		return "TINYINT", 3, 0
	case arrow.INT16:
		return "SMALLINT", 5, 0
	case arrow.INT32:
		return "INT", 10, 0
	case arrow.INT64:
		return "BIGINT", 19, 0
	case arrow.FLOAT32:
		return "FLOAT", 7, 0
	case arrow.FLOAT64:
		return "DOUBLE", 15, 0
	case arrow.STRING, arrow.LARGE_STRING:
		return "STRING", 0, 0
	case arrow.BINARY, arrow.LARGE_BINARY, arrow.FIXED_SIZE_BINARY:
		return "BINARY", 0, 0
	case arrow.DATE32, arrow.DATE64:
		return "DATE", 10, 0
	case arrow.TIME32, arrow.TIME64:
		return "TIME", 15, 6
	case arrow.LIST, arrow.LARGE_LIST, arrow.FIXED_SIZE_LIST:
		return "ARRAY", 0, 0
	case arrow.MAP:
		return "MAP", 0, 0
	case arrow.STRUCT:
		if arrow.TypeEqual(t, variantType) {
			return "VARIANT", 0, 0
		}
		return "STRUCT", 0, 0
	}
	return t.Name(), 0, 0
}
