package constant_test

import (
	"strings"
	"testing"
	"time"

	"github.com/skua-data/skua/engine/bind"
	"github.com/skua-data/skua/engine/sparktype"
	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
)

var testNow = time.Date(2024, 5, 6, 7, 8, 9, 123456000, time.UTC)

func constantOf(t *testing.T, b *bind.Binder, text string) (sparktype.Value, error) {
	t.Helper()
	tree, err := syntax.NewParser("SELECT " + text).Select()
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if len(tree.Items) != 1 {
		t.Fatalf("%s: %d items", text, len(tree.Items))
	}
	return b.Evaluate(tree.Items[0].Expr)
}

func TestConstants(t *testing.T) {
	b := bind.New(bind.Config{Session: sparktype.Session{Zone: time.UTC, Now: testNow}})
	for _, c := range []struct{ sql, typ, want string }{
		{"1", "int", "1"},
		{"-2147483648", "int", "-2147483648"},
		{"2147483648", "bigint", "2147483648L"},
		{"9223372036854775808", "decimal(19,0)", "9223372036854775808BD"},
		{"1L", "bigint", "1L"},
		{"1S", "smallint", "1S"},
		{"-128Y", "tinyint", "-128Y"},
		{"1.5", "decimal(2,1)", "1.5BD"},
		{"0.001", "decimal(3,3)", "0.001BD"},
		{"-0.5", "decimal(1,1)", "-0.5BD"},
		{"12BD", "decimal(2,0)", "12BD"},
		{"1e3", "double", "1000.0D"},
		{"1.5D", "double", "1.5D"},
		{"1F", "float", "1.0"},
		{"'a\\tb'", "string", "'a\tb'"},
		{"X'fF0'", "binary", "X'0FF0'"},
		{"X''", "binary", "X''"},
		{"true", "boolean", "true"},
		{"NULL", "void", "NULL"},
		{"DATE'2024-02-29'", "date", "DATE '2024-02-29'"},
		{"DATE '2024'", "date", "DATE '2024-01-01'"},
		{"DATE '2024-2-9 ignored'", "date", "DATE '2024-02-09'"},
		{"DATE '-0044-03-15'", "date", "DATE '-0044-03-15'"},
		{"DATE '+10000-01-01'", "date", "DATE '+10000-01-01'"},
		{"DATE 'tomorrow'", "date", "DATE '2024-05-07'"},
		{"TIMESTAMP'2024-02-29 12:34:56.123456789'", "timestamp", "TIMESTAMP '2024-02-29 12:34:56.123456'"},
		{"TIMESTAMP'2024-02-29T1:2:3Z'", "timestamp", "TIMESTAMP '2024-02-29 01:02:03'"},
		{"TIMESTAMP'2024-02-29 00:00:00+02:00'", "timestamp", "TIMESTAMP '2024-02-28 22:00:00'"},
		{"TIMESTAMP'2024-02-29 00:00:00 America/New_York'", "timestamp", "TIMESTAMP '2024-02-29 05:00:00'"},
		{"TIMESTAMP'2024-02-29 00:00:00 GMT+1'", "timestamp", "TIMESTAMP '2024-02-28 23:00:00'"},
		{"TIMESTAMP_LTZ'2024-02'", "timestamp", "TIMESTAMP '2024-02-01 00:00:00'"},
		{"TIMESTAMP'10:11'", "timestamp", "TIMESTAMP '2024-05-06 10:11:00'"},
		{"TIMESTAMP'epoch'", "timestamp", "TIMESTAMP '1970-01-01 00:00:00'"},
		{"TIMESTAMP_NTZ'2024-02-29 12:00:00+05:00'", "timestamp_ntz", "TIMESTAMP_NTZ '2024-02-29 12:00:00'"},
		{"TIME'01:02:03.5'", "time(6)", "01:02:03.5"},
		{"current_timestamp()", "timestamp", "TIMESTAMP '2024-05-06 07:08:09.123456'"},
		{"current_timestamp", "timestamp", "TIMESTAMP '2024-05-06 07:08:09.123456'"},
		{"current_date()", "date", "DATE '2024-05-06'"},
		{"timestamp_micros(-1L)", "timestamp", "TIMESTAMP '1969-12-31 23:59:59.999999'"},
		{"timestamp_millis(1796013774721)", "timestamp", "TIMESTAMP '2026-11-30 04:42:54.721'"},
		{"CAST(timestamp_micros(0L) AS TIMESTAMP_NTZ)", "timestamp_ntz", "TIMESTAMP_NTZ '1970-01-01 00:00:00'"},
		{"CAST(1796013776 AS TIMESTAMP)", "timestamp", "TIMESTAMP '2026-11-30 04:42:56'"},
		{"CAST(1.5 AS TIMESTAMP)", "timestamp", "TIMESTAMP '1970-01-01 00:00:01.5'"},
		{"CAST(-0.5D AS TIMESTAMP)", "timestamp", "TIMESTAMP '1969-12-31 23:59:59.5'"},
		{"CAST(TIMESTAMP'1969-12-31 23:59:59.5' AS BIGINT)", "bigint", "-1L"},
		{"CAST(TIMESTAMP'2024-02-29 12:00:00' AS DATE)", "date", "DATE '2024-02-29'"},
		{"CAST(DATE'2024-02-29' AS STRING)", "string", "'2024-02-29'"},
		{"date_from_unix_date(-1)", "date", "DATE '1969-12-31'"},
		{"make_date(2024, 2, 29)", "date", "DATE '2024-02-29'"},
		{"DATE'2024-02-28' + 1", "date", "DATE '2024-02-29'"},
		{"date_sub('2024-03-01', 1)", "date", "DATE '2024-02-29'"},
		{"double('NaN')", "double", "NaN"},
		{"double('-0.0')", "double", "-0.0D"},
		{"float('3.4028234663852886e+38')", "float", "3.4028235E38"},
		{"double('5e-324')", "double", "4.9E-324D"},
		{"CAST(' -1.5e2d ' AS DOUBLE)", "double", "-150.0D"},
		{"CAST('infinity' AS FLOAT)", "float", "Infinity"},
		{"CAST('1' AS decimal(1,0))", "decimal(1,0)", "1BD"},
		{"CAST('-9.9999999999999999999999999999999999999' AS decimal(38,37))", "decimal(38,37)", "-9.9999999999999999999999999999999999999BD"},
		{"CAST(1.25 AS decimal(5,1))", "decimal(5,1)", "1.3BD"},
		{"CAST(-1.25 AS decimal(5,1))", "decimal(5,1)", "-1.3BD"},
		{"CAST(0.1D AS decimal(5,3))", "decimal(5,3)", "0.100BD"},
		{"CAST('1e2' AS DECIMAL)", "decimal(10,0)", "100BD"},
		{"CAST(1.99 AS INT)", "int", "1"},
		{"CAST(-1.99D AS INT)", "int", "-1"},
		{"CAST(true AS INT)", "int", "1"},
		{"CAST('t' AS BOOLEAN)", "boolean", "true"},
		{"CAST(0 AS BOOLEAN)", "boolean", "false"},
		{"CAST(1.50 AS STRING)", "string", "'1.50'"},
		{"CAST(1e7 AS STRING)", "string", "'1.0E7'"},
		{"CAST('ab' AS BINARY)", "binary", "X'6162'"},
		{"CAST(X'6162' AS STRING)", "string", "'ab'"},
		{"CAST(NULL AS INT)", "int", "NULL"},
		{"'12'::int", "int", "12"},
		{"TRY_CAST('x' AS INT)", "int", "NULL"},
		{"TRY_CAST('x' AS TIMESTAMP)", "timestamp", "NULL"},
		{"int('7') + 1", "int", "8"},
		{"1 + 1L", "bigint", "2L"},
		{"1 + 1.5", "decimal(3,1)", "2.5BD"},
		{"1 / 2", "double", "0.5D"},
		{"1.0 / 3", "decimal(7,6)", "0.333333BD"},
		{"7 div 2", "bigint", "3L"},
		{"-7 % 3", "int", "-1"},
		{"2 * 3.5", "decimal(4,1)", "7.0BD"},
		{"1 + NULL", "int", "NULL"},
		{"'2' + 3", "bigint", "5L"},
		{"1F + 1", "double", "2.0D"},
		{"5 & 3", "int", "1"},
		{"~0", "int", "-1"},
		{"-(1)", "int", "-1"},
		{"'a' || 'b' || 1", "string", "'ab1'"},
		{"concat('a', NULL)", "string", "NULL"},
		{"concat(X'01', X'02')", "binary", "X'0102'"},
		{"unhex('ff')", "binary", "X'FF'"},
		{"unhex('zz')", "binary", "NULL"},
		{"hex(255)", "string", "'FF'"},
		{"upper('é')", "string", "'É'"},
		{"length('日本')", "int", "2"},
		{"abs(-1.5)", "decimal(2,1)", "1.5BD"},
		{"coalesce(NULL, 1, 2L)", "bigint", "1L"},
		{"1 = 1.0", "boolean", "true"},
		{"NOT true", "boolean", "false"},
		{"1 < NULL", "boolean", "NULL"},
		{"1 IS NULL", "boolean", "false"},
		{"NULL <=> NULL", "boolean", "true"},
		{"2 BETWEEN 1 AND 3", "boolean", "true"},
		{"3 IN (1, 2, NULL)", "boolean", "NULL"},
		{"'abc' LIKE 'a%'", "boolean", "true"},
		{"isnan(double('nan'))", "boolean", "true"},
		{"double('NaN') = double('NaN')", "boolean", "true"},
		{"double('NaN') > double('Infinity')", "boolean", "true"},
		{"double('-0.0') = 0", "boolean", "true"},
	} {
		got, err := constantOf(t, b, c.sql)
		if err != nil {
			t.Errorf("%s: %v", c.sql, err)
			continue
		}
		if typ, value := sparktype.Name(got.Type), got.SQL(); typ != c.typ || value != c.want {
			t.Errorf("%s: %s of type %s, want %s of type %s", c.sql, value, typ, c.want, c.typ)
		}
	}
}

