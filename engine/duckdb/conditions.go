//go:build cgo

package duckdb

import (
	"regexp"

	"github.com/skua-data/skua/fault"
)

// condition is what Spark calls an error that the engine tells in words.
type condition struct {
	words       *regexp.Regexp
	name, state string
}

func conditionOf(words, name, state string) condition {
	return condition{regexp.MustCompile(words), name, state}
}

// conditions are the errors of the engine that Spark has a condition for, the first that fits.
var conditions = []condition{
	conditionOf(`^Aggregate function calls cannot be nested`, "NESTED_AGGREGATE_FUNCTION", "42607"),
	conditionOf(`^Aggregate function calls cannot contain window function calls`, "_LEGACY_ERROR_TEMP_1031", ""),
	conditionOf(`^(WHERE|HAVING) clause cannot contain window functions`, "_LEGACY_ERROR_TEMP_1034", ""),
	conditionOf(`^WHERE clause cannot contain aggregates`, "INVALID_WHERE_CONDITION", "42903"),
	conditionOf(`^GROUP BY clause cannot contain aggregates`, "GROUP_BY_AGGREGATE", "42903"),
	conditionOf(`^GROUP BY term out of range`, "GROUP_BY_POS_OUT_OF_RANGE", "42805"),
	conditionOf(`^ORDER term out of range`, "ORDER_BY_POS_OUT_OF_RANGE", "42805"),
	conditionOf(`^GROUPING statement cannot be used without groups`, "UNSUPPORTED_GROUPING_EXPRESSION", "42K0E"),
	conditionOf(`^GROUPING child .* must be a grouping column`, "GROUPING_COLUMN_MISMATCH", "42803"),
	conditionOf(`^In a DISTINCT aggregate, ORDER BY expressions must appear in the argument list`, "INVALID_WITHIN_GROUP_EXPRESSION.MISMATCH_WITH_DISTINCT_INPUT", "42K0K"),
	conditionOf(`^QUANTILE can only take parameters in the range|^Argument for ntile must be greater than zero`, "DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE", "42K09"),
	conditionOf(`^PERCENTILEs can only take parameters in the range`, "DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE", "42K09"),
	conditionOf(`^QUANTILE argument must not be NULL`, "DATATYPE_MISMATCH.UNEXPECTED_NULL", "42K09"),
	conditionOf(`^QUANTILE can only take constant parameters`, "DATATYPE_MISMATCH.NON_FOLDABLE_INPUT", "42K09"),
	conditionOf(`^\S+ is not an aggregate function`, "UNSUPPORTED_EXPR_FOR_WINDOW", "42P20"),
	conditionOf(`^Cannot use multiple ORDER BY clauses with WITHIN GROUP`, "INVALID_WITHIN_GROUP_EXPRESSION.WRONG_NUM_ORDERINGS", "42K0K"),
	conditionOf(`^Cannot use DISTINCT with WITHIN GROUP`, "INVALID_WITHIN_GROUP_EXPRESSION.DISTINCT_UNSUPPORTED", "42K0K"),
	conditionOf(`^Unknown ordered aggregate|is a Scalar Function. "DISTINCT", "FILTER", and "ORDER BY" are only applicable`, "INVALID_SQL_SYNTAX.FUNCTION_WITH_UNSUPPORTED_SYNTAX", "42000"),
	conditionOf(`^Cannot mix aggregates with non-aggregated columns`, "MISSING_AGGREGATION", "42803"),
	conditionOf(`^GROUPING function is not supported here`, "UNSUPPORTED_GROUPING_EXPRESSION", "42K0E"),
	conditionOf(`^UNNEST\(\) can only be applied to lists`, "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE", "42K09"),
	conditionOf(`^UNNEST not supported here`, "UNSUPPORTED_GENERATOR.OUTSIDE_SELECT", "42K0E"),
	conditionOf(`^Nested UNNEST calls are not supported`, "UNSUPPORTED_GENERATOR.NESTED_IN_EXPRESSIONS", "42K0E"),
	conditionOf(`^Could not find key ".*" in struct`, "FIELD_NOT_FOUND", "42704"),
	conditionOf(`^Cannot extract field .* because it is not a struct`, "INVALID_EXTRACT_BASE_FIELD_TYPE", "42000"),
	conditionOf(`^The combining JOIN type must be INNER or LEFT for a LATERAL reference`, "INVALID_LATERAL_JOIN_TYPE", "42613"),
	conditionOf(`^Window ".*" does not exist`, "MISSING_WINDOW_SPECIFICATION", "42P20"),
	conditionOf(`^RANGE frames must have only one ORDER BY expression`, "DATATYPE_MISMATCH.RANGE_FRAME_MULTI_ORDER", "42K09"),
	conditionOf(`^Frame starting from following row cannot have preceding rows`, "DATATYPE_MISMATCH.SPECIFIED_WINDOW_FRAME_WRONG_COMPARISON", "42K09"),
	conditionOf(`^More than one row returned by a subquery used as an expression`, "SCALAR_SUBQUERY_TOO_MANY_ROWS", "21000"),
	conditionOf(`^Subquery returns \d+ columns - expected 1`, "INVALID_SUBQUERY_EXPRESSION.SCALAR_SUBQUERY_RETURN_MORE_THAN_ONE_OUTPUT_COLUMN", "42823"),
	conditionOf(`^Column ".*" does not exist on (left|right) side of join`, "UNRESOLVED_USING_COLUMN_FOR_JOIN", "42703"),
	conditionOf(`^Set operations can only apply to expressions with the same number of result columns`, "NUM_COLUMNS_MISMATCH", "42826"),
	conditionOf(`^VALUES lists must all be the same length`, "INVALID_INLINE_TABLE.NUM_COLUMNS_MISMATCH", "42000"),
	conditionOf(`^Column ".*" in EXCLUDE list not found`, "UNRESOLVED_COLUMN.WITH_SUGGESTION", "42703"),
	conditionOf(`^Division by zero`, "DIVIDE_BY_ZERO", "22012"),
	conditionOf(`^Duplicate CTE name`, "DUPLICATED_CTE_NAMES", "42602"),
}

// told gives a message with Spark's name of the error; nil: Spark has none.
func told(message string) *fault.Error {
	for _, c := range conditions {
		if c.words.MatchString(message) {
			return fault.New(fault.Invalid, "%s", message).With(c.name, c.state)
		}
	}
	return nil
}
