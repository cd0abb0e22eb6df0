package parquet

import (
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/kernels/convert"
)

// VariantType is the Arrow type in which a variant is wanted and given.
func VariantType() *arrow.StructType {
	return arrow.StructOf(arrow.Field{Name: "metadata", Type: arrow.BinaryTypes.Binary}, arrow.Field{Name: "value", Type: arrow.BinaryTypes.Binary})
}

func isVariant(t arrow.DataType) bool { return arrow.TypeEqual(t, VariantType()) }

// Shredding says how the values of a variant, parts of which a file keeps in columns of their own, are put together again. The column comes
// as a struct of these parts.
type Shredding struct {
	Path  []int // way from the column to the variant, as indexes of a Node's children
	shape shape
}

// shape is a group of an untyped value and a typed one, either of which may be missing.
type shape struct {
	metadata int // index in the group's struct; of the outermost alone
	value    int // -1: there is none
	typed    int // -1: there is none

	scalar  encoder // of a typed value that is a primitive
	fields  []shapeField
	element *shape // of a list
}

type shapeField struct {
	name  string
	group shape
}

// variant matches a variant. A shredded one comes as the struct that the file has for it.
func (m *matcher) variant(want arrow.Field, e *element, path []string) (kernels.Node, error) {
	if e.kind != kernels.Struct {
		return kernels.Node{}, mismatch(path, e, want.Type)
	}
	metadata, value := e.child("metadata"), e.child("value")
	if metadata == nil || metadata.kind != kernels.Leaf || (value == nil && e.child("typed_value") == nil) {
		return kernels.Node{}, mismatch(path, e, want.Type)
	}
	if e.child("typed_value") == nil {
		n := groupNode(want, e)
		for _, part := range []*element{metadata, value} {
			n.Children = append(n.Children, readLeaf(arrow.Field{Name: part.name, Type: arrow.BinaryTypes.Binary}, part))
		}
		n.Leaf = levelsLeaf(n.Children, e)
		return n, nil
	}
	n, s, err := shredded(want, e, path)
	if err != nil {
		return n, err
	}
	s.metadata = len(n.Children)
	n.Children = append(n.Children, readLeaf(arrow.Field{Name: "metadata", Type: arrow.BinaryTypes.Binary}, metadata))
	n.Field.Type = structOf(n.Children)
	n.Leaf = levelsLeaf(n.Children, e)
	m.shredded = append(m.shredded, Shredding{Path: slices.Clone(m.at), shape: s})
	return n, nil
}

func (e *element) child(name string) *element {
	for _, c := range e.children {
		if c.name == name {
			return c
		}
	}
	return nil
}

func groupNode(f arrow.Field, e *element) kernels.Node {
	return kernels.Node{Kind: kernels.Struct, Field: f, Def: e.levels.def, Rep: e.levels.rep, Ancestor: e.levels.ancestor}
}

func readLeaf(f arrow.Field, e *element) kernels.Node {
	f.Nullable = true
	return kernels.Node{Kind: kernels.Leaf, Field: f, Leaf: e.leaf, Def: e.levels.def, Rep: e.levels.rep, Ancestor: e.levels.ancestor}
}

func structOf(children []kernels.Node) arrow.DataType {
	fields := make([]arrow.Field, len(children))
	for i := range children {
		fields[i] = children[i].Field
	}
	return arrow.StructOf(fields...)
}

// shredded describes a group of value and typed_value.
func shredded(want arrow.Field, e *element, path []string) (kernels.Node, shape, error) {
	n, s := groupNode(want, e), shape{metadata: -1, value: -1, typed: -1}
	bad := func(why string) (kernels.Node, shape, error) {
		return n, s, fault.New(fault.Unsupported, "column %s: this layout of a shredded variant is not supported: %s", strings.Join(path, "."), why)
	}
	if e.kind != kernels.Struct {
		return bad("a part that is no group")
	}
	if v := e.child("value"); v != nil {
		if v.kind != kernels.Leaf || v.column.PhysicalType() != parquet.Types.ByteArray {
			return bad("a value of the type " + describe(v))
		}
		s.value = len(n.Children)
		n.Children = append(n.Children, readLeaf(arrow.Field{Name: "value", Type: arrow.BinaryTypes.Binary}, v))
	}
	if t := e.child("typed_value"); t != nil {
		child, err := s.typedNode(t, append(path, "typed_value"))
		if err != nil {
			return n, s, err
		}
		s.typed = len(n.Children)
		n.Children = append(n.Children, child)
	}
	if len(n.Children) == 0 {
		return bad("a group of neither value nor typed_value")
	}
	n.Field.Type, n.Leaf = structOf(n.Children), levelsLeaf(n.Children, e)
	return n, s, nil
}

