package engine

import (
	"encoding/hex"
	"fmt"
	"math"
	"regexp"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/iceberg-go"

	"github.com/skua-data/skua/engine/sparktype"
	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/scan"
)

// typeWords are what Spark knows of a type without parts: its name in SQL and in a printed schema, and the bytes it counts a value as.
type typeWords struct {
	sql, tree string
	size      int64
	constant  arrow.DataType // of a default
}

func wordsOf(t iceberg.Type) typeWords {
	switch t := t.(type) {
	case iceberg.BooleanType:
		return typeWords{"BOOLEAN", "boolean", 1, sparktype.Boolean}
	case iceberg.Int32Type:
		return typeWords{"INT", "integer", 4, sparktype.Int}
	case iceberg.Int64Type:
		return typeWords{"BIGINT", "long", 8, sparktype.Bigint}
	case iceberg.Float32Type:
		return typeWords{"FLOAT", "float", 4, sparktype.Float}
	case iceberg.Float64Type:
		return typeWords{"DOUBLE", "double", 8, sparktype.Double}
	case iceberg.DateType:
		return typeWords{"DATE", "date", 4, sparktype.Date}
	case iceberg.TimestampTzType:
		return typeWords{"TIMESTAMP", "timestamp", 8, sparktype.Timestamp}
	case iceberg.TimestampType:
		return typeWords{"TIMESTAMP_NTZ", "timestamp_ntz", 8, sparktype.TimestampNTZ}
	case iceberg.StringType, iceberg.UUIDType:
		return typeWords{"STRING", "string", 20, sparktype.String}
	case iceberg.BinaryType, iceberg.FixedType:
		return typeWords{"BINARY", "binary", 100, sparktype.Binary}
	case iceberg.UnknownType:
		return typeWords{"VOID", "void", 1, arrow.Null}
	case iceberg.VariantType:
		return typeWords{"VARIANT", "variant", 2048, arrow.Null}
	case iceberg.DecimalType:
		name := fmt.Sprintf("decimal(%d,%d)", t.Precision(), t.Scale())
		words := typeWords{strings.ToUpper(name), name, 8, sparktype.Decimal(t.Precision(), t.Scale())}
		if t.Precision() > 18 {
			words.size = 16
		}
		return words
	}
	return typeWords{strings.ToUpper(t.String()), t.String(), 8, sparktype.String} // a type that Spark lacks, by Iceberg's name: time, timestamp_ns
}

// sqlType spells a type as DDL does, with the comments of nested fields.
func sqlType(t iceberg.Type) string {
	switch t := t.(type) {
	case *iceberg.StructType:
		fields := make([]string, len(t.FieldList))
		for i, f := range t.FieldList {
			fields[i] = ddlName(f.Name) + ": " + sqlType(f.Type) + ddlNull(f) + ddlComment(f.Doc)
		}
		return "STRUCT<" + strings.Join(fields, ", ") + ">"
	case *iceberg.ListType:
		return "ARRAY<" + sqlType(t.Element) + ">"
	case *iceberg.MapType:
		return "MAP<" + sqlType(t.KeyType) + ", " + sqlType(t.ValueType) + ">"
	}
	return wordsOf(t).sql
}

// bareName is a name that DDL leaves without quotes. It may not begin with a digit, other than in Spark's listings.
var bareName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)

func ddlName(name string) string {
	if bareName.MatchString(name) {
		return name
	}
	return syntax.BackQuote(name)
}

func ddlNames(parts []string) string {
	out := make([]string, len(parts))
	for i, p := range parts {
		out[i] = ddlName(p)
	}
	return strings.Join(out, ".")
}

func ddlNull(f iceberg.NestedField) string {
	if f.Required {
		return " NOT NULL"
	}
	return ""
}

func ddlComment(comment string) string {
	if comment == "" {
		return ""
	}
	return " COMMENT " + ddlText(comment)
}

// ddlText quotes a text as SHOW CREATE TABLE does, which leaves backslashes alone.
func ddlText(s string) string { return "'" + strings.ReplaceAll(s, "'", `\'`) + "'" }

