package host

import (
	"sync"
	"time"

	"github.com/skua-data/skua/fault"
)

// backoff says when a plugin that died or did not start may be launched again: at once the first time, then after a time that doubles. A plugin that served
// well for a while starts over: a death now and then is no crash loop.
type backoff struct {
	first, most, forget, healthy time.Duration
	now                          func() time.Time

	mu       sync.Mutex
	failures int
	until    time.Time
	last     error
}

// fail counts a launch that failed with err, or the death of a plugin that served for a time before.
func (b *backoff) fail(err error, served time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	if now.Sub(b.until) >= b.forget || served >= b.healthy {
		b.failures = 0
	}
	b.failures++
	b.last, b.until = err, now
	if b.failures > 1 {
		delay := b.first << min(b.failures-2, 30)
		if delay > b.most || delay <= 0 {
			delay = b.most
		}
		b.until = now.Add(delay)
	}
}

// check fails while the plugin must not be launched, with the last failure and when there will be a next try.
func (b *backoff) check(catalog string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	wait := b.until.Sub(b.now())
	if wait <= 0 {
		return nil
	}
	err := fault.New(fault.KindOf(b.last), "catalog %s: its plugin failed %d times and is tried again in %s; last: %s",
		catalog, b.failures, max(wait.Round(time.Millisecond), time.Millisecond), b.last.Error()).In(catalog)
	err.Cause = &tooEarly{wait, b.last}
	return err
}

// tooEarly is in the chain of an error about a back-off that is not over.
type tooEarly struct {
	wait time.Duration
	last error
}

// Again gives how long it still is, and the failure that it is for: package catalogs tells of its own rest and of this as one.
func (e *tooEarly) Again() (time.Duration, error) { return e.wait, e.last }

// Error says when it is over.
func (e *tooEarly) Error() string { return "to be tried again in " + e.wait.String() }