func (s *shape) typedNode(e *element, path []string) (kernels.Node, error) {
	field := arrow.Field{Name: "typed_value", Nullable: true}
	switch e.kind {
	case kernels.Struct:
		n := groupNode(field, e)
		for _, c := range e.children {
			child, inner, err := shredded(arrow.Field{Name: c.name, Nullable: true}, c, append(path, c.name))
			if err != nil {
				return n, err
			}
			n.Children, s.fields = append(n.Children, child), append(s.fields, shapeField{c.name, inner})
		}
		n.Field.Type, n.Leaf = structOf(n.Children), levelsLeaf(n.Children, e)
		if len(n.Children) == 0 {
			return n, fault.New(fault.Unsupported, "column %s: a shredded object without fields is not supported", strings.Join(path, "."))
		}
		return n, nil
	case kernels.List:
		child, inner, err := shredded(arrow.Field{Name: "element", Nullable: true}, e.children[0], append(path, "element"))
		if err != nil {
			return child, err
		}
		n := groupNode(field, e)
		n.Kind, n.Children, n.Leaf = kernels.List, []kernels.Node{child}, child.Leaf
		n.Field.Type, s.element = arrow.ListOfField(child.Field), &inner
		return n, nil
	case kernels.Leaf:
		typ, encode := scalarOf(e.column)
		if encode == nil {
			return kernels.Node{}, fault.New(fault.Unsupported, "column %s: variants shredded as %s are not supported", strings.Join(path, "."), describe(e))
		}
		field.Type, s.scalar = typ, encode
		return readLeaf(field, e), nil
	}
	return kernels.Node{}, fault.New(fault.Unsupported, "column %s: variants shredded as %s are not supported", strings.Join(path, "."), describe(e))
}

// scalarOf gives the Arrow type in which a shredded primitive is read and how it is written as a variant; nil: it is none.
func scalarOf(c *schema.Column) (arrow.DataType, encoder) {
	switch c.PhysicalType() {
	case parquet.Types.Boolean:
		return arrow.FixedWidthTypes.Boolean, encodeBoolean
	case parquet.Types.Float:
		return arrow.PrimitiveTypes.Float32, encodeFloat
	case parquet.Types.Double:
		return arrow.PrimitiveTypes.Float64, encodeDouble
	}
	switch t := c.LogicalType().(type) {
	case schema.DecimalLogicalType:
		typ := &arrow.Decimal128Type{Precision: t.Precision(), Scale: t.Scale()}
		switch c.PhysicalType() {
		case parquet.Types.Int32:
			return typ, encodeDecimal(codeDecimal4, 4, t.Scale())
		case parquet.Types.Int64:
			return typ, encodeDecimal(codeDecimal8, 8, t.Scale())
		}
		return typ, encodeDecimal(codeDecimal16, 16, t.Scale())
	case schema.DateLogicalType:
		return arrow.FixedWidthTypes.Date32, encodeDate
	case schema.TimeLogicalType:
		if t.TimeUnit() == schema.TimeUnitMicros && !t.IsAdjustedToUTC() {
			return arrow.FixedWidthTypes.Time64us, encodeTime
		}
	case schema.TimestampLogicalType:
		return scalarTimestamp(t)
	case schema.StringLogicalType:
		return arrow.BinaryTypes.String, encodeString
	case schema.UUIDLogicalType:
		return &arrow.FixedSizeBinaryType{ByteWidth: 16}, encodeUUID
	case schema.IntLogicalType, schema.NoLogicalType:
		return scalarPlain(c)
	}
	return nil, nil
}

func scalarTimestamp(t schema.TimestampLogicalType) (arrow.DataType, encoder) {
	zone := ""
	if t.IsAdjustedToUTC() {
		zone = "UTC"
	}
	switch t.TimeUnit() {
	case schema.TimeUnitMicros:
		return &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: zone}, encodeTimestamp(map[bool]byte{true: codeTimestamp, false: codeTimestampNTZ}[zone != ""])
	case schema.TimeUnitNanos:
		return &arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: zone}, encodeTimestamp(map[bool]byte{true: codeTimestampNanos, false: codeTimestampNanosNTZ}[zone != ""])
	}
	return nil, nil
}

func scalarPlain(c *schema.Column) (arrow.DataType, encoder) {
	switch c.PhysicalType() {
	case parquet.Types.ByteArray:
		return arrow.BinaryTypes.Binary, encodeBinary
	case parquet.Types.Int32, parquet.Types.Int64:
		stored := int8(32)
		if c.PhysicalType() == parquet.Types.Int64 {
			stored = 64
		}
		bits, signed, ok := convert.Integer(c, stored)
		switch {
		case !ok || !signed:
		case bits == 8:
			return arrow.PrimitiveTypes.Int8, encodeInt8
		case bits == 16:
			return arrow.PrimitiveTypes.Int16, encodeInt16
		case bits == 32 && stored == 32:
			return arrow.PrimitiveTypes.Int32, encodeInt32
		case bits == 64 && stored == 64:
			return arrow.PrimitiveTypes.Int64, encodeInt64
		}
	}
	return nil, nil
}
