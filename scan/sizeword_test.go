package scan

import (
	"testing"

	"github.com/skua-data/skua/fault"
)

// TestSizeInWords reads what people write for a size.
func TestSizeInWords(t *testing.T) {
	for _, c := range []struct {
		text string
		want int64
		ok   bool
	}{
		{"512m", 512 << 20, true}, {"2G", 2 << 30, true}, {" 64 MB ", 64 << 20, true}, {"1_000", 1000, true}, {"10", 10, true}, {"10b", 10, true}, {"1t", 1 << 40, true},
		{"", 0, false}, {"m", 0, false}, {"-1m", 0, false}, {"1e3", 0, false}, {"99999999999g", 0, false}, {"0x10", 0, false},
	} {
		got, ok := sizeInWords(c.text)
		if got != c.want || ok != c.ok {
			t.Errorf("%q: %d, %v", c.text, got, ok)
		}
	}
}

// TestValueErrors names the option, where it was set, and what to write instead.
func TestValueErrors(t *testing.T) {
	const key = "spark.rapids.iceberg.catalog-setting.c.read-split-target-size"
	for _, c := range []struct {
		name       string
		option     Option
		properties map[string]string
		want       string
	}{
		{"a size in words", Option{"split-size", "512m", "catalog", key}, nil,
			`For input string: "512m": the read option split-size (catalog scope, ` + key + `) takes a whole number of 64 bits: write 536870912`},
		{"too large for lookback", Option{"lookback", "2147483648", "explicit", ""}, nil, `For input string: "2147483648": the read option lookback takes a whole number of 32 bits`},
		{"blank", Option{"file-open-cost", " 1", "global", "g"}, nil, `For input string: " 1": the read option file-open-cost (global scope, g) takes a whole number of 64 bits: write 1`},
		{"a bad property below a good option", Option{"split-size", "1", "explicit", ""}, map[string]string{"read.split.target-size": "x"},
			`For input string: "x": the read option split-size (table property read.split.target-size) takes a whole number of 64 bits`},
		{"zero", Option{"split-size", "0", "table", "k"}, nil, `Split size must be > 0: 0 (table scope, k)`},
		{"negative", Option{"file-open-cost", "-1", "explicit", ""}, nil, `File open cost must be >= 0: -1`},
		{"zero of a property", Option{"file-open-cost", "1", "explicit", ""}, map[string]string{"read.split.planning-lookback": "0"},
			`Split planning lookback must be > 0: 0 (table property read.split.planning-lookback)`},
		{"Java's plus and digits", Option{"split-size", "+\u0661\u0662", "explicit", ""}, nil, ""},
	} {
		o, err := resolveOptions([]Option{c.option}, c.properties, scanData)
		if err == nil {
			err = o.check()
		}
		if (err == nil) != (c.want == "") || err != nil && (err.Error() != c.want || !fault.Is(err, fault.Invalid)) {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
}
