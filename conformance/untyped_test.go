package conformance

import (
	"slices"
	"testing"
)

func TestWhatTypesSayDoesNotCountWithoutThem(t *testing.T) {
	for _, c := range [][2]string{
		{"0.1", "0.10000000149011612"}, {"2024-01-01T10:00:00Z", "2024-01-01T10:00:00"}, {`[{"key":"a","value":1}]`, `{"a":1}`}, {`{"p":null,"q":2}`, `{"q":2}`},
		{`[{"x":[{"key":1,"value":"b"}]}]`, `[{"x":{"1":"b"}}]`}, {"-0", "-0"},
	} {
		if canonicalLine("x\t"+c[0]) != canonicalLine("x\t"+c[1]) {
			t.Errorf("%q and %q are told apart: %q, %q", c[0], c[1], canonicalCell(c[0]), canonicalCell(c[1]))
		}
	}
	for _, c := range [][2]string{{"0.1", "0.2"}, {"a", "b"}, {`{"a":1}`, `{"a":2}`}, {"1", "2"}, {"2024-01-01", "2024-01-02"}, {"NULL", `"NULL"`}} {
		if canonicalLine(c[0]) == canonicalLine(c[1]) {
			t.Errorf("%q and %q are not told apart", c[0], c[1])
		}
	}
	got := schemaColumns("a int!, sp ace struct<in ner:int,b:array<x, y>>, c decimal(5,2)")
	if !slices.Equal(got, []string{"a", "sp ace", "c"}) {
		t.Errorf("columns %q", got)
	}
}
