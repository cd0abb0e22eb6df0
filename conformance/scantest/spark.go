package scantest

import (
	"encoding/hex"
	"fmt"
	"math"
	"strings"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
)

// sparkName is how Spark's SQL names a field.
func sparkName(f *field) string { return "`" + strings.ReplaceAll(f.name, "`", "``") + "`" }

// sparkSQL is a query as Spark's SQL has it.
func (t *table) sparkSQL(q *query) string {
	columns := []string{"1 AS c"}
	for i, p := range q.output {
		if i == 0 {
			columns = nil
		}
		columns = append(columns, fmt.Sprintf("%s AS c%d", spelling(sparkName).column(p), i))
	}
	out := "SELECT " + strings.Join(columns, ", ") + " FROM " + t.sparkTable(q)
	if q.filter != nil {
		out += " WHERE " + inSpark.filter(q.filter, q.schema.fields)
	}
	if q.sorted {
		var keys []string
		for i := range q.output {
			keys = append(keys, fmt.Sprintf("c%d%s", i, q.order[i]))
		}
		out += " ORDER BY " + strings.Join(keys, ", ")
		if q.limit >= 0 {
			out += fmt.Sprintf(" LIMIT %d", q.limit)
		}
	}
	return out
}

func (t *table) sparkTable(q *query) string {
	out := "random.db." + t.name()
	switch {
	case q.ref.ID != 0:
		out += fmt.Sprintf(" VERSION AS OF %d", q.ref.ID)
	case q.ref.Name == tag:
		out += fmt.Sprintf(" VERSION AS OF '%s'", tag)
	case q.ref.Name == branch:
		out += ".branch_" + branch
	}
	var options []string
	for _, o := range q.options {
		options = append(options, fmt.Sprintf("`%s` = '%s'", o.Name, o.Value))
	}
	if options != nil {
		out += " WITH (" + strings.Join(options, ", ") + ")"
	}
	return out
}

// sparkLiteral is a value in Spark's SQL.
func sparkLiteral(t *typ, v any) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case bool:
		return fmt.Sprint(v)
	case float64:
		text := floatSQL(v, t.kind == float)
		if math.IsInf(v, 0) {
			text = strings.Replace(text, "Inf", "Infinity", 1)
		}
		return fmt.Sprintf("CAST('%s' AS %s)", text, t)
	case decimal128.Num:
		return fmt.Sprintf("CAST('%s' AS DECIMAL(%d,%d))", v.ToString(int32(t.scale)), t.precision, t.scale)
	case string:
		return textSQL(v)
	case []byte:
		if t.kind == uuid {
			return textSQL(fmt.Sprint(defaultJSON(t, v)))
		}
		return "X'" + hex.EncodeToString(v) + "'"
	}
	switch t.kind {
	case date:
		return fmt.Sprintf("DATE '%s'", defaultJSON(t, v))
	case clock:
		return fmt.Sprintf("CAST('%s' AS TIME)", defaultJSON(t, v))
	case timestampNS, timestampTZNS: // a literal with a type would hold no nanoseconds
		return textSQL(fmt.Sprint(defaultJSON(t, v)))
	case timestamp:
		return fmt.Sprintf("TIMESTAMP_NTZ '%s'", defaultJSON(t, v))
	case timestampTZ:
		return fmt.Sprintf("TIMESTAMP_LTZ '%s'", defaultJSON(t, v))
	}
	if v == int64(math.MinInt64) {
		return "CAST('-9223372036854775808' AS BIGINT)"
	}
	return fmt.Sprint(v)
}

// inSpark spells filters as Spark does.
var inSpark = filterWords{column: sparkName, literal: sparkLiteral, nan: "isnan(%s)", startsWith: "startswith"}
