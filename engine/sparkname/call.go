package sparkname

import (
	"strconv"
	"strings"

	"github.com/skua-data/skua/engine/syntax"
)

// completed are the arguments that Spark adds where a call leaves them out, by the function's name and the number of those that it has.
var completed = map[string]string{"substring 2": "2147483647", "substr 2": "2147483647", "split 2": "-1", "regexp_extract 2": "1", "regexp_extract_all 2": "1", "regexp_replace 3": "1",
	"lpad 2": " ", "rpad 2": " ", "overlay 3": "-1", "round 1": "0", "bround 1": "0", "months_between 2": "true", "unix_timestamp 1": "yyyy-MM-dd HH:mm:ss",
	"to_unix_timestamp 1": "yyyy-MM-dd HH:mm:ss", "from_unixtime 1": "yyyy-MM-dd HH:mm:ss", "sort_array 1": "true", "percentile 2": "1", "percentile_approx 2": "10000",
	"approx_percentile 2": "10000", "locate 2": "1", "regexp_instr 2": "0", "replace 2": "", "listagg 1": "NULL", "string_agg 1": "NULL", "position 2": "1", "mask 1": "X, x, n, NULL", "mask 2": "x, n, NULL", "mask 3": "n, NULL", "mask 4": "NULL", "str_to_map 1": ",, :",
	"str_to_map 2": ":", "array_sort 1": defaultOrder,
	"aggregate 3": sameValue, "reduce 3": sameValue}

// sameValue is what a fold ends with where nothing else is given.
const sameValue = "lambdafunction(namedlambdavariable(), namedlambdavariable())"

// defaultOrder is the comparison that array_sort has where none is given.
const defaultOrder = "lambdafunction((IF(((namedlambdavariable() IS NULL) AND (namedlambdavariable() IS NULL)), 0, (IF((namedlambdavariable() IS NULL), 1, (IF((namedlambdav" +
	"ariable() IS NULL), -1, (IF((namedlambdavariable() < namedlambdavariable()), -1, (IF((namedlambdavariable() > namedlambdavariable()), 1, 0)))))))))), namedlambdavariable(), namedlambdavariable())"

// otherNames are the functions that Spark calls otherwise than they are written.
var otherNames = map[string]string{"curdate": "current_date", "current_database": "current_schema", "array_agg": "collect_list", "random": "rand"}

// loudNames are the functions that Spark writes in capitals.
var loudNames = func() map[string]bool {
	out := map[string]bool{}
	for _, name := range strings.Fields(`regexp_like regexp rlike exp sqrt cbrt expm1 log log10 log2 log1p power signum sin cos tan cot sec csc atan atan2 sinh cosh tanh asin acos asinh acosh atanh
		degrees radians pi e hypot`) {
		out[name] = true
	}
	return out
}()

// calledOtherwise writes the calls that Spark writes as something else; false: it is none.
func (n *namer) calledOtherwise(name string, args []syntax.Expr) bool {
	switch {
	case name == "isnull" && len(args) == 1:
		n.words("(", args[0], " IS NULL)")
	case (name == "to_char" || name == "to_varchar") && len(args) == 2:
		return n.formatted(args[0], args[1])
	case name == "isnotnull" && len(args) == 1:
		n.words("(", args[0], " IS NOT NULL)")
	case name == "if" && len(args) == 3:
		n.words("(IF(", args[0], ", ", args[1], ", ", args[2], "))")
	case name == "positive" && len(args) == 1:
		n.words("(+ ", args[0], ")")
	case name == "like" && len(args) > 1:
		n.like(likeOf(args))
	case name == "ilike" && len(args) == 3:
		n.words("ilike(", args[0], ", ", args[1], ")")
	case name == "unix_timestamp" && len(args) == 0:
		n.WriteString("unix_timestamp(current_timestamp(), yyyy-MM-dd HH:mm:ss)")
	case name == "convert_timezone" && len(args) == 2:
		n.words("convert_timezone(current_timezone(), ", args[0], ", ", args[1], ")")
	case name == "div" && len(args) == 2:
		n.words("(", args[0], " div ", args[1], ")")
	case name == "log" && len(args) == 1:
		n.words("LOG(E(), ", args[0], ")")
	case name == "ltrim" && len(args) == 2:
		n.words("TRIM(LEADING ", args[0], " FROM ", args[1], ")")
	case name == "rtrim" && len(args) == 2:
		n.words("TRIM(TRAILING ", args[0], " FROM ", args[1], ")")
	case name == "datepart" && len(args) == 2:
		n.words("datepart(", args[0], " FROM ", args[1], ")")
	case name == "mode" && len(args) == 2:
		return n.mode(args[0], args[1])
	case name == "current_time" && len(args) == 0:
		n.WriteString("current_time(6)")
	default:
		return false
	}
	return true
}

// likeOf gives the test that a call of like stands for.
func likeOf(args []syntax.Expr) *syntax.Like {
	out := &syntax.Like{Expr: args[0], Pattern: args[1]}
	if len(args) == 3 {
		out.Escape, _ = args[2].(*syntax.Literal)
	}
	return out
}

// shownArguments are those of a call's arguments that Spark shows: whether nulls are left out, how exact an estimate is, schemas and options are none.
func shownArguments(name string, args []syntax.Expr) []syntax.Expr {
	switch name {
	case "first", "last", "any_value", "first_value", "last_value", "approx_count_distinct", "to_json", "from_json", "to_csv", "from_csv", "schema_of_json", "schema_of_csv":
		return args[:min(1, len(args))]
	}
	return args
}

// shownName is how Spark writes the name of a function with so many arguments.
func shownName(name string, arguments int) string {
	switch {
	case loudNames[name], (name == "ceil" || name == "floor") && arguments == 1:
		return strings.ToUpper(name)
	case name == "dateadd" && arguments == 2:
		return "date_add"
	case otherNames[name] != "":
		return otherNames[name]
	}
	return name
}

// completion gives the arguments that Spark adds, behind a comma; empty: none.
func completion(name string, arguments int) string {
	if more, ok := completed[name+" "+strconv.Itoa(arguments)]; ok {
		return ", " + more
	}
	return ""
}

// mode writes mode with whether the least of several values is taken, a literal; false: it is none.
func (n *namer) mode(value, least syntax.Expr) bool {
	switch l, ok := least.(*syntax.Literal); {
	case !ok || l.Kind != syntax.Boolean:
		return false
	case l.Value == "true":
		n.words("mode() WITHIN GROUP (ORDER BY ", value, " DESC)")
	default:
		n.words("mode(", value, ")")
	}
	return true
}
