package plain

import (
	"strconv"
	"strings"

	"github.com/apache/iceberg-go"

	"github.com/skua-data/skua/fault"
)

// ids gives out field ids from 1 on.
type ids int

func (n *ids) next() int {
	*n++
	return int(*n)
}

// exact is a type that a schema has no like of: what stands for it there, with the type as Spark spells it.
type exact struct {
	standIn
	spelled string
}

type standIn = iceberg.Type

// exactly takes the types that a schema has no like of out of fields, and keeps how they are spelled by the fields' ids.
func exactly(fields []iceberg.NestedField, types map[int]string) {
	for i := range fields {
		fields[i].Type = bare(fields[i].ID, fields[i].Type, types)
	}
}

func bare(id int, t iceberg.Type, types map[int]string) iceberg.Type {
	switch t := t.(type) {
	case exact:
		types[id] = t.spelled
		return t.standIn
	case *iceberg.StructType:
		exactly(t.FieldList, types)
	case *iceberg.ListType:
		t.Element = bare(t.ElementID, t.Element, types)
	case *iceberg.MapType:
		t.KeyType, t.ValueType = bare(t.KeyID, t.KeyType, types), bare(t.ValueID, t.ValueType, types)
	}
	return t
}

// sizedText is a text of a limited length, char(n) or varchar(n).
func sizedText(name string, length int) exact {
	return exact{iceberg.PrimitiveTypes.String, name + "(" + strconv.Itoa(length) + ")"}
}

var (
	tinyint  = exact{iceberg.PrimitiveTypes.Int32, "tinyint"}
	smallint = exact{iceberg.PrimitiveTypes.Int32, "smallint"}
)

// simple are the types without parameters, by Hive's names and by Spark's where they differ.
var simple = map[string]iceberg.Type{
	"boolean": iceberg.PrimitiveTypes.Bool,
	"tinyint": tinyint, "smallint": smallint, "int": iceberg.PrimitiveTypes.Int32, "integer": iceberg.PrimitiveTypes.Int32,
	"byte": tinyint, "short": smallint,
	"bigint": iceberg.PrimitiveTypes.Int64, "long": iceberg.PrimitiveTypes.Int64,
	"float": iceberg.PrimitiveTypes.Float32, "double": iceberg.PrimitiveTypes.Float64, "double precision": iceberg.PrimitiveTypes.Float64,
	"string": iceberg.PrimitiveTypes.String, "binary": iceberg.PrimitiveTypes.Binary, "date": iceberg.PrimitiveTypes.Date,
	"timestamp": iceberg.PrimitiveTypes.TimestampTz, "timestamp with local time zone": iceberg.PrimitiveTypes.TimestampTz, "timestamplocaltz": iceberg.PrimitiveTypes.TimestampTz,
	"timestamp_ltz": iceberg.PrimitiveTypes.TimestampTz, "timestamp_ntz": iceberg.PrimitiveTypes.Timestamp,
}

// maxDepth bounds how deep types nest.
const maxDepth = 64

// typeParser reads Hive's spelling of a type.
type typeParser struct {
	whole string
	rest  string
	ids   *ids
	depth int
}

// hiveType reads a type of Hive's; the ids of what is inside of it come from ids.
func hiveType(text string, ids *ids) (iceberg.Type, error) {
	p := &typeParser{whole: text, rest: text, ids: ids}
	out, err := p.typ()
	if err == nil && strings.TrimSpace(p.rest) != "" {
		err = p.wrong()
	}
	return out, err
}

func (p *typeParser) wrong() error {
	return fault.New(fault.Unsupported, "the type %.200q is not supported", p.whole)
}

// symbol consumes a symbol.
func (p *typeParser) symbol(s string) bool {
	rest, ok := strings.CutPrefix(strings.TrimLeft(p.rest, " "), s)
	if ok {
		p.rest = rest
	}
	return ok
}

// until takes the text in front of the first of some symbols.
func (p *typeParser) until(symbols string) string {
	end := strings.IndexAny(p.rest, symbols)
	if end < 0 {
		end = len(p.rest)
	}
	out := p.rest[:end]
	p.rest = p.rest[end:]
	return strings.TrimSpace(out)
}

func (p *typeParser) typ() (iceberg.Type, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, p.wrong()
	}
	defer func() { p.depth-- }()
	name := strings.ToLower(p.until("<>(),"))
	switch {
	case p.symbol("("):
		return p.sized(name)
	case p.symbol("<"):
		return p.nested(name)
	case name == "decimal" || name == "numeric":
		return iceberg.DecimalTypeOf(10, 0), nil
	}
	out, ok := simple[name]
	if !ok {
		return nil, p.wrong()
	}
	return out, nil
}

// sized reads what stands in parentheses.
func (p *typeParser) sized(name string) (iceberg.Type, error) {
	var numbers []int
	for _, text := range strings.Split(p.until(")"), ",") {
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil {
			return nil, p.wrong()
		}
		numbers = append(numbers, n)
	}
	if !p.symbol(")") {
		return nil, p.wrong()
	}
	switch {
	case (name == "char" || name == "varchar") && len(numbers) == 1 && numbers[0] > 0:
		return sizedText(name, numbers[0]), nil
	case name == "decimal" || name == "numeric":
		return decimalType(numbers, p.wrong)
	}
	return nil, p.wrong()
}

func decimalType(numbers []int, wrong func() error) (iceberg.Type, error) {
	if len(numbers) == 1 {
		numbers = append(numbers, 0)
	}
	if len(numbers) != 2 || numbers[0] < 1 || numbers[0] > 38 || numbers[1] < 0 || numbers[1] > numbers[0] {
		return nil, wrong()
	}
	return iceberg.DecimalTypeOf(numbers[0], numbers[1]), nil
}

func (p *typeParser) nested(name string) (out iceberg.Type, err error) {
	switch name {
	case "array":
		list := &iceberg.ListType{ElementID: p.ids.next()}
		list.Element, err = p.typ()
		out = list
	case "map":
		m := &iceberg.MapType{KeyID: p.ids.next(), ValueID: p.ids.next()}
		if m.KeyType, err = p.typ(); err == nil && !p.symbol(",") {
			err = p.wrong()
		}
		if err == nil {
			m.ValueType, err = p.typ()
		}
		out = m
	case "struct":
		s := &iceberg.StructType{}
		for err == nil {
			var f iceberg.NestedField
			if f, err = p.field(); err == nil {
				s.FieldList = append(s.FieldList, f)
				if !p.symbol(",") {
					break
				}
			}
		}
		out = s
	default:
		return nil, p.wrong()
	}
	if err == nil && !p.symbol(">") {
		err = p.wrong()
	}
	return out, err
}

// field reads a field of a struct; its name may stand in back quotes.
func (p *typeParser) field() (iceberg.NestedField, error) {
	name := ""
	if p.symbol("`") {
		end := strings.IndexByte(p.rest, '`')
		if end < 0 {
			return iceberg.NestedField{}, p.wrong()
		}
		name, p.rest = p.rest[:end], p.rest[end+1:]
	} else {
		name = p.until(":")
	}
	if name == "" || !p.symbol(":") {
		return iceberg.NestedField{}, p.wrong()
	}
	f := iceberg.NestedField{ID: p.ids.next(), Name: name}
	var err error
	f.Type, err = p.typ()
	return f, err
}
