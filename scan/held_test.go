package scan

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/resource"
)

// TestPlansAndTheCacheCountAsMemory: what a plan and the cache keep counts as the process's memory; past its limit a plan is refused by name, and
// what a plan held is given back when the plan is gone.
func TestPlansAndTheCacheCountAsMemory(t *testing.T) {
	location := wideMetadata(t, 2000, 4)
	plan := func(ctx context.Context) (Plan, error) {
		return wideSource(t, location, 1<<30).Plan(ctx, Request{Fields: []int{1}, Limit: -1})
	}
	ctx, pool := inPool(t.Context(), 0)
	p, err := plan(ctx)
	if err != nil {
		t.Fatal(err)
	}
	whole, own := pool.Used(), p.(*tablePlan).size(nil)
	if own <= 0 || whole < 2000*300 {
		t.Fatalf("%d bytes are counted, %d of splits", whole, own)
	}
	runtime.KeepAlive(p)
	p = nil
	for waited := 0; pool.Used() >= whole; waited++ {
		if waited == 1000 {
			t.Fatal("a plan that is gone still counts")
		}
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	small := resource.With(t.Context(), resource.NewPool(resource.Config{Memory: 50_000}).NewStatement("s"))
	if _, err := plan(small); !fault.Is(err, fault.Exhausted) {
		t.Errorf("a plan over the limit: %v", err)
	}
}
