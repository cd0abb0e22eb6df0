package dialect

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
)

// function says how a call is written for the engine.
type function struct {
	rename    string // the same arguments under another name
	templates []template
	special   func(r *rewriter, bounds [][2]int, pos syntax.Pos) bool
	spark     bool // only where Spark's meaning is asked for: the engine has a function of this name with another
}

// template is the text for a number of arguments.
type template struct {
	arguments int
	text      string
}

func renamed(to string) function { return function{rename: to} }

func templated(pairs ...any) function {
	f := function{}
	for i := 0; i < len(pairs); i += 2 {
		f.templates = append(f.templates, template{pairs[i].(int), pairs[i+1].(string)})
	}
	return f
}

func (f function) onlySpark() function { f.spark = true; return f }

// transforms are Iceberg's functions.
var transforms = map[string]string{"bucket": "skua_bucket", "truncate": "skua_truncate", "years": "skua_years", "months": "skua_months", "days": "skua_days",
	"hours": "skua_hours"}

// functions are the calls that are written otherwise, by name in lower case.
var functions = map[string]function{
	// Nulls and conditions.
	"nvl": renamed("coalesce"), "nvl2": templated(3, "CASE WHEN ($1) IS NOT NULL THEN $2 ELSE $3 END"),
	"iff": templated(3, "CASE WHEN $1 THEN $2 ELSE $3 END"), "isnull": templated(1, "(($1) IS NULL)"), "isnotnull": templated(1, "(($1) IS NOT NULL)"),
	"isnan":      templated(1, "coalesce(isnan($1), false)"),
	"zeroifnull": templated(1, "coalesce($1, 0)"), "nullifzero": templated(1, "nullif($1, 0)"), "decode": {special: decodeCall},
	"ifnull": renamed("coalesce"), "equal_null": templated(2, "(($1) IS NOT DISTINCT FROM ($2))"),
	"assert_true": templated(1, "CASE WHEN $1 THEN NULL ELSE error('assertion failed') END"),

	// Texts.
	"concat":    {special: concatCall, spark: true},
	"substring": templated(3, "skua_substring($1, $2, $3)", 2, "skua_substring($1, $2)").onlySpark(), "substr": templated(3, "skua_substring($1, $2, $3)", 2, "skua_substring($1, $2)").onlySpark(),
	"locate":    templated(2, "instr($2, $1)", 3, "skua_locate($1, $2, $3)"),
	"charindex": templated(2, "instr($2, $1)", 3, "skua_locate($1, $2, $3)"), "substring_index": renamed("skua_substring_index"), "initcap": renamed("skua_initcap"), "space": templated(1, "skua_repeat(' ', $1)"), "repeat": renamed("skua_repeat"),
	"octet_length": templated(1, "strlen($1)"), "bit_length": templated(1, "(8 * strlen($1))"), "char": templated(1, "chr($1)"),
	"lpad": templated(2, "lpad($1, skua_length($2), ' ')", 3, "lpad($1, skua_length($2), $3)"), "rpad": templated(2, "rpad($1, skua_length($2), ' ')", 3, "rpad($1, skua_length($2), $3)"),
	"printf": {special: formatCall}, "format": {special: formatCall},
	"split":       templated(2, "str_split_regex($1, $2)", 3, "str_split_regex($1, $2)").onlySpark(),
	"regexp_like": templated(2, "regexp_matches($1, $2)"), "rlike": templated(2, "regexp_matches($1, $2)"), "regexp": templated(2, "regexp_matches($1, $2)"),
	"levenshtein": renamed("skua_levenshtein"), "editdist3": renamed("skua_levenshtein"), "damerau_levenshtein": renamed("skua_damerau_levenshtein"),
	"jaro_similarity": renamed("skua_jaro_similarity"), "jaro_winkler_similarity": renamed("skua_jaro_winkler_similarity"),
	"regexp_replace": {special: regexpReplaceCall}, "replace": {special: replaceCall},
	"regexp_count": templated(2, "len(regexp_extract_all($1, $2))"), "regexp_extract": templated(2, "regexp_extract($1, $2, 1)", 3, "regexp_extract($1, $2, $3)").onlySpark(),
	"startswith": renamed("starts_with"), "endswith": renamed("ends_with"), "find_in_set": templated(2, "coalesce(list_position(string_split($2, ','), $1), 0)"),
	"overlay": templated(3, "(left($1, CAST($3 AS INTEGER) - 1) || $2 || substr($1, CAST($3 AS INTEGER) + length($2)))"), "format_string": {special: formatCall},
	"base64": templated(1, "to_base64(CAST($1 AS BLOB))"), "unbase64": templated(1, "from_base64($1)"), "sha": templated(1, "sha1($1)"),
	"sha2": templated(2, "sha256($1)"), "insert": templated(4, "(left($1, $2 - 1) || $4 || substr($1, $2 + $3))"),
	"get_json_object": templated(2, "json_extract_string($1, $2)"), "btrim": renamed("trim"), "format_number": templated(2, "format('{:,.' || ($2) || 'f}', CAST($1 AS DOUBLE))"),

	// Dates and times.
	"date_add": templated(2, "CAST(CAST($1 AS DATE) + CAST($2 AS INTEGER) AS DATE)"), "dateadd": dateAdd, "timestampadd": dateAdd,
	"date_sub": templated(2, "CAST(CAST($1 AS DATE) - CAST($2 AS INTEGER) AS DATE)"), "datediff": dateDiff, "date_diff": dateDiff, "timestampdiff": ofUnit(3, "date_sub('UNIT', $1, $2)", unitNames),
	"add_months": templated(2, "CAST(CAST($1 AS DATE) + to_months(CAST($2 AS INTEGER)) AS DATE)"), "months_between": renamed("skua_months_between"),
	"trunc": {special: truncCall}, "date_trunc": ofUnit(2, "date_trunc('UNIT', $1)", unitNames),
	"date_format": byPattern("strftime(CAST($1 AS TIMESTAMP), FORMAT)", ""), "to_date": byPattern("CAST(strptime($1, FORMAT) AS DATE)", "CAST($1 AS DATE)"),
	"to_timestamp": byPattern("CAST(strptime($1, FORMAT) AS TIMESTAMPTZ)", "skua_to_timestamp($1)"),
	"date":         templated(1, "CAST($1 AS DATE)"), "timestamp": templated(1, "CAST($1 AS TIMESTAMP)"),
	"from_unixtime": templated(1, "strftime(to_timestamp($1), '%Y-%m-%d %H:%M:%S')"), "unix_timestamp": templated(1, "skua_floor(epoch_us(CAST($1 AS TIMESTAMPTZ)), 1000000)"),
	"timestamp_micros": templated(1, "to_timestamp(0) + to_microseconds(CAST($1 AS BIGINT))"), "timestamp_millis": templated(1, "to_timestamp(0) + to_microseconds(CAST($1 AS BIGINT) * 1000)"),
	"timestamp_seconds": templated(1, "to_timestamp($1)"), "unix_micros": templated(1, "epoch_us($1)"), "unix_millis": templated(1, "skua_floor(epoch_us($1), 1000)"),
	"unix_seconds": templated(1, "skua_floor(epoch_us($1), 1000000)"), "unix_date": templated(1, "(CAST($1 AS DATE) - DATE '1970-01-01')"),
	"date_from_unix_date": templated(1, "(DATE '1970-01-01' + CAST($1 AS INTEGER))"), "dayofweek": templated(1, "(dayofweek($1) + 1)").onlySpark(),
	"weekday": templated(1, "((dayofweek($1) + 6) % 7)").onlySpark(), "next_day": renamed("skua_next_day"), "dayofweek_iso": renamed("isodow"),
	"from_utc_timestamp": templated(2, "timezone($2, timezone('UTC', CAST($1 AS TIMESTAMP)))"), "to_utc_timestamp": templated(2, "timezone('UTC', timezone($2, CAST($1 AS TIMESTAMP)))"),
	"convert_timezone": templated(3, "timezone($2, timezone($1, CAST($3 AS TIMESTAMP)))"), "make_timestamp_ntz": renamed("make_timestamp"), "datepart": datePart, "date_part": datePart,

	// Numbers.
	"log": templated(1, "ln($1)", 2, "(ln($2) / ln($1))").onlySpark(), "bround": templated(1, "round_even($1, 0)", 2, "round_even($1, $2)"), "pmod": templated(2, "((($1) % ($2) + ($2)) % ($2))"),
	"rand": templated(0, "random()", 1, "random()"), "truncate": {special: truncateCall}, "bitand": templated(2, "(($1) & ($2))"), "bitor": templated(2, "(($1) | ($2))"),
	"bitxor": templated(2, "xor($1, $2)"), "bitnot": templated(1, "(~($1))"), "shiftleft": templated(2, "(($1) << ($2))"), "shiftright": templated(2, "(($1) >> ($2))"), "negative": templated(1, "(-($1))"),
	"positive": templated(1, "($1)"), "signum": renamed("sign"), "expm1": templated(1, "(exp($1) - 1)"), "log1p": templated(1, "ln(1 + ($1))"), "rint": templated(1, "round_even($1, 0)"),
	"xxhash64": renamed("skua_xxhash64"), "hash": renamed("skua_hash").onlySpark(), "crc32": templated(1, "skua_crc32(CAST($1 AS BLOB))"),
	"try_divide": templated(2, "(($1) / nullif($2, 0))"), "conv": templated(3, "upper(to_base(CAST($1 AS BIGINT), $3))"), "e": templated(0, "exp(1)"),

	// Aggregates.
	"grouping": {special: groupingCall, spark: true}, "grouping_id": {special: groupingCall, spark: true}, "regr_count": templated(2, "CAST(regr_count($1, $2) AS BIGINT)").onlySpark(),
	"sum": {special: sumCall, spark: true}, "try_sum": {special: trySum, spark: true}, "try_avg": {special: tryAverage, spark: true}, "avg": {special: averageCall, spark: true}, "mean": {special: averageCall, spark: true},
	"array_agg":  renamed("list"),
	"percentile": templated(2, "quantile_cont($1, $2)"), "percentile_approx": templated(2, "quantile_disc($1, $2)", 3, "quantile_disc($1, $2)"),
	"approx_percentile": templated(2, "quantile_disc($1, $2)", 3, "quantile_disc($1, $2)"), "every": renamed("bool_and"), "some": renamed("bool_or"), "any": renamed("bool_or"),
	"std": renamed("stddev_samp"), "ndv": renamed("approx_count_distinct"), "len": renamed("length"),

	// Lists, maps, structs.
	"array": renamed("list_value"), "named_struct": {special: namedStruct}, "struct": {special: structCall}, "map": {special: mapCall}, "map_from_arrays": renamed("skua_map"),
	"size": templated(1, "CAST(len($1) AS INTEGER)"), "array_size": templated(1, "CAST(len($1) AS INTEGER)"), "cardinality": templated(1, "CAST(len($1) AS INTEGER)"),
	"array_join": templated(2, "array_to_string($1, $2)"), "sort_array": templated(1, "list_sort($1)", 2, "list_sort($1, CASE WHEN $2 THEN 'ASC' ELSE 'DESC' END)"),
	"sequence": renamed("skua_series"), "generate_series": renamed("skua_series"), "range": renamed("skua_range"), "explode": renamed("unnest"), "explode_outer": renamed("unnest"), "transform": renamed("list_transform"), "exists": {},
	"array_max": renamed("list_max"), "array_min": renamed("list_min"), "array_remove": templated(2, "list_filter($1, skua_x -> skua_x IS DISTINCT FROM ($2))"),
	"array_union": templated(2, "list_distinct(list_concat($1, $2))"), "array_except": templated(2, "list_filter($1, skua_x -> NOT list_contains($2, skua_x))"),
	"array_repeat": templated(2, "list_transform(skua_series(1, $2), skua_x -> $1)"), "arrays_overlap": renamed("list_has_any"), "slice": templated(3, "list_slice($1, $2, ($2) + ($3) - 1)"),
	"try_element_at": templated(2, "($1)[$2]"), "element_at": templated(2, "($1)[$2]"), "map_contains_key": renamed("map_contains"), "get": templated(2, "list_extract($1, ($2) + 1)"),

	// Variants.
	"to_json": templated(1, "skua_to_json($1)"), "schema_of_variant": renamed("skua_schema_of_variant"), "is_variant_null": templated(1, "coalesce(skua_is_variant_null($1), false)"),
	"variant_get": {special: variantGet}, "try_variant_get": {special: tryVariantGet},
}

