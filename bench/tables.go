package main

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
)

// layout is how a table's files are laid out.
type layout string

const (
	goLayout   layout = "go"   // as iceberg-go writes them: decimals as fixed bytes, no page index
	javaLayout layout = "java" // as parquet-mr does under Iceberg: decimals as integers, pages of 20,000 rows, a page index
)

// spec is a generated table and what is read of it.
type spec struct {
	name    string
	layout  layout
	codec   string // snappy or zstd
	files   int
	share   int // of the rows that the program was asked for, in percent
	columns []column
	project []string // the columns of a narrow read; nil: there is none
	filter  bool     // also the hundredth of the rows with the least key
	deletes bool     // one row in twenty by position, and 1,000 keys by equality
}

// column is one column: what it is, and how it is filled.
type column struct {
	name string
	typ  arrow.DataType
	fill func(b array.Builder, row int, r *rand.Rand)
}

// work is one thing to do with a table.
type work struct {
	table   *spec
	name    string
	columns []string // nil: all
	below   int64    // rows with a lower key only; 0: every row
}

func (w work) id() string { return w.table.name + " " + w.name }

func (w work) sql() string {
	columns := "*"
	if w.columns != nil {
		columns = strings.Join(w.columns, ", ")
	}
	out := fmt.Sprintf("SELECT %s FROM bench.db.%s", columns, w.table.name)
	if w.below > 0 {
		out += fmt.Sprintf(" WHERE %s < %d", keyName, w.below)
	}
	return out
}

func (s *spec) rows(asked int) int { return max(asked*s.share/100, s.files) }

func (s *spec) works(asked int) []work {
	out := []work{{table: s, name: "full"}}
	if s.project != nil {
		out = append(out, work{table: s, name: "narrow", columns: s.project})
	}
	if s.filter {
		out = append(out, work{table: s, name: "1 %", below: int64(s.rows(asked) / 100)})
	}
	return out
}

// keyName is the column by which every table is sorted.
const keyName = "key"

var tables = []*spec{
	{name: "orders_go_snappy", layout: goLayout, codec: "snappy", files: 4, share: 100, columns: orders(), project: []string{"key", "quantity", "shipped"}, filter: true},
	{name: "orders_java_zstd", layout: javaLayout, codec: "zstd", files: 4, share: 100, columns: orders(), project: []string{"key", "quantity", "shipped"}, filter: true},
	{name: "wide_java_snappy", layout: javaLayout, codec: "snappy", files: 2, share: 40, columns: wide(), project: []string{"key", "long_7", "double_7"}},
	{name: "strings_go_zstd", layout: goLayout, codec: "zstd", files: 2, share: 100, columns: strs()},
	{name: "nested_java_zstd", layout: javaLayout, codec: "zstd", files: 2, share: 50, columns: nested()},
	{name: "nulls_go_snappy", layout: goLayout, codec: "snappy", files: 2, share: 100, columns: nulls()},
	{name: "deletes_java_zstd", layout: javaLayout, codec: "zstd", files: 4, share: 100, columns: deleted(), deletes: true},
	{name: "small_files_java_zstd", layout: javaLayout, codec: "zstd", files: 2000, share: 20, columns: orders()},
}

func long(name string, value func(row int, r *rand.Rand) int64) column {
	return column{name, arrow.PrimitiveTypes.Int64, func(b array.Builder, row int, r *rand.Rand) { b.(*array.Int64Builder).Append(value(row, r)) }}
}

func integer(name string, value func(row int, r *rand.Rand) int32) column {
	return column{name, arrow.PrimitiveTypes.Int32, func(b array.Builder, row int, r *rand.Rand) { b.(*array.Int32Builder).Append(value(row, r)) }}
}

func double(name string) column {
	return column{name, arrow.PrimitiveTypes.Float64, func(b array.Builder, _ int, r *rand.Rand) { b.(*array.Float64Builder).Append(r.NormFloat64()) }}
}

func money(name string, value func(r *rand.Rand) int64) column {
	return column{name, &arrow.Decimal128Type{Precision: 12, Scale: 2}, func(b array.Builder, _ int, r *rand.Rand) {
		b.(*array.Decimal128Builder).Append(decimal128.FromI64(value(r)))
	}}
}

func date(name string) column {
	return column{name, arrow.FixedWidthTypes.Date32, func(b array.Builder, _ int, r *rand.Rand) {
		b.(*array.Date32Builder).Append(arrow.Date32(8_000 + r.IntN(2_500)))
	}}
}

func text(name string, value func(r *rand.Rand) string) column {
	return column{name, arrow.BinaryTypes.String, func(b array.Builder, _ int, r *rand.Rand) { b.(*array.StringBuilder).Append(value(r)) }}
}

func key() column { return long(keyName, func(row int, _ *rand.Rand) int64 { return int64(row) }) }

// sparse makes nulls of some values, in percent.
func sparse(c column, percent int) column {
	fill := c.fill
	c.fill = func(b array.Builder, row int, r *rand.Rand) {
		if r.IntN(100) < percent {
			b.AppendNull()
			return
		}
		fill(b, row, r)
	}
	return c
}

var (
	modes = []string{"AIR", "FOB", "MAIL", "RAIL", "REG AIR", "SHIP", "TRUCK"}
	words = []string{"quickly", "ironic", "packages", "sleep", "above", "the", "final", "accounts", "furiously", "regular", "deposits", "haggle"}
)

