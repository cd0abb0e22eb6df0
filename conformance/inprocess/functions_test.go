package inprocess

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// escapes are the functions of JDBC and ODBC escapes, each with a call and what it gives; empty: whatever it gives.
var escapes = map[string][2]string{
	"ABS": {"ABS(-1)", "1"}, "ACOS": {"ACOS(1)", "0"}, "ASIN": {"ASIN(0)", "0"}, "ATAN": {"ATAN(0)", "0"}, "ATAN2": {"ATAN2(0, 1)", "0"}, "CEILING": {"CEILING(1.5)", "2"},
	"COS": {"COS(0)", "1"}, "COT": {"COT(1)", ""}, "DEGREES": {"DEGREES(0)", "0"}, "EXP": {"EXP(0)", "1"}, "FLOOR": {"FLOOR(1.5)", "1"}, "LOG": {"LOG(1)", "0"},
	"LOG10": {"LOG10(100)", "2"}, "MOD": {"MOD(5, 3)", "2"}, "PI": {"PI()", ""}, "POWER": {"POWER(2, 3)", "8"}, "RADIANS": {"RADIANS(0)", "0"}, "RAND": {"RAND()", ""},
	"ROUND": {"ROUND(1.26, 1)", "1.3"}, "SIGN": {"SIGN(-2)", "-1"}, "SIN": {"SIN(0)", "0"}, "SQRT": {"SQRT(4)", "2"}, "TAN": {"TAN(0)", "0"}, "TRUNCATE": {"TRUNCATE(1.26, 1)", "1.2"},

	"ASCII": {"ASCII('A')", "65"}, "CHAR_LENGTH": {"CHAR_LENGTH('ab')", "2"}, "CHARACTER_LENGTH": {"CHARACTER_LENGTH('ab')", "2"},
	"CONCAT": {"CONCAT('a', 'b')", "ab"}, "INSERT": {"INSERT('abc', 1, 1, 'x')", "xbc"}, "LCASE": {"LCASE('A')", "a"}, "LEFT": {"LEFT('abc', 2)", "ab"},
	"LENGTH": {"LENGTH('abc')", "3"}, "LOCATE": {"LOCATE('b', 'abc')", "2"}, "LTRIM": {"LTRIM(' a')", "a"}, "OCTET_LENGTH": {"OCTET_LENGTH('a')", "1"},
	"REPEAT": {"REPEAT('a', 2)", "aa"}, "REPLACE": {"REPLACE('abc', 'b', 'x')", "axc"}, "RIGHT": {"RIGHT('abc', 2)", "bc"}, "RTRIM": {"RTRIM('a ')", "a"},
	"SPACE": {"SPACE(2)", "  "}, "SUBSTRING": {"SUBSTRING('abc', 2, 1)", "b"}, "UCASE": {"UCASE('a')", "A"},

	"IFNULL": {"IFNULL(NULL, 1)", "1"}, "USER": {"USER()", "anonymous"},

	"CURDATE": {"CURDATE()", ""}, "CURRENT_DATE": {"CURRENT_DATE()", ""}, "CURRENT_TIME": {"CURRENT_TIME()", ""}, "CURRENT_TIMESTAMP": {"CURRENT_TIMESTAMP()", ""},
	"CURTIME": {"CURTIME()", ""}, "DAYNAME": {"DAYNAME(DATE '2024-02-29')", "Thursday"}, "DAYOFMONTH": {"DAYOFMONTH(DATE '2024-02-29')", "29"},
	"DAYOFWEEK": {"DAYOFWEEK(DATE '2024-02-29')", ""}, "DAYOFYEAR": {"DAYOFYEAR(DATE '2024-02-29')", "60"}, "EXTRACT": {"EXTRACT(YEAR FROM DATE '2024-02-29')", "2024"},
	"HOUR": {"HOUR(TIMESTAMP '2024-02-29 12:13:14')", "12"}, "MINUTE": {"MINUTE(TIMESTAMP '2024-02-29 12:13:14')", "13"}, "MONTH": {"MONTH(DATE '2024-02-29')", "2"},
	"MONTHNAME": {"MONTHNAME(DATE '2024-02-29')", "February"}, "NOW": {"NOW()", ""}, "QUARTER": {"QUARTER(DATE '2024-02-29')", "1"},
	"SECOND": {"SECOND(TIMESTAMP '2024-02-29 12:13:14')", "14"}, "TIMESTAMPADD": {"TIMESTAMPADD(SQL_TSI_DAY, 1, TIMESTAMP '2024-02-29 12:13:14')", ""},
	"TIMESTAMPDIFF": {"TIMESTAMPDIFF(SQL_TSI_DAY, TIMESTAMP '2024-02-28 12:13:14', TIMESTAMP '2024-02-29 12:13:14')", "1"},
	"WEEK":          {"WEEK(DATE '2024-02-29')", "9"}, "YEAR": {"YEAR(DATE '2024-02-29')", "2024"},
}

// TestFunctionsOfTheServerInfoRun calls every function that the server lists, as drivers do.
func TestFunctionsOfTheServerInfoRun(t *testing.T) {
	s, err := Start(t.Context(), Config{Settings: lake(t)})
	must(t, err)
	t.Cleanup(func() { must(t, s.Stop()) })
	sql, err := flightsql.NewClient(s.Target().Address, nil, nil, grpc.WithTransportCredentials(insecure.NewCredentials()))
	must(t, err)
	defer sql.Close()
	u := &tool{t, sql, context.Background()}
	listed := listedFunctions(t, sql)
	if len(listed) == 0 {
		t.Skip("this build has no SQL engine")
	}
	for _, name := range listed {
		call, known := escapes[name]
		if !known {
			t.Errorf("%s is listed, and nothing shows that it runs", name)
			continue
		}
		got, err := query("SELECT {fn " + call[0] + "} AS v")(u)
		switch {
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case call[1] != "" && got.rows[0][0] != call[1]:
			t.Errorf("%s is %q, want %q", call[0], got.rows[0][0], call[1])
		}
	}
	for name := range escapes {
		if !slices.Contains(listed, name) {
			t.Errorf("%s runs and is not listed", name)
		}
	}
}

func listedFunctions(t *testing.T, sql *flightsql.Client) (out []string) {
	t.Helper()
	info, err := sql.GetSqlInfo(context.Background(), []flightsql.SqlInfo{flightsql.SqlInfoNumericFunctions, flightsql.SqlInfoStringFunctions,
		flightsql.SqlInfoSystemFunctions, flightsql.SqlInfoDateTimeFunctions})
	must(t, err)
	r, err := sql.DoGet(context.Background(), info.Endpoint[0].Ticket)
	must(t, err)
	defer r.Release()
	for r.Next() {
		union := r.RecordBatch().Column(1).(*array.DenseUnion)
		for i := range union.Len() {
			text := union.Field(int(union.TypeCode(i))).ValueStr(int(union.ValueOffset(i)))
			for _, name := range strings.FieldsFunc(text, func(c rune) bool { return strings.ContainsRune(`[]", `, c) }) {
				out = append(out, name)
			}
		}
	}
	return out
}
