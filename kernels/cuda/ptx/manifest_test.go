package ptx

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/skua-data/skua/kernels/ptxsim"
)

// manifest gives the compiler's version and the hashes by file.
func manifest(t *testing.T) (compiler string, hashes map[string]string) {
	t.Helper()
	text, err := os.ReadFile("manifest.txt")
	if err != nil {
		t.Fatal(err)
	}
	hashes = map[string]string{}
	for _, line := range strings.Split(string(text), "\n") {
		if rest, ok := strings.CutPrefix(line, "compiler: "); ok {
			compiler = rest
		}
		if hash, name, ok := strings.Cut(line, "  "); ok {
			hashes[name] = hash
		}
	}
	return compiler, hashes
}

func TestManifestHasTheHashesOfAllSources(t *testing.T) {
	_, hashes := manifest(t)
	var files []string
	for _, pattern := range []string{"*.cu", "*.cuh", "*.ptx"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(data)
		if got := hex.EncodeToString(sum[:]); got != hashes[name] && name != "hostemu.h" {
			t.Errorf("%s has the hash %s, the manifest %s: run go generate with clang-16", name, got, hashes[name])
		}
		delete(hashes, name)
	}
	for name := range hashes {
		t.Errorf("the manifest names %s, which does not exist", name)
	}
}

// TestPTXIsWhatClangMakes compiles the sources again, where the manifest's compiler is installed.
func TestPTXIsWhatClangMakes(t *testing.T) {
	compiler, _ := manifest(t)
	version, err := exec.Command("clang-16", "--version").Output()
	if err != nil {
		t.Skip("no clang-16")
	}
	if got, _, _ := strings.Cut(string(version), "\n"); got != compiler {
		t.Skipf("clang-16 is %s, the PTX was made by %s", got, compiler)
	}
	out := t.TempDir()
	if text, err := exec.Command("sh", "generate.sh", out).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for _, m := range Modules() {
		want, err := os.ReadFile(filepath.Join(out, m+".ptx"))
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := Text(m); got != string(want) {
			t.Errorf("%s.ptx is not what clang makes of %s.cu: run go generate", m, m)
		}
	}
}

func TestKernelsAreInTheirModules(t *testing.T) {
	entries := map[string]string{}
	for _, m := range Modules() {
		text, err := Text(m)
		if err != nil {
			t.Fatal(err)
		}
		module, err := ptxsim.Parse(text)
		if err != nil {
			t.Fatalf("%s: %v", m, err)
		}
		if module.Version != "7.0" || !strings.HasPrefix(module.Target, "sm_80") {
			t.Errorf("%s is PTX %s for %s", m, module.Version, module.Target)
		}
		for _, name := range module.Kernels() {
			entries[name] = m
			if n := module.LocalBytes(name); n != 0 {
				t.Errorf("%s uses %d bytes of local memory", name, n)
			}
		}
		for _, k := range All() {
			if k.Module == m && module.Params(k.Name) != k.Params {
				t.Errorf("%s has %d parameters, want %d", k.Name, module.Params(k.Name), k.Params)
			}
		}
	}
	for _, k := range All() {
		if entries[k.Name] != k.Module {
			t.Errorf("%s is in %q, want %s", k.Name, entries[k.Name], k.Module)
		}
		delete(entries, k.Name)
	}
	if len(entries) > 0 {
		t.Errorf("kernels without a row: %v", entries)
	}
	if _, err := Text("nothing"); err == nil {
		t.Error("a module that is missing")
	}
}

// TestStructsAreThoseOfTheSources compares the fields of the structs that host and device share, and the numbers.
func TestStructsAreThoseOfTheSources(t *testing.T) {
	var text []byte
	for _, name := range []string{"page.cuh", "gather.cuh", "filter.cu", "unpack.cu", "lists.cu"} {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, b...)
	}
	for name, v := range map[string]any{"Page": Page{}, "State": State{}, "Column": Column{}, "Gather": Gather{}, "Nest": Nest{}, "Depth": Depth{}, "Slots": Slots{}} {
		body := regexp.MustCompile(`(?s)struct ` + name + ` \{(.*?)\n\};`).FindSubmatch(text)
		if body == nil {
			t.Fatalf("no struct %s", name)
		}
		var want []string
		for _, line := range regexp.MustCompile(`u64 ([^;]*);`).FindAllSubmatch(body[1], -1) {
			for _, f := range strings.Split(string(line[1]), ",") {
				want = append(want, strings.TrimSpace(f))
			}
		}
		var got []string
		for i := range reflect.TypeOf(v).NumField() {
			f := reflect.TypeOf(v).Field(i)
			got = append(got, strings.ToLower(f.Name[:1])+f.Name[1:])
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s has %v, the sources %v", name, got, want)
		}
	}
	for value, names := range [][]string{{"PLAIN"}, {}, {}, {"RLE"}, {}, {"DELTA"}, {"DELTA_LENGTH"}, {"DELTA_TEXT"}, {"DICTIONARY"}, {"SPLIT"}} {
		for _, n := range names {
			if !bytes.Contains(text, fmt.Appendf(nil, "%s = %d", n, value)) {
				t.Errorf("%s is not %d", n, value)
			}
		}
	}
	for _, list := range []string{"OK = 0, BAD_HEADER, BAD_LEVELS, BAD_RUNS, BAD_INDEX, BAD_VALUES, BAD_DELTA, BAD_TEXT, BAD_PACKED, BAD_ROW",
		"COPY4 = 0, COPY8, COPY16, WIDEN, BIG8, BIG16", "EQ = 0, NE, LT, LE, GT, GE", "SIGNED4 = 0, SIGNED8, FLOAT4, FLOAT8", "SNAPPY = 1, LZ4 = 2",
		fmt.Sprintf("PADDING = %d", Padding), fmt.Sprintf("WORDS = %d", WordsPerWarp)} {
		if !bytes.Contains(text, []byte(list)) {
			t.Errorf("the sources do not number %s", list)
		}
	}
	for name, sizes := range map[string][2]int{"Page": {len(Encode(nil, Page{})), PageBytes}, "State": {len(Encode(nil, State{})), StateBytes}, "Column": {len(Encode(nil, Column{})), ColumnBytes},
		"Gather": {len(Encode(nil, Gather{})), GatherSize}, "Nest": {len(Encode(nil, Nest{})), NestBytes}, "Depth": {len(Encode(nil, Depth{})), DepthBytes}, "Slots": {len(Encode(nil, Slots{})), SlotsBytes}} {
		if sizes[0] != sizes[1] {
			t.Errorf("a %s of %d bytes, not %d", name, sizes[0], sizes[1])
		}
	}
	if Reason(BadRow) == Reason(99) || Reason(BadRuns) != "malformed runs" {
		t.Error(Reason(BadRuns))
	}
}
