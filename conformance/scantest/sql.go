package scantest

import (
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"github.com/skua-data/skua/predicate"
)

// spelling is how a query names fields: as DuckDB's view of the files does, or as the table does.
type spelling func(f *field) string

func byID(f *field) string { return fmt.Sprintf(`"f%d"`, f.id) }

func byName(f *field) string { return quoted(f.name) }

func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// column is the way to a field.
func (s spelling) column(p []*field) string {
	var parts []string
	for _, f := range p {
		parts = append(parts, s(f))
	}
	return strings.Join(parts, ".")
}

// viewSQL is a SELECT over a commit's files that gives its live rows in the shape of a schema.
func (t *table) viewSQL(c *commit, s *schema) string {
	var parts []string
	for _, f := range c.data {
		parts = append(parts, t.fileSQL(c, s, f))
	}
	return strings.Join(parts, " UNION ALL ")
}

func (t *table) fileSQL(c *commit, s *schema, f *dataFile) string {
	var columns []string
	for _, want := range s.fields {
		columns = append(columns, t.columnSQL(want, f)+" AS "+byID(want))
	}
	columns = append(columns, fmt.Sprintf(`%s AS "f%d"`, textSQL(f.path), idFile), fmt.Sprintf(`file_row_number AS "f%d"`, idOrdinal), fmt.Sprintf(`%d AS "f%d"`, f.spec.id, idSpec),
		fmt.Sprintf(`%s AS "f%d"`, c.ifRowsHaveIDs(fmt.Sprintf("%d + file_row_number", f.firstRow)), idRow),
		fmt.Sprintf(`%s AS "f%d"`, c.ifRowsHaveIDs(fmt.Sprint(f.sequence)), idLastUpdated))
	var live []string
	for _, d := range c.deletes {
		if cond := t.deletesSQL(d, f); cond != "" {
			live = append(live, cond)
		}
	}
	where := ""
	if len(live) > 0 {
		where = " WHERE " + strings.Join(live, " AND ")
	}
	return fmt.Sprintf("SELECT %s FROM read_parquet(%s, file_row_number=true) AS r%s", strings.Join(columns, ", "), textSQL(f.path), where)
}

// ifRowsHaveIDs is an expression, or NULL in a snapshot of a version that knew no ids of rows.
func (c *commit) ifRowsHaveIDs(expression string) string {
	if c.version < 3 {
		return "CAST(NULL AS BIGINT)"
	}
	return expression
}

// deletesSQL is what holds of the rows of a file that a delete file leaves; empty: it is not for that file.
func (t *table) deletesSQL(d *deleteFile, f *dataFile) string {
	switch {
	case d.vector && d.target == f:
		var list []string
		for _, p := range d.positions[f] {
			list = append(list, strconv.FormatInt(p, 10))
		}
		return "file_row_number NOT IN (" + strings.Join(list, ",") + ")"
	case d.keys == nil && !d.vector && d.sequence >= f.sequence && len(d.positions[f]) > 0:
		return fmt.Sprintf("file_row_number NOT IN (SELECT pos FROM read_parquet(%s) WHERE file_path = %s)", textSQL(d.path), textSQL(f.path))
	case d.keys != nil && d.sequence > f.sequence && (len(d.spec.fields) == 0 || d.spec.void() || d.place() == f.place()):
		var equal []string
		for _, id := range d.keys {
			now := t.newest(id)
			typ := typeSQL(now[len(now)-1].typ)
			equal = append(equal, fmt.Sprintf("CAST(d.%s AS %s) IS NOT DISTINCT FROM CAST(%s AS %s)", spelling(byName).column(path(d.schema.fields, id)), typ, t.keySQL(now, f), typ))
		}
		return fmt.Sprintf("NOT EXISTS (SELECT 1 FROM read_parquet(%s) AS d WHERE %s)", textSQL(d.path), strings.Join(equal, " AND "))
	}
	return ""
}

