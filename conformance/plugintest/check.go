package plugintest

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/skua-data/skua/catalogs/catalogtest"
)

// grace is how long a test whose time is over may take to notice.
const grace = 5 * time.Second

// check runs a test in a goroutine of its own and gives what it found wrong. One that does not end in time has failed, and is left to itself.
func check(ctx context.Context, limit time.Duration, test func(catalogtest.T)) (failures []string, timeout bool) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	t := &checked{ctx: ctx}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer t.clean()
		defer func() {
			if p := recover(); p != nil {
				t.Errorf("panic: %v", p)
			}
		}()
		test(t)
	}()
	select {
	case <-done:
	case <-time.After(limit + grace):
		t.Errorf("it did not end within %s", limit)
	}
	return t.found(), ctx.Err() != nil
}

// checked is the suite's T outside of a test binary.
type checked struct {
	ctx context.Context

	mu       sync.Mutex
	failures []string
	cleanups []func()
	over     bool // nothing counts any more
}

var _ catalogtest.T = (*checked)(nil)

// Context is canceled when the test's time is over.
func (t *checked) Context() context.Context { return t.ctx }

// Cleanup has f called when the test has ended, the last first.
func (t *checked) Cleanup(f func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cleanups = append(t.cleanups, f)
}

// Helper does nothing: failures tell no lines.
func (t *checked) Helper() {}

// Error notes what is wrong.
func (t *checked) Error(args ...any) { t.Errorf("%s", fmt.Sprint(args...)) }

// Errorf notes what is wrong.
func (t *checked) Errorf(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.over {
		t.failures = append(t.failures, fmt.Sprintf(format, args...))
	}
}

// Fatal notes what is wrong and ends the test.
func (t *checked) Fatal(args ...any) { t.Fatalf("%s", fmt.Sprint(args...)) }

// Fatalf notes what is wrong and ends the test.
func (t *checked) Fatalf(format string, args ...any) {
	t.Errorf(format, args...)
	runtime.Goexit()
}

func (t *checked) clean() {
	for {
		t.mu.Lock()
		n := len(t.cleanups)
		if n == 0 {
			t.mu.Unlock()
			return
		}
		last := t.cleanups[n-1]
		t.cleanups = t.cleanups[:n-1]
		t.mu.Unlock()
		last()
	}
}

// found gives what was wrong; what comes later does not count.
func (t *checked) found() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
	return t.failures
}