// odbcFunctions are the names that stand in {fn …} only.
var odbcFunctions = map[string]function{
	"convert": {special: odbcConvert}, "curdate": templated(0, "current_date"), "curtime": templated(0, "current_time"),
	"ucase": renamed("upper"), "lcase": renamed("lower"), "length": renamed("length"), "insert": functions["insert"], "truncate": {special: truncateCall},
	"dayofmonth": renamed("day"), "week": renamed("week"), "log": renamed("ln"), "concat": {special: concatCall},
}

// lookup finds how a function is written.
func (r *rewriter) lookup(name string) (function, bool) {
	if r.odbc {
		if f, ok := r.odbcTable[name]; ok {
			return f, true
		}
	}
	if f, ok := r.sparkCalls[name]; ok && r.Spark {
		return f, true
	}
	f, ok := r.functions[name]
	return f, ok && (!f.spark || r.Spark)
}

// decodeCall writes decode(a, 1, 'x', …, otherwise) as CASE.
func decodeCall(r *rewriter, bounds [][2]int, pos syntax.Pos) bool {
	if len(bounds) < 3 {
		return false
	}
	if r.Spark && len(bounds) <= maxCompared && !r.unbound(bounds[0][0], bounds[len(bounds)-1][1]) {
		r.chosen(bounds)
		return true
	}
	args := r.argumentPieces(bounds)
	r.emitAt("CASE", pos)
	i := 1
	for ; i+1 < len(args); i += 2 {
		r.template("WHEN ($1) IS NOT DISTINCT FROM ($2) THEN $3", pos, args[0], args[i], args[i+1])
	}
	if i < len(args) {
		r.template("ELSE $1", pos, args[i])
	}
	r.emit("END")
	return true
}

