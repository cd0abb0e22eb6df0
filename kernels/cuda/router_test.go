package cuda

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet/compress"

	"github.com/skua-data/skua/kernels/cpu"
	"github.com/skua-data/skua/kernels/cuda/device"
)

// lineitem is TPC-H's table as Iceberg writes it, with zstd: bytes of a row packed, unpacked and as Arrow, and the nanoseconds that a core of
// a tuned reader takes, all measured at scale 1.
var lineitem = []struct {
	name                  string
	packed, size, arrow   float64
	time                  float64
	form                  cpu.Form
	stored, back          int
	widened, dictionaries bool
}{
	{"l_orderkey", 1.09, 5.98, 8.1, 6.7, cpu.SameBytes, 8, 8, false, false},
	{"l_partkey", 2.54, 3.04, 8.1, 4.4, cpu.SameBytes, 8, 8, false, true},
	{"l_suppkey", 1.77, 1.80, 8.1, 2.7, cpu.SameBytes, 8, 8, false, true},
	{"l_linenumber", 0.30, 0.38, 4.1, 2.8, cpu.SameBytes, 4, 4, false, true},
	{"l_quantity", 0.76, 0.76, 16, 4.0, cpu.DecimalInt, 8, 8, true, true},
	{"l_extendedprice", 3.62, 8.14, 16, 10.7, cpu.DecimalInt, 8, 8, true, false},
	{"l_discount", 0.44, 0.51, 16, 3.5, cpu.DecimalInt, 8, 8, true, true},
	{"l_tax", 0.41, 0.51, 16, 3.5, cpu.DecimalInt, 8, 8, true, true},
	{"l_returnflag", 0.18, 0.25, 5, 15, cpu.TextForm, 0, 0, false, true},
	{"l_linestatus", 0.11, 0.16, 5, 15, cpu.TextForm, 0, 0, false, true},
	{"l_shipdate", 1.51, 1.51, 4, 2.8, cpu.SameBytes, 4, 4, false, true},
	{"l_commitdate", 1.51, 1.51, 4, 2.8, cpu.SameBytes, 4, 4, false, true},
	{"l_receiptdate", 1.51, 1.51, 4, 2.8, cpu.SameBytes, 4, 4, false, true},
	{"l_shipinstruct", 0.26, 0.26, 16, 19.5, cpu.TextForm, 0, 0, false, true},
	{"l_shipmode", 0.38, 0.38, 8.3, 14.9, cpu.TextForm, 0, 0, false, true},
	{"l_comment", 8.70, 30.55, 30.5, 40, cpu.TextForm, 0, 0, false, false},
}

// lineitemScans are what is predicted: some of its columns, and how much of the rows comes back.
var lineitemScans = []struct {
	name    string
	columns []int
	keep    float64
}{
	{"all columns", []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, 1},
	{"all columns, a filter on the device keeps 1.9 %", []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, 0.019},
	{"four columns of query 6", []int{4, 5, 6, 10}, 1},
	{"four columns of query 6, a filter on the device keeps 1.9 %", []int{4, 5, 6, 10}, 0.019},
}

// measured is a column's estimate by what was measured, rather than by what metadata tells.
func measured(i int, rows, keep float64) estimate {
	c := lineitem[i]
	back := c.arrow
	if c.widened {
		back = 8
	}
	e := estimate{up: c.size * rows, unpack: c.size * rows, back: back * keep, arrow: c.arrow * keep, work: c.arrow * keep, cpu: c.time * rows}
	if c.packed > 0.9*c.size {
		e.unpack, e.stored = 0, e.unpack
	}
	return e
}

// told is the same column as the router sees it.
func told(i int, rows int64) *leaf {
	c := lineitem[i]
	return &leaf{form: c.form, stored: c.stored, back: c.back, widened: c.widened, dictionary: c.dictionaries, codec: compress.Codecs.Zstd, rows: rows, values: rows,
		packed: int64(c.packed * float64(rows)), size: int64(c.size * float64(rows)), field: arrow.Field{Name: c.name}}
}

// TestRouterOnLineitem holds the router's decisions, and what the model predicts, to a table.
func TestRouterOnLineitem(t *testing.T) {
	const rows = 6_000_000
	var b strings.Builder
	page := map[string][]string{}
	fmt.Fprintf(&b, "# TPC-H lineitem at scale 1, 16 cores. PREDICTED: no device has run it. + is sent; ( ) has what the cost model says of measured bytes and\n")
	fmt.Fprintf(&b, "# times where the router, who sees metadata alone, says otherwise. Then nanoseconds a row: CPU alone, and with the columns sent.\n")
	for _, name := range []string{"NVIDIA L4", "NVIDIA A100-SXM4-80GB", "NVIDIA H200"} {
		costs := CostsOf(device.Info{Name: name})
		costs.Cores = 16
		for _, scan := range lineitemScans {
			fmt.Fprintf(&b, "\n%s, %s\n", name, scan.name)
			sends, model := routed(&costs, scan.columns, rows, scan.keep)
			says := costs.pick(model)
			for i, c := range scan.columns {
				fmt.Fprintf(&b, "  %-16s %s%s\n", lineitem[c].name, sign(sends[i]), differs(sends[i], says[i]))
			}
			whole, with := predicted(&costs, model, sends, rows)
			fmt.Fprintf(&b, "  CPU %.2f ns, with the device %.2f ns: %.1f times as fast\n", whole, with, whole/with)
			if page[scan.name] == nil {
				page[scan.name] = []string{scan.name, fmt.Sprintf("%.2f", whole)}
			}
			page[scan.name] = append(page[scan.name], fmt.Sprintf("%.2f (predicted)", with))
		}
	}
	var table strings.Builder
	for _, scan := range lineitemScans {
		fmt.Fprintf(&table, "| %s |\n", strings.Join(page[scan.name], " | "))
	}
	holdPage(t, "predictions", "| scan of lineitem, 16 cores | CPU alone, ns a row | L4 | A100 | H200 |\n| --- | --- | --- | --- | --- |\n"+table.String())
	path := filepath.Join("testdata", "router.txt")
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("the router decides\n%s\nand did\n%s", b.String(), want)
	}
}

