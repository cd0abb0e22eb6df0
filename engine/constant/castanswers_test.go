package constant_test

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/skua-data/skua/engine/bind"
	"github.com/skua-data/skua/engine/sparktype"
	"github.com/skua-data/skua/fault"
)

// TestConstantCastsAnswerAsSpark: casts of constants give what the SQL engine's casts over columns give, which is what Spark gives.
func TestConstantCastsAnswerAsSpark(t *testing.T) {
	text, err := os.ReadFile("../duckdb/testdata/casts/targets.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	type answer struct {
		Values   []string
		Zone, To string
		Texts    []*string
		Error    string
	}
	var of answer
	asked := 0
	for line := range strings.Lines(string(text)) {
		var a answer
		if err := json.Unmarshal([]byte(line), &a); err != nil {
			t.Fatal(err)
		}
		if a.Values != nil {
			of = a
			continue
		}
		zone, err := time.LoadLocation(of.Zone)
		if err != nil {
			t.Fatal(err)
		}
		b := bind.New(bind.Config{Session: sparktype.Session{Zone: zone, Now: testNow}})
		for i, v := range of.Values {
			sql := "CAST(TRY_CAST(" + v + " AS " + a.To + ") AS STRING)"
			if a.To == "BINARY" {
				sql = "hex(TRY_CAST(" + v + " AS BINARY))"
			}
			c, err := constantOf(t, b, sql)
			var f *fault.Error
			if errors.As(err, &f) && f.Kind == fault.Unsupported {
				continue
			}
			asked++
			word := strings.ToLower(strings.Trim(v, "'"))
			switch {
			case a.Error != "" && f != nil && (f.Condition == a.Error || strings.HasPrefix(a.Error, "DATATYPE_MISMATCH.") && strings.HasPrefix(f.Condition, "DATATYPE_MISMATCH.")):
			case a.Error != "" || err != nil:
				t.Errorf("%s: %v %v, in Spark %q", sql, c.Value, err, a.Error)
			case word == "epoch" || word == "now" || word == "today": // Spark knows these words where they are constants
			case a.Texts[i] == nil && !c.Null(), a.Texts[i] != nil && *a.Texts[i] != "?" && !strings.HasPrefix(*a.Texts[i], "2026-") && c.Value != *a.Texts[i]:
				t.Errorf("%s is %v, in Spark %v", sql, c.Value, a.Texts[i])
			}
		}
	}
	if asked < 2000 {
		t.Errorf("only %d casts were evaluated", asked)
	}
}
