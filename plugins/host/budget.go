package host

import "time"

// What a plugin may print: a burst at once, then so many bytes a second. Past that its lines are dropped, and it is read slowly.
const (
	burst    = 1 << 20
	rate     = 64 << 10
	slowRate = 1 << 20
	shortest = 50 * time.Millisecond // shorter ones, after single lines, would take longer than they should on a busy machine
	slowest  = 2 * shortest          // for one write
)

// lineCost is what a line costs beside its bytes.
const lineCost = 200

// budget bounds what of a plugin's output reaches the log, since a catalog in a loop would fill the disk. Set now.
type budget struct {
	now     func() time.Time
	spent   int       // of burst, at the time of at
	at      time.Time // zero: nothing was spent yet
	dropped int       // lines since the last that was allowed
	due     time.Time // when what was read meanwhile is read slowly enough
}

// spend takes a line of n bytes out of the budget. It reports whether the line may be logged, and how many before it were not.
func (b *budget) spend(n int) (allowed bool, dropped int) {
	now := b.now()
	if elapsed := now.Sub(b.at); b.at.IsZero() || elapsed >= burst/rate*time.Second {
		b.spent, b.at = 0, now
	} else if earned := int(elapsed * rate / time.Second); earned > 0 { // else the time counts later
		b.spent, b.at = max(0, b.spent-earned), now
	}
	if b.spent+n+lineCost > burst {
		b.dropped++
		return false, 0
	}
	b.spent += n + lineCost
	dropped, b.dropped = b.dropped, 0
	return true, dropped
}

// slow says how long to wait after n bytes were read: not at all unless lines are dropped.
func (b *budget) slow(n int) time.Duration {
	if b.dropped == 0 {
		return 0
	}
	now := b.now()
	if behind := now.Add(-slowest); b.due.Before(behind) { // else it was waited for longer than asked for
		b.due = behind
	}
	b.due = b.due.Add(time.Duration(n) * time.Second / slowRate)
	if wait := b.due.Sub(now); wait >= shortest {
		return min(wait, slowest)
	}
	return 0
}
