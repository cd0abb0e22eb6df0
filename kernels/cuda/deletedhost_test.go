package cuda

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// hostChecks are the checks of hostcheck.cpp that run a source's kernels; another's are all.
var hostChecks = map[string][]string{"unpack.cu": {"packed"}, "lists.cu": {"listed"}, "levels.cuh": {"listed", "dictionary"}, "levels.cu": {"dictionary"}, "filter.cu": {"dictionary"},
	"deltas.cu": {"delta"}, "delta.cuh": {"delta", "sharing"}, "texts.cu": {"strings"}, "textdeltas.cu": {"sharing"}, "gather.cu": {"dictionary", "sharing"},
	"gather.cuh": {"dictionary", "sharing"}, "hybrid.cuh": {"dictionary", "listed"}}

// hostInputs is how many damaged inputs each check gets.
const hostInputs = "40"

// compileHost makes a program of the kernels in a folder, as host C++ under the address sanitizer.
func compileHost(t *testing.T, folder string) (string, error) {
	t.Helper()
	program := filepath.Join(t.TempDir(), "check")
	cmd := exec.Command("g++", "-std=c++20", "-O0", "-DHOSTEMU", "-w", "-fsanitize=address", filepath.Join(folder, "testdata", "hostcheck.cpp"), "-o", program, "-lpthread")
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w: %.2000s", err, out)
	}
	return program, err
}

// hostLines runs a check on damaged inputs and gives its lines, until they differ from those wanted, with what ended it.
func hostLines(t *testing.T, program, check string, want []string) (lines []string, end string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute) // an endless loop is one, whatever the machine's speed
	defer cancel()
	cmd := exec.CommandContext(ctx, program, check, hostInputs)
	log, err := os.CreateTemp(t.TempDir(), "log")
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd.Stderr = log
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for s := bufio.NewScanner(out); s.Scan(); {
		lines = append(lines, s.Text())
		if n := len(lines); want != nil && (n > len(want) || lines[n-1] != want[n-1]) {
			_ = cmd.Process.Kill() // what it would say more does not matter
			_ = cmd.Wait()         // and was killed
			return lines, fmt.Sprintf("input %d of %s becomes something else", n-1, check)
		}
	}
	if err := cmd.Wait(); err != nil {
		text, _ := os.ReadFile(log.Name()) // empty where there is nothing to tell
		for _, line := range strings.Split(string(text), "\n") {
			if _, summary, found := strings.Cut(line, "SUMMARY: "); found {
				return lines, fmt.Sprintf("input %d of %s: %s", len(lines), check, summary)
			}
		}
		return lines, fmt.Sprintf("input %d of %s: %v", len(lines), check, err)
	}
	return lines, ""
}

// TestTheHostSeesDeletedConditions deletes every condition of every marked line in turn and runs the kernels as host C++ on damaged inputs: the address
// sanitizer, or another result, shows it. It lists what does not; of that the simulator's list has to say more.
func TestTheHostSeesDeletedConditions(t *testing.T) {
	if os.Getenv("SKUA_GPU_DELETE") != "host" {
		t.Skip("SKUA_GPU_DELETE is not host: it compiles the kernels some hundred times")
	}
	if _, err := exec.LookPath("g++"); err != nil {
		t.Skip("no g++")
	}
	whole, err := compileHost(t, "ptx")
	if err != nil {
		t.Fatal(err)
	}
	sound := map[string][]string{}
	for _, check := range []string{"dictionary", "delta", "strings", "packed", "sharing", "listed"} {
		lines, end := hostLines(t, whole, check, nil)
		if end != "" {
			t.Fatalf("the kernels as they are: %s", end)
		}
		sound[check] = lines
	}
	listed := listedBefore(t)
	seen, all := 0, 0
	for _, d := range deletions(t) {
		verdicts := listed[withoutLine(d.String())]
		if strings.HasSuffix(d.text, "();") || !wanted(d) {
			continue
		}
		all++
		by := hostSees(t, d, sound)
		switch {
		case by != "":
			seen++
			t.Logf("%s: seen: %s", d, by)
		case len(verdicts) == 0:
			t.Errorf("%s: deleted, and nothing shows it", d)
		default:
			t.Logf("%s: not on the host; in the simulator: %.120s", d, verdicts[0])
		}
	}
	t.Logf("the host sees %d of %d", seen, all)
}

// hostSees says what shows a deletion; "" is nothing.
func hostSees(t *testing.T, d deletion, sound map[string][]string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("ptx")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, d.file), []byte(d.body), 0o644); err != nil {
		t.Fatal(err)
	}
	program, err := compileHost(t, dir)
	if err != nil {
		t.Fatalf("%s: %v", d, err)
	}
	checks := hostChecks[d.file]
	if checks == nil {
		checks = []string{"packed", "dictionary", "delta", "strings", "listed", "sharing"}
	}
	for _, check := range checks {
		if _, by := hostLines(t, program, check, sound[check]); by != "" {
			return by
		}
	}
	return ""
}
