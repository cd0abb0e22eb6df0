//go:build cgo

package duckdb

import (
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/variant"
)

// engineVariant is a variant as the engine has it: no struct of a table has fields of these names, so that functions know it.
var engineVariant = arrow.StructOf(arrow.Field{Name: "skua_metadata", Type: arrow.BinaryTypes.Binary, Nullable: true},
	arrow.Field{Name: "skua_value", Type: arrow.BinaryTypes.Binary, Nullable: true})

// isEngineVariant reports whether the engine's type is its variant.
func isEngineVariant(t *arrow.StructType) bool {
	return t.NumFields() == 2 && t.Field(0).Name == "skua_metadata" && t.Field(1).Name == "skua_value"
}

// variants are the functions of variants.
var variants = []scalar{
	{name: "skua_variant_json", parameters: []int{typeVariant, typeVarchar}, result: typeVarchar, call: texts(jsonText)},
	{name: "skua_schema_of_variant", parameters: []int{typeVariant}, result: typeVarchar, call: texts(schemaText)},
	{name: "skua_is_variant_null", parameters: []int{typeVariant}, result: typeBoolean, call: isVariantNull},
	{name: "skua_variant_part", parameters: []int{typeVariant, typeVarchar, typeVarchar, typeInteger, typeInteger, typeVarchar}, result: typeVarchar, call: texts(partText(false))},
	{name: "skua_try_variant_part", parameters: []int{typeVariant, typeVarchar, typeVarchar, typeInteger, typeInteger, typeVarchar}, result: typeVarchar, call: texts(partText(true))},
}

// variantAt reads a variant of the engine; false: it is null.
func variantAt(a arrow.Array, i int) (variant.Value, bool, error) {
	s, ok := a.(*array.Struct)
	if !ok || s.IsNull(i) || s.Field(0).IsNull(i) || s.Field(1).IsNull(i) {
		return variant.Value{}, false, nil
	}
	v, err := variant.Parse(s.Field(0).(*array.Binary).Value(i), s.Field(1).(*array.Binary).Value(i))
	return v, err == nil, err
}

// texts makes a function of variants that gives a text for each, or none.
func texts(text func(v variant.Value, arguments []arrow.Array, i int) (string, bool, error)) func([]arrow.Array, int) (arrow.Array, error) {
	return func(arguments []arrow.Array, rows int) (arrow.Array, error) {
		b := array.NewStringBuilder(memory.DefaultAllocator)
		defer b.Release()
		for i := range rows {
			v, ok, err := variantAt(arguments[0], i)
			out := ""
			if ok {
				out, ok, err = text(v, arguments, i)
			}
			switch {
			case err != nil:
				return nil, err
			case !ok:
				b.AppendNull()
			default:
				b.Append(out)
			}
		}
		return b.NewArray(), nil
	}
}

func jsonText(v variant.Value, arguments []arrow.Array, i int) (string, bool, error) {
	zone, err := zoneAt(arguments[1], i)
	if err != nil {
		return "", false, err
	}
	text, err := v.JSON(zone)
	return text, true, err
}

// zoneAt reads the name of a time zone.
func zoneAt(a arrow.Array, i int) (*time.Location, error) {
	name := a.(*array.String).Value(i)
	if name == "UTC" {
		return time.UTC, nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, fault.New(fault.Unsupported, "variants are not written in the time zone %s", name).Change("spark.sql.session.timeZone")
	}
	return zone, nil
}

func schemaText(v variant.Value, _ []arrow.Array, _ int) (string, bool, error) {
	text, err := v.Schema()
	return text, true, err
}

func isVariantNull(arguments []arrow.Array, rows int) (arrow.Array, error) {
	b := array.NewBooleanBuilder(memory.DefaultAllocator)
	defer b.Release()
	for i := range rows {
		v, ok, err := variantAt(arguments[0], i)
		kind := variant.Object
		if ok {
			kind, err = v.Kind()
		}
		if err != nil {
			return nil, err
		}
		b.Append(ok && kind == variant.Null)
	}
	return b.NewArray(), nil
}

// partText gives a part of a variant in a type: the arguments are the path, the type's name, its digits, and the time zone. What has no value
// in the type is an error, or with try none.
func partText(try bool) func(v variant.Value, arguments []arrow.Array, i int) (string, bool, error) {
	return func(v variant.Value, arguments []arrow.Array, i int) (string, bool, error) {
		if arguments[1].IsNull(i) {
			return "", false, nil
		}
		path, err := variant.ParsePath(arguments[1].(*array.String).Value(i))
		if err != nil {
			return "", false, err
		}
		zone, err := zoneAt(arguments[5], i)
		if err != nil {
			return "", false, err
		}
		part, found, err := v.Get(path)
		if err != nil || !found {
			return "", false, err
		}
		t := variant.Target{Name: arguments[2].(*array.String).Value(i), Precision: int(arguments[3].(*array.Int32).Value(i)), Scale: int(arguments[4].(*array.Int32).Value(i))}
		text, null, ok, err := part.Cast(t, zone)
		if err == nil && !ok && !try {
			shown, _ := part.JSON(zone)
			err = fault.New(fault.Invalid, "[INVALID_VARIANT_CAST] The variant value `%s` cannot be cast into `%s`. Please use `try_variant_get` instead.", shown, t.Name).
				With("INVALID_VARIANT_CAST", "22023")
		}
		return text, ok && !null, err
	}
}
