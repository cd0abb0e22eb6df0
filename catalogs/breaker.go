package catalogs

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/skua-data/skua/fault"
)

// A catalog that failed so often in a row is left alone for a while: its calls fail at once, so that listings over all catalogs and clients that ask again and
// again do not wait for it each time. Then one call tries it. The first rest is short, since most of what fails passes soon; a try that fails doubles it.
const (
	tripAfter = 3
	firstRest = 500 * time.Millisecond
	longRest  = 10 * time.Second
	slowCall  = 10 * time.Second // a call that failed after so long brings the long rest at once
	brief     = time.Second      // that a call waits for a rest that is soon over, or for the call that tries the catalog
)

// breaker counts the failures of one catalog. It is safe for concurrent use.
type breaker struct {
	name string
	now  func() time.Time

	mu       sync.Mutex
	failures int           // in a row
	counted  time.Time     // when the last was; a call that began before tells nothing new
	rest     time.Duration // the present one, or the last
	until    time.Time     // rests until then
	trying   chan struct{} // closed when the call that tries the catalog has ended; nil: none does
	last     string
	later    time.Time // before then no try can do, as the catalog itself told
}

// attempt is a call that was let through.
type attempt struct {
	began time.Time
	tries bool // the catalog, after a rest
}

// begin fails while the catalog rests, after a brief wait where that may help. After a rest one call passes, and the others wait for how it goes.
func (b *breaker) begin(ctx context.Context, operation string) (attempt, error) {
	for left := brief; ; {
		a, wait, told, err := b.admit(operation)
		if told != nil {
			wait = min(wait, left)
		}
		if err == nil || left <= 0 || wait > left {
			return a, err
		}
		since := time.Now()
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-told:
		case <-ctx.Done():
		}
		timer.Stop()
		if ctx.Err() != nil {
			return a, err
		}
		left -= max(time.Since(since), time.Millisecond)
	}
}

// admit lets a call through, or says how long the rest still is, and what is closed when the call that tries the catalog has ended.
func (b *breaker) admit(operation string) (attempt, time.Duration, <-chan struct{}, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	if b.failures < tripAfter {
		return attempt{began: now}, 0, nil, nil
	}
	wait := b.until.Sub(now)
	if wait <= 0 { // also when the call that tries it does not come back
		b.settle()
		b.trying, b.until = make(chan struct{}), now.Add(longRest)
		return attempt{began: now, tries: true}, 0, nil, nil
	}
	when := "asked again in " + max(max(wait, b.later.Sub(now)).Round(100*time.Millisecond), 100*time.Millisecond).String()
	if b.trying != nil {
		when = "being asked again"
	}
	err := fault.New(fault.Unavailable, "catalog %s: %s: it failed %d times in a row and is %s; last: %s", b.name, operation, b.failures, when, b.last).In(b.name)
	return attempt{}, wait, b.trying, err
}

// settle wakes those who wait for the call that tries the catalog. The caller holds the lock.
func (b *breaker) settle() {
	if b.trying != nil {
		close(b.trying)
		b.trying = nil
	}
}

// resting is an error of what is itself not asked before a time is over.
type resting interface{ Again() (time.Duration, error) }

// reason gives what a call failed of, and until when a try cannot do: of what rests itself, the failure that it rests for.
func reason(err error, now time.Time) (string, time.Time) {
	var r resting
	if !errors.As(err, &r) {
		return err.Error(), time.Time{}
	}
	wait, last := r.Again()
	return last.Error(), now.Add(wait)
}

// end counts how a call went. What the caller did, and what the catalog merely does not have, is no failure; calls that ran at once and failed by one event
// are one failure.
func (b *breaker) end(ctx context.Context, a attempt, err error) {
	failed := fault.Is(err, fault.Unavailable) || fault.Is(err, fault.Deadline)
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	slow := now.Sub(a.began) >= slowCall
	switch {
	case err != nil && ctx.Err() != nil && !slow: // the caller left soon; nothing is known
		if a.tries && b.trying != nil {
			b.until = now
		}
	case failed || err != nil && ctx.Err() != nil:
		if a.began.Before(b.counted) && !slow {
			return
		}
		b.failures++
		if slow {
			b.failures, b.rest = max(b.failures, tripAfter), longRest
		} else if b.failures >= tripAfter {
			b.rest = min(max(2*b.rest, firstRest), longRest)
		}
		b.counted, b.until = now, now.Add(b.rest)
		b.last, b.later = reason(err, now)
	default:
		b.failures, b.rest = 0, 0
	}
	if a.tries || b.failures < tripAfter {
		b.settle()
	}
}
