package dialect

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/skua-data/skua/engine/syntax"
)

// castPrefix begins the names of the functions that are Spark's casts.
const castPrefix = "skua_cast_"

// NativeCast is the function that says whether the engine's own cast from one type to another is Spark's.
const NativeCast = "skua_native_cast"

// CastFunction names the function that is a cast to a type: text, integer, decimal_2, …; or nested, which refuses values whose parts have no cast to those of a sample.
func CastFunction(target string, try bool) string {
	if try {
		return "skua_try_cast_" + target
	}
	return castPrefix + target
}

// castTargets are the functions of casts to the engine's types, and how the engine spells a type to whoever asks for it.
var castTargets = map[string]struct{ function, native string }{"VARCHAR": {"text", "VARCHAR"}, "TINYINT": {"tinyint", "TINYINT"}, "SMALLINT": {"smallint", "SMALLINT"},
	"INT": {"integer", "INTEGER"}, "INTEGER": {"integer", "INTEGER"}, "BIGINT": {"bigint", "BIGINT"}, "FLOAT": {"float", "FLOAT"}, "DOUBLE": {"double", "DOUBLE"},
	"BOOLEAN": {"boolean", "BOOLEAN"}, "DATE": {"date", "DATE"}, "TIMESTAMPTZ": {"timestamp", "TIMESTAMP WITH TIME ZONE"}, "TIMESTAMP": {"timestamp_n", "TIMESTAMP"},
	"BLOB": {"binary", "BLOB"}}

// sparkCastable reports whether a type is one that Spark's casts are known to.
func sparkCastable(t syntax.TypeName) bool {
	for _, a := range t.Args {
		if !sparkCastable(a) {
			return false
		}
	}
	for _, f := range t.Fields {
		if !sparkCastable(f.Type) {
			return false
		}
	}
	if len(t.Args) > 0 || len(t.Fields) > 0 {
		return true
	}
	if precision, scale, ok := decimalOf(t); ok {
		return precision >= 1 && precision <= 38 && scale >= 0 && scale <= precision
	}
	_, ok := castTargets[spellType(t, true)]
	return ok
}

// decimalOf gives the digits of a decimal type.
func decimalOf(t syntax.TypeName) (precision, scale int, ok bool) {
	switch t.Name {
	case "decimal", "dec", "numeric":
		precision = 10
		if len(t.Params) > 0 {
			precision = t.Params[0]
		}
		if len(t.Params) > 1 {
			scale = t.Params[1]
		}
		return precision, scale, true
	}
	return 0, 0, false
}

// castText spells the cast of an operand, which it names once.
func (r *rewriter) castText(t syntax.TypeName, try bool, operand string) string {
	if len(t.Args) == 0 && len(t.Fields) == 0 {
		return r.castScalar(t, try, operand)
	}
	v, spelled := "skua_c0", spellType(t, true)
	return fmt.Sprintf("list_transform([%s], lambda %s: CASE WHEN %s(%s, CAST(NULL AS %s)) THEN %s END)[1]", operand, v, CastFunction("nested", try), v, spelled, r.castNested(t, try, v, 1))
}

// castScalar spells the cast to a type without parts.
func (r *rewriter) castScalar(t syntax.TypeName, try bool, operand string) string {
	if precision, scale, ok := decimalOf(t); ok {
		return fmt.Sprintf("CAST(%s(%s, %d) AS DECIMAL(%d, %d))", CastFunction("decimal_"+itoa(scale), try), operand, precision, precision, scale)
	}
	return CastFunction(castTargets[spellType(t, true)].function, try) + "(" + operand + ", " + QuoteText(r.Zone.String()) + ")"
}

// castNested spells the cast of a variable, whose parts are cast in turn.
func (r *rewriter) castNested(t syntax.TypeName, try bool, v string, depth int) string {
	if len(t.Args) == 0 && len(t.Fields) == 0 {
		return r.castScalar(t, try, v)
	}
	spelled, element := spellType(t, true), "skua_c"+itoa(depth)
	var text string
	switch {
	case len(t.Args) == 1:
		text = "list_transform(" + v + ", lambda " + element + ": " + r.castNested(t.Args[0], try, element, depth+1) + ")"
	case len(t.Args) == 2:
		text = "map_from_entries(list_transform(map_entries(" + v + "), lambda " + element + ": struct_pack(key := " + r.castNested(t.Args[0], try, element+".key", depth+1) +
			", value := " + r.castNested(t.Args[1], try, element+".value", depth+1) + ")))"
	default:
		fields := make([]string, len(t.Fields))
		for i, f := range t.Fields {
			fields[i] = QuoteIdent(f.Name.Text) + " := " + r.castNested(f.Type, try, "struct_extract_at("+v+", "+itoa(i+1)+")", depth+1)
		}
		text = "CASE WHEN " + v + " IS NOT NULL THEN struct_pack(" + strings.Join(fields, ", ") + ") END"
	}
	return "CAST(" + text + " AS " + spelled + ")"
}

// castColumn spells the cast of a column: by the engine's own where that is Spark's, which filters are pushed down through. The engine decides it while it plans.
func (r *rewriter) castColumn(t syntax.TypeName, try bool) string {
	if len(t.Args) > 0 || len(t.Fields) > 0 {
		return r.castText(t, try, "$1")
	}
	spelled := spellType(t, true)
	native := castTargets[spelled].native
	if precision, scale, ok := decimalOf(t); ok {
		native = fmt.Sprintf("DECIMAL(%d,%d)", precision, scale)
		spelled = native
	}
	return "CASE WHEN " + NativeCast + "(typeof($1), " + QuoteText(native) + ") THEN CAST($1 AS " + spelled + ") ELSE " + r.castScalar(t, try, "$1") + " END"
}

// namedCast writes the cast of a name of a day or a time, which Spark knows where it is a constant; false: it is another text.
func (r *rewriter) namedCast(typ string, text syntax.Token, pos syntax.Pos) bool {
	if typ != "DATE" && typ != "TIMESTAMP" && typ != "TIMESTAMPTZ" {
		return false
	}
	spelled, ok := r.namedMoment(syntax.TextOf(text), typ)
	if ok {
		r.emitAt(spelled, pos)
	}
	return ok
}

// typeCall writes a function that is called by a type: string(x), int(x); false: it is another one.
func (r *rewriter) typeCall(name string, pos syntax.Pos) bool {
	t := syntax.TypeName{Name: name}
	if !r.Spark || r.odbc || !typeCalls[name] || !r.is("(") {
		return false
	}
	bounds := r.argumentBounds()
	if len(bounds) != 1 || r.unbound(bounds[0][0], bounds[0][1]) {
		return false
	}
	from, to := bounds[0][0], bounds[0][1]
	operand := r.argumentPieces(bounds)[0]
	if r.failed == nil {
		r.castTo(t, false, from, to, operand, pos)
	}
	return true
}

// typeCalls are the types that cast as functions.
var typeCalls = words("string boolean tinyint smallint int bigint float double decimal date timestamp binary")

func itoa(n int) string { return strconv.Itoa(n) }
