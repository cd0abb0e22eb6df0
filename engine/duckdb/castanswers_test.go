//go:build cgo

package duckdb

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/fault"
)

// castAnswer is what Spark says to casts: a line of values, and lines with what each of them is in another type.
type castAnswer struct {
	Values []string  `json:"values"` // as literals
	Zone   string    `json:"zone"`   // of the session; empty: UTC
	To     string    `json:"to"`
	Type   string    `json:"type"`  // of the cast
	Texts  []*string `json:"texts"` // of TRY_CAST: as text, in hexadecimal digits those that are binary. What Java before 19 writes with more digits than there need be is ?
	Error  string    `json:"error"`
}

// TestCastsAnswerAsSpark: over columns, casts give Spark's values, types and errors. A value that TRY_CAST makes NULL fails in CAST.
func TestCastsAnswerAsSpark(t *testing.T) {
	text, err := os.ReadFile("testdata/casts/targets.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	f := newFixture(t)
	var of castAnswer
	for line := range strings.Lines(string(text)) {
		var a castAnswer
		if err := json.Unmarshal([]byte(line), &a); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if a.Values != nil {
			of = a
			continue
		}
		if problem := f.castsOtherwise(t, of, a); problem != "" {
			t.Errorf("casts of %q to %s: %s", of.Values, a.To, problem)
		}
	}
}

// castsOtherwise says how casts differ from Spark's; empty: they do not.
func (f *fixture) castsOtherwise(t *testing.T, of, a castAnswer) string {
	rows := make([]string, len(of.Values))
	for i, v := range of.Values {
		rows[i] = fmt.Sprintf("(%d, %s)", i, v)
	}
	from := " FROM (VALUES " + strings.Join(rows, ", ") + ") AS t(i, x)"
	text := "CAST(TRY_CAST(x AS " + a.To + ") AS STRING)"
	if a.To == "BINARY" {
		text = "hex(TRY_CAST(x AS BINARY))"
	}
	schema, got, err := f.sparkTexts(t, "SELECT TRY_CAST(x AS "+a.To+") AS y, "+text+" AS s"+from, of.Zone)
	switch {
	case err != nil || a.Error != "":
		return wrongError(err, a.Error)
	case recordedType(schema.Field(0).Type) != a.Type:
		return recordedType(schema.Field(0).Type)
	case len(got) != len(a.Texts):
		return fmt.Sprintf("%d rows, %v", len(got), err)
	}
	failed := 0
	for i, want := range a.Texts {
		switch {
		case want == nil && got[i] == nil && of.Values[i] != "NULL" && !strings.HasPrefix(of.Values[i], "CAST(NULL") && !endless(of.Values[i], a.To) && failed < 2:
			failed++
			_, _, err := f.sparkTexts(t, "SELECT y FROM (SELECT CAST(x AS "+a.To+") AS y"+strings.Replace(from, strings.Join(rows, ", "), rows[i], 1)+") WHERE y IS NOT NULL", of.Zone)
			var e *fault.Error
			if !errors.As(err, &e) || !slices.Contains([]string{"CAST_INVALID_INPUT", "CAST_OVERFLOW", "NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION"}, e.Condition) {
				return fmt.Sprintf("CAST(%s): %v", of.Values[i], err)
			}
		case want == nil || got[i] == nil:
			if want != nil || got[i] != nil {
				return fmt.Sprintf("%s is %s, in Spark %s", of.Values[i], orNull(got[i]), orNull(want))
			}
		case *want != "?" && *want != *got[i] && !strings.HasPrefix(*want, "2026-"): // a clock alone has the day of today
			return fmt.Sprintf("%s is %s, in Spark %s", of.Values[i], orNull(got[i]), orNull(want))
		}
	}
	return ""
}

// endless reports whether a value is no number or infinite and is cast to a decimal, which gives NULL.
func endless(value, to string) bool {
	return strings.HasPrefix(to, "DECIMAL") && (strings.Contains(value, "NaN'") || strings.Contains(value, "Infinity'"))
}

func orNull(s *string) string {
	if s == nil {
		return "NULL"
	}
	return *s
}

// sparkTexts gives the last column of a statement in Spark's dialect.
func (f *fixture) sparkTexts(t *testing.T, sql, zone string) (schema *arrow.Schema, texts []*string, err error) {
	location, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	q := f.query(sql, nil)
	q.Dialect, q.Zone = "spark", location
	p, err := f.run.Compile(t.Context(), q)
	if err != nil {
		return nil, nil, err
	}
	r, err := p.Open(t.Context())
	if err != nil {
		return nil, nil, err
	}
	defer r.Release()
	for r.Next() {
		b := r.RecordBatch()
		column := b.Column(int(b.NumCols()) - 1)
		for i := range int(b.NumRows()) {
			if column.IsNull(i) {
				texts = append(texts, nil)
				continue
			}
			v := strings.Clone(column.ValueStr(i))
			texts = append(texts, &v)
		}
	}
	return p.Schema(), texts, r.Err()
}

// wrongError says how an error is not of a condition; empty: it is.
func wrongError(err error, condition string) string {
	var f *fault.Error
	if errors.As(err, &f) && condition != "" && f.Condition == condition {
		return ""
	}
	return fmt.Sprintf("%v, in Spark %q", err, condition)
}
