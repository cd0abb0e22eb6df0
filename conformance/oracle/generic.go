package oracle

import (
	"encoding/base64"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/skua-data/skua/conformance"
)

var genericField = regexp.MustCompile(`\d+: [^:]+: (?:optional|required) (\S+)`)

// wholeTable reports whether a statement asks for all of a table, and not of a table about it.
func wholeTable(sql, table string) bool { return strings.TrimSpace(sql) == "SELECT * FROM "+table }

// compareGenerics holds the whole of a table that Spark refuses against the rows of Iceberg's generic reader.
func compareGenerics(g *generics, got *conformance.Answer) []string {
	var kinds []string
	for _, m := range genericField.FindAllStringSubmatch(g.Schema, -1) {
		kinds = append(kinds, m[1])
	}
	var rows [][]any
	for _, b := range got.Batches {
		for row := range int(b.NumRows()) {
			cells := make([]any, b.NumCols())
			for i, column := range b.Columns() {
				kind := ""
				if i < len(kinds) {
					kind = kinds[i]
				}
				cells[i] = javaText(column, row, kind)
			}
			rows = append(rows, cells)
		}
	}
	want := make([][]any, len(g.Rows))
	for i, row := range g.Rows {
		want[i] = make([]any, len(row))
		for j, v := range row {
			if j < len(kinds) {
				v = parseType(kinds[j]).normal(v)
			}
			want[i][j] = v
		}
	}
	return difference(rows, want, false, false)
}

// javaText spells a value as Java's toString does.
func javaText(a arrow.Array, row int, kind string) any {
	if a.IsNull(row) {
		return nil
	}
	if e, ok := a.(array.ExtensionArray); ok {
		return javaText(e.Storage(), row, kind)
	}
	switch x := a.(type) {
	case *array.Boolean:
		return x.Value(row)
	case *array.Time64:
		unit := x.DataType().(*arrow.Time64Type).Unit.Multiplier()
		return clockText(time.Unix(0, int64(x.Value(row))*int64(unit)).UTC())
	case *array.Timestamp:
		t := x.DataType().(*arrow.TimestampType)
		zone := ""
		if t.TimeZone != "" {
			zone = "Z"
		}
		at := x.Value(row).ToTime(t.Unit).UTC()
		return at.Format("2006-01-02T") + clockText(at) + zone
	case *array.Float32:
		return hexText(float64(x.Value(row)))
	case *array.Float64:
		return hexText(x.Value(row))
	case interface{ Value(int) []byte }:
		if kind == "uuid" && len(x.Value(row)) == 16 {
			return uuidText(x.Value(row))
		}
		return base64.StdEncoding.EncodeToString(x.Value(row))
	}
	return a.ValueStr(row)
}

// clockText leaves out what is zero, three digits at a time.
func clockText(t time.Time) string {
	nanos := t.Nanosecond()
	switch {
	case nanos == 0 && t.Second() == 0:
		return t.Format("15:04")
	case nanos == 0:
		return t.Format("15:04:05")
	}
	fraction := fmt.Sprintf("%09d", nanos)
	for strings.HasSuffix(fraction, "000") {
		fraction = strings.TrimSuffix(fraction, "000")
	}
	return t.Format("15:04:05.") + fraction
}