// routed gives the router's choices, and what was measured.
func routed(costs *Costs, columns []int, rows int64, keep float64) (sends []bool, model []estimate) {
	var able []int
	var router []estimate
	for i, c := range columns {
		model = append(model, measured(c, float64(rows), float64(rows)*keep))
		if l := told(c, rows); l.never(int64(float64(rows)*keep)) == "" {
			able, router = append(able, i), append(router, costs.estimate(l, rows, int64(float64(rows)*keep)))
		}
	}
	sends = make([]bool, len(columns))
	for k, yes := range costs.pick(router) {
		sends[able[k]] = yes
	}
	return sends, model
}

func sign(yes bool) string {
	if yes {
		return "+"
	}
	return "-"
}

func differs(a, b bool) string {
	if a == b {
		return ""
	}
	return " (" + sign(b) + ")"
}

// predicted gives the nanoseconds of a row on the CPU alone, and where the columns sent are read by the device and the others on the CPU,
// which unpacks for both.
func predicted(c *Costs, all []estimate, sends []bool, rows float64) (whole, with float64) {
	var sent, left []estimate
	for i, e := range all {
		if sends[i] {
			sent = append(sent, e)
		} else {
			left = append(left, e)
		}
	}
	with = c.cpu(left)
	if len(sent) > 0 {
		with = max(with+c.unpacking(sent), c.device(sent))
	}
	return c.cpu(all) / rows, with / rows
}

// unpacking is the time of all cores that unpacking takes.
func (c *Costs) unpacking(all []estimate) (out float64) {
	for _, e := range all {
		out += e.unpack/c.Unpack + e.stored/c.UnpackStored
	}
	return out / c.Cores
}

func TestCostsOfDevices(t *testing.T) {
	if c := CostsOf(device.Info{Name: "NVIDIA L4"}); c.Up != 24 || c.Kernel != 25 {
		t.Errorf("%+v", c)
	}
	if c := CostsOf(device.Info{Name: "something"}); c.Up != 20 {
		t.Errorf("%+v", c)
	}
	if c := CostsOf(device.Info{Simulated: true}); c.Up != 52 {
		t.Errorf("%+v", c)
	}
}

// TestRouterOnLists tells what the model says of lists: they cost a core so much more than flat columns that the device wins wherever it need not
// wait for the cores to unpack.
func TestRouterOnLists(t *testing.T) {
	const rows, each = 1_000_000, 8
	var table strings.Builder
	table.WriteString("| lists of 8 | 16 cores, ns an element | L4 | A100 | H200 | sent |\n| --- | --- | --- | --- | --- | --- |\n")
	for _, c := range []struct {
		name         string
		form         cpu.Form
		stored       int
		dictionary   bool
		codec        compress.Compression
		packed, size float64 // bytes of an element
	}{
		{"numbers in a dictionary, zstd", cpu.SameBytes, 8, true, compress.Codecs.Zstd, 1.6, 1.8},
		{"numbers, zstd", cpu.SameBytes, 8, false, compress.Codecs.Zstd, 5, 8.3},
		{"numbers, Snappy", cpu.SameBytes, 8, false, compress.Codecs.Snappy, 7, 8.3},
		{"strings in a dictionary, zstd", cpu.TextForm, 0, true, compress.Codecs.Zstd, 0.6, 0.8},
	} {
		l := &leaf{form: c.form, stored: c.stored, back: c.stored, dictionary: c.dictionary, codec: c.codec, rows: rows, values: rows * each, nest: &nesting{make([]int16, 2)},
			packed: int64(c.packed * rows * each), size: int64(c.size * rows * each)}
		line, sent := "", []string(nil)
		for _, name := range []string{"L4", "A100", "H200"} {
			costs := CostsOf(device.Info{Name: name})
			costs.Cores = 16
			all := []estimate{costs.estimate(l, rows, rows)}
			if line == "" {
				line = fmt.Sprintf("| %s | %.2f |", c.name, costs.cpu(all)/rows/each)
			}
			line += fmt.Sprintf(" %.2f (predicted) |", costs.device(all)/rows/each)
			if l.never(rows) == "" && costs.pick(all)[0] {
				sent = append(sent, name)
			}
		}
		if len(sent) == 0 {
			sent = []string{"where a filter keeps few rows"}
		}
		fmt.Fprintf(&table, "%s %s |\n", line, strings.Join(sent, ", "))
	}
	holdPage(t, "lists", table.String())
}
