package scan

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/resource"
)

func inPool(ctx context.Context, memory int64) (context.Context, *resource.Pool) {
	pool := resource.NewPool(resource.Config{Memory: memory})
	return resource.With(ctx, pool.NewStatement("s")), pool
}

// waiting is how many callers wait for a value in the making.
func (c *cache) waiting(key string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f, ok := c.flights[key]; ok {
		return f.waiting
	}
	return 0
}

func TestOneLoadsWhatManyWant(t *testing.T) {
	ctx, pool := inPool(t.Context(), 0)
	c := newCache(1 << 20)
	loads, waiting := 0, make(chan struct{})
	var wanted sync.WaitGroup
	for range 16 {
		wanted.Add(1)
		go func() {
			defer wanted.Done()
			v, err := cached(ctx, c, "k", func() (int, int64, error) {
				loads++
				<-waiting
				return 7, 100, nil
			})
			if v != 7 || err != nil {
				t.Errorf("%d, %v", v, err)
			}
		}()
	}
	for c.waiting("k") < 15 {
		runtime.Gosched()
	}
	close(waiting)
	wanted.Wait()
	counters := &resource.From(ctx).Counters
	if loads != 1 || counters.CacheHits.Load() != 15 || counters.CacheMisses.Load() != 1 {
		t.Errorf("%d loads, %d hits, %d misses", loads, counters.CacheHits.Load(), counters.CacheMisses.Load())
	}
	if pool.Used() != c.used || c.used < 100 {
		t.Errorf("%d bytes are accounted for %d in the cache", pool.Used(), c.used)
	}
}

// TestALoadThatEndsIsTakenOver: whoever waits for a load whose statement was cancelled, or that failed for reasons of its own, loads itself; what is
// wrong with the file goes to all.
func TestALoadThatEndsIsTakenOver(t *testing.T) {
	own := context.Canceled
	for _, c := range []struct {
		name  string
		err   error
		loads int64
		fails bool
	}{{"cancelled", own, 2, false}, {"over its memory", fault.New(fault.Exhausted, "too much"), 2, false}, {"corrupt", fault.New(fault.Corrupt, "bad"), 1, true}} {
		t.Run(c.name, func(t *testing.T) {
			ctx, pool := inPool(t.Context(), 0)
			cache := newCache(1 << 20)
			var loads atomic.Int64
			started, end := make(chan struct{}), make(chan struct{})
			first := make(chan error)
			go func() {
				_, err := cached(ctx, cache, "k", func() (int, int64, error) {
					loads.Add(1)
					close(started)
					<-end
					return 0, 0, c.err
				})
				first <- err
			}()
			<-started
			second := make(chan error)
			go func() {
				v, err := cached(ctx, cache, "k", func() (int, int64, error) { loads.Add(1); return 7, 10, nil })
				if err == nil && v != 7 {
					err = fmt.Errorf("the value is %d", v)
				}
				second <- err
			}()
			if c.fails {
				// The second has to wait for the first, or it would load a file that has become whole.
				for cache.waiting("k") == 0 {
					runtime.Gosched()
				}
			}
			close(end)
			if err := <-first; !errors.Is(err, c.err) {
				t.Errorf("the first: %v", err)
			}
			if err := <-second; (err != nil) != c.fails {
				t.Errorf("the second: %v", err)
			}
			if loads.Load() != c.loads {
				t.Errorf("%d loads, want %d", loads.Load(), c.loads)
			}
			if c.fails && pool.Used() != 0 {
				t.Errorf("%d bytes are held", pool.Used())
			}
		})
	}
}

func TestAWaiterMayLeave(t *testing.T) {
	ctx, _ := inPool(t.Context(), 0)
	c := newCache(1 << 20)
	started, end, first := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		_, err := cached(ctx, c, "k", func() (int, int64, error) { close(started); <-end; return 7, 10, nil })
		first <- err
	}()
	<-started
	impatient, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := cached(impatient, c, "k", func() (int, int64, error) { return 0, 0, errors.New("loaded twice") }); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	close(end)
	if err := <-first; err != nil {
		t.Error(err)
	}
	if v, ok := c.get("k"); !ok || v != 7 {
		t.Errorf("%v %v", v, ok)
	}
}

func TestAPanicOfALoadIsAnError(t *testing.T) {
	ctx, _ := inPool(t.Context(), 0)
	c := newCache(1 << 20)
	if _, err := cached(ctx, c, "k", func() (int, int64, error) { panic("no") }); !fault.Is(err, fault.Internal) {
		t.Error(err)
	}
	if v, err := cached(ctx, c, "k", func() (int, int64, error) { return 7, 10, nil }); v != 7 || err != nil {
		t.Errorf("%d, %v", v, err)
	}
}

// TestTheCacheKeepsToItsBounds: its own, and that of the process, to which it gives way.
func TestTheCacheKeepsToItsBounds(t *testing.T) {
	for _, limit := range []int64{0, 5000} {
		ctx, pool := inPool(t.Context(), limit)
		c := newCache(20_000)
		for i := range 100 {
			c.put(ctx, fmt.Sprint(i), i, 1000)
			if c.used > c.bound || limit > 0 && pool.Used() > limit || pool.Used() != c.used {
				t.Fatalf("%d bytes in the cache, %d accounted", c.used, pool.Used())
			}
		}
		if v, ok := c.get("99"); !ok || v != 99 {
			t.Error("the newest is gone")
		}
		if _, ok := c.get("0"); ok {
			t.Error("the oldest is there")
		}
		c.put(ctx, "giant", 0, 15_000)
		if _, ok := c.get("giant"); ok {
			t.Error("what is larger than half the cache was kept")
		}
		if limit == 0 && c.order.Len() < 10 || limit > 0 && c.order.Len() < 2 {
			t.Errorf("only %d are kept", c.order.Len())
		}
	}
}