// concatCall writes concat, which gives NULL where one of its texts is.
func concatCall(r *rewriter, bounds [][2]int, pos syntax.Pos) bool {
	if len(bounds) == 0 {
		return false
	}
	args := r.argumentPieces(bounds)
	r.emitAt("(", pos)
	for i, a := range args {
		if i > 0 {
			r.emit("||")
		}
		r.template("($1)", pos, a)
	}
	r.emit(")")
	return true
}

// namedStruct writes named_struct('a', 1, …).
func namedStruct(r *rewriter, bounds [][2]int, pos syntax.Pos) bool {
	if len(bounds) == 0 || len(bounds)%2 == 1 {
		return false
	}
	var names []string
	for i := 0; i < len(bounds); i += 2 {
		name, ok := r.literal(bounds[i])
		if !ok {
			return false
		}
		names = append(names, name)
	}
	args := r.argumentPieces(bounds)
	r.emitAt("struct_pack(", pos)
	for i, name := range names {
		if i > 0 {
			r.emit(",")
		}
		r.template(QuoteIdent(name)+" := $1", pos, args[2*i+1])
	}
	r.emit(")")
	return true
}

// structCall writes struct(a, b AS x): fields are called after their columns, else col1, col2, …
func structCall(r *rewriter, bounds [][2]int, pos syntax.Pos) bool {
	if len(bounds) == 0 {
		return false
	}
	names := make([]string, len(bounds))
	for i, b := range bounds {
		last := r.at(b[1] - 1)
		names[i] = "col" + strconv.Itoa(i+1)
		switch {
		case b[1]-b[0] >= 3 && r.at(b[1]-2).Is("AS"):
			names[i] = last.Name()
			bounds[i][1] = b[1] - 2
		case r.isColumn(b), r.Spark && b[1]-b[0] > 2 && r.at(b[1]-2).Is(".") && last.Kind != syntax.Number:
			names[i] = last.Name()
		}
	}
	args := make([][]piece, len(bounds))
	for i, b := range bounds {
		r.next = b[0]
		args[i] = r.capture(func() {
			for r.failed == nil && r.next < b[1] {
				r.step(&scope{})
			}
		})
	}
	r.next = r.endOf(r.next) + 1
	r.emitAt("struct_pack(", pos)
	for i, name := range names {
		if i > 0 {
			r.emit(",")
		}
		r.template(QuoteIdent(name)+" := $1", pos, args[i])
	}
	r.emit(")")
	return true
}