// keySQL is the value of a field in a file.
func (t *table) keySQL(p []*field, f *dataFile) string {
	out := t.columnSQL(p[0], f)
	for _, inner := range p[1:] {
		out = fmt.Sprintf("struct_extract(%s, 'f%d')", out, inner.id)
	}
	return out
}

// columnSQL is a column of a file in the shape of a field.
func (t *table) columnSQL(want *field, f *dataFile) string {
	own := among(f.schema.fields, want.id)
	base := ""
	if own != nil {
		base = "r." + quoted(own.name)
	}
	return t.shapeSQL(want, own, base, f, 0)
}

func (t *table) shapeSQL(want, own *field, base string, f *dataFile, depth int) string {
	if own == nil {
		return fmt.Sprintf("CAST(%s AS %s)", literalSQL(want.typ, t.shaped(want, nil, nil, f)), typeSQL(want.typ))
	}
	x := fmt.Sprintf("x%d", depth)
	switch want.typ.kind {
	case structure:
		var parts []string
		for _, c := range want.typ.fields {
			inner := among(own.typ.fields, c.id)
			at := ""
			if inner != nil {
				at = fmt.Sprintf("struct_extract(%s, %s)", base, textSQL(inner.name))
			}
			parts = append(parts, byID(c)+" := "+t.shapeSQL(c, inner, at, f, depth))
		}
		return fmt.Sprintf("CASE WHEN %s IS NULL THEN NULL ELSE struct_pack(%s) END", base, strings.Join(parts, ", "))
	case list:
		return fmt.Sprintf("list_transform(%s, lambda %s: %s)", base, x, t.shapeSQL(want.typ.fields[0], own.typ.fields[0], x, f, depth+1))
	case mapping:
		value := t.shapeSQL(want.typ.fields[1], own.typ.fields[1], x+".value", f, depth+1)
		return fmt.Sprintf("CASE WHEN %[1]s IS NULL THEN NULL ELSE map_from_entries(list_transform(map_entries(%[1]s), lambda %[2]s: struct_pack(k := %[2]s.key, v := %[3]s))) END", base, x, value)
	}
	if want.typ.kind == variants { // it is compared with null alone
		return fmt.Sprintf("CASE WHEN %s IS NULL THEN NULL ELSE 'a variant' END", base)
	}
	return fmt.Sprintf("CAST(%s AS %s)", base, typeSQL(want.typ))
}

// typeSQL is DuckDB's name of a type.
func typeSQL(t *typ) string {
	switch t.kind {
	case decimal:
		return fmt.Sprintf("DECIMAL(%d,%d)", t.precision, t.scale)
	case structure:
		var parts []string
		for _, f := range t.fields {
			parts = append(parts, byID(f)+" "+typeSQL(f.typ))
		}
		return "STRUCT(" + strings.Join(parts, ", ") + ")"
	case list:
		return typeSQL(t.fields[0].typ) + "[]"
	case mapping:
		return "MAP(" + typeSQL(t.fields[0].typ) + ", " + typeSQL(t.fields[1].typ) + ")"
	case unknown:
		return "INTEGER"
	}
	return [...]string{"BOOLEAN", "INTEGER", "BIGINT", "FLOAT", "DOUBLE", "", "DATE", "TIME", "TIMESTAMP", "TIMESTAMPTZ", "TIMESTAMP_NS", "TIMESTAMPTZ", "VARCHAR", "UUID", "BLOB", "BLOB", "", "BLOB", "VARCHAR"}[t.kind]
}

