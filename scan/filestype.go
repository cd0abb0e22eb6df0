package scan

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/iceberg-go"

	"github.com/skua-data/skua/fault"
)

// LengthKey is the key of a field's metadata for texts of a limited length: char(n) or varchar(n), as Spark has it in the metadata of such a field.
const LengthKey = "__CHAR_VARCHAR_TYPE_STRING"

// exactField gives a field of a table of plain files, and what is inside of it, the types that an Iceberg schema has no like of.
func (p *plainFiles) exactField(f arrow.Field) arrow.Field {
	switch t := f.Type.(type) {
	case *arrow.StructType:
		fields := make([]arrow.Field, t.NumFields())
		for i, c := range t.Fields() {
			fields[i] = p.exactField(c)
		}
		f.Type = arrow.StructOf(fields...)
	case *arrow.ListType:
		f.Type = arrow.ListOfField(p.exactField(t.ElemField()))
	case *arrow.MapType:
		f.Type = arrow.MapOfFields(p.exactField(t.KeyField()), p.exactField(t.ItemField()))
	}
	name, ok := p.Types[FieldID(f)]
	switch {
	case !ok:
	case name == "tinyint" && f.Type.ID() == arrow.INT32:
		f.Type = arrow.PrimitiveTypes.Int8
	case name == "smallint" && f.Type.ID() == arrow.INT32:
		f.Type = arrow.PrimitiveTypes.Int16
	case f.Type.ID() == arrow.STRING:
		f.Metadata = arrow.NewMetadata(append(f.Metadata.Keys(), LengthKey), append(f.Metadata.Values(), name))
	}
	return f
}

// exactSchema is exactField for all fields.
func (p *plainFiles) exactSchema(s *arrow.Schema) *arrow.Schema {
	if p == nil || len(p.Types) == 0 {
		return s
	}
	fields := make([]arrow.Field, s.NumFields())
	for i, f := range s.Fields() {
		fields[i] = p.exactField(f)
	}
	return arrow.NewSchema(fields, nil)
}

// CharLength gives n of a field that is a char(n): its texts are padded with blanks to n characters, as Spark reads them. False: it is none.
func CharLength(f arrow.Field) (int, bool) {
	text, _ := f.Metadata.GetValue(LengthKey)
	return charLength(text)
}

// maxChar bounds n of a char(n): each value takes as many bytes at least. Hive's bound is 255.
const maxChar = 4096

func charLength(typ string) (int, bool) {
	inner, isChar := strings.CutPrefix(typ, "char(")
	n, err := strconv.Atoi(strings.TrimSuffix(inner, ")"))
	return n, isChar && err == nil && n > 0
}

// padded gives a text n characters at least.
func padded(text string, n int) string {
	if missing := n - utf8.RuneCountInString(text); missing > 0 {
		return text + strings.Repeat(" ", missing)
	}
	return text
}

// padding makes texts of a char(n) n characters long at least.
func padding(n int) leafStep {
	return func(a arrow.Array, mem memory.Allocator) (arrow.Array, error) {
		in, ok := a.(*array.String)
		if !ok {
			return nil, fault.New(fault.Internal, "a %s is no text to be padded", a.DataType())
		}
		b := array.NewStringBuilder(mem)
		defer b.Release()
		b.Reserve(in.Len())
		b.ReserveData(n * (in.Len() - in.NullN()))
		for i := range in.Len() {
			if in.IsNull(i) {
				b.AppendNull()
				continue
			}
			b.Append(padded(in.Value(i), n))
		}
		return b.NewArray(), nil
	}
}

// exactColumns tells the types of columns as Spark does, where a schema has no like of them.
func (p *plainFiles) exactColumns(columns []ColumnInfo) []ColumnInfo {
	for i, c := range columns {
		columns[i].Type = sparkTypeOf(c.Field.ID, c.Field.Type, p.Types)
	}
	return columns
}

// sparkTypeOf is sparkType for a field of which, or of what is inside of it, some types are told by id.
func sparkTypeOf(id int, t iceberg.Type, types map[int]string) string {
	if name, ok := types[id]; ok {
		return name
	}
	switch t := t.(type) {
	case *iceberg.StructType:
		parts := make([]string, len(t.FieldList))
		for i, f := range t.FieldList {
			parts[i] = f.Name + ":" + sparkTypeOf(f.ID, f.Type, types)
		}
		return "struct<" + strings.Join(parts, ",") + ">"
	case *iceberg.ListType:
		return "array<" + sparkTypeOf(t.ElementID, t.Element, types) + ">"
	case *iceberg.MapType:
		return "map<" + sparkTypeOf(t.KeyID, t.KeyType, types) + "," + sparkTypeOf(t.ValueID, t.ValueType, types) + ">"
	}
	return sparkType(t)
}
