package conformance

import (
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

var escaper = strings.NewReplacer("\\", `\\`, "\t", `\t`, "\n", `\n`, "\r", `\r`)

var unescaper = strings.NewReplacer(`\\`, "\\", `\t`, "\t", `\n`, "\n", `\r`, "\r")

// rowsOf gives each row of a batch as tab-separated text.
func rowsOf(b arrow.RecordBatch) []string {
	out := make([]string, b.NumRows())
	for i, row := range cellsOf(b) {
		out[i] = strings.Join(row, "\t")
	}
	return out
}

// cellsOf gives the texts of each row of a batch.
func cellsOf(b arrow.RecordBatch) [][]string {
	out := make([][]string, b.NumRows())
	for row := range out {
		out[row] = make([]string, b.NumCols())
		for i, column := range b.Columns() {
			out[row][i] = cell(column, row)
		}
	}
	return out
}

// cells gives the texts of every row.
func (a *Answer) cells() (out [][]string) {
	for _, b := range a.Batches {
		out = append(out, cellsOf(b)...)
	}
	return out
}

// lines gives every row as a line.
func (a *Answer) lines() (out []string) {
	for _, b := range a.Batches {
		out = append(out, rowsOf(b)...)
	}
	return out
}

func cell(column arrow.Array, row int) string {
	if column.IsNull(row) || column.DataType().ID() == arrow.NULL {
		return "NULL"
	}
	if u, ok := column.(array.Union); ok {
		return cell(u.Field(u.ChildID(row)), unionRow(u, row))
	}
	text := column.ValueStr(row)
	if d, ok := column.(*array.Decimal128); ok {
		text = d.Value(row).ToString(d.DataType().(*arrow.Decimal128Type).Scale) // with all digits of its scale
	}
	if _, ok := column.(*array.String); ok && (text == "" || text == "NULL") {
		return `"` + text + `"`
	}
	return escaper.Replace(text)
}

// unionRow is where a union's value lies in its child.
func unionRow(u array.Union, row int) int {
	if dense, ok := u.(*array.DenseUnion); ok {
		return int(dense.ValueOffset(row))
	}
	return row
}

// schemaText spells a schema as scripts do: name type, with ! where no null can be.
func schemaText(s *arrow.Schema) string {
	fields := make([]string, s.NumFields())
	for i, f := range s.Fields() {
		fields[i] = escaper.Replace(f.Name) + " " + typeText(f.Type)
		if !f.Nullable {
			fields[i] += "!"
		}
	}
	return strings.Join(fields, ", ")
}

// words are Spark's for the types that need no more said.
var words = map[arrow.Type]string{
	arrow.NULL: "void", arrow.BOOL: "boolean", arrow.INT8: "tinyint", arrow.INT16: "smallint", arrow.INT32: "int", arrow.INT64: "bigint",
	arrow.FLOAT32: "float", arrow.FLOAT64: "double", arrow.STRING: "string", arrow.BINARY: "binary", arrow.DATE32: "date",
}

// typeText spells a type by Spark's word where there is one, so that scripts read like SQL.
func typeText(t arrow.DataType) string {
	if word, ok := words[t.ID()]; ok {
		return word
	}
	switch t := t.(type) {
	case *arrow.TimestampType:
		name := "timestamp"
		if t.TimeZone == "" {
			name = "timestamp_ntz"
		}
		if t.Unit == arrow.Microsecond {
			return name
		}
		return name + "(" + t.Unit.String() + ")"
	case arrow.DecimalType:
		return fmt.Sprintf("decimal(%d,%d)", t.GetPrecision(), t.GetScale())
	case *arrow.StructType:
		fields := make([]string, t.NumFields())
		for i, f := range t.Fields() {
			fields[i] = f.Name + ":" + typeText(f.Type)
		}
		return "struct<" + strings.Join(fields, ",") + ">"
	case *arrow.ListType:
		return "array<" + typeText(t.Elem()) + ">"
	case *arrow.MapType:
		return "map<" + typeText(t.KeyType()) + "," + typeText(t.ItemType()) + ">"
	}
	return strings.ReplaceAll(t.String(), ", ", ",")
}

// Spell spells an answer as scripts do: each row as a line, and the columns.
func Spell(s *arrow.Schema, batches []arrow.RecordBatch) (rows []string, columns string) {
	return (&Answer{Schema: s, Batches: batches}).lines(), schemaText(s)
}
