package catalogs

import "strings"

// Nearest gives the known name that a misspelt one most likely meant: equal but for case, or at most a third of its letters (at least one, two
// neighbours swapped count as one) away. The first of equally near names wins; empty means that nothing is near.
func Nearest(name string, known []string) string {
	want := []rune(strings.ToLower(name))
	best, limit := "", max(1, len(want)/3)
	for _, k := range known {
		if d := distance(want, []rune(strings.ToLower(k)), limit); d <= limit {
			best, limit = k, d-1
		}
		if limit < 0 {
			break
		}
	}
	return best
}

// distance counts the insertions, deletions, changes and swaps of neighbours between a and b; beyond limit any larger number may come back.
func distance(a, b []rune, limit int) int {
	if len(a)-len(b) > limit || len(b)-len(a) > limit {
		return limit + 1
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
