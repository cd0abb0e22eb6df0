package catalogs

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skua-data/skua/fault"
)

var errAway = fault.New(fault.Unavailable, "no route")

// let begins a call that must be let through.
func let(t *testing.T, b *breaker) attempt {
	t.Helper()
	a, err := b.begin(t.Context(), "x")
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestOneSlowFailureIsEnough(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &breaker{name: "c", now: time.Now}
		soon, long := let(t, b), let(t, b)
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		b.end(gone, soon, gone.Err()) // the caller left at once
		time.Sleep(slowCall)
		let(t, b)
		b.end(gone, long, gone.Err()) // it waited long
		began := time.Now()
		if _, err := b.begin(t.Context(), "x"); err == nil || time.Since(began) > 0 {
			t.Errorf("it is asked again: %v", err)
		}
		time.Sleep(longRest)
		if tries := let(t, b); !tries.tries {
			t.Error("the call is none that tries it")
		}
		began = time.Now()
		if _, err := b.begin(t.Context(), "x"); err == nil || !strings.Contains(err.Error(), "is being asked again") || time.Since(began) != brief {
			t.Errorf("others wait for that one: %v after %s", err, time.Since(began))
		}
		time.Sleep(longRest) // it does not come back: another tries
		let(t, b)
	})
}

func TestCallsThatFailTogetherAreOneFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &breaker{name: "c", now: time.Now}
		for i := range tripAfter {
			var all []attempt
			for range 16 {
				all = append(all, let(t, b))
			}
			time.Sleep(time.Millisecond)
			for _, a := range all {
				b.end(t.Context(), a, errAway)
			}
			if b.failures != i+1 {
				t.Fatalf("%d failures after %d", b.failures, i+1)
			}
		}
	})
}

func TestRestsAreShortAtFirstAndCallsWaitForThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &breaker{name: "c", now: time.Now}
		for range tripAfter {
			b.end(t.Context(), let(t, b), errAway)
		}
		for _, rest := range []time.Duration{firstRest, time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, longRest, longRest} {
			began := time.Now()
			_, err := b.begin(t.Context(), "x")
			if waits := rest <= brief; waits != (err == nil) {
				t.Errorf("a rest of %s: %v", rest, err)
			} else if !waits {
				if time.Since(began) > 0 {
					t.Error("a call waits in vain")
				}
				time.Sleep(rest - time.Since(began))
				let(t, b)
			}
			if got := time.Since(began); got != rest {
				t.Errorf("it rested for %s, not %s", got, rest)
			}
			b.end(t.Context(), attempt{began: time.Now(), tries: true}, errAway)
		}
		time.Sleep(longRest)
		tries := let(t, b)
		var waiting []chan error
		for range 16 {
			outcome := make(chan error, 1)
			waiting = append(waiting, outcome)
			go func() {
				_, err := b.begin(t.Context(), "x")
				outcome <- err
			}()
		}
		time.Sleep(brief / 2)
		b.end(t.Context(), tries, nil)
		for _, outcome := range waiting {
			if err := <-outcome; err != nil {
				t.Errorf("it is well again: %v", err)
			}
		}
		b.end(t.Context(), let(t, b), errAway)
		let(t, b) // one failure after all that is one
	})
}

func TestACallerThatLeavesDoesNotWaitForARest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &breaker{name: "c", now: time.Now}
		for range tripAfter {
			b.end(t.Context(), let(t, b), errAway)
		}
		ctx, leave := context.WithTimeout(t.Context(), firstRest/2)
		defer leave()
		if _, err := b.begin(ctx, "x"); err == nil || !errors.Is(ctx.Err(), context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
		time.Sleep(firstRest)
		ctx, leave = context.WithCancel(t.Context())
		tries := let(t, b)
		leave()
		b.end(ctx, tries, ctx.Err()) // nothing is known: the next one tries
		if next := let(t, b); !next.tries {
			t.Error("nobody tries it")
		}
	})
}

// pluginRests is the failure of a plugin that is not launched before a time is over.
type pluginRests struct{ wait time.Duration }

func (e pluginRests) Error() string                 { return "tried again in " + e.wait.String() }
func (e pluginRests) Again() (time.Duration, error) { return e.wait, errAway }

func TestRestsOfCatalogAndPluginAreToldAsOne(t *testing.T) {
	for wait, want := range map[time.Duration]string{
		22456 * time.Millisecond: "catalog c: x: it failed 3 times in a row and is asked again in 22.5s; last: no route",
		time.Millisecond:         "catalog c: x: it failed 3 times in a row and is asked again in 2s; last: no route",
	} {
		now := time.Unix(1_700_000_000, 0)
		b := &breaker{name: "c", now: func() time.Time { return now }, rest: time.Second}
		for range tripAfter {
			cause := fault.New(fault.Unavailable, "its plugin failed 9 times and is tried again in %s", wait)
			cause.Cause = pluginRests{wait}
			b.end(t.Context(), let(t, b), fault.Wrap(cause, "catalog c"))
		}
		if _, err := b.begin(t.Context(), "x"); !fault.Is(err, fault.Unavailable) || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
