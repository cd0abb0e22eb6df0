package ptx

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"testing"

	"github.com/skua-data/skua/kernels/ptxsim"
)

var update = flag.Bool("update", false, "write the tables in testdata again")

// architectures are those that the PTX is assembled for: Ampere, Hopper and both kinds of Blackwell.
var architectures = []string{"sm_80", "sm_90", "sm_100", "sm_120"}

// assembler finds NVIDIA's assembler: in SKUA_NVIDIA_BIN, or on the path. It is a checker and is never shipped.
func assembler(t *testing.T) string {
	t.Helper()
	name := "ptxas"
	if folder := os.Getenv("SKUA_NVIDIA_BIN"); folder != "" {
		name = filepath.Join(folder, name)
	}
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skip("no ptxas: set SKUA_NVIDIA_BIN to the folder that has it")
	}
	return path
}

// TestAssemblerTakesThePTX assembles all kernels for all architectures: none spills or has a stack, and registers are those of the table.
func TestAssemblerTakesThePTX(t *testing.T) {
	path := assembler(t)
	registers := map[string][]string{}
	entry, used := regexp.MustCompile(`entry function '(\w+)'`), regexp.MustCompile(`Used (\d+) registers`)
	clean := regexp.MustCompile(`^\s+0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads`)
	for _, arch := range architectures {
		for _, m := range Modules() {
			out, err := exec.Command(path, "-arch="+arch, "-v", m+".ptx", "-o", filepath.Join(t.TempDir(), "o")).CombinedOutput()
			if err != nil {
				t.Fatalf("%s for %s: %v\n%s", m, arch, err, out)
			}
			kernel := ""
			for _, line := range strings.Split(string(out), "\n") {
				if f := entry.FindStringSubmatch(line); f != nil {
					kernel = f[1]
				}
				if strings.Contains(line, "bytes stack frame") && !clean.MatchString(line) {
					t.Errorf("%s for %s: %s", kernel, arch, strings.TrimSpace(line))
				}
				if f := used.FindStringSubmatch(line); f != nil {
					registers[kernel] = append(registers[kernel], f[1])
				}
			}
		}
	}
	version, err := exec.Command(path, "--version").Output()
	if err != nil {
		t.Fatal(err)
	}
	release := regexp.MustCompile(`release ([\d.]+)`).FindStringSubmatch(string(version))
	var b strings.Builder
	fmt.Fprintf(&b, "# Registers of a thread by the assembler of CUDA %s, for %s. No kernel spills or has a stack.\n", release[1], strings.Join(architectures, " "))
	for _, k := range sorted(registers) {
		fmt.Fprintf(&b, "%-16s %s\n", k, strings.Join(registers[k], " "))
	}
	golden(t, "registers.txt", b.String())
}

// TestSizes keeps the kernels' instructions and shared memory in a table.
func TestSizes(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Instructions of PTX, and bytes of shared memory of a block.\n")
	for _, m := range Modules() {
		text, err := Text(m)
		if err != nil {
			t.Fatal(err)
		}
		module, err := ptxsim.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range module.Kernels() {
			fmt.Fprintf(&b, "%-16s %5d %5d\n", k, module.Instructions(k), module.SharedBytes(k))
		}
	}
	golden(t, "sizes.txt", b.String())
}

func sorted(m map[string][]string) (out []string) {
	for k := range m {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}

// golden compares a table with the one in testdata. A table that another release of a tool made is not compared.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(got, "\n")
	if before, _, _ := strings.Cut(string(want), "\n"); before != first {
		t.Skipf("the table was made otherwise: %s", before)
	}
	if got != string(want) {
		t.Errorf("%s is now\n%s\nand was\n%s", name, got, want)
	}
}
