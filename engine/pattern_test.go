package engine

import (
	"strings"
	"testing"
)

// words gives every text of some letters up to a length.
func words(letters string, length int) []string {
	out, last := []string{""}, []string{""}
	for range length {
		var longer []string
		for _, w := range last {
			for _, l := range letters {
				longer = append(longer, w+string(l))
			}
		}
		out, last = append(out, longer...), longer
	}
	return out
}

// TestWhatNoPatternMatchesBelowIsNotLookedAt compares likeBelow with trying out every longer text.
func TestWhatNoPatternMatchesBelowIsNotLookedAt(t *testing.T) {
	after := words("ab.", 4)[1:]
	for _, pattern := range words(`a.%_\`, 4) {
		below, match := likeBelow(&pattern), likePattern(&pattern)
		for _, begin := range []string{"a.", "b.", "a.a.", "aa.", "a.b."} {
			want := false
			for _, more := range after {
				want = want || match(begin+more)
			}
			if escapes := strings.Contains(pattern, `\`); below(begin) != want && (want || !escapes) { // what is escaped may be none of the letters tried
				t.Errorf("%q below %q: %v, want %v", pattern, begin, below(begin), want)
			}
		}
	}
	if !likeBelow(nil)("a.") {
		t.Error("no pattern: nothing below")
	}
}

// TestLongPatternsAreBounded: a run of wildcards is one, and what is longer than any name matches none.
func TestLongPatternsAreBounded(t *testing.T) {
	for pattern, want := range map[string]bool{
		strings.Repeat("%", 200_000): true, "a" + strings.Repeat("%", 200_000) + "c": true, strings.Repeat("%_", 3) + "%": true, `a\%%`: false, strings.Repeat("%a", 100_000): false, strings.Repeat("_", 5_000): false,
	} {
		if got := likePattern(&pattern)("abc"); got != want {
			t.Errorf("%.20s…: %v, not %v", pattern, got, want)
		}
	}
}
