package host

import (
	"testing"
	"time"
)

func TestTheBudgetOfOutput(t *testing.T) {
	now := time.Unix(1, 0)
	b := budget{now: func() time.Time { return now }}
	line := 1000 - lineCost
	logged := 0
	for {
		allowed, _ := b.spend(line)
		if !allowed {
			break
		}
		logged++
	}
	if logged != burst/1000 {
		t.Errorf("a burst holds %d lines", logged)
	}
	for range 1000 { // time too short to earn a byte each still adds up
		now = now.Add(time.Microsecond)
		b.spend(1 << 20)
	}
	now = now.Add(time.Second - time.Millisecond)
	for range rate / 1000 {
		if allowed, _ := b.spend(line); !allowed {
			t.Fatal("a second later the rate is not there")
		}
	}
	now = now.Add(time.Hour)
	b.dropped = 0
	for range burst / 1000 {
		b.spend(line)
	}
	b.spend(line)
	b.spend(line)
	now = now.Add(time.Second)
	if allowed, dropped := b.spend(line); !allowed || dropped != 2 {
		t.Errorf("allowed %t, %d dropped", allowed, dropped)
	}
	if allowed, dropped := b.spend(line); !allowed || dropped != 0 {
		t.Errorf("told twice: %d", dropped)
	}
}

// TestWhatIsDroppedIsReadSlowly also where each wait takes longer than it should.
func TestWhatIsDroppedIsReadSlowly(t *testing.T) {
	start := time.Unix(1, 0)
	now := start
	b := budget{now: func() time.Time { return now }}
	if b.slow(burst) != 0 {
		t.Error("what is logged is read slowly")
	}
	b.dropped = 1
	for range 10_000 {
		if wait := b.slow(slowRate / 1000); wait > 0 {
			now = now.Add(wait + 20*time.Millisecond)
		}
	}
	if took := now.Sub(start); took < 10*time.Second-slowest-shortest || took > 10*time.Second+shortest {
		t.Errorf("ten seconds' worth took %s", took)
	}
	if wait := b.slow(1 << 30); wait != slowest {
		t.Errorf("one write waits for %s", wait)
	}
}
