package scan

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"
)

type splitCase struct {
	ID, Kind string
	Input    struct {
		Items           []int64
		TargetWeight    int64 `json:"target_weight"`
		Lookback        int64
		LargestFirst    bool  `json:"largest_bin_first"`
		FromEnd         bool  `json:"from_end"`
		MaxItems        int   `json:"max_items_per_bin"`
		SplitSize       int64 `json:"split_size"`
		OpenCost        int64 `json:"open_file_cost"`
		Files           []splitCaseFile
		ScanSize        int64 `json:"scan_size"`
		Parallelism     int64
		TableProperty   *int64 `json:"table_property_target_size"`
		Override        *int64 `json:"read_option_or_session_override"`
		AdaptiveEnabled bool   `json:"adaptive_enabled"`
		Tasks           []struct {
			Key  string
			Size int64
		}
		Divisible bool `json:"tasks_splittable"`
	}
	Expected struct {
		Bins       [][]int64
		GroupCount int `json:"group_count"`
		AnyOrder   []struct {
			Key     string
			Indexes []int `json:"task_indexes"`
			Size    int64 `json:"size_bytes"`
		} `json:"groups_any_order"`
		Groups    []splitCaseGroup
		Summaries []struct {
			Tasks     int
			FirstTask splitCaseTask `json:"first_task"`
			BinWeight int64         `json:"bin_weight"`
			SizeBytes int64         `json:"size_bytes"`
		} `json:"group_summaries"`
		Error     *struct{ Message string }
		SplitSize int64   `json:"split_size"`
		ScanSize  int64   `json:"scan_size"`
		Effective int64   `json:"effective_split_size"`
		Sizes     []int64 `json:"group_sizes"`
		AllEqual  int64   `json:"all_group_sizes_equal"`
	}
}

type splitCaseFile struct {
	Name, NamePrefix string
	Repeat           int
	Size             int64
	Format           string
	Offsets          []int64 `json:"split_offsets"`
	Prefix           string  `json:"name_prefix"`
	Deletes          []struct {
		Type        string
		FileSize    int64 `json:"file_size"`
		ContentSize int64 `json:"content_size"`
	}
}

type splitCaseTask struct {
	File          string
	Start, Length int64
}

type splitCaseGroup struct {
	Tasks     []splitCaseTask
	BinWeight int64 `json:"bin_weight"`
	SizeBytes int64 `json:"size_bytes"`
}

func (c splitCase) extents() (names []string, out []extent) {
	for _, f := range c.Input.Files {
		e := extent{Size: f.Size, Offsets: f.Offsets, Divisible: slices.Contains([]string{"PARQUET", "ORC", "AVRO"}, f.Format), Deletes: len(f.Deletes)}
		for _, d := range f.Deletes {
			if d.Type == "dv" {
				e.DeleteBytes += d.ContentSize
			} else {
				e.DeleteBytes += d.FileSize
			}
		}
		if f.Prefix == "" {
			names, out = append(names, f.Name), append(out, e)
			continue
		}
		for i := range f.Repeat {
			names, out = append(names, f.Prefix+strconv.Itoa(i)), append(out, e)
		}
	}
	return names, out
}

