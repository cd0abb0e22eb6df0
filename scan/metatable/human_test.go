package metatable

import (
	"math"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/iceberg-go"
)

func TestHumanValues(t *testing.T) {
	identity := iceberg.IdentityTransform{}
	for _, c := range []struct {
		v         any
		transform iceberg.Transform
		typ       iceberg.Type
		want      string
	}{
		{nil, identity, integer, "null"},
		{int64(53), iceberg.YearTransform{}, integer, "2023"},
		{int64(-1), iceberg.MonthTransform{}, integer, "1969-12"},
		{int64(636), iceberg.MonthTransform{}, integer, "2023-01"},
		{int64(-1), iceberg.DayTransform{}, iceberg.DateType{}, "1969-12-31"},
		{int64(472222), iceberg.HourTransform{}, integer, "2023-11-14-22"},
		{int64(3), iceberg.BucketTransform{NumBuckets: 4}, integer, "3"},
		{int64(-500000), identity, timestampTZ, "1969-12-31T23:59:59.5+00:00"},
		{int64(0), identity, iceberg.PrimitiveTypes.Timestamp, "1970-01-01T00:00:00"},
		{int64(3661000000), identity, iceberg.PrimitiveTypes.Time, "01:01:01"},
		{math.Copysign(0, -1), identity, iceberg.PrimitiveTypes.Float64, "-0.0"},
		{1e7, identity, iceberg.PrimitiveTypes.Float64, "1.0E7"},
		{1.25e-4, identity, iceberg.PrimitiveTypes.Float64, "1.25E-4"},
		{float64(float32(0.1)), identity, iceberg.PrimitiveTypes.Float32, "0.1"},
		{math.Inf(1), identity, iceberg.PrimitiveTypes.Float64, "Infinity"},
		{math.Inf(-1), identity, iceberg.PrimitiveTypes.Float64, "-Infinity"},
		{math.NaN(), identity, iceberg.PrimitiveTypes.Float64, "NaN"},
		{decimal128.FromI64(-50), identity, iceberg.DecimalTypeOf(9, 2), "-0.50"},
		{[]byte("b2"), identity, binary, "YjI="},
		{"x", identity, text, "x"},
		{true, identity, boolean, "true"},
	} {
		if got := human(c.v, c.transform, c.typ); got != c.want {
			t.Errorf("%v by %s: %s, want %s", c.v, c.transform, got, c.want)
		}
	}
}

func TestOpenKnowsItsNames(t *testing.T) {
	if !Known("SNAPSHOTS") || Known("nope") {
		t.Error("names are compared in any case, and only known ones are known")
	}
	if _, ok, err := Open(Input{}, "changes"); !ok || err == nil {
		t.Error("what is not built must be refused by name")
	}
	if _, ok, _ := Open(Input{}, "nope"); ok {
		t.Error("an unknown name was opened")
	}
	if _, _, err := Open(Input{Travelled: true}, "all_files"); err == nil || err.Error() != "Cannot select snapshot in table: ALL_FILES" {
		t.Errorf("time travel in all_files: %v", err)
	}
}
