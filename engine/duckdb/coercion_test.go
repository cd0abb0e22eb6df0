//go:build cgo

package duckdb

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestCoercionsAnswerAsSpark: what Spark casts by itself, as arguments of functions, in comparisons and where several values meet in one type, has its values, types
// and errors.
func TestCoercionsAnswerAsSpark(t *testing.T) {
	text, err := os.ReadFile("testdata/casts/coercions.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	f := newFixture(t)
	from := ""
	for line := range strings.Lines(string(text)) {
		var a struct {
			From  string  `json:"from"` // the columns of all that follow
			Of    string  `json:"of"`
			Type  string  `json:"type"`
			Text  *string `json:"text"` // of the value, cast to string
			Error string  `json:"error"`
		}
		if err := json.Unmarshal([]byte(line), &a); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if a.From != "" {
			from = a.From
			continue
		}
		schema, got, err := f.sparkTexts(t, "SELECT "+a.Of+" AS v, CAST("+a.Of+" AS STRING) AS s "+from, "")
		problem := ""
		switch {
		case err != nil || a.Error != "":
			problem = wrongError(err, a.Error)
		case recordedType(schema.Field(0).Type) != a.Type:
			problem = fmt.Sprintf("%s, in Spark %s", recordedType(schema.Field(0).Type), a.Type)
		case len(got) != 1 || orNull(got[0]) != orNull(a.Text):
			problem = fmt.Sprintf("%s, in Spark %s", orNull(got[0]), orNull(a.Text))
		}
		if problem != "" {
			t.Errorf("%s is %s", a.Of, problem)
		}
	}
}

// TestCastsArePushedDown: what a cast of a constant gives, and a column whose cast changes nothing, are part of what a scan filters by.
func TestCastsArePushedDown(t *testing.T) {
	f := newFixture(t)
	f.spark = true
	for condition, want := range map[string]string{
		"day >= CAST('2024-3' AS DATE)": "day >= 19783", "day >= '2024-3-1'": "day >= 19783", "CAST(id AS BIGINT) < 100": "id < 100", "id = ' 5 '": "id = 5", "CAST(customer AS BIGINT) = 7": "customer = 7",
		"price = '1.5'": "price = 150", "id = int('7')": "id = 7", "day = DATE '2024-3'": "day = 19783", "CAST(status AS STRING) = 'open'": "status = open",
	} {
		p, err := f.run.Compile(t.Context(), f.query("SELECT count(*) FROM orders WHERE "+condition, nil))
		if err != nil {
			t.Errorf("%s: %v", condition, err)
			continue
		}
		if got := spell(p.(*program).pushed.filter(0)); got != want {
			t.Errorf("%s is pushed down as %q, want %q", condition, got, want)
		}
	}
}
