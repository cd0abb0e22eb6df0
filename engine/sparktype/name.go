package sparktype

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
)

var catalogNames = map[arrow.Type]string{arrow.NULL: "void", arrow.BOOL: "boolean", arrow.INT8: "tinyint", arrow.INT16: "smallint", arrow.INT32: "int",
	arrow.INT64: "bigint", arrow.FLOAT32: "float", arrow.FLOAT64: "double", arrow.STRING: "string", arrow.BINARY: "binary", arrow.DATE32: "date",
	arrow.TIME64: "time(6)"}

// Name spells a type as Spark's catalog strings do: decimal(9,2), timestamp_ntz.
func Name(t arrow.DataType) string {
	t = Logical(t)
	if name, ok := catalogNames[t.ID()]; ok {
		return name
	}
	switch t := t.(type) {
	case *arrow.Decimal128Type:
		return fmt.Sprintf("decimal(%d,%d)", t.Precision, t.Scale)
	case *arrow.TimestampType:
		name := "timestamp"
		if t.Unit == arrow.Nanosecond {
			name += "_ns"
		}
		if t.TimeZone == "" {
			return name + "_ntz"
		}
		return name
	case *arrow.StructType:
		fields := make([]string, t.NumFields())
		for i, f := range t.Fields() {
			fields[i] = f.Name + ": " + Name(f.Type)
		}
		return "struct<" + strings.Join(fields, ", ") + ">"
	case *arrow.MapType:
		return "map<" + Name(t.KeyType()) + ", " + Name(t.ItemType()) + ">"
	case arrow.ListLikeType:
		return "array<" + Name(t.Elem()) + ">"
	}
	return t.String()
}

// SQLName spells a type as Spark's errors do, in upper case and double quotes.
func SQLName(t arrow.DataType) string { return `"` + strings.ToUpper(Name(t)) + `"` }

// namedTypes are the types without parameters by their words.
var namedTypes = map[string]arrow.DataType{"boolean": Boolean, "tinyint": Tinyint, "byte": Tinyint, "smallint": Smallint,
	"short": Smallint, "int": Int, "integer": Int, "bigint": Bigint, "long": Bigint, "float": Float, "real": Float,
	"double": Double, "string": String, "varchar": String, "char": String, "character": String, "binary": Binary,
	"date": Date, "timestamp": Timestamp, "timestamp_ltz": Timestamp, "timestamp_ntz": TimestampNTZ, "time": Time, "void": arrow.Null}

// Of gives the type that a cast names. As in Spark, the length of varchar and char means nothing there.
func Of(n syntax.TypeName) (arrow.DataType, error) {
	if t, ok := namedTypes[n.Name]; ok {
		return t, nil
	}
	switch n.Name {
	case "decimal", "dec", "numeric":
		return decimalNamed(n)
	case "array", "map", "struct", "interval", "variant":
		return nil, fault.New(fault.Unsupported, "a cast to %s is not supported", n.Name)
	}
	return nil, fault.New(fault.Invalid, "Unsupported data type \"%s\".", strings.ToUpper(n.Name)).With("UNSUPPORTED_DATATYPE", "0A000").At(at(n.Pos))
}

func decimalNamed(n syntax.TypeName) (arrow.DataType, error) {
	precision, scale := 10, 0
	if len(n.Params) > 0 {
		precision = n.Params[0]
	}
	if len(n.Params) > 1 {
		scale = n.Params[1]
	}
	switch {
	case precision > MaxPrecision:
		return nil, fault.New(fault.Invalid, "Decimal precision %d exceeds max precision %d.", precision, MaxPrecision).
			With("DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION", "22003").At(at(n.Pos))
	case scale > precision:
		return nil, fault.New(fault.Invalid, "Decimal scale (%d) cannot be greater than precision (%d).", scale, precision).
			With("_LEGACY_ERROR_TEMP_1229", "").At(at(n.Pos))
	case precision < 1 || scale < 0:
		return nil, fault.New(fault.Invalid, "decimal(%d,%d) is no type", precision, scale).At(at(n.Pos))
	}
	return Decimal(precision, scale), nil
}

// Named gives the type that a word names, in lower case; decimal, which has parameters, is none of them.
func Named(name string) (arrow.DataType, bool) {
	t, ok := namedTypes[name]
	return t, ok
}

// Words gives the words that name types, in no order.
func Words() []string { return slices.Collect(maps.Keys(namedTypes)) }

// synonyms are the spellings of types that Spark prints otherwise.
var synonyms = map[string]string{"integer": "int", "long": "bigint", "short": "smallint", "byte": "tinyint", "real": "float", "dec": "decimal", "numeric": "decimal",
	"timestamp_ltz": "timestamp"}

// Spelled spells a type that a statement names as Spark prints it; the parameters of a decimal are filled in.
func Spelled(t syntax.TypeName) string {
	name := t.Name
	if s, ok := synonyms[name]; ok {
		name = s
	}
	params := t.Params
	if name == "decimal" {
		if len(params) == 0 {
			params = []int{10}
		}
		if len(params) == 1 {
			params = append(params, 0)
		}
	}
	if len(params) == 0 {
		return name
	}
	var texts []string
	for _, p := range params {
		texts = append(texts, strconv.Itoa(p))
	}
	return name + "(" + strings.Join(texts, ",") + ")"
}

// at is a place of the statement, as errors have it.
func at(p syntax.Pos) fault.Position { return fault.Position{Line: p.Line, Column: p.Column} }
