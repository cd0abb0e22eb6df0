package server

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestLinesWithoutAnEnd(t *testing.T) {
	started := time.Now()
	for name, text := range map[string]string{
		"one line":       "a=b\n" + strings.Repeat("x", 3<<20),
		"continued":      "a=b\n" + strings.Repeat("x\\\n", 2<<20),
		"continued last": "a=b\nk=" + strings.Repeat(strings.Repeat("x", 1000)+"\\\n", 2000),
	} {
		_, err := parseProperties(strings.NewReader(text), "test")
		if err == nil || !strings.HasPrefix(err.Error(), "test:2: line longer than") {
			t.Errorf("%s: %v", name, err)
		}
	}
	got, err := parseProperties(strings.NewReader("k=a\\\n"+strings.Repeat(" b\\\n", 500_000)), "test")
	if err != nil || len(got) != 1 || len(got[0].value) != 500_001 {
		t.Errorf("%d properties, %v", len(got), err)
	}
	if took := time.Since(started); took > 20*time.Second {
		t.Errorf("took %s", took)
	}
}

func TestErrorsOfTheConfigurationQuoteNoValue(t *testing.T) {
	for _, flag := range []string{"my.password hunter2", "my.password:hunter2", "hunter 2 hunter2", "s3.secret-access-key\thunter2", "=hunter2", " hunter2=x=y hunter2 \u00e9"} {
		_, err := Load(Given{Flags: []string{flag}})
		if strings.Contains(fmt.Sprint(err), "hunter2") {
			t.Errorf("%q: %v", flag, err)
		}
	}
	_, err := parseProperties(strings.NewReader(`my.password=\uhunter2`), "test")
	if err == nil || strings.Contains(err.Error(), "hunt") {
		t.Errorf("%v", err)
	}
}