// TestSplitCases runs the worked cases of Iceberg's split planning. Left out are what scans do not use (packing from the end, item limits)
// and weights that wrap around at 64 bits, which are saturated here.
func TestSplitCases(t *testing.T) {
	raw, err := os.ReadFile("testdata/split-cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var all struct{ Cases []splitCase }
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, c := range all.Cases {
		if c.Input.FromEnd || c.Input.MaxItems > 0 || c.ID == "overflow-open-cost" {
			continue
		}
		ran++
		t.Run(c.ID, func(t *testing.T) {
			switch c.Kind {
			case "bin_packing":
				c.packing(t)
			case "adjust_split_size":
				c.adjusting(t)
			case "plan":
				c.planning(t, readOptions{Target: c.Input.SplitSize, Lookback: c.Input.Lookback, OpenCost: c.Input.OpenCost})
			case "adaptive_plan":
				c.adaptive(t)
			case "group_by_key":
				c.grouping(t)
			default:
				t.Fatalf("unknown kind %s", c.Kind)
			}
		})
	}
	if ran < 60 {
		t.Errorf("only %d cases ran", ran)
	}
}

func (c splitCase) packing(t *testing.T) {
	var got [][]int64
	for _, bin := range pack(c.Input.Items, c.Input.TargetWeight, c.Input.Lookback, c.Input.LargestFirst) {
		var b []int64
		for _, i := range bin {
			b = append(b, c.Input.Items[i])
		}
		got = append(got, b)
	}
	if fmt.Sprint(got) != fmt.Sprint(c.Expected.Bins) {
		t.Errorf("bins %v, want %v", got, c.Expected.Bins)
	}
}

func (c splitCase) adjusting(t *testing.T) {
	got, err := adjustTarget(c.Input.ScanSize, c.Input.Parallelism, c.Input.SplitSize)
	if c.Expected.Error != nil {
		if err == nil || (err.Error() != c.Expected.Error.Message && "Split "+lowered(c.Expected.Error.Message) != err.Error()) {
			t.Errorf("error %v, want %s", err, c.Expected.Error.Message)
		}
		return
	}
	if err != nil || got != c.Expected.SplitSize {
		t.Errorf("%d, %v, want %d", got, err, c.Expected.SplitSize)
	}
}

// lowered turns Parallelism into parallelism: the check of the scan comes before the planner's own and says so.
func lowered(s string) string { return string(s[0]|0x20) + s[1:] }

func (c splitCase) planning(t *testing.T, o readOptions) {
	names, files := c.extents()
	groups, err := planSplits(files, o)
	if c.Expected.Error != nil {
		if err == nil || err.Error() != c.Expected.Error.Message {
			t.Errorf("error %v, want %s", err, c.Expected.Error.Message)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(groups) != c.Expected.GroupCount {
		t.Fatalf("%d groups, want %d", len(groups), c.Expected.GroupCount)
	}
	for i, want := range c.Expected.Groups {
		if got := taskText(names, groups[i]); got != fmt.Sprint(want.Tasks) || groups[i].Weight != want.BinWeight || sizeOf(files, groups[i]) != want.SizeBytes {
			t.Errorf("group %d: %s weight %d size %d, want %v", i, got, groups[i].Weight, sizeOf(files, groups[i]), want)
		}
	}
	for i, want := range c.Expected.Summaries {
		first := group{Pieces: groups[i].Pieces[:1]}
		if len(groups[i].Pieces) != want.Tasks || taskText(names, first) != fmt.Sprint([]splitCaseTask{want.FirstTask}) ||
			groups[i].Weight != want.BinWeight || sizeOf(files, groups[i]) != want.SizeBytes {
			t.Errorf("group %d: %v, want %v", i, groups[i], want)
		}
	}
	for i, want := range c.Expected.Sizes {
		if got := sizeOf(files, groups[i]); got != want {
			t.Errorf("group %d: %d bytes, want %d", i, got, want)
		}
	}
	if c.Expected.AllEqual > 0 {
		for i, g := range groups {
			if got := sizeOf(files, g); got != c.Expected.AllEqual {
				t.Errorf("group %d: %d bytes, want %d", i, got, c.Expected.AllEqual)
			}
		}
	}
}

func taskText(names []string, g group) string {
	var out []splitCaseTask
	for _, p := range g.Pieces {
		out = append(out, splitCaseTask{names[p.File], p.Start, p.Length})
	}
	return fmt.Sprint(out)
}

func sizeOf(files []extent, g group) int64 {
	var out int64
	for _, p := range g.Pieces {
		out += p.Length + files[p.File].DeleteBytes
	}
	return out
}

func (c splitCase) adaptive(t *testing.T) {
	o := readOptions{Target: defaultTarget, Lookback: c.Input.Lookback, OpenCost: c.Input.OpenCost, Adaptive: c.Input.AdaptiveEnabled, Parallelism: c.Input.Parallelism}
	if c.Input.TableProperty != nil {
		o.Target = *c.Input.TableProperty
	}
	if c.Input.Override != nil {
		o.Target, o.Adaptive = *c.Input.Override, false
	}
	var size int64
	_, files := c.extents()
	for _, f := range files {
		size += f.Size + f.DeleteBytes
	}
	o, err := o.adapt(size)
	if err != nil {
		t.Fatal(err)
	}
	if size != c.Expected.ScanSize || o.Target != c.Expected.Effective {
		t.Errorf("scan of %d bytes at a target of %d, want %d and %d", size, o.Target, c.Expected.ScanSize, c.Expected.Effective)
	}
	c.planning(t, o)
}

func (c splitCase) grouping(t *testing.T) {
	var files []extent
	for _, f := range c.Input.Tasks {
		files = append(files, extent{Size: f.Size, Key: f.Key, Divisible: c.Input.Divisible})
	}
	groups, err := planSplits(files, readOptions{Target: c.Input.SplitSize, Lookback: c.Input.Lookback, OpenCost: c.Input.OpenCost})
	if err != nil || len(groups) != c.Expected.GroupCount {
		t.Fatalf("%v, %v, want %d groups", groups, err, c.Expected.GroupCount)
	}
	for i, want := range c.Expected.AnyOrder { // ours come in the order in which keys are met
		var indexes []int
		for _, p := range groups[i].Pieces {
			indexes = append(indexes, p.File)
		}
		if !slices.Equal(indexes, want.Indexes) || sizeOf(files, groups[i]) != want.Size || files[indexes[0]].Key != want.Key {
			t.Errorf("group %d: %v, want %v", i, groups[i], want)
		}
	}
}

func TestPackIsLinearInFullBins(t *testing.T) {
	weights := make([]int64, 200_000)
	for i := range weights {
		weights[i] = 100
	}
	if got := len(pack(weights, 100, 1<<31, true)); got != len(weights) {
		t.Errorf("%d bins of %d full items", got, len(weights))
	}
}

func TestTinySplitSizeIsRefusedNotPlanned(t *testing.T) {
	_, err := planSplits([]extent{{Size: 1 << 40, Divisible: true}}, readOptions{Target: 1, Lookback: 10})
	if err == nil {
		t.Fatal("a terabyte was cut into bytes")
	}
}
