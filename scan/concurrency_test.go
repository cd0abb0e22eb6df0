package scan

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/resource"
)

// TestStreamReadsAsManyPartsAtOnceAsItMay counts the parts under way. Each waits until as many run as are wanted, or is late.
func TestStreamReadsAsManyPartsAtOnceAsItMay(t *testing.T) {
	schema := arrow.NewSchema(nil, nil)
	for _, c := range []struct{ cores, atOnce, want int64 }{{4, 0, 4}, {4, 1, 1}, {4, 3, 3}, {4, 9, 4}, {2, 3, 2}} {
		ctx := resource.With(t.Context(), resource.NewPool(resource.Config{Cores: int(c.cores)}).NewStatement("t"))
		var running, most atomic.Int64
		full := make(chan struct{})
		s := newStream(ctx, schema, 8, c.atOnce, -1, func(_ context.Context, i int, emit func(arrow.RecordBatch) error) error {
			n := running.Add(1)
			for seen := most.Load(); n > seen && !most.CompareAndSwap(seen, n); seen = most.Load() {
			}
			if n == c.want && i < int(c.want) {
				close(full)
			}
			select {
			case <-full:
			case <-time.After(10 * time.Second):
			}
			running.Add(-1)
			return emit(array.NewRecordBatch(schema, nil, 1))
		})
		parts := 0
		for s.Next() {
			parts++
		}
		if most.Load() != c.want || parts != 8 || s.Err() != nil {
			t.Errorf("%d cores, %d at once: %d parts ran at once, want %d; %d parts came, %v", c.cores, c.atOnce, most.Load(), c.want, parts, s.Err())
		}
		s.Release()
	}
}

func TestConcurrencyIsOneOrMore(t *testing.T) {
	for value, ok := range map[string]bool{"1": true, "64": true, "0": false, "-3": false, "few": false} {
		o, err := resolveOptions([]Option{{Name: "concurrency", Value: value, Scope: "session", Key: "the.key"}}, nil, scanData)
		if ok != (err == nil) || !ok && (!fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "the.key")) {
			t.Errorf("%s: %v, %v", value, o.Concurrency, err)
		}
	}
	if o, err := resolveOptions(nil, nil, scanData); o.Concurrency != 0 || err != nil {
		t.Errorf("unset: %v, %v", o.Concurrency, err)
	}
}