func TestConstantErrors(t *testing.T) {
	b := bind.New(bind.Config{Session: sparktype.Session{Zone: time.UTC, Now: testNow}})
	for _, c := range []struct{ sql, want string }{
		{"CAST('x' AS INT)", "[CAST_INVALID_INPUT] The value 'x' of the type \"STRING\" cannot be cast to \"INT\" because it is malformed. Correct the value as per the " +
			"syntax, or change its target type. Use `try_cast` to tolerate malformed input and return NULL instead. SQLSTATE: 22018 (line 1, pos 7)"},
		{"1 / 0", "[DIVIDE_BY_ZERO] Division by zero. Use `try_divide` to tolerate divisor being 0 and return NULL instead. If necessary set " +
			"\"spark.sql.ansi.enabled\" to \"false\" to bypass this error. SQLSTATE: 22012 (line 1, pos 7)"},
		{"1 % 0", "[REMAINDER_BY_ZERO]"},
		{"1.0 / 0", "[DIVIDE_BY_ZERO]"},
		{"1S + 32767S", "[BINARY_ARITHMETIC_OVERFLOW] 1S + 32767S caused overflow. Use `try_add` to ignore overflow problem and return NULL. SQLSTATE: 22003"},
		{"2147483647 + 1", "[ARITHMETIC_OVERFLOW] integer overflow. Use 'try_add' to tolerate overflow and return NULL instead."},
		{"9223372036854775807 * 2", "[ARITHMETIC_OVERFLOW] long overflow. Use 'try_multiply'"},
		{"CAST(128 AS TINYINT)", "[CAST_OVERFLOW] The value 128 of the type \"INT\" cannot be cast to \"TINYINT\" due to an overflow."},
		{"CAST(double('NaN') AS INT)", "[CAST_OVERFLOW]"},
		{"CAST('99.9' AS DECIMAL(2,1))", "[NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION] 99.9 cannot be represented as Decimal(2, 1)."},
		{"CAST('1.5' AS INT)", "[CAST_INVALID_INPUT]"},
		{"CAST('' AS DOUBLE)", "[CAST_INVALID_INPUT]"},
		{"CAST('0x10' AS DOUBLE)", "[CAST_INVALID_INPUT]"},
		{"CAST('1_0' AS DECIMAL)", "[CAST_INVALID_INPUT]"},
		{"CAST('1e999999999' AS DECIMAL)", "[CAST_INVALID_INPUT]"},
		{"CAST('maybe' AS BOOLEAN)", "[CAST_INVALID_INPUT]"},
		{"CAST('2024-02-30' AS DATE)", "[CAST_INVALID_INPUT]"},
		{"CAST('2024-01-01 25:00:00' AS TIMESTAMP)", "[CAST_INVALID_INPUT]"},
		{"CAST('2024-01-01 00:00:00 Nowhere/X' AS TIMESTAMP)", "[CAST_INVALID_INPUT]"},
		{"CAST('2024-01-01 00:00:00+99:00' AS TIMESTAMP)", "[CAST_INVALID_INPUT]"},
		{"CAST(1 AS DATE)", "[DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION] Cannot resolve \"CAST(1 AS DATE)\" due to data type mismatch: cannot cast \"INT\" to \"DATE\"."},
		{"CAST(NULL AS array<int>)", "not supported"},
		{"CAST(1 AS foo)", "[UNSUPPORTED_DATATYPE]"},
		{"CAST(1 AS decimal(39,0))", "[DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION]"},
		{"DATE'never'", "[INVALID_TYPED_LITERAL] The value of the typed literal \"DATE\" is invalid: 'never'. SQLSTATE: 42604 (line 1, pos 7)"},
		{"X'xy'", "[INVALID_TYPED_LITERAL]"},
		{"300Y", "[INVALID_NUMERIC_LITERAL_RANGE] Numeric literal 300 is outside the valid range for tinyint with minimum value of -128 and maximum value of 127."},
		{"123456789012345678901234567890123456789", "[DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION]"},
		{"1e999", "[INVALID_NUMERIC_LITERAL_RANGE]"},
		{"true + 1", "[DATATYPE_MISMATCH.BINARY_OP_DIFF_TYPES] Cannot resolve \"(true + 1)\""},
		{"nope", "[UNRESOLVED_COLUMN.WITHOUT_SUGGESTION]"},
		{"soundex('x')", "the function soundex is not supported"},
		{"make_date(2024, 2, 30)", "[DATETIME_FIELD_OUT_OF_BOUNDS.WITH_SUGGESTION]"},
		{"timestamp_seconds(9223372036854775807)", "[ARITHMETIC_OVERFLOW]"},
		{"unhex()", "[WRONG_NUM_ARGS.WITHOUT_SUGGESTION]"},
	} {
		got, err := constantOf(t, b, c.sql)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %s, %v; want %s", c.sql, got.SQL(), err, c.want)
			continue
		}
		if strings.Contains(c.want, "not supported") != fault.Is(err, fault.Unsupported) {
			t.Errorf("%s: an error of kind %s", c.sql, fault.KindOf(err))
		}
	}
}
