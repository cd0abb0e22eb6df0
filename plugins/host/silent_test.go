package host_test

import (
	"fmt"
	"maps"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/plugins/host"
)

func TestACallThatIsNeverAnsweredFailsAlone(t *testing.T) {
	w := newWorld(t, func(c *host.Config) { c.Patience = 200 * time.Millisecond })
	catalog := w.open(t, "good")
	before := pid(t, catalog)
	if err := load(t, catalog, "hang"); !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "did not answer for 200ms") {
		t.Errorf("a catalog that hangs: %v", err)
	}
	if err := load(t, catalog, "x"); err != nil || pid(t, catalog) != before {
		t.Errorf("the next call: %v", err)
	}
}

func TestAFrozenPluginIsReplaced(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for a process that does not answer")
	}
	w := newWorld(t, func(c *host.Config) { c.Silence = 10 * time.Second })
	catalog := w.open(t, "good")
	frozen := pid(t, catalog)
	if err := syscall.Kill(frozen, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the process to stand still", func() bool { // the signal takes its time
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", frozen))
		return err == nil && strings.Contains(string(stat), ") T ")
	})
	started := time.Now()
	err := load(t, catalog, "x") // made once more on the process that takes its place
	if took := time.Since(started); err != nil || took > time.Minute {
		t.Errorf("after %s: %v", took, err)
	}
	gone(t, frozen)
	if pid(t, catalog) == frozen {
		t.Error("the process must be another")
	}
}

func TestAPluginThatFloodsTheLogIsHeldBack(t *testing.T) {
	w := newWorld(t)
	patient := definition("good")
	patient.Properties = maps.Clone(patient.Properties)
	patient.Properties["plugin.call-timeout-ms"] = "3600000"
	catalog, err := w.Open(t.Context(), patient, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := load(t, catalog, "flood"); err != nil {
		t.Fatal(err)
	}
	w.log.await(t, "flood [redacted]")
	eventually(t, "the log to say that lines are missing", func() bool {
		_ = load(t, catalog, "log")
		return strings.Contains(w.log.String(), "printed too much")
	})
	if n := len(w.log.String()); n > 3<<20 {
		t.Errorf("the log has %d bytes", n)
	}
}