// isColumn reports whether an argument is a name, with dots or without.
func (r *rewriter) isColumn(b [2]int) bool {
	for i := b[0]; i < b[1]; i++ {
		t := r.at(i)
		if name := t.Kind == syntax.Word || t.Kind == syntax.Quoted; (i-b[0])%2 == 0 && !name || (i-b[0])%2 == 1 && !t.Is(".") {
			return false
		}
	}
	return (b[1]-b[0])%2 == 1 && !oneOf(r.at(b[0]), "NULL", "TRUE", "FALSE") && (b[1]-b[0] > 1 || !r.constant(r.at(b[0]).Text))
}

// mapCall writes map(k, v, …).
func mapCall(r *rewriter, bounds [][2]int, pos syntax.Pos) bool {
	if len(bounds)%2 == 1 || len(bounds) == 2 && (r.at(bounds[0][0]).Is("[") || !r.Spark && r.at(bounds[0][0]).Kind == syntax.Word) {
		return false
	}
	return r.mapOf("map([", bounds, pos)
}

// truncateCall writes truncate(x, digits).
func truncateCall(r *rewriter, bounds [][2]int, pos syntax.Pos) bool {
	if len(bounds) != 2 {
		return false
	}
	args := r.argumentPieces(bounds)
	r.template(truncated, pos, args...)
	return true
}

