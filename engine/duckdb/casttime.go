//go:build cgo

package duckdb

import (
	"math"
	"math/big"
	"time"

	"github.com/skua-data/skua/engine/sparktext"
)

// toDate casts a value to days.
func toDate(c *casting, n *node, row int) (int32, error) {
	switch n.family() {
	case textFamily:
		days, ok := sparktext.ParseDate(sparktext.Trim(c.word(n, row)))
		if !ok {
			return 0, c.invalid(n, row)
		}
		return int32(days), nil
	case dateFamily:
		return at[int32](n, row), nil
	}
	seconds := sparktext.FloorDiv(at[int64](n, row), n.perSecond())
	if n.family() == instantFamily {
		seconds += c.zone.Offset(seconds)
	}
	return int32(sparktext.FloorDiv(seconds, sparktext.SecondsPerDay)), nil
}

// toInstant casts a value to microseconds since 1970 in UTC.
func toInstant(c *casting, n *node, row int) (int64, error) {
	switch n.family() {
	case textFamily:
		m, ok := sparktext.ParseTimestamp(sparktext.Trim(c.word(n, row)))
		if ok && m.JustTime {
			m = m.On(time.Now().Unix(), c.zone)
		}
		v, fits := m.Units(c.zone, 1_000_000)
		if !ok || !fits {
			return 0, c.invalid(n, row)
		}
		return v, nil
	case instantFamily:
		return sparktext.FloorDiv(at[int64](n, row), n.perSecond()/1_000_000), nil
	case dateFamily:
		return c.zone.InstantOf(int64(at[int32](n, row)) * sparktext.MicrosPerDay), nil
	case wallFamily:
		return c.zone.InstantOf(microsOf(n, row)), nil
	case floatFamily:
		v := c.float(n, row) * 1e6
		if f := c.float(n, row); math.IsNaN(f) || math.IsInf(f, 0) {
			return 0, c.invalid(n, row)
		}
		if v >= math.MaxInt64 || v <= math.MinInt64 {
			return 0, c.overflow(n, row)
		}
		return int64(v), nil
	case decimalFamily:
		return decimalInstant(n, row), nil
	}
	small, large := n.whole(row)
	if v, ok := sparktext.Scaled(small, 0, 1_000_000); ok && large == nil {
		return v, nil
	}
	if small < 0 || large != nil && large.Sign() < 0 {
		return math.MinInt64, nil
	}
	return math.MaxInt64, nil
}

// decimalInstant gives a number of seconds in microseconds.
func decimalInstant(n *node, row int) int64 {
	digits, large := n.whole(row)
	if large == nil {
		large = big.NewInt(digits)
	}
	return sparktext.DecimalMicros(large, int(n.scale))
}

// toWall casts a value to microseconds of a wall clock.
func toWall(c *casting, n *node, row int) (int64, error) {
	switch n.family() {
	case textFamily:
		m, ok := sparktext.ParseTimestamp(sparktext.Trim(c.word(n, row)))
		v, fits := m.Units(nil, 1_000_000)
		if !ok || m.JustTime || !fits {
			return 0, c.invalid(n, row)
		}
		return v, nil
	case dateFamily:
		return int64(at[int32](n, row)) * sparktext.MicrosPerDay, nil
	case instantFamily:
		v := microsOf(n, row)
		return v + c.zone.Offset(sparktext.FloorDiv(v, 1_000_000))*1_000_000, nil
	}
	return microsOf(n, row), nil
}

// microsOf gives a timestamp in microseconds.
func microsOf(n *node, row int) int64 {
	v, second := at[int64](n, row), n.perSecond()
	if second > 1_000_000 {
		return sparktext.FloorDiv(v, second/1_000_000)
	}
	return v * (1_000_000 / second)
}
