package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
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

func TestSmokeIsAFlagRatherThanAProfile(t *testing.T) {
	for name, want := range map[string]string{"smoke": "--smoke", "nonsense": "read-only"} {
		if _, err := profileOf(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