// odbcConvert writes CONVERT(value, SQL_TYPE).
func odbcConvert(r *rewriter, bounds [][2]int, pos syntax.Pos) bool {
	if len(bounds) != 2 {
		return false
	}
	typ, ok := typeNames[strings.ToLower(r.at(bounds[1][0]).Text)]
	if !ok {
		return false
	}
	args := r.argumentPieces(bounds)
	r.template("CAST($1 AS "+typ+")", pos, args[0])
	return true
}

// formatCall writes printf and format, whose patterns must be literals without great widths: a width is memory.
func formatCall(r *rewriter, bounds [][2]int, pos syntax.Pos) bool {
	name := strings.ToLower(r.at(r.next - 1).Text)
	if name == "format_string" {
		name = "printf"
	}
	pattern, ok := "", false
	if len(bounds) > 0 {
		pattern, ok = r.literal(bounds[0])
	}
	if !ok || greatWidth.MatchString(pattern) {
		r.failed = fault.New(fault.Unsupported, "%s takes a literal as its pattern, with widths of up to three digits", name).At(fault.Position{Line: pos.Line, Column: pos.Column})
		return true
	}
	r.function(name, pos)
	return true
}

// greatWidth finds widths of four digits and those that are arguments.
var greatWidth = regexp.MustCompile(`[0-9]{4}|\*|\{[^}]*\{`)

// countOfSeveral writes count(a, b) and count(DISTINCT a, b), which count the rows where none of them is NULL; false: it has one argument.
func (r *rewriter) countOfSeveral(pos syntax.Pos) bool {
	bounds := r.argumentBounds()
	if len(bounds) == 0 && r.Spark {
		r.failed = fault.New(fault.Invalid, "The `count` requires >= 1 parameters but the actual number is 0.").With("WRONG_NUM_ARGS.WITH_SUGGESTION", "42605").At(faultAt(pos))
		return true
	}
	if len(bounds) < 2 {
		return false
	}
	distinct := r.at(bounds[0][0]).Is("DISTINCT")
	if distinct || r.at(bounds[0][0]).Is("ALL") {
		bounds[0][0]++
	}
	value, open := "1", "count(CASE WHEN"
	args := r.argumentPieces(bounds)
	if distinct {
		value, open = "row(", "count(DISTINCT CASE WHEN"
	}
	r.emitAt(open, pos)
	for i, a := range args {
		if i > 0 {
			r.emit("AND")
		}
		r.template("($1) IS NOT NULL", pos, a)
	}
	r.emit("THEN " + value)
	for i, a := range args {
		if !distinct {
			break
		}
		if i > 0 {
			r.emit(",")
		}
		r.template("$1", pos, a)
	}
	if distinct {
		r.emit(")")
	}
	r.emit("END)")
	return true
}
