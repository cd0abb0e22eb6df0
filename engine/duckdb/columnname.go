package duckdb

import (
	"regexp"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
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
