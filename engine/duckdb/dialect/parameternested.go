package dialect

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// nestedType gives the engine's name of a list, map or struct whose parts have one; empty otherwise.
func nestedType(t arrow.DataType) string {
	switch t := t.(type) {
	case *arrow.MapType:
		key, item := partType(t.KeyType()), partType(t.ItemType())
		if key == "" || item == "" {
			return ""
		}
		return "MAP(" + key + ", " + item + ")"
	case arrow.ListLikeType:
		if element := partType(t.Elem()); element != "" {
			return element + "[]"
		}
	case *arrow.StructType:
		var fields []string
		for _, f := range t.Fields() {
			typ := partType(f.Type)
			if typ == "" {
				return ""
			}
			fields = append(fields, QuoteIdent(f.Name)+" "+typ)
		}
		if fields != nil {
			return "STRUCT(" + strings.Join(fields, ", ") + ")"
		}
	}
	return ""
}

// partType is typeOf within a nested type, where nulls of no type need one.
func partType(t arrow.DataType) string {
	switch t := t.(type) {
	case *arrow.NullType:
		return "INTEGER"
	case *arrow.DictionaryType:
		return partType(t.ValueType)
	case arrow.ExtensionType:
		if t.ExtensionName() == "arrow.uuid" {
			return "UUID"
		}
		return partType(t.StorageType())
	}
	return typeOf(t)
}

// nested spells a list, map or struct without its type; ok tells that the column is of one.
func nested(column arrow.Array, i int) (text string, ok bool, err error) {
	switch a := column.(type) {
	case *array.Map:
		from, to := a.ValueOffsets(i)
		keys, err := elements(a.Keys(), from, to)
		if err != nil {
			return "", true, err
		}
		items, err := elements(a.Items(), from, to)
		return "MAP(" + keys + ", " + items + ")", true, err
	case array.ListLike:
		from, to := a.ValueOffsets(i)
		text, err := elements(a.ListValues(), from, to)
		return text, true, err
	case *array.Struct:
		text, err := members(a, i)
		return text, true, err
	}
	return "", false, nil
}

func elements(values arrow.Array, from, to int64) (string, error) {
	out := make([]string, 0, to-from)
	for i := from; i < to; i++ {
		text, err := Literal(values, int(i))
		if err != nil {
			return "", err
		}
		out = append(out, text)
	}
	return "[" + strings.Join(out, ", ") + "]", nil
}

func members(a *array.Struct, i int) (string, error) {
	out := make([]string, a.NumField())
	for n := range out {
		text, err := Literal(a.Field(n), i)
		if err != nil {
			return "", err
		}
		out[n] = QuoteText(a.DataType().(*arrow.StructType).Field(n).Name) + ": " + text
	}
	return "{" + strings.Join(out, ", ") + "}", nil
}

// span spells an interval as the engine reads one; empty: the column holds none.
func span(column arrow.Array, i int) string {
	switch a := column.(type) {
	case *array.Duration:
		unit := a.DataType().(*arrow.DurationType).Unit
		if unit == arrow.Nanosecond {
			return strconv.FormatInt(int64(a.Value(i))/1000, 10) + " microseconds"
		}
		return strconv.FormatInt(int64(a.Value(i)), 10) + " " + map[arrow.TimeUnit]string{arrow.Second: "seconds", arrow.Millisecond: "milliseconds", arrow.Microsecond: "microseconds"}[unit]
	case *array.MonthInterval:
		return strconv.Itoa(int(a.Value(i))) + " months"
	case *array.DayTimeInterval:
		v := a.Value(i)
		return fmt.Sprintf("%d days %d milliseconds", v.Days, v.Milliseconds)
	case *array.MonthDayNanoInterval:
		v := a.Value(i)
		return fmt.Sprintf("%d months %d days %d microseconds", v.Months, v.Days, v.Nanoseconds/1000)
	}
	return ""
}
