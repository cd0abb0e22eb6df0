//go:build cgo

package duckdb

import (
	"bufio"
	"encoding/json"
	"errors"
	"math/big"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/skua-data/skua/fault"
)

// numbersOf are queries with a row of columns of every type: common ones, negative ones, zeros, and the ends of their ranges.
var numbersOf = map[string]string{
	"t": rowOf("7", "300", "70000", "5000000000", "1.5", "2.25", "12.34", "123456789.0123456789", "12345678901234567890", "3", "2024-03-01"),
	"g": rowOf("-7", "-2", "-70000", "-5000000000", "-1.5", "-2.25", "-12.34", "-0.0000000007", "-3", "-4", "2024-03-31"),
	"z": rowOf("0", "0", "0", "0", "0", "0", "0", "0", "0", "0", "2024-03-01"),
	"x": rowOf("-128", "-32768", "-2147483648", "-9223372036854775808", "3.4028234663852886E38", "1.7976931348623157E308", "99999999.99",
		"9999999999999999999999999999.9999999999", "99999999999999999999999999999999999999", "9223372036854775807", "2024-03-01"),
}

func rowOf(values ...string) string {
	types := []string{"ti TINYINT", "si SMALLINT", "i INT", "b BIGINT", "f FLOAT", "d DOUBLE", "d10 DECIMAL(10, 2)", "d38 DECIMAL(38, 10)", "w DECIMAL(38, 0)", "s STRING", "dt DATE"}
	var columns []string
	for i, v := range values {
		name, typ, _ := strings.Cut(types[i], " ")
		columns = append(columns, "CAST('"+v+"' AS "+typ+") AS "+name)
	}
	return "(SELECT " + strings.Join(columns, ", ") + ", TIMESTAMP '2024-03-01 10:11:12' AS ts, TIMESTAMP_NTZ '2024-03-01 10:11:12' AS tn, INTERVAL '36' HOUR AS iv, INTERVAL '1' MONTH AS ym, NULL AS n FROM customers WHERE id = 1)"
}

// answer is what Spark 4.1 says to an expression over one of the rows: a type and a value, or an error.
type answer struct{ row, expr, typ, value string }

func readAnswers(t *testing.T, path string) (out []answer) {
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var fields []*string
		if err := json.Unmarshal(lines.Bytes(), &fields); err != nil {
			t.Fatal(err)
		}
		a := answer{row: *fields[0], expr: *fields[1], typ: *fields[2], value: "NULL"}
		if len(fields) > 3 && fields[3] != nil {
			a.value = *fields[3]
		}
		out = append(out, a)
	}
	return out
}

// TestArithmeticIsSparks compares every operator on every pair of types.
func TestArithmeticIsSparks(t *testing.T) {
	f := newFixture(t)
	f.spark = true
	answers := append(readAnswers(t, "testdata/arithmetic/answers.jsonl"), readAnswers(t, "testdata/arithmetic/answers2.jsonl")...)
	var right []answer
	for _, a := range answers {
		if a.typ[0] == '!' {
			f.one(t, a)
			continue
		}
		if len(right) > 0 && (right[0].row != a.row || aggregates(right[0]) != aggregates(a)) || len(right) == 40 {
			f.several(t, right)
			right = nil
		}
		right = append(right, a)
	}
	f.several(t, right)
}

func aggregates(a answer) bool {
	return strings.Contains(a.expr, "sum(") || strings.Contains(a.expr, "count(") || strings.Contains(a.expr, "avg(") || strings.Contains(a.expr, "max(")
}

// several compares answers in one statement.
func (f *fixture) several(t *testing.T, answers []answer) {
	if len(answers) == 0 {
		return
	}
	var list []string
	for i, a := range answers {
		list = append(list, a.expr+" AS v"+strconv.Itoa(i))
	}
	types, values, err := f.values(t, "SELECT "+strings.Join(list, ", ")+" FROM "+numbersOf[answers[0].row]+" t")
	if err != nil {
		for _, a := range answers {
			if len(answers) > 1 {
				f.several(t, []answer{a})
			} else {
				t.Errorf("%s: %s: %v, want %s %s", a.row, a.expr, err, a.typ, a.value)
			}
		}
		return
	}
	for i, a := range answers {
		if types[i] != strings.Fields(a.typ)[0] || !alike(values[i], a.value) && types[i] != "interval" {
			t.Errorf("%s: %s: %s %s, want %s %s", a.row, a.expr, types[i], values[i], a.typ, a.value)
		}
	}
}

// one compares an error.
func (f *fixture) one(t *testing.T, a answer) {
	types, values, err := f.values(t, "SELECT "+a.expr+" AS v FROM "+numbersOf[a.row]+" t")
	var failed *fault.Error
	if errors.As(err, &failed) && "!"+failed.Condition == a.typ {
		return
	}
	t.Errorf("%s: %s: %v %v %v, want %s", a.row, a.expr, types, values, err, a.typ)
}

// values runs a statement of one row and gives the types and values of its columns.
func (f *fixture) values(t *testing.T, sql string) (types, values []string, err error) {
	p, err := f.run.Compile(t.Context(), f.query(sql, nil))
	if err != nil {
		return nil, nil, err
	}
	r, err := p.Open(t.Context())
	if err != nil {
		return nil, nil, err
	}
	defer r.Release()
	for r.Next() {
		for i := range int(r.RecordBatch().NumCols()) {
			c := r.RecordBatch().Column(i)
			types = append(types, recordedType(c.DataType()))
			if c.IsNull(0) {
				values = append(values, "NULL")
			} else {
				values = append(values, c.ValueStr(0))
			}
		}
	}
	return types, values, r.Err()
}

// alike compares values, numbers by what they are.
func alike(got, want string) bool {
	if got == want || strings.TrimSuffix(strings.Replace(got, "T", " ", 1), "Z") == want {
		return true
	}
	x, ok1 := new(big.Rat).SetString(got)
	y, ok2 := new(big.Rat).SetString(want)
	if ok1 && ok2 && x.Cmp(y) == 0 {
		return true
	}
	a, err1 := strconv.ParseFloat(got, 64)
	b, err2 := strconv.ParseFloat(want, 64)
	return err1 == nil && err2 == nil && (a == b || a != a && b != b || float32(a) == float32(b) && strings.ContainsAny(want, "E."))
}