func textSQL(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// literalSQL is a value of a primitive type.
func literalSQL(t *typ, v any) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case bool:
		return fmt.Sprint(v)
	case float64:
		return fmt.Sprintf("CAST('%s' AS %s)", floatSQL(v, t.kind == float), typeSQL(t))
	case decimal128.Num:
		return fmt.Sprintf("CAST('%s' AS %s)", v.ToString(int32(t.scale)), typeSQL(t))
	case string:
		return textSQL(v)
	case []byte:
		if t.kind == uuid {
			return fmt.Sprintf("CAST('%s' AS UUID)", defaultJSON(t, v))
		}
		return fmt.Sprintf("from_hex('%s')", hex.EncodeToString(v))
	}
	n := v.(int64)
	switch t.kind {
	case date:
		return fmt.Sprintf("(DATE '1970-01-01' + CAST(%d AS INTEGER))", n)
	case clock:
		return fmt.Sprintf("CAST('%s' AS TIME)", defaultJSON(t, v))
	case timestamp:
		return fmt.Sprintf("make_timestamp(%d)", n)
	case timestampTZ:
		return fmt.Sprintf("CAST(make_timestamp(%d) AS TIMESTAMPTZ)", n)
	case timestampNS:
		return fmt.Sprintf("make_timestamp_ns(%d)", n)
	}
	if n == math.MinInt64 {
		return "CAST('-9223372036854775808' AS BIGINT)"
	}
	return fmt.Sprintf("CAST(%d AS %s)", n, typeSQL(t))
}

func floatSQL(v float64, single bool) string {
	size := 64
	if single {
		size = 32
	}
	return strconv.FormatFloat(v, 'g', -1, size)
}

// filterWords is how an engine's SQL spells what filters are made of.
type filterWords struct {
	column     spelling
	literal    func(t *typ, v any) string
	nan        string // a column's test, with %s for the column
	startsWith string // a function
}

// inDuckDB spells filters as DuckDB does.
func inDuckDB(s spelling) filterWords {
	return filterWords{column: s, literal: literalSQL, nan: "coalesce(isnan(%s), false)", startsWith: "starts_with"}
}

func (w filterWords) filter(e predicate.Expr, fields []*field) string {
	of := func(f predicate.Field) (string, *typ) {
		p := path(fields, f.ID)
		return w.column.column(p), p[len(p)-1].typ
	}
	switch e := e.(type) {
	case termTest:
		return e.String()
	case predicate.And:
		return "(" + w.filter(e.Left, fields) + " AND " + w.filter(e.Right, fields) + ")"
	case predicate.Or:
		return "(" + w.filter(e.Left, fields) + " OR " + w.filter(e.Right, fields) + ")"
	case predicate.Not:
		return "(NOT " + w.filter(e.Expr, fields) + ")"
	case predicate.IsNull:
		c, _ := of(e.Field)
		return "(" + c + " IS NULL)"
	case predicate.IsNaN:
		c, _ := of(e.Field)
		return fmt.Sprintf(w.nan, c)
	case predicate.StartsWith:
		c, _ := of(e.Field)
		return w.startsWith + "(" + c + ", " + textSQL(e.Prefix) + ")"
	case predicate.In:
		c, t := of(e.Field)
		var list []string
		for _, v := range e.Values {
			list = append(list, w.literal(t, v.Value))
		}
		if e.HasNull {
			list = append(list, "NULL")
		}
		return "(" + c + " IN (" + strings.Join(list, ", ") + "))"
	case predicate.Comparison:
		c, t := of(e.Field)
		return "(" + c + " " + [...]string{"=", "<>", "<", "<=", ">", ">="}[e.Op] + " " + w.literal(t, e.Value.Value) + ")"
	}
	panic(fmt.Sprintf("an unknown filter %T", e))
}

// otherKeys says whether an equality delete of a commit compares what DuckDB compares otherwise: it takes -0.0 for 0.0, and reads nanoseconds in
// UTC as microseconds.
func (t *table) otherKeys(c *commit) bool {
	return slices.ContainsFunc(c.deletes, func(d *deleteFile) bool {
		return slices.ContainsFunc(d.keys, func(id int) bool {
			p := t.newest(id)
			k := p[len(p)-1].typ.kind
			return k == float || k == double || k == timestampTZNS
		})
	})
}