func oneOf(list []string) func(r *rand.Rand) string {
	return func(r *rand.Rand) string { return list[r.IntN(len(list))] }
}

// phrase is a text of least to most words.
func phrase(least, most int) func(r *rand.Rand) string {
	return func(r *rand.Rand) string {
		out := make([]string, least+r.IntN(most-least+1))
		for i := range out {
			out[i] = words[r.IntN(len(words))]
		}
		return strings.Join(out, " ")
	}
}

func hex(digits int) func(r *rand.Rand) string {
	return func(r *rand.Rand) string {
		var b strings.Builder
		for b.Len() < digits {
			fmt.Fprintf(&b, "%016x", r.Uint64())
		}
		return b.String()[:digits]
	}
}

func under(n int64) func(int, *rand.Rand) int64 {
	return func(_ int, r *rand.Rand) int64 { return r.Int64N(n) }
}

// orders is like TPC-H's lineitem.
func orders() []column {
	return []column{
		key(), long("part", under(200_000)), long("supplier", under(10_000)), integer("line", func(row int, _ *rand.Rand) int32 { return int32(1 + row%7) }),
		money("quantity", func(r *rand.Rand) int64 { return 100 * (1 + r.Int64N(50)) }), money("price", func(r *rand.Rand) int64 { return 90_000 + r.Int64N(10_000_000) }),
		money("discount", func(r *rand.Rand) int64 { return r.Int64N(11) }), money("tax", func(r *rand.Rand) int64 { return r.Int64N(9) }),
		text("returned", oneOf([]string{"A", "N", "R"})), text("status", oneOf([]string{"F", "O"})), date("shipped"), date("committed"), date("received"),
		text("instruction", oneOf([]string{"COLLECT COD", "DELIVER IN PERSON", "NONE", "TAKE BACK RETURN"})), text("mode", oneOf(modes)), text("comment", phrase(2, 6)),
	}
}

// wide is 60 flat columns of numbers.
func wide() []column {
	out := []column{key()}
	for i := range 20 {
		n := int64(10) << i
		out = append(out, long(fmt.Sprintf("long_%d", i), under(n)), double(fmt.Sprintf("double_%d", i)),
			integer(fmt.Sprintf("int_%d", i), func(_ int, r *rand.Rand) int32 { return r.Int32N(int32(n)) }))
	}
	return out
}

// strs is texts: of few and of many values, short and long.
func strs() []column {
	return []column{key(), text("mode", oneOf(modes)), text("id", hex(36)), text("short", hex(6)), text("sentence", phrase(8, 20)), text("path", func(r *rand.Rand) string {
		return "https://example.org/" + words[r.IntN(len(words))] + "/" + hex(12)(r)
	})}
}

// nested is a list, a struct, a list of structs and a map.
func nested() []column {
	point := arrow.StructOf(arrow.Field{Name: "x", Type: arrow.PrimitiveTypes.Float64, Nullable: true}, arrow.Field{Name: "label", Type: arrow.BinaryTypes.String, Nullable: true})
	fillPoint := func(b array.Builder, r *rand.Rand) {
		s := b.(*array.StructBuilder)
		s.Append(true)
		s.FieldBuilder(0).(*array.Float64Builder).Append(r.Float64())
		s.FieldBuilder(1).(*array.StringBuilder).Append(modes[r.IntN(len(modes))])
	}
	return []column{
		key(),
		{"tags", arrow.ListOf(arrow.PrimitiveTypes.Int64), func(b array.Builder, _ int, r *rand.Rand) {
			l := b.(*array.ListBuilder)
			l.Append(true)
			for range r.IntN(6) {
				l.ValueBuilder().(*array.Int64Builder).Append(r.Int64N(1000))
			}
		}},
		{"point", point, func(b array.Builder, _ int, r *rand.Rand) { fillPoint(b, r) }},
		{"points", arrow.ListOf(point), func(b array.Builder, _ int, r *rand.Rand) {
			l := b.(*array.ListBuilder)
			l.Append(true)
			for range r.IntN(4) {
				fillPoint(l.ValueBuilder(), r)
			}
		}},
		{"counts", arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int64), func(b array.Builder, _ int, r *rand.Rand) {
			m := b.(*array.MapBuilder)
			m.Append(true)
			for i := range r.IntN(3) {
				m.KeyBuilder().(*array.StringBuilder).Append(modes[i])
				m.ItemBuilder().(*array.Int64Builder).Append(r.Int64N(100))
			}
		}},
	}
}

// nulls is columns of which a tenth to nine tenths are null.
func nulls() []column {
	out := []column{key()}
	for _, percent := range []int{10, 50, 90} {
		out = append(out, sparse(long(fmt.Sprintf("long_%d", percent), under(1<<40)), percent), sparse(double(fmt.Sprintf("double_%d", percent)), percent),
			sparse(text(fmt.Sprintf("text_%d", percent), phrase(1, 4)), percent), sparse(money(fmt.Sprintf("money_%d", percent), func(r *rand.Rand) int64 { return r.Int64N(1 << 40) }), percent))
	}
	return out
}

// chance is the column by which rows are deleted, so that they lie everywhere.
const chance = "chance"

func deleted() []column {
	return []column{key(), integer(chance, func(_ int, r *rand.Rand) int32 { return r.Int32N(100) }), long("value", under(1<<40)), double("measure"), text("mode", oneOf(modes)), text("note", phrase(2, 5)), date("day")}
}
