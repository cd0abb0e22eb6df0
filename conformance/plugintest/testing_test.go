package plugintest

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// outsideKey is the variable that makes this binary run tests as a command does, before package testing is ready.
const outsideKey = "SKUA_TEST_OUTSIDE"

func TestMain(m *testing.M) {
	if os.Getenv(outsideKey) != "" {
		outside([]testing.InternalTest{{Name: "suite", F: func(t *testing.T) {
			t.Run("good", func(*testing.T) { os.Stdout.WriteString("good ran\n") })
			t.Run("bad", func(t *testing.T) { t.Error("this is wrong") })
		}}})
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// TestTestsRunOutsideOfATestBinary: the suite does run in a command, and nothing of package testing leaks to standard error.
func TestTestsRunOutsideOfATestBinary(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(self)
	command.Env = append(os.Environ(), outsideKey+"=1")
	var stderr strings.Builder
	command.Stderr = &stderr
	said, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(said), "good ran") || stderr.Len() > 0 {
		t.Errorf("it said %q, and %q on standard error", said, stderr.String())
	}
	texts := failures(said)
	if got := strings.Join(texts["suite/bad"], "\n"); !strings.Contains(got, "this is wrong") {
		t.Errorf("failures %q", texts)
	}
}
