//go:build cgo

package duckdb

import (
	"regexp"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/engine/duckdb/dialect"
)

// transformCall is the name of a result column that is one of Iceberg's functions of a column.
var transformCall = regexp.MustCompile(`(?i)^(?:[^()]*\.)?system\.(bucket|truncate|years|months|days|hours)\((\d+, )?([^(),.]+)\)$`)

// sparkName gives a result column the name that Spark has for it: for Iceberg's functions of a column that is the class behind them, which the
// column's type decides. Other names stay.
func (p *program) sparkName(name string) string {
	parts := transformCall.FindStringSubmatch(name)
	if parts == nil || p.query.Dialect != "spark" {
		return name
	}
	for _, in := range p.tables {
		for _, f := range in.table.Source.Schema().Fields() {
			if !strings.EqualFold(f.Name, parts[3]) {
				continue
			}
			function := strings.ToUpper(parts[1][:1]) + strings.ToLower(parts[1][1:])
			if class := transformClass(function, f.Type); class != "" {
				return "static_invoke(org.apache.iceberg.spark.functions." + function + "Function$" + class + ".invoke(" + parts[2] + parts[3] + "))"
			}
		}
	}
	return name
}

// numbered is a name to which the engine put a number, where a query in FROM gives several columns one name.
var numbered = regexp.MustCompile(`^(.+)_([0-9]+)$`)

// resultName gives result columns the names that they have in the query that makes them: with * several may be called the same.
func (p *program) resultName(columns *arrow.Schema) func(string) string {
	given := map[string]bool{}
	for _, f := range columns.Fields() {
		given[strings.ToLower(f.Name)] = true
	}
	return func(name string) string {
		if spelled := dialect.Spelled(name); spelled != name {
			return p.sparkName(spelled)
		}
		parts := numbered.FindStringSubmatch(name)
		if parts != nil && given[strings.ToLower(parts[1])] && !p.statement.Words[strings.ToLower(name)] && !p.statement.Aliases[strings.ToLower(name)] && !p.isColumn(name) {
			return p.sparkName(parts[1])
		}
		return p.sparkName(name)
	}
}

// isColumn reports whether a table of the statement has a column of a name.
func (p *program) isColumn(name string) bool {
	if len(p.views) > 0 {
		return true // whose columns are not known by name
	}
	for _, in := range p.tables {
		for _, f := range sourceFields(in) {
			if strings.EqualFold(f.Name, name) {
				return true
			}
		}
	}
	return false
}

// transformClass names the class of a function for a type; empty: it has none.
func transformClass(function string, t arrow.DataType) string {
	kind := transformKind(t)
	switch {
	case kind == "":
		return ""
	case function == "Bucket":
		if other, ok := map[string]string{"BigInt": "Long", "Timestamp": "Long", "TimestampNtz": "Long", "Date": "Int"}[kind]; ok {
			kind = other
		}
		return function + kind
	case function == "Truncate":
		return function + kind
	}
	return kind + "To" + function + "Function"
}

func transformKind(t arrow.DataType) string {
	switch t.ID() {
	case arrow.INT32:
		return "Int"
	case arrow.INT64:
		return "BigInt"
	case arrow.DATE32:
		return "Date"
	case arrow.STRING, arrow.EXTENSION:
		return "String"
	case arrow.BINARY, arrow.FIXED_SIZE_BINARY:
		return "Binary"
	case arrow.DECIMAL128:
		return "Decimal"
	case arrow.TIMESTAMP:
		if t.(*arrow.TimestampType).TimeZone == "" {
			return "TimestampNtz"
		}
		return "Timestamp"
	}
	return ""
}
