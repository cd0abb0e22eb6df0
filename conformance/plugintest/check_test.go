package plugintest

import (
	"strings"
	"testing"
	"time"

	"github.com/skua-data/skua/catalogs/catalogtest"
)

// TestATestOutsideOfATestBinaryEndsAndTells: whatever a test does, what it found wrong is told, and what it opened is closed.
func TestATestOutsideOfATestBinaryEndsAndTells(t *testing.T) {
	closed := 0
	for name, c := range map[string]struct {
		test func(catalogtest.T)
		want []string
	}{
		"good":  {func(catalogtest.T) {}, nil},
		"bad":   {func(t catalogtest.T) { t.Errorf("%d is wrong", 1); t.Error("so is ", 2) }, []string{"1 is wrong", "so is 2"}},
		"fatal": {func(t catalogtest.T) { t.Fatal("no further"); t.Error("never") }, []string{"no further"}},
		"panic": {func(catalogtest.T) { panic("boom") }, []string{"panic: boom"}},
		"waits": {func(t catalogtest.T) { <-t.Context().Done(); t.Errorf("it gave up: %v", t.Context().Err()) }, []string{"it gave up: context deadline exceeded"}},
	} {
		before := closed
		failures, timeout := check(t.Context(), 50*time.Millisecond, func(t catalogtest.T) {
			t.Cleanup(func() { closed++ })
			c.test(t)
		})
		if strings.Join(failures, "; ") != strings.Join(c.want, "; ") || closed != before+1 || timeout != (name == "waits") {
			t.Errorf("%s: %q, time over %t, closed %d times", name, failures, timeout, closed-before)
		}
	}
}

// TestATestThatDoesNotEndIsLeft: a plugin may hang, whatever its caller's context says.
func TestATestThatDoesNotEndIsLeft(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for seconds")
	}
	hung := make(chan struct{})
	defer close(hung)
	failures, timeout := check(t.Context(), time.Millisecond, func(t catalogtest.T) { <-hung })
	if len(failures) != 1 || !strings.Contains(failures[0], "did not end") || !timeout {
		t.Errorf("%q, %t", failures, timeout)
	}
}