// defaultText spells a column's default in SQL; empty: none.
func (s *statement) defaultText(c scan.ColumnInfo) string {
	if c.Default == nil {
		return ""
	}
	value := sparktype.Value{Type: wordsOf(c.Field.Type).constant, Value: c.Default}
	if raw, ok := c.Default.([]byte); ok && len(raw) == 16 && value.Type == sparktype.String { // a uuid
		h := hex.EncodeToString(raw)
		value.Value = h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
	}
	if sparktype.Zoned(value.Type) {
		return "TIMESTAMP '" + sparktype.Session{Zone: s.zone}.Text(value) + "'"
	}
	return value.SQL()
}

// rowSize is the bytes that Spark counts a row of the columns as.
func rowSize(columns []scan.ColumnInfo) int64 {
	n := int64(0)
	for _, c := range columns {
		n += typeSize(c.Field.Type)
	}
	return n
}

func typeSize(t iceberg.Type) int64 {
	switch t := t.(type) {
	case *iceberg.StructType:
		n := int64(0)
		for _, f := range t.FieldList {
			n += typeSize(f.Type)
		}
		return n
	case *iceberg.ListType:
		return typeSize(t.Element)
	case *iceberg.MapType:
		return typeSize(t.KeyType) + typeSize(t.ValueType)
	}
	return wordsOf(t).size
}

// saturatingProduct multiplies two numbers of 0 or more.
func saturatingProduct(a, b int64) int64 {
	if a > 0 && b > math.MaxInt64/a {
		return math.MaxInt64
	}
	return a * b
}

// control spells the control characters of a name in a printed schema.
var control = strings.NewReplacer("\n", `\n`, "\r", `\r`, "\t", `\t`, "\f", `\f`, "\b", `\b`, "\v", `\v`, "\a", `\a`)

// schemaTree prints columns as Spark prints a schema.
func schemaTree(columns []scan.ColumnInfo) string {
	var b strings.Builder
	b.WriteString("root\n")
	for _, c := range columns {
		treeField(&b, " |", control.Replace(c.Name), c.Field.Type, fmt.Sprintf(" (nullable = %t)", c.Nullable))
	}
	return b.String()
}

func treeField(b *strings.Builder, prefix, name string, t iceberg.Type, note string) {
	word := ""
	switch t.(type) {
	case *iceberg.StructType:
		word = "struct"
	case *iceberg.ListType:
		word = "array"
	case *iceberg.MapType:
		word = "map"
	default:
		word = wordsOf(t).tree
	}
	b.WriteString(prefix + "-- " + name + ": " + word + note + "\n")
	inner := prefix + "    |"
	switch t := t.(type) {
	case *iceberg.StructType:
		for _, f := range t.FieldList {
			treeField(b, inner, control.Replace(f.Name), f.Type, fmt.Sprintf(" (nullable = %t)", !f.Required))
		}
	case *iceberg.ListType:
		treeField(b, inner, "element", t.Element, fmt.Sprintf(" (containsNull = %t)", !t.ElementRequired))
	case *iceberg.MapType:
		treeField(b, inner, "key", t.KeyType, "")
		treeField(b, inner, "value", t.ValueType, fmt.Sprintf(" (valueContainsNull = %t)", !t.ValueRequired))
	}
}

// columnDDL spells a column as CREATE TABLE has it.
func (s *statement) columnDDL(c scan.ColumnInfo) string {
	text := ddlName(c.Name) + " " + sqlType(c.Field.Type) + ddlNull(c.Field)
	if d := s.defaultText(c); d != "" {
		text += " DEFAULT " + d
	}
	return text + ddlComment(c.Comment)
}

// bucketOf reads a partitioning's text as bucket(n, column): Spark spells such a partition in a clause of its own.
func bucketOf(transform string) (buckets, column string, ok bool) {
	inner, ok := strings.CutPrefix(transform, "bucket(")
	buckets, spelled, found := strings.Cut(strings.TrimSuffix(inner, ")"), ", ")
	if !ok || !found {
		return "", "", false
	}
	name, err := syntax.NewParser(spelled).Name()
	if err != nil {
		return "", "", false
	}
	return buckets, strings.Join(syntax.Texts(name), "."), true
}
