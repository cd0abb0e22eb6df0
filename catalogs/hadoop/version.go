package hadoop

import (
	"strconv"
	"strings"
)

// hintFile holds the number of the current version, or of a recent one: it is written after the version and may be missing, old or damaged.
const hintFile = "version-hint.text"

// suffixes are the endings of metadata files, in the order in which Iceberg prefers them for one version.
var suffixes = []string{".metadata.json", ".gz.metadata.json", ".metadata.json.gz"}

// versions is what the names in a metadata folder say: the file of each numbered version, and the latest file of a table whose files are
// named <sequence>-<uuid>, as catalogs with a pointer of their own leave them.
type versions struct {
	numbered map[int]string
	highest  int // of numbered
	latest   string
	sequence int // of latest
	hinted   bool
}

func parseVersions(names []string) versions {
	v := versions{numbered: map[int]string{}, highest: -1, sequence: -1}
	rank := map[int]int{}
	for _, name := range names {
		if name == hintFile {
			v.hinted = true
			continue
		}
		stem, order, ok := cutSuffix(name)
		if !ok {
			continue
		}
		if n, ok := versionNumber(stem); ok {
			if r, seen := rank[n]; !seen || order < r {
				v.numbered[n], rank[n] = name, order
			}
			v.highest = max(v.highest, n)
			continue
		}
		digits, _, dashed := strings.Cut(stem, "-")
		n, err := strconv.Atoi(digits)
		if dashed && err == nil && n >= 0 && (n > v.sequence || (n == v.sequence && name > v.latest)) {
			v.sequence, v.latest = n, name
		}
	}
	return v
}

// cutSuffix takes the ending of a metadata file off, the longest that fits, and says which it was.
func cutSuffix(name string) (stem string, order int, ok bool) {
	for i := len(suffixes) - 1; i >= 0; i-- {
		if stem, ok := strings.CutSuffix(name, suffixes[i]); ok && stem != "" {
			return stem, i, true
		}
	}
	return "", 0, false
}

// versionNumber reads v7, in the one spelling that Iceberg writes.
func versionNumber(stem string) (int, bool) {
	digits, ok := strings.CutPrefix(stem, "v")
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(digits)
	return n, err == nil && n >= 0 && strconv.Itoa(n) == digits
}

// parseHint reads the hint as Iceberg does: the first line, a number and nothing else.
func parseHint(text []byte) (int, bool) {
	line, _, _ := strings.Cut(string(text), "\n")
	n, err := strconv.ParseInt(strings.TrimSuffix(line, "\r"), 10, 32)
	return int(n), err == nil && n >= 0
}

// current names the current metadata file: from the hinted version on as long as there is a next one, or the highest where the hint is
// missing, unreadable or older than every version that is left. Empty means that there is none; lost is the hinted version where all files
// are older than it, so that the current one must be missing.
func (v versions) current(hint int, hinted bool) (name string, lost int) {
	if len(v.numbered) == 0 {
		return v.latest, 0
	}
	if !hinted {
		return v.numbered[v.highest], 0
	}
	if _, ok := v.numbered[hint]; !ok {
		if hint > v.highest {
			return "", hint
		}
		return v.numbered[v.highest], 0
	}
	for v.numbered[hint+1] != "" {
		hint++
	}
	return v.numbered[hint], 0
}
