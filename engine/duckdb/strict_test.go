//go:build cgo

package duckdb

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
)

// TestElementaryFunctionsHaveJavasBits: over recorded arguments every bit is Java's.
func TestElementaryFunctionsHaveJavasBits(t *testing.T) {
	functions := map[string]func(x, y float64) float64{
		"atan2": func(x, y float64) float64 { return strictAtan2(x+0, y+0) }, "pow": strictPow, "hypot": strictHypot, "log": func(b, x float64) float64 { return strictLog(x) / strictLog(b) },
	}
	for name, f := range map[string]func(float64) float64{"exp": strictExp, "ln": strictLog, "log10": strictLog10, "sinh": strictSinh, "cosh": strictCosh, "tanh": strictTanh, "atan": strictAtan,
		"asin": strictAsin, "acos": strictAcos, "expm1": math.Expm1, "log1p": math.Log1p, "cbrt": cubeRoot} {
		functions[name] = func(x, _ float64) float64 { return f(x) }
	}
	text, err := os.ReadFile("testdata/strict.txt")
	if err != nil {
		t.Fatal(err)
	}
	asked := map[string]int{}
	for line := range strings.Lines(string(text)) {
		var name string
		var x, y, want uint64
		if n, _ := fmt.Sscanf(line, "%s %x %x %x", &name, &x, &y, &want); n != 4 || want == 1 {
			continue
		}
		asked[name]++
		a, b, w := math.Float64frombits(x), math.Float64frombits(y), math.Float64frombits(want)
		if got := functions[name](a, b); math.Float64bits(got) != want && !(math.IsNaN(got) && math.IsNaN(w)) {
			t.Errorf("%s(%v, %v) is %v, in Spark %v", name, a, b, got, w)
		}
	}
	for name := range functions {
		if asked[name] < 40 {
			t.Errorf("%s is asked for %d arguments", name, asked[name])
		}
	}
}
