//go:build cgo

package duckdb

import (
	"github.com/skua-data/skua/engine/sparkjson"
)

// jsonFunctions are Spark's functions of JSON. What is malformed has no value.
var jsonFunctions = []scalar{
	rowFunction("skua_json_object", []int{typeVarchar, typeVarchar}, typeVarchar, func(r *row) error {
		path, err := of(r, r.text(1), func(text string) (sparkjson.Path, error) {
			path, ok := sparkjson.ParsePath(text)
			if !ok {
				return nil, sparkjson.ErrMalformed
			}
			return path, nil
		})
		if err != nil {
			return nil
		}
		if v, err := sparkjson.Parse(r.text(0), false); err == nil {
			if text, ok := path.Find(v); ok {
				r.give(text)
			}
		}
		return nil
	}),
	ofJSON("skua_json_length", []int{typeVarchar}, typeInteger, func(r *row, v *sparkjson.Value) {
		if v.Kind == sparkjson.Array {
			r.give(int64(len(v.Values)))
		}
	}),
	ofJSON("skua_json_names", []int{typeVarchar}, typeVarchar, func(r *row, v *sparkjson.Value) {
		if v.Kind == sparkjson.Object {
			names := &sparkjson.Value{Kind: sparkjson.Array}
			for _, name := range v.Names {
				names.Values = append(names.Values, &sparkjson.Value{Kind: sparkjson.Text, Text: name})
			}
			r.give(names.String())
		}
	}),
	ofJSON("skua_json_field", []int{typeVarchar, typeVarchar}, typeVarchar, func(r *row, v *sparkjson.Value) {
		if v.Kind != sparkjson.Object {
			return
		}
		for i := len(v.Names) - 1; i >= 0; i-- {
			if inner := v.Values[i]; v.Names[i] == r.text(1) {
				switch inner.Kind {
				case sparkjson.Null:
				case sparkjson.Text:
					r.give(inner.Text)
				default:
					r.give(inner.String())
				}
				return
			}
		}
	}),
	rowFunction("skua_json_schema", []int{typeVarchar}, typeVarchar, func(r *row) error {
		v, err := sparkjson.Parse(r.text(0), true)
		if err != nil {
			return malformedJSON(r.text(0))
		}
		r.give(v.Schema())
		return nil
	}),
	{name: "skua_written_json", parameters: []int{typeAny, typeVarchar, typeVarchar}, result: typeVarchar, call: writtenJSON},
	{name: "skua_written_csv", parameters: []int{typeAny, typeVarchar, typeVarchar}, result: typeVarchar, call: writtenCSV},
	rowFunction("skua_csv_schema", []int{typeVarchar, typeVarchar}, typeVarchar, csvSchema),
	rowFunction("skua_read_csv", []int{typeVarchar, typeVarchar, typeVarchar, typeVarchar}, typeVarchar, readCSV),
	rowFunction("skua_read_json", []int{typeVarchar, typeVarchar, typeVarchar, typeVarchar}, typeVarchar, readJSON),
}

// jsonMacros write variants as JSON of their own.
var jsonMacros = []string{
	`CREATE MACRO skua_from_json(x, s, o) AS skua_read_json(x, s, current_setting('TimeZone'), o)`,
	`CREATE MACRO skua_from_csv(x, s, o) AS skua_read_csv(x, s, current_setting('TimeZone'), o)`,
	`CREATE MACRO skua_to_csv(x, o) AS skua_written_csv(x, current_setting('TimeZone'), o)`,
	`CREATE MACRO skua_spark_json(x STRUCT(skua_metadata BLOB, skua_value BLOB), o) AS skua_variant_json(x, current_setting('TimeZone')), (x, o) AS skua_written_json(x, current_setting('TimeZone'), o)`,
}

// ofJSON makes a function of the value of a text of JSON.
func ofJSON(name string, parameters []int, result int, give func(r *row, v *sparkjson.Value)) scalar {
	return rowFunction(name, parameters, result, func(r *row) error {
		if v, err := sparkjson.Parse(r.text(0), false); err == nil {
			give(r, v)
		}
		return nil
	})
}
