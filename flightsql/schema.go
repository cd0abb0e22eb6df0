package flightsql

import (
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/fault"
)

// wireSchema is a result's schema as it is sent, everywhere the same: in prepare, GetSchema, FlightInfo and the stream. Metadata of fields is left out but for
// extension types: drivers take remarks for column labels, and compare schemas to the last detail. A form may add some. Types that common drivers misread are refused.
func wireSchema(schema *arrow.Schema) (*arrow.Schema, error) {
	if schema == nil || schema.NumFields() == 0 {
		return nil, fault.New(fault.Unsupported, "a result without columns is not supported")
	}
	fields := make([]arrow.Field, schema.NumFields())
	for i, f := range schema.Fields() {
		var err error
		if fields[i], err = wireField(f); err != nil {
			return nil, err
		}
	}
	return arrow.NewSchema(fields, nil), nil
}

func wireField(f arrow.Field) (arrow.Field, error) {
	typ, err := wireType(f.Type)
	if err != nil {
		return arrow.Field{}, fault.Wrap(err, "column %q", f.Name)
	}
	return arrow.Field{Name: f.Name, Type: typ, Nullable: f.Nullable, Metadata: extensionMetadata(f.Metadata)}, nil
}

// extensionMetadata keeps what says that a field is of an extension type.
func extensionMetadata(m arrow.Metadata) arrow.Metadata {
	var keys, values []string
	for i, k := range m.Keys() {
		if strings.HasPrefix(k, "ARROW:extension:") {
			keys, values = append(keys, k), append(values, m.Values()[i])
		}
	}
	if keys == nil {
		return arrow.Metadata{}
	}
	return arrow.NewMetadata(keys, values)
}

// wireType cleans nested types, too.
func wireType(t arrow.DataType) (arrow.DataType, error) {
	switch t := t.(type) {
	case *arrow.MapType:
		return wireMap(t)
	case *arrow.ListType:
		return wireList(t.ElemField(), func(f arrow.Field) arrow.DataType { return arrow.ListOfField(f) })
	case *arrow.LargeListType:
		return wireList(t.ElemField(), func(f arrow.Field) arrow.DataType { return arrow.LargeListOfField(f) })
	case *arrow.FixedSizeListType:
		return wireList(t.ElemField(), func(f arrow.Field) arrow.DataType { return arrow.FixedSizeListOfField(t.Len(), f) })
	case *arrow.StructType:
		fields := make([]arrow.Field, t.NumFields())
		for i, f := range t.Fields() {
			var err error
			if fields[i], err = wireField(f); err != nil {
				return nil, err
			}
		}
		return arrow.StructOf(fields...), nil
	}
	switch t.ID() {
	case arrow.DICTIONARY, arrow.STRING_VIEW, arrow.BINARY_VIEW, arrow.LIST_VIEW, arrow.LARGE_LIST_VIEW, arrow.RUN_END_ENCODED, arrow.SPARSE_UNION,
		arrow.DENSE_UNION, arrow.FLOAT16:
		return nil, fault.New(fault.Unsupported, "the type %s is not supported in results", t)
	}
	return t, nil
}

func wireList(element arrow.Field, list func(arrow.Field) arrow.DataType) (arrow.DataType, error) {
	f, err := wireField(element)
	if err != nil {
		return nil, err
	}
	return list(f), nil
}

func wireMap(t *arrow.MapType) (arrow.DataType, error) {
	key, err := wireField(t.KeyField())
	if err != nil {
		return nil, err
	}
	item, err := wireField(t.ItemField())
	if err != nil {
		return nil, err
	}
	out := arrow.MapOfFields(key, item)
	out.KeysSorted = t.KeysSorted
	return out, nil
}
