package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skua-data/skua/conformance"
	"github.com/skua-data/skua/conformance/report"
)

func TestAProgramOfSeveralTypesIsToldWhich(t *testing.T) {
	plugin := filepath.Join(t.TempDir(), bundledName)
	script := "#!/bin/sh\nprintf 'words\\n\\nTypes in this build:\\n  hadoop  a folder\\n  static  a file\\n\\nFlags:\\n  --help  this\\n'\n"
	if err := os.WriteFile(plugin, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := chosenType(t.Context(), plugin, ""); err == nil || !strings.HasSuffix(err.Error(), "say which: --type hadoop|static") {
		t.Error(err)
	}
	if err := chosenType(t.Context(), plugin, "hadoop"); err != nil {
		t.Error(err)
	}
	if err := chosenType(t.Context(), filepath.Join(filepath.Dir(plugin), "other"), ""); err != nil {
		t.Errorf("a program of one type: %v", err)
	}
}

func TestARunThatAsksNothingFails(t *testing.T) {
	for want, outcomes := range map[string][]conformance.Outcome{"nothing was checked": {{Status: conformance.Skipped}}, "1 failed": {{Status: conformance.Failed}}, "": {{Status: conformance.Passed}}} {
		err := outputs{}.write(io.Discard, report.Run{Outcomes: outcomes})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%v, expected %q", err, want)
		}
	}
}

func TestSmokeIsAFlagRatherThanAProfile(t *testing.T) {
	for name, want := range map[string]string{"smoke": "--smoke", "nonsense": "read-only"} {
		if _, err := profileOf(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
